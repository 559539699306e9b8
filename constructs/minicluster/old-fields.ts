/** What a name was that is not a field: one of v1alpha1, or a prop of the construct. */

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

/** Props of the construct that have another name or place in the resource, by their paths in YAML without indexes. */
const PROPS: Readonly<Record<string, string>> = {
  'spec.container': 'containers, a list',
  'spec.sidecars': 'containers, with runFlux: true on the one of the brokers',
  'spec.certificate': 'flux.curveCertSecret',
  'spec.archivePath': 'archive.path',
  'spec.job': 'backoffLimit, deadlineSeconds, jobLabels, podFailurePolicy and ttlSecondsAfterFinished',
  'spec.scheduling': 'priority and exclusive, flux.arch, network.disableAffinity, and pod for the others',
  'spec.containers.cpu': 'resources.requests.cpu',
  'spec.containers.cpuLimit': 'resources.limits.cpu',
  'spec.containers.memory': 'resources.requests.memory',
  'spec.containers.memoryLimit': 'resources.limits.memory',
  'spec.containers.devices': 'resources.limits',
  'spec.containers.claims': 'resources.claims',
  'spec.containers.postStart': 'lifeCycle.postStartExec',
  'spec.containers.preStop': 'lifeCycle.preStopExec',
  'spec.containers.init': 'commands.init',
  'spec.containers.pre': 'commands.pre',
  'spec.containers.brokerPre': 'commands.brokerPre',
  'spec.containers.workerPre': 'commands.workerPre',
  'spec.containers.servicePre': 'commands.servicePre',
  'spec.containers.post': 'commands.post',
  'spec.containers.prefix': 'commands.prefix',
  'spec.containers.script': 'commands.script',
  'spec.logging.level': 'flux.logLevel',
  'spec.network.minimalService': 'flux.minimalService',
  'spec.network.dnsPolicy': 'pod.dnsPolicy',
  'spec.network.hostNetwork': 'pod.hostNetwork',
  'spec.flux.inImage': 'flux.container.disable',
  'spec.flux.view': 'flux.container',
  'spec.flux.mountPath': 'flux.container.mountPath',
  'spec.flux.socket': 'flux.disableSocket, which is its opposite',
  'spec.flux.waitSocket': 'flux.noWaitSocket, which is its opposite',
  'spec.flux.simpleScheduler': 'flux.scheduler.simple',
  'spec.flux.queuePolicy': 'flux.scheduler.queuePolicy',
  'spec.flux.matchPolicy': 'flux.scheduler.matchPolicy',
  'spec.pod.serviceAccount': 'pod.serviceAccountName',
  'spec.pod.shareProcessNamespace': 'shareProcessNamespace of spec',
  'spec.pod.terminationGracePeriod': 'pod.terminationGracePeriodSeconds',
};

/** What to do about a field of v1alpha1, or a prop of the construct; undefined if it is none of them. */
export function knownFieldRemedy(path: string): string | undefined {
  const known = path.replaceAll(/\[[^\]]*\]/g, '').replace(/^spec\.services/, 'spec.containers');
  if (V1ALPHA1[known] !== undefined) return `it is a field of v1alpha1; ${V1ALPHA1[known]}`;
  return PROPS[known] === undefined
    ? undefined
    : `it is a prop of the construct; in YAML use ${PROPS[known]}`;
}
