/** Workloads whose FluxJob would tell nothing: they started and succeeded at once, and hundreds of others did so beside them. */
import type { FluxJobPolicy } from '../../constructs/api/policies';
import type { WorkloadRow } from '../queue/workload';
import type { Busyness } from '../shared/change-rate';

/**
 * Seconds from the submission within which a workload is fleeting. In a burst a FluxJob that tells something is created
 * sooner, so a workload that lasts longer has one.
 */
export const FLEETING_SECONDS = 30;

/** Whether it succeeded at the first attempt within so many seconds of its submission. The statement of `Queue.notable` says the same. */
export function isFleeting(
  {
    result,
    requeues,
    preemptions,
    submittedAt,
    finishedAt,
  }: Pick<WorkloadRow, 'result' | 'requeues' | 'preemptions' | 'submittedAt' | 'finishedAt'>,
  seconds = FLEETING_SECONDS,
): boolean {
  return result === 'Succeeded' && requeues === 0 && preemptions === 0 && finishedAt! - submittedAt < seconds;
}

/** Whether a finished workload without a FluxJob gets none. */
export function isUnrecorded(
  row: WorkloadRow,
  policy: FluxJobPolicy,
  { isBursting }: Pick<Busyness, 'isBursting'>,
): boolean {
  return policy === 'Notable' && isFleeting(row) && isBursting(row.namespace);
}
