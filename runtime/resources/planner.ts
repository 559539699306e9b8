/**
 * Usage over time, in several dimensions: for each point in time how much of each dimension is used until the next
 * point. The matcher has one planner per vertex of the graph, in which dimension 0 counts the jobs that touch the vertex;
 * the pass has planners for quotas and for the whole cluster.
 *
 * Spans that run already start at -Infinity. Usage then mostly falls, and the first point of a window has the highest
 * usage in it.
 *
 * Counts may have fewer dimensions than the planner: types that were added to the graph later are not in them.
 */
const NO_TIMES = new Float64Array([Number.NEGATIVE_INFINITY]);
const NO_REFS = new Int32Array(1);
const NONE = new Float64Array(0);

/** Amounts that must be free in some dimensions. */
export interface Need {
  readonly dimensions: Int32Array;
  readonly amounts: Float64Array;
}

const NO_DIMENSIONS: ReadonlySet<number> = new Set();

export class Planner {
  private times = NO_TIMES;
  /** Number of spans that begin or end at the point. */
  private refs = NO_REFS;
  private used: Float64Array;
  private length = 1;
  /** Number of jobs that hold units below the vertex at any time, not only in `uncounted` dimensions. */
  spans = 0;
  /** Number of spans that begin at a point after -Infinity. */
  private rises = 0;
  /** Usage of jobs past their end that still hold units. It counts only in windows that begin now. */
  private over: Float64Array | undefined;

  constructor(
    readonly dimensions: number,
    private readonly uncounted: ReadonlySet<number> = NO_DIMENSIONS,
  ) {
    this.used = new Float64Array(dimensions);
  }

  /** @param start -Infinity for jobs that run already */
  add(start: number, end: number, counts: Float64Array): void {
    if (this.times === NO_TIMES) this.grow();
    if (this.holdsBelow(counts)) this.spans++;
    if (start !== Number.NEGATIVE_INFINITY) this.rises++;
    const from = this.point(start);
    this.refs[from]!++;
    const to = this.point(end);
    this.refs[to]!++;
    this.shift(from, to, counts, 1);
  }

  remove(start: number, end: number, counts: Float64Array): void {
    if (this.holdsBelow(counts)) this.spans--;
    if (start !== Number.NEGATIVE_INFINITY) this.rises--;
    const from = this.indexAt(start);
    const to = this.indexAt(end);
    this.shift(from, to, counts, -1);
    this.release(to);
    this.release(from);
  }

  addOver(counts: Float64Array): void {
    if (this.holdsBelow(counts)) this.spans++;
    this.over ??= new Float64Array(this.dimensions);
    for (let k = 0; k < counts.length; k++) this.over[k]! += counts[k]!;
  }

  removeOver(counts: Float64Array): void {
    const { over } = this;
    if (over === undefined) return;
    if (this.holdsBelow(counts)) this.spans--;
    for (let k = 0; k < counts.length; k++) over[k]! -= counts[k]!;
    if (over[0] === 0) this.over = undefined;
  }

  get hasOver(): boolean {
    return this.over !== undefined;
  }

  /** Usage of a dimension at one time. */
  usedAt(dimension: number, at: number, now: number): number {
    const used = this.used[this.indexAt(at) * this.dimensions + dimension]!;
    return this.over !== undefined && at <= now ? used + this.over[dimension]! : used;
  }

  /** Whether `need` is free out of `totals` all through [start, end). */
  fits(need: Need, totals: Float64Array, start: number, end: number, now: number): boolean {
    for (let i = this.indexAt(start); i < this.length && (i === 0 || this.times[i]! < end); i++) {
      const late = this.lateAt(i, start, now) ? this.over! : NONE;
      if (!this.fitsAt(i * this.dimensions, need, totals, late)) return false;
      if (this.rises === 0) return true;
    }
    return true;
  }

  /** How many times `need` is free out of `totals` all through [start, end); Infinity if nothing is needed. */
  countFree(need: Need, totals: Float64Array, start: number, end: number, now: number): number {
    const { dimensions, amounts } = need;
    let least = Number.POSITIVE_INFINITY;
    for (let i = this.indexAt(start); i < this.length && (i === 0 || this.times[i]! < end); i++) {
      const late = this.lateAt(i, start, now) ? this.over! : NONE;
      const row = i * this.dimensions;
      for (let j = 0; j < dimensions.length; j++) {
        const k = dimensions[j]!;
        const taken = this.used[row + k]! + (late === NONE ? 0 : late[k]!);
        least = Math.min(least, Math.floor((totals[k]! - taken) / amounts[j]!));
      }
      if (least <= 0) return 0;
      if (this.rises === 0) return least;
    }
    return least;
  }

  /**
   * The time before which no window of this length fits; -Infinity if [start, end) fits. A later window still covers the
   * last point with too much usage until that point ends.
   */
  blockedUntil(need: Need, totals: Float64Array, start: number, end: number, now: number): number {
    let until = Number.NEGATIVE_INFINITY;
    for (let i = this.indexAt(start); i < this.length && (i === 0 || this.times[i]! < end); i++) {
      const row = i * this.dimensions;
      const next = i + 1 < this.length ? this.times[i + 1]! : Number.POSITIVE_INFINITY;
      if (!this.fitsAt(row, need, totals, NONE)) until = next;
      else if (this.lateAt(i, start, now) && !this.fitsAt(row, need, totals, this.over!)) until = now + 1;
      else if (this.rises === 0) return until;
    }
    return until;
  }

  private lateAt(point: number, start: number, now: number): boolean {
    return this.over !== undefined && Math.max(this.times[point]!, start) <= now;
  }

  private fitsAt(
    row: number,
    { dimensions, amounts }: Need,
    totals: Float64Array,
    late: Float64Array,
  ): boolean {
    for (let j = 0; j < dimensions.length; j++) {
      const k = dimensions[j]!;
      const taken = this.used[row + k]! + (late === NONE ? 0 : late[k]!);
      if (taken + amounts[j]! > totals[k]!) return false;
    }
    return true;
  }

  /** Whether no job uses the vertex in [start, end). */
  untouched(start: number, end: number, now: number): boolean {
    if (this.length === 1 && this.over === undefined) return true;
    if (this.over !== undefined && start <= now) return false;
    for (let i = this.indexAt(start); i < this.length && (i === 0 || this.times[i]! < end); i++) {
      if (this.used[i * this.dimensions] !== 0) return false;
      if (this.rises === 0) return true;
    }
    return true;
  }

  /** The points after `now` in ascending order: only at these can anything become free. */
  pointsAfter(now: number): number[] {
    const points = Array.from(this.times.subarray(this.indexAt(now) + 1, this.length));
    if (this.over !== undefined && points[0] !== now + 1) points.unshift(now + 1);
    return points;
  }

  /** A copy with more dimensions. */
  widened(dimensions: number): Planner {
    const copy = this.clone(dimensions);
    if (copy.over !== undefined) {
      const over = new Float64Array(dimensions);
      over.set(copy.over);
      copy.over = over;
    }
    return copy;
  }

  clone(dimensions = this.dimensions): Planner {
    const copy = new Planner(dimensions, this.uncounted);
    copy.times = this.times.slice();
    copy.refs = this.refs.slice();
    copy.used = new Float64Array(this.times.length * dimensions);
    for (let i = 0; i < this.length; i++) {
      copy.used.set(this.used.subarray(i * this.dimensions, (i + 1) * this.dimensions), i * dimensions);
    }
    copy.length = this.length;
    copy.rises = this.rises;
    copy.spans = this.spans;
    copy.over = this.over?.slice();
    return copy;
  }

  /** The last point that is not after `at`. */
  private indexAt(at: number): number {
    let low = 0;
    let high = this.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.times[middle]! <= at) low = middle;
      else high = middle;
    }
    return low;
  }

  private point(at: number): number {
    const before = this.indexAt(at);
    if (this.times[before] === at) return before;
    if (this.length === this.times.length) this.grow();
    const { dimensions } = this;
    const index = before + 1;
    this.times.copyWithin(index + 1, index, this.length);
    this.refs.copyWithin(index + 1, index, this.length);
    this.used.copyWithin((index + 1) * dimensions, index * dimensions, this.length * dimensions);
    this.used.copyWithin(index * dimensions, before * dimensions, index * dimensions);
    this.times[index] = at;
    this.refs[index] = 0;
    this.length++;
    return index;
  }

  private release(index: number): void {
    this.refs[index]!--;
    if (index === 0 || this.refs[index] !== 0) return;
    const { dimensions } = this;
    this.times.copyWithin(index, index + 1, this.length);
    this.refs.copyWithin(index, index + 1, this.length);
    this.used.copyWithin(index * dimensions, (index + 1) * dimensions, this.length * dimensions);
    this.length--;
  }

  private shift(from: number, to: number, counts: Float64Array, sign: number): void {
    const { dimensions, used } = this;
    for (let i = from; i < to; i++) {
      for (let k = 0; k < counts.length; k++) used[i * dimensions + k]! += sign * counts[k]!;
    }
  }

  private grow(): void {
    const capacity = Math.max(4, this.length * 2);
    const times = new Float64Array(capacity);
    times.set(this.times);
    const refs = new Int32Array(capacity);
    refs.set(this.refs);
    const used = new Float64Array(capacity * this.dimensions);
    used.set(this.used);
    this.times = times;
    this.refs = refs;
    this.used = used;
  }

  private holdsBelow(counts: Float64Array): boolean {
    for (let k = 1; k < counts.length; k++) if (counts[k]! > 0 && !this.uncounted.has(k)) return true;
    return false;
  }
}
