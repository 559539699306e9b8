/**
 * Workloads whose plan costs too much beside the pods that are there now, but not on an empty cluster. Each try takes the time of
 * others, so it is repeated less and less often.
 */
import type { WorkloadRow } from '../../queue/workload';
import type { Pass } from './state';

const FIRST_SECONDS = 60;
const LONGEST_SECONDS = 3600;

/** Its plan costs too much now. */
export function postpone(pass: Pass, { shape }: WorkloadRow): void {
  const { costly, input } = pass;
  const before = costly.get(shape)?.seconds ?? FIRST_SECONDS / 2;
  const seconds = Math.min(2 * before, LONGEST_SECONDS);
  const at = input.now + seconds;
  costly.set(shape, { at, seconds });
  pass.wakeAt = Math.min(pass.wakeAt, at);
}

/** Whether it is too early to try it again. The next pass begins when it is not. */
export function isPostponed(pass: Pass, { shape }: WorkloadRow): boolean {
  const at = pass.costly.get(shape)?.at ?? 0;
  if (at <= pass.input.now) return false;
  pass.wakeAt = Math.min(pass.wakeAt, at);
  return true;
}

/** Those of workloads that wait. */
export function pendingRetries({ costly }: Pass, line: readonly WorkloadRow[]): Pass['costly'] {
  if (costly.size === 0) return costly;
  const shapes = new Set(line.map(({ shape }) => shape));
  return new Map([...costly].filter(([shape]) => shapes.has(shape)));
}
