/** The use of a shared cluster by one suite, inside the sandbox of its tests. */

import { Cluster, type ClusterAddress } from '../cluster';
import type { ClusterOptions } from '../cluster-options';
import type { SharedClass } from './pool';

/** What the environment of the tests offers them. */
export type SharedPool = Pick<typeof import('./pool'), 'take' | 'giveBack'>;

declare global {
  // Set by test/jest/environment.ts.
  var sharedClusters: SharedPool;
}

/**
 * The shared cluster of the class, as if it had just started. `stop` gives it back.
 *
 * @throws in `stop`, when the suite changed or deleted what was there before it
 */
export async function lease(
  name: SharedClass,
  options: Pick<ClusterOptions, 'nodeShape'> = {},
): Promise<Cluster> {
  const address = JSON.parse(await globalThis.sharedClusters.take(name)) as ClusterAddress;
  return Cluster.attach(address, options, async () => {
    const changes = await globalThis.sharedClusters.giveBack(name);
    if (changes.length > 0)
      throw new Error(
        `the suite changed what other suites share; it needs a cluster of its own (test/README.md): ${changes.join(', ')}`,
      );
  });
}
