import type { WaitReason, WorkloadRow } from '../../queue/workload';
import { type OutcomeOf, unmet } from './dependencies';
import type { WaitReasons } from './wait-reasons';

/** Waits for something a pass does not decide; whoever does, puts it back to Submitted. */
const NOT_OURS: ReadonlySet<WaitReason | null> = new Set<WaitReason>(['Invalid', 'RequeueLimit']);

export interface EligibilityInput {
  readonly now: number;
  readonly graphGrew?: boolean | undefined;
  readonly outcomeOf?: OutcomeOf | undefined;
}

/** However often a workload has failed, it is tried again within the hour. */
export const LONGEST_BACKOFF_SECONDS = 3600;

/** A time further ahead was written by a clock that was wrong. */
function isTooEarly({ notBefore }: WorkloadRow, now: number): boolean {
  return notBefore !== null && notBefore > now && notBefore <= now + LONGEST_BACKOFF_SECONDS;
}

/** Says so in `waits` when it is not. */
export function isEligible(row: WorkloadRow, input: EligibilityInput, waits: WaitReasons): boolean {
  if (row.held) {
    waits.markHeld(row);
    return false;
  }
  if (NOT_OURS.has(row.reason)) return false;
  // Its requeue has said why.
  if (isTooEarly(row, input.now)) return false;
  if (row.reason === 'Unsatisfiable' && input.graphGrew === false) return false;
  const pending = unmet(row.after, row.namespace, input.outcomeOf ?? (() => undefined));
  if (pending === undefined) return true;
  waits.markDependency(row, pending);
  return false;
}
