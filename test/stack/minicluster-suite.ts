/** Setup of the suites that run MiniClusters on the real control plane. */
import { waitFor } from '../cluster/wait';
import { MiniClusters } from './minicluster-objects';
import type { RoleProcess } from './roles';
import type { Fixture } from './suite';
import { Namespace } from './workloads';

export interface MiniClusterFixture {
  readonly science: Namespace;
  readonly clusters: MiniClusters;
  readonly controller: RoleProcess;
}

/**
 * Starts a controller and deletes all MiniClusters after each test, so that their pods do not fill the nodes of the
 * next test. The garbage collector learns about a new kind of owner within half a minute only: the Jobs are deleted
 * explicitly, and tests that depend on the garbage collector come last.
 */
export function useMiniClusters(getFixture: () => Fixture, use: (given: MiniClusterFixture) => void): void {
  let clusters: MiniClusters;
  beforeAll(async () => {
    const controller = await getFixture().stack.startController({ fluxion: { address: 'embedded' } });
    const science = await Namespace.create(getFixture, 'science');
    clusters = new MiniClusters(getFixture, 'science');
    use({ science, clusters, controller });
  }, 60_000);
  afterEach(async () => {
    await clusters.clear();
    await waitFor('no pod to be left', async () => (await clusters.list('Pod')).length === 0);
  }, 60_000);
}
