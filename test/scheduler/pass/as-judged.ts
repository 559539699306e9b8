import type { WorkloadRow } from '../../../runtime/queue/workload';
import type { Allocation } from '../../../runtime/resources/types';
import {
  dueEnd,
  lastingLonger,
  startLimitOf,
  TERMINATION_SECONDS,
} from '../../../runtime/scheduler/pass/planned-end';
import type { Simulation } from './simulation';

/** Behind a promise that waits for what has not ended, it would have to fit with a minute for its start and its grace period. */
export function asJudged({ rows, reservations, now }: Simulation, row: WorkloadRow): WorkloadRow {
  const namesOf = (allocation: Allocation | null) => allocation?.nodes.map(({ name }) => name) ?? [];
  const overdue = [...rows.values()].filter((one) => one.allocation !== null && dueEnd(one) <= now);
  const nodes = new Set(overdue.flatMap(({ allocation }) => namesOf(allocation)));
  const isLate = reservations.some(({ allocation }) => namesOf(allocation).some((name) => nodes.has(name)));
  return isLate ? lastingLonger(row, startLimitOf(row) + TERMINATION_SECONDS - row.walltime) : row;
}
