/** Workloads whose FluxJob would tell nothing: they wait in line, start and succeed, and hundreds of others do so beside them. */
import type { FluxJobPolicy } from '../../constructs/api/policies';
import { type WaitReason, type WorkloadRow, waitReasonOf } from '../queue/workload';
import type { Busyness } from '../shared/change-rate';

/** Seconds for which a workload may wait in line in a burst of its namespace before its FluxJob says so. */
export const CROWD_SECONDS = 60;
/**
 * Seconds from the submission within which a workload is fleeting. In a burst a FluxJob that tells something is created
 * sooner, so a workload that lasts longer has one.
 */
export const FLEETING_SECONDS = CROWD_SECONDS + 30;

/** What all workloads behind a full cluster have in common. Every other reason is about the workload itself. */
const IN_LINE: ReadonlySet<WaitReason> = new Set(['Submitted', 'Busy', 'QuotaExceeded']);

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

/** Whether an unfinished workload at its first attempt does what hundreds of others of its namespace do beside it. */
export function isOneOfMany(
  row: WorkloadRow,
  policy: FluxJobPolicy,
  { isBursting }: Pick<Busyness, 'isBursting'>,
): boolean {
  const { phase, requeues, preemptions, namespace } = row;
  if (phase === 'Finished' || requeues > 0 || preemptions > 0) return false;
  return (
    policy === 'Notable' && isBursting(namespace) && (phase !== 'Waiting' || IN_LINE.has(waitReasonOf(row)))
  );
}

/** Whether a finished workload without a FluxJob gets none. */
export function isUnrecorded(
  row: WorkloadRow,
  policy: FluxJobPolicy,
  { isBursting }: Pick<Busyness, 'isBursting'>,
): boolean {
  return policy === 'Notable' && isFleeting(row) && isBursting(row.namespace);
}
