import { hasPlacementRules } from '../../jobspec/pod-sets';
import type { Jobspec } from '../../jobspec/types';
import type { WorkloadRow } from '../../queue/workload';
import { NEVER_MET, type OutcomeOf, unmet } from './dependencies';
import type { DependencyCycles } from './dependency-cycles';
import type { NodeChanges } from './node-changes';
import type { HasLeft } from './types';
import type { WaitReasons } from './wait-reasons';

export interface EligibilityInput {
  readonly now: number;
  readonly graphGrew?: boolean | undefined;
  readonly nodeChanges?: NodeChanges | undefined;
  /** Whether the jobspec fits the empty cluster. @default - not known */
  readonly fits?: ((jobspec: Jobspec) => boolean) | undefined;
  readonly outcomeOf?: OutcomeOf | undefined;
  readonly hasLeft?: HasLeft | undefined;
  readonly isUnlisted?: ((row: Pick<WorkloadRow, 'kind'>) => boolean) | undefined;
  readonly isLeftOut?: ((row: WorkloadRow) => boolean) | undefined;
  readonly cycles: DependencyCycles;
}

const noOutcome: OutcomeOf = () => undefined;

/** Longest backoff of a requeue, however often the workload has failed: one hour. */
export const LONGEST_BACKOFF_SECONDS = 3600;

/** A time much further ahead than the longest backoff was written by a clock that was wrong, and does not count. */
function isBackingOff({ notBefore }: WorkloadRow, now: number): boolean {
  return notBefore !== null && notBefore > now && notBefore <= now + 2 * LONGEST_BACKOFF_SECONDS;
}

/**
 * Fluxion is asked again only for what fits by counting, so a node that joins costs no match for workloads that it does not
 * help. What placement rules allow cannot be counted.
 */
function isStillUnsatisfiable(row: WorkloadRow, input: EligibilityInput, waits: WaitReasons): boolean {
  const { graphGrew, nodeChanges, fits } = input;
  if (graphGrew === false) return true;
  const { jobspec, message } = row;
  if (fits === undefined || hasPlacementRules(jobspec) || fits(jobspec)) return false;
  if (nodeChanges?.concern(row) !== false) waits.markUnsatisfiable(row, message ?? '');
  return true;
}

/** Whether the pass may start the row; if not, `waits` says why. */
export function isEligible(row: WorkloadRow, input: EligibilityInput, waits: WaitReasons): boolean {
  const { invalid, incomplete } = row.jobspec.attributes.user ?? {};
  if (invalid !== undefined) {
    waits.markUnreadable(row, invalid);
    return false;
  }
  if (incomplete !== undefined) {
    waits.markIncomplete(row, incomplete.message, input.now >= incomplete.until);
    return false;
  }
  if (row.held) {
    waits.markHeld(row);
    return false;
  }
  // The reconciler sets it back to Submitted when its user changes it.
  if (row.reason === 'Invalid') return false;
  if (isOutOfReach(row, input, waits)) return false;
  if (isBackingOff(row, input.now)) {
    // The message of its requeue says so already, unless its jobspec has changed since then.
    if (row.message === null) waits.markBackingOff(row, Math.ceil(row.notBefore! - input.now));
    return false;
  }
  if (input.isLeftOut?.(row) === true) {
    waits.markLeftOut(row);
    return false;
  }
  if (row.reason === 'Unsatisfiable' && isStillUnsatisfiable(row, input, waits)) return false;
  return isAfterOthers(row, input, waits) && isUngated(row, input, waits);
}

/** Whether its object is none that the queue may release, or can. */
function isOutOfReach(
  row: WorkloadRow,
  { hasLeft, isUnlisted }: EligibilityInput,
  waits: WaitReasons,
): boolean {
  if (hasLeft?.(row) === true) waits.markLeft(row);
  else if (isUnlisted?.(row) === true) waits.markUnlisted(row);
  else return false;
  return true;
}

/** The pods of a Job are made for another controller once nothing else keeps it, and if it can ever start. */
function isUngated(row: WorkloadRow, { fits }: EligibilityInput, waits: WaitReasons): boolean {
  const { jobspec, message } = row;
  const { gates } = jobspec.attributes.user ?? {};
  if (gates === undefined) return true;
  if (fits === undefined || hasPlacementRules(jobspec) || fits(jobspec)) waits.markGated(row, gates);
  else waits.markUnsatisfiable(row, message ?? '');
  return false;
}

/** What was granted once does not wait for its dependencies again: another workload may have their names since. */
function isAfterOthers(row: WorkloadRow, input: EligibilityInput, waits: WaitReasons): boolean {
  if (row.after.length === 0 || row.isAfterMet) return true;
  const { outcomeOf = noOutcome, now, cycles } = input;
  const outcome = (namespace: string, name: string) => {
    const known = outcomeOf(namespace, name);
    return known === 'active' && cycles.neverStarts(namespace, name) ? 'never' : known;
  };
  const pending = unmet(row.after, row.namespace, outcome, now - row.submittedAt);
  if (pending === undefined) return true;
  const cycle = cycles.textOf(row);
  waits.markDependency(row, cycle === undefined ? pending : `${NEVER_MET}${cycle}`);
  return false;
}
