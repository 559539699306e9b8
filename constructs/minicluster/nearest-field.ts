/** The field that a user probably meant by a name that is not a field: one of v1alpha1, or one with a typo. */

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

/**
 * The name with the fewest edits to a name that is not a field; undefined if none is near. `nearestSetting` counts pairs of
 * letters instead, because CEL cannot count edits; pairs miss a typo in a short name and suggest a field for any word.
 */
export function nearest(key: string, names: readonly string[]): string | undefined {
  const written = key.toLowerCase();
  let best: string | undefined;
  // A third of the letters may differ.
  let most = Math.floor(written.length / 3) + 1;
  for (const name of names) {
    const edits = distance(written, name.toLowerCase());
    if (edits >= most) continue;
    most = edits;
    best = name;
  }
  return best;
}

/** Number of letters to insert, delete or replace (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
