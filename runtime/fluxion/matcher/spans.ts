/** The spans of all jobs. A job has a span on each vertex that it holds, and counts in the planner of every ancestor. */

import type { Need } from '../../resources/planner';
import type { Branch } from './branch';
import type { Piece } from './piece';
import type { ResourceGraph } from './resource-graph';

const RUNNING = Number.NEGATIVE_INFINITY;

/** The result of a match. `touched` and `counts` are parallel arrays: `counts[i]` is the size held below `touched[i]`. */
export interface Grant {
  /** Exclusively allocated vertices, in the order of the answer. */
  readonly held: readonly Piece[];
  /** All vertices of the answer, children before parents; pieces that are held are the same objects as in `held`. */
  readonly emitted: readonly Piece[];
  readonly touched: readonly Branch[];
  readonly counts: readonly Float64Array[];
}

export interface Job extends Grant {
  readonly id: number;
  readonly start: number;
  readonly end: number;
  /** The job has a reservation, not an allocation. */
  readonly reserved: boolean;
  /** Index of its times in the columns. */
  readonly row: number;
  /** Its start in planners: -Infinity if it has started. */
  readonly from: number;
  /** The job is past its end and not cancelled. */
  over: boolean;
}

export class Spans {
  readonly jobs = new Map<number, Job>();
  now = 0;
  /** The first span of each vertex, -1 for none; the spans of a vertex are a linked list, by their first unit. */
  head = new Int32Array(0);
  /** By row of the branch and dimension: its total minus running jobs, an upper bound of the free size now. */
  private spare = new Float64Array(0);
  private spanRow = new Int32Array(64);
  private spanNext = new Int32Array(64);
  /** The units of the vertex that the span holds: from `spanFrom` to `spanTo`, exclusive. */
  private spanFrom = new Int32Array(64);
  private spanTo = new Int32Array(64);
  private spans = 0;
  private firstFreeSpan = -1;
  private rowStart = new Float64Array(16);
  private rowEnd = new Float64Array(16);
  private rowAllocated = new Uint8Array(16);
  private rows = 0;
  private readonly freeRows: number[] = [];
  private nextEnd = Number.POSITIVE_INFINITY;
  private readonly overrun = new Set<Job>();
  /** Jobs that hold racks or zones as a whole, and nothing else. */
  private readonly onLevels = new Set<number>();

  constructor(private readonly graph: ResourceGraph) {
    this.fit();
  }

  /** The caller has changed the graph. */
  fit(): void {
    if (this.head.length < this.graph.count) {
      const head = new Int32Array(this.graph.type.length).fill(-1);
      head.set(this.head);
      this.head = head;
    }
    const { dimensions, rows } = this.graph;
    this.spare = new Float64Array(rows * dimensions);
    for (const { row, totals } of this.graph.branchOf.values()) this.spare.set(totals, row * dimensions);
    for (const job of this.jobs.values()) this.addToSpare(job, -1);
  }

  /** Adds (1) or subtracts (-1) the size of a running job to the spare sizes. */
  private addToSpare(job: Job, sign: 1 | -1): void {
    if (job.from !== RUNNING) return;
    const { dimensions } = this.graph;
    job.touched.forEach(({ row }, i) => {
      const counts = job.counts[i]!;
      for (let k = 1; k < counts.length; k++) this.spare[row * dimensions + k]! += sign * counts[k]!;
    });
  }

  /** Whether running jobs leave less than the need below a branch now; reads only one place in memory. */
  isShortNow(row: number, { dimensions, amounts }: Need): boolean {
    const at = row * this.graph.dimensions;
    for (let j = 0; j < dimensions.length; j++)
      if (this.spare[at + dimensions[j]!]! < amounts[j]!) return true;
    return false;
  }

  /** Whether no job holds `v` exclusively in [start, end). */
  isFree(v: number, start: number, end: number): boolean {
    for (let span = this.head[v]!; span >= 0; span = this.spanNext[span]!) {
      const row = this.spanRow[span]!;
      if (this.rowStart[row]! < end && this.rowEnd[row]! > start) return false;
    }
    return true;
  }

  /** The first of the units [from, to) of `v` that a job holds in [start, end); -1 if none is held. */
  firstHeld({ vertex, from, to }: Piece, start: number, end: number): number {
    for (let span = this.head[vertex]!; span >= 0; span = this.spanNext[span]!) {
      const row = this.spanRow[span]!;
      if (this.rowStart[row]! >= end || this.rowEnd[row]! <= start) continue;
      if (this.spanFrom[span]! < to && this.spanTo[span]! > from) return Math.max(from, this.spanFrom[span]!);
    }
    return -1;
  }

  /**
   * The units of a leaf that no job holds in [start, end), as pairs of the first unit and the unit after the last.
   * @param strict units that an allocation, not a reservation, holds at any time are not free
   * @param pairs is overwritten
   * @returns the number of pairs
   */
  freeRuns(v: number, start: number, end: number, strict: boolean, pairs: number[]): number {
    const units = this.graph.run[v]!;
    let count = 0;
    let free = 0;
    for (let span = this.head[v]!; span >= 0; span = this.spanNext[span]!) {
      const row = this.spanRow[span]!;
      const meets = this.rowStart[row]! < end && this.rowEnd[row]! > start;
      if (!meets && !(strict && this.rowAllocated[row] === 1)) continue;
      const from = this.spanFrom[span]!;
      if (from > free) {
        pairs[2 * count] = free;
        pairs[2 * count++ + 1] = from;
      }
      if (this.spanTo[span]! > free) free = this.spanTo[span]!;
    }
    if (free < units) {
      pairs[2 * count] = free;
      pairs[2 * count++ + 1] = units;
    }
    return count;
  }

  /** The number of units of a leaf that no job holds in [start, end). */
  freeUnits(v: number, start: number, end: number): number {
    const pairs: number[] = [];
    const count = this.freeRuns(v, start, end, false, pairs);
    let units = 0;
    for (let i = 0; i < count; i++) units += pairs[2 * i + 1]! - pairs[2 * i]!;
    return units;
  }

  /** The latest end of the spans on `v` that overlap [start, end); -Infinity without such a span. */
  takenUntil(v: number, start: number, end: number): number {
    let until = Number.NEGATIVE_INFINITY;
    for (let span = this.head[v]!; span >= 0; span = this.spanNext[span]!) {
      const row = this.spanRow[span]!;
      if (this.rowStart[row]! < end && this.rowEnd[row]! > start) until = Math.max(until, this.rowEnd[row]!);
    }
    return until;
  }

  /** Whether an allocation, not a reservation, holds `v` at any time. */
  isAllocated(v: number): boolean {
    for (let span = this.head[v]!; span >= 0; span = this.spanNext[span]!) {
      if (this.rowAllocated[this.spanRow[span]!] === 1) return true;
    }
    return false;
  }

  hold(id: number, grant: Grant, start: number, end: number, reserved: boolean): Job {
    const row = this.takeRow(start, end, !reserved);
    const from = start > this.now ? start : RUNNING;
    const job: Job = { ...grant, id, start, end, reserved, row, from, over: false };
    for (const piece of grant.held) this.addSpan(piece, row);
    grant.touched.forEach((branch, i) => {
      branch.planner.add(from, end, grant.counts[i]!);
    });
    this.jobs.set(id, job);
    const isOnLevels = grant.held.length > 0 && grant.held.every(({ vertex }) => this.isLevel(vertex));
    if (isOnLevels) this.onLevels.add(id);
    this.addToSpare(job, -1);
    if (!reserved) {
      this.nextEnd = Math.min(this.nextEnd, end);
      // A replay after the end of the job.
      if (end <= this.now) this.markOverrun(this.now);
    }
    return job;
  }

  release(job: Job): void {
    for (const piece of job.held) this.dropSpan(piece, job.row);
    job.touched.forEach((branch, i) => {
      this.dropCounts(job, branch, job.counts[i]!);
    });
    this.addToSpare(job, 1);
    this.freeRows.push(job.row);
    this.jobs.delete(job.id);
    this.onLevels.delete(job.id);
    this.overrun.delete(job);
  }

  private isLevel(vertex: number): boolean {
    return this.graph.branchOf.has(vertex) && this.graph.nodeAbove(vertex) === undefined;
  }

  /**
   * Whether a reservation may start at the time at which some job ends. flux-sched does not count racks and zones, so it does
   * not see the end of a job that holds nothing else.
   */
  isCandidate(at: number): boolean {
    if (this.onLevels.size === 0) return true;
    for (const { id, from, end, over } of this.jobs.values()) {
      const isPoint = from === at || (over ? this.now + 1 : end) === at;
      if (isPoint && !this.onLevels.has(id)) return true;
    }
    return false;
  }

  /** Reduces the grant of a job to `rest`, which has some of its pieces. */
  shrink(job: Job, rest: Grant): void {
    const kept = new Set(rest.held);
    for (const piece of job.held) if (!kept.has(piece)) this.dropSpan(piece, job.row);
    job.touched.forEach((branch, i) => {
      this.dropCounts(job, branch, job.counts[i]!);
    });
    rest.touched.forEach((branch, i) => {
      if (job.over) branch.planner.addOver(rest.counts[i]!);
      else branch.planner.add(job.from, job.end, rest.counts[i]!);
    });
    const less: Job = { ...job, ...rest };
    this.addToSpare(job, 1);
    this.addToSpare(less, -1);
    this.jobs.set(job.id, less);
    if (this.overrun.delete(job)) this.overrun.add(less);
  }

  /** Moves the time forward: a job past its end holds for one more second. */
  advance(now: number): void {
    if (now <= this.now) return;
    this.now = now;
    if (this.nextEnd <= now) this.markOverrun(now);
    for (const job of this.overrun) this.rowEnd[job.row] = now + 1;
  }

  private markOverrun(now: number): void {
    this.nextEnd = Number.POSITIVE_INFINITY;
    for (const job of this.jobs.values()) {
      if (job.reserved || job.over) continue;
      if (job.end > now) {
        this.nextEnd = Math.min(this.nextEnd, job.end);
        continue;
      }
      job.touched.forEach((branch, i) => {
        branch.planner.remove(job.from, job.end, job.counts[i]!);
        branch.planner.addOver(job.counts[i]!);
      });
      job.over = true;
      this.overrun.add(job);
      this.rowEnd[job.row] = now + 1;
    }
  }

  private dropCounts(job: Job, branch: Branch, counts: Float64Array): void {
    if (job.over) branch.planner.removeOver(counts);
    else branch.planner.remove(job.from, job.end, counts);
  }

  private takeRow(start: number, end: number, allocated: boolean): number {
    const row = this.freeRows.pop() ?? this.rows++;
    if (row >= this.rowStart.length) {
      this.rowStart = doubled(this.rowStart);
      this.rowEnd = doubled(this.rowEnd);
      const kinds = new Uint8Array(this.rowAllocated.length * 2);
      kinds.set(this.rowAllocated);
      this.rowAllocated = kinds;
    }
    this.rowStart[row] = start;
    this.rowEnd[row] = end;
    this.rowAllocated[row] = allocated ? 1 : 0;
    return row;
  }

  private addSpan({ vertex, from, to }: Piece, row: number): void {
    let span = this.firstFreeSpan;
    if (span >= 0) this.firstFreeSpan = this.spanNext[span]!;
    else {
      span = this.spans++;
      if (span >= this.spanRow.length) {
        this.spanRow = doubled(this.spanRow);
        this.spanNext = doubled(this.spanNext);
        this.spanFrom = doubled(this.spanFrom);
        this.spanTo = doubled(this.spanTo);
      }
    }
    this.spanRow[span] = row;
    this.spanFrom[span] = from;
    this.spanTo[span] = to;
    let before = -1;
    let next = this.head[vertex]!;
    for (; next >= 0 && this.spanFrom[next]! < from; next = this.spanNext[next]!) before = next;
    this.spanNext[span] = next;
    if (before < 0) this.head[vertex] = span;
    else this.spanNext[before] = span;
  }

  private dropSpan({ vertex, from }: Piece, row: number): void {
    let before = -1;
    for (let span = this.head[vertex]!; span >= 0; span = this.spanNext[span]!) {
      if (this.spanRow[span] === row && this.spanFrom[span] === from) {
        if (before < 0) this.head[vertex] = this.spanNext[span]!;
        else this.spanNext[before] = this.spanNext[span]!;
        this.spanNext[span] = this.firstFreeSpan;
        this.firstFreeSpan = span;
        return;
      }
      before = span;
    }
  }

  /** A copy of the spans for a copy of the graph. */
  clone(graph: ResourceGraph): Spans {
    const copy = new Spans(graph);
    copy.now = this.now;
    copy.head = this.head.slice();
    copy.spanRow = this.spanRow.slice();
    copy.spanNext = this.spanNext.slice();
    copy.spanFrom = this.spanFrom.slice();
    copy.spanTo = this.spanTo.slice();
    copy.spans = this.spans;
    copy.firstFreeSpan = this.firstFreeSpan;
    copy.rowStart = this.rowStart.slice();
    copy.rowEnd = this.rowEnd.slice();
    copy.rowAllocated = this.rowAllocated.slice();
    copy.rows = this.rows;
    copy.freeRows.push(...this.freeRows);
    copy.nextEnd = this.nextEnd;
    for (const [id, job] of this.jobs) {
      const twin = { ...job, touched: job.touched.map(({ vertex }) => graph.branchOf.get(vertex)!) };
      copy.jobs.set(id, twin);
      if (twin.over) copy.overrun.add(twin);
    }
    for (const id of this.onLevels) copy.onLevels.add(id);
    copy.fit();
    return copy;
  }
}

function doubled<T extends Int32Array | Float64Array>(old: T): T {
  const fresh = new (old.constructor as new (length: number) => T)(old.length * 2);
  fresh.set(old);
  return fresh;
}
