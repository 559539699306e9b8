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
      ...(wide === undefined ? [] : this.wideSentences(wide, rows)),
      ...(impossible === undefined
        ? []
        : [`${IMPOSSIBLE} ${impossible.message}: it waits and delays no other.`]),
    ];
  }

  private wideSentences(wide: WorkloadRow, rows: readonly WorkloadRow[]): string[] {
    const overtaken = overtaking(wide, rows);
    const { phase, reason, estimatedStart, allocatedAt, pods } = wide;
    const size = `${WIDE} needs ${pods} ${pods === 1 ? 'node' : 'nodes'} at once`;
    const others = overtaken === 0 ? '' : `; ${overtaken} submitted after it went first (backfill)`;
    if (phase === 'Waiting' && reason === 'Reserved' && estimatedStart !== null) {
      this.promised ??= estimatedStart;
      const moved = this.movedBy(wide, rows, estimatedStart);
      return [`${size}: reserved for it, at ${clockTime(estimatedStart)} at the latest${moved}${others}.`];
    }
    if (allocatedAt === null || this.promised === undefined) return [];
    const promise = `promised for ${clockTime(this.promised)} at the latest`;
    const moved = this.movedBy(wide, rows, allocatedAt);
    return [`${size}: ${promise}, granted at ${clockTime(allocatedAt)}${moved}${others}.`];
  }

  /** By what its start is later than it was promised at first. */
  private movedBy(wide: WorkloadRow, rows: readonly WorkloadRow[], start: number): string {
    const promised = this.promised ?? start;
    if (second(start) <= second(promised)) return '';
    const late = overrunning(wide, rows, promised);
    const cause =
      late.length === 0 ? 'its nodes were not free in time' : `${late.join(', ')} ran past the walltime`;
    return `, ${second(start) - second(promised)} s after its first promise: ${cause}`;
  }
}

/** The whole second in which a start is shown. */
const second = (time: number) => Math.floor(time);

/** Those that should have ended by this time, and had not. */
function overrunning(wide: WorkloadRow, rows: readonly WorkloadRow[], time: number): string[] {
  return rows
    .filter(({ uid, allocatedAt, walltime, finishedAt }) => {
      const end = allocatedAt === null ? Number.POSITIVE_INFINITY : allocatedAt + walltime;
      return uid !== wide.uid && end <= time && (finishedAt ?? Number.POSITIVE_INFINITY) > time;
    })
    .map(({ name }) => name);
}

/** How many workloads are behind it in the queue and got nodes earlier. */
function overtaking(wide: WorkloadRow, rows: readonly WorkloadRow[]): number {
  const until = wide.allocatedAt ?? Number.POSITIVE_INFINITY;
  return rows.filter(({ seq, priority, allocatedAt }) => {
    const isBehind = seq > wide.seq && priority <= wide.priority;
    return isBehind && allocatedAt !== null && allocatedAt < until;
  }).length;
}
