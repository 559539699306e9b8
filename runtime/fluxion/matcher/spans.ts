/** Who holds what, when. A job's spans lie on the vertices it holds and on every branch above them. */

import type { Need } from '../../resources/planner';
import type { Branch } from './branch';
import type { ResourceGraph } from './resource-graph';

const RUNNING = Number.NEGATIVE_INFINITY;

/** What a match gives, before or after it is held. Parallel arrays: `counts[i]` is what is held below `touched[i]`. */
export interface Grant {
  /** Vertices given exclusively, in the order of the answer. */
  readonly held: readonly number[];
  /** All vertices of the answer: children before parents. */
  readonly emitted: readonly number[];
  readonly touched: readonly Branch[];
  readonly counts: readonly Float64Array[];
}

export interface Job extends Grant {
  readonly id: number;
  readonly start: number;
  readonly end: number;
  /** A reservation, not an allocation. */
  readonly reserved: boolean;
  /** Row of its times. */
  readonly row: number;
  /** Its start in timelines. */
  readonly from: number;
  /** Past its end, and not cancelled. */
  over: boolean;
}

export class Spans {
  readonly jobs = new Map<number, Job>();
  now = 0;
  /** Vertex -> its first span, -1 for none; spans are linked. */
  head = new Int32Array(0);
  /** By row of the branch and dimension: its total without what runs. No more than this is free now. */
  private spare = new Float64Array(0);
  private spanRow = new Int32Array(64);
  private spanNext = new Int32Array(64);
  private spans = 0;
  private freeSpan = -1;
  private rowStart = new Float64Array(16);
  private rowEnd = new Float64Array(16);
  private rowAllocated = new Uint8Array(16);
  private rows = 0;
  private readonly freeRows: number[] = [];
  private nextEnd = Number.POSITIVE_INFINITY;
  private readonly late = new Set<Job>();

  constructor(private readonly graph: ResourceGraph) {
    this.fit();
  }

  /** To be called when the graph has changed. */
  fit(): void {
    if (this.head.length < this.graph.count) {
      const head = new Int32Array(this.graph.type.length).fill(-1);
      head.set(this.head);
      this.head = head;
    }
    const { dimensions, rows } = this.graph;
    this.spare = new Float64Array(rows * dimensions);
    for (const { row, totals } of this.graph.branchOf.values()) this.spare.set(totals, row * dimensions);
    for (const job of this.jobs.values()) this.spend(job, -1);
  }

  /** Adds to (1) or takes from (-1) what is spare what a running job holds. */
  private spend(job: Job, sign: 1 | -1): void {
    if (job.from !== RUNNING) return;
    const { dimensions } = this.graph;
    job.touched.forEach(({ row }, i) => {
      const counts = job.counts[i]!;
      for (let k = 1; k < counts.length; k++) this.spare[row * dimensions + k]! += sign * counts[k]!;
    });
  }

  /** Whether what runs leaves less than needed below a branch now; a look at one place in memory. */
  isShortNow(row: number, { dimensions, amounts }: Need): boolean {
    const at = row * this.graph.dimensions;
    for (let j = 0; j < dimensions.length; j++)
      if (this.spare[at + dimensions[j]!]! < amounts[j]!) return true;
    return false;
  }

  /** Whether nobody holds `v` exclusively in [start, end). */
  isFree(v: number, start: number, end: number): boolean {
    for (let span = this.head[v]!; span >= 0; span = this.spanNext[span]!) {
      const row = this.spanRow[span]!;
      if (this.rowStart[row]! < end && this.rowEnd[row]! > start) return false;
    }
    return true;
  }

  /** The time before which a window that overlaps a hold of `v` can't start; -Infinity when [start, end) is free. */
  takenUntil(v: number, start: number, end: number): number {
    let until = Number.NEGATIVE_INFINITY;
    for (let span = this.head[v]!; span >= 0; span = this.spanNext[span]!) {
      const row = this.spanRow[span]!;
      if (this.rowStart[row]! < end && this.rowEnd[row]! > start) until = Math.max(until, this.rowEnd[row]!);
    }
    return until;
  }

  /** Whether an allocation holds `v`, at whatever time. */
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
    for (const v of grant.held) this.addSpan(v, row);
    grant.touched.forEach((branch, i) => {
      branch.planner.add(from, end, grant.counts[i]!);
    });
    this.jobs.set(id, job);
    this.spend(job, -1);
    if (!reserved) {
      this.nextEnd = Math.min(this.nextEnd, end);
      // Replayed after its end.
      if (end <= this.now) this.markLate(this.now);
    }
    return job;
  }

  release(job: Job): void {
    for (const v of job.held) this.dropSpan(v, job.row);
    job.touched.forEach((branch, i) => {
      this.dropCounts(job, branch, job.counts[i]!);
    });
    this.spend(job, 1);
    this.freeRows.push(job.row);
    this.jobs.delete(job.id);
    this.late.delete(job);
  }

  /** Leaves the job with what `rest` says, a part of what it has. */
  shrink(job: Job, rest: Grant): void {
    const kept = new Set(rest.held);
    for (const v of job.held) if (!kept.has(v)) this.dropSpan(v, job.row);
    job.touched.forEach((branch, i) => {
      this.dropCounts(job, branch, job.counts[i]!);
    });
    rest.touched.forEach((branch, i) => {
      if (job.over) branch.planner.addOver(rest.counts[i]!);
      else branch.planner.add(job.from, job.end, rest.counts[i]!);
    });
    const less: Job = { ...job, ...rest };
    this.spend(job, 1);
    this.spend(less, -1);
    this.jobs.set(job.id, less);
    if (this.late.delete(job)) this.late.add(less);
  }

  /** Time goes on: who has overrun holds for one more second. */
  advance(now: number): void {
    if (now <= this.now) return;
    this.now = now;
    if (this.nextEnd <= now) this.markLate(now);
    for (const job of this.late) this.rowEnd[job.row] = now + 1;
  }

  private markLate(now: number): void {
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
      this.late.add(job);
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

  private addSpan(v: number, row: number): void {
    let span = this.freeSpan;
    if (span >= 0) this.freeSpan = this.spanNext[span]!;
    else {
      span = this.spans++;
      if (span >= this.spanRow.length) {
        this.spanRow = doubled(this.spanRow);
        this.spanNext = doubled(this.spanNext);
      }
    }
    this.spanRow[span] = row;
    this.spanNext[span] = this.head[v]!;
    this.head[v] = span;
  }

  private dropSpan(v: number, row: number): void {
    let before = -1;
    for (let span = this.head[v]!; span >= 0; span = this.spanNext[span]!) {
      if (this.spanRow[span] === row) {
        if (before < 0) this.head[v] = this.spanNext[span]!;
        else this.spanNext[before] = this.spanNext[span]!;
        this.spanNext[span] = this.freeSpan;
        this.freeSpan = span;
        return;
      }
      before = span;
    }
  }

  /** The same over a copy of the graph. */
  clone(graph: ResourceGraph): Spans {
    const copy = new Spans(graph);
    copy.now = this.now;
    copy.head = this.head.slice();
    copy.spanRow = this.spanRow.slice();
    copy.spanNext = this.spanNext.slice();
    copy.spans = this.spans;
    copy.freeSpan = this.freeSpan;
    copy.rowStart = this.rowStart.slice();
    copy.rowEnd = this.rowEnd.slice();
    copy.rowAllocated = this.rowAllocated.slice();
    copy.rows = this.rows;
    copy.freeRows.push(...this.freeRows);
    copy.nextEnd = this.nextEnd;
    for (const [id, job] of this.jobs) {
      const twin = { ...job, touched: job.touched.map(({ vertex }) => graph.branchOf.get(vertex)!) };
      copy.jobs.set(id, twin);
      if (twin.over) copy.late.add(twin);
    }
    copy.fit();
    return copy;
  }
}

function doubled<T extends Int32Array | Float64Array>(old: T): T {
  const fresh = new (old.constructor as new (length: number) => T)(old.length * 2);
  fresh.set(old);
  return fresh;
}
