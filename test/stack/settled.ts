/** The state of the whole system after all work: no workload is lost, and no unit is held. */
import type { Fluxion } from '../../runtime/fluxion/types';
import { waitFor } from '../cluster/wait';
import type { Namespace } from './workloads';

/** Waits for the end of all workloads of the namespace, and asserts that each ran exactly where it was granted. */
export async function expectNothingLost(science: Namespace, timeoutMs?: number): Promise<void> {
  await science.finished(timeoutMs);
  const { jobs, finished, misplaced, lost, doubleGranted } = await science.verdict();
  expect({ finished, misplaced, lost, doubleGranted }).toEqual({
    finished: jobs,
    misplaced: 0,
    lost: 0,
    doubleGranted: 0,
  });
}

/** Waits until Fluxion has no allocation and all its cores are free. */
export async function untilAllFree(fluxion: Pick<Fluxion, 'state'>): Promise<void> {
  await waitFor('Fluxion to have no allocations', async () => {
    const { jobs, nodes } = await fluxion.state();
    return jobs.length === 0 && nodes.every(({ free, total }) => free.core === total.core);
  });
}
