/** Fields of v1alpha1 by their old paths without indexes; v1alpha2 has them elsewhere or no longer. */
const V1ALPHA1: Readonly<Record<string, string>> = {
  'spec.containers.existingVolumes': 'use volumes',
  'spec.containers.fluxUser': 'remove it; pod.securityContext.runAsUser chooses the user',
  'spec.containers.preCommand': 'use commands.pre',
  'spec.containers.fluxOptionFlags': 'use flux.optionFlags',
  'spec.containers.fluxLogLevel': 'use flux.logLevel',
  'spec.containers.cores': 'use flux.cores',
  'spec.containers.commands.runFluxAsRoot': 'remove it; pod.securityContext.runAsUser chooses the user',
  'spec.containers.diagnostics': 'remove it; logging.debug and logging.timed show more',
  'spec.fluxRestful': 'remove it; a sidecar can run the web service',
  'spec.users': 'remove it; pod.securityContext.runAsUser chooses the user',
  'spec.volumes': 'use volumes of the container',
};

/** What to do about a field of v1alpha1; undefined if v1alpha1 does not have it. */
export function v1alpha1Remedy(path: string): string | undefined {
  const remedy = V1ALPHA1[path.replaceAll(/\[[^\]]*\]/g, '')];
  return remedy === undefined ? undefined : `it is a field of v1alpha1; ${remedy}`;
}
