/** What the demo shows, in sentences that are true at the moment of the rows: backfill, a kept promise, an impossible Job. */
import type { WorkloadRow } from '../../runtime/queue/workload';
import { clockTime } from './clock-time';

/** The names of examples/jobs. */
const WIDE = 'wide';
const IMPOSSIBLE = 'impossible';

/** Remembers the first promise to the wide Job: its row forgets it when the Job starts. */
export class Story {
  private promised: number | undefined;

  of(rows: readonly WorkloadRow[]): readonly string[] {
    const wide = rows.find(({ name }) => name === WIDE);
    const impossible = rows.find(({ name, reason }) => name === IMPOSSIBLE && reason === 'Unsatisfiable');
    return [
      ...(wide === undefined ? [] : this.wideSentences(wide, overtaking(wide, rows))),
      ...(impossible === undefined
        ? []
        : [`${IMPOSSIBLE} ${impossible.message}: it waits and delays no other.`]),
    ];
  }

  private wideSentences(wide: WorkloadRow, overtaken: number): string[] {
    const { phase, reason, estimatedStart, allocatedAt, pods } = wide;
    const size = `${WIDE} needs ${pods} ${pods === 1 ? 'node' : 'nodes'} at once`;
    const others = overtaken === 0 ? '' : `; ${overtaken} submitted after it went first (backfill)`;
    if (phase === 'Waiting' && reason === 'Reserved' && estimatedStart !== null) {
      this.promised ??= estimatedStart;
      return [`${size}: reserved for it, at ${clockTime(estimatedStart)} at the latest${others}.`];
    }
    if (allocatedAt === null || this.promised === undefined) return [];
    const promise = `promised for ${clockTime(this.promised)} at the latest`;
    return [`${size}: ${promise}, granted at ${clockTime(allocatedAt)}${others}.`];
  }
}

/** How many workloads are behind it in the queue and got nodes earlier. */
function overtaking(wide: WorkloadRow, rows: readonly WorkloadRow[]): number {
  const until = wide.allocatedAt ?? Number.POSITIVE_INFINITY;
  return rows.filter(({ seq, priority, allocatedAt }) => {
    const isBehind = seq > wide.seq && priority <= wide.priority;
    return isBehind && allocatedAt !== null && allocatedAt < until;
  }).length;
}
