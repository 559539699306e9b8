/**
 * The candidates of a traversal in columns: a candidate is a vertex, a run of units of a vertex, or a slot, with its
 * score and count. Lists hold the numbers of candidates, one list per resource type and level. The next match reuses
 * all arrays.
 *
 * A run stands for as many candidates as it has units. Their ids are consecutive and no other candidate has an id in
 * between, so the run sorts as one candidate with the score of its best unit, and is cut where a choice ends.
 */
import { grown } from './columns';
import { introsort } from './sort';

export class Candidates {
  length = 0;
  score = new Float64Array(1024);
  count = new Float64Array(1024);
  /** The vertex of the candidate; -1 for a slot. */
  vertex = new Int32Array(1024);
  exclusive = new Uint8Array(1024);
  /** The first unit of a run, whose count is its number of units; -1 for any other candidate. */
  firstUnit = new Int32Array(1024);
  /** The candidates in a slot are `items[from, to)`. */
  from = new Int32Array(1024);
  to = new Int32Array(1024);
  items = new Int32Array(1024);
  itemCount = 0;
  /** From the score of a unit of a run to the next best one. */
  private readonly step: 1 | -1;

  /** @param greaterFirst whether greater scores are better */
  constructor(greaterFirst: boolean) {
    this.step = greaterFirst ? -1 : 1;
  }

  clear(): void {
    this.length = 0;
    this.itemCount = 0;
  }

  add(vertex: number, score: number, count: number, exclusive: boolean): number {
    if (this.length === this.score.length) this.grow();
    const c = this.length++;
    this.vertex[c] = vertex;
    this.score[c] = score;
    this.count[c] = count;
    this.exclusive[c] = exclusive ? 1 : 0;
    this.firstUnit[c] = -1;
    this.from[c] = this.itemCount;
    this.to[c] = this.itemCount;
    return c;
  }

  /** @param score of unit 0 of the vertex */
  addRun(vertex: number, from: number, to: number, score: number, exclusive: boolean): number {
    const best = this.step === 1 ? from : to - 1;
    const c = this.add(vertex, score + best, to - from, exclusive);
    this.firstUnit[c] = from;
    return c;
  }

  isRun(c: number): boolean {
    return this.firstUnit[c]! >= 0;
  }

  /** The `count` best units of a run after the `skipped` best ones. */
  partOf(run: number, skipped: number, count: number): number {
    const units = this.count[run]!;
    if (count === units) return run;
    const c = this.add(
      this.vertex[run]!,
      this.score[run]! + this.step * skipped,
      count,
      this.exclusive[run] === 1,
    );
    this.firstUnit[c] = this.firstUnit[run]! + (this.step === 1 ? skipped : units - skipped - count);
    return c;
  }

  /** The sum of the scores of the units of a run, or the score of any other candidate. */
  private wholeScore(c: number): number {
    const [score, count] = [this.score[c]!, this.count[c]!];
    return this.isRun(c) ? count * score + (this.step * count * (count - 1)) / 2 : score;
  }

  /** Adds a candidate to the last added slot. */
  addItem(slot: number, item: number): void {
    if (this.itemCount === this.items.length)
      this.items = grown(this.items, new Int32Array(this.itemCount * 2));
    this.items[this.itemCount++] = item;
    this.to[slot] = this.itemCount;
    this.score[slot]! += this.wholeScore(item);
  }

  private grow(): void {
    const capacity = this.length * 2;
    this.score = grown(this.score, new Float64Array(capacity));
    this.count = grown(this.count, new Float64Array(capacity));
    this.vertex = grown(this.vertex, new Int32Array(capacity));
    this.exclusive = grown(this.exclusive, new Uint8Array(capacity));
    this.firstUnit = grown(this.firstUnit, new Int32Array(capacity));
    this.from = grown(this.from, new Int32Array(capacity));
    this.to = grown(this.to, new Int32Array(capacity));
  }
}

/** A list of candidates of one type. */
export class CandidateList {
  data = new Int32Array(16);
  length = 0;
  /** Sum of the counts of the candidates. */
  total = 0;

  push(candidate: number, count: number): void {
    if (this.length === this.data.length) this.data = grown(this.data, new Int32Array(this.length * 2));
    this.data[this.length++] = candidate;
    this.total += count;
  }

  clear(): void {
    this.length = 0;
    this.total = 0;
  }

  append(other: CandidateList): void {
    const needed = this.length + other.length;
    if (needed > this.data.length) {
      this.data = grown(this.data, new Int32Array(Math.max(needed, this.data.length * 2)));
    }
    this.data.set(other.data.subarray(0, other.length), this.length);
    this.length = needed;
    this.total += other.total;
  }

  /** Sorts by score with the result of `std::sort`. Most lists are already in order, or in reverse order, without ties. */
  sort(score: Float64Array, greaterFirst: boolean): void {
    const { data, length } = this;
    let up = true;
    let down = true;
    for (let i = 1; i < length && (up || down); i++) {
      const difference = score[data[i]!]! - score[data[i - 1]!]!;
      if (difference <= 0) up = false;
      if (difference >= 0) down = false;
    }
    if (greaterFirst ? down : up) return;
    if (greaterFirst ? up : down) data.subarray(0, length).reverse();
    else if (greaterFirst) introsort(data, 0, length, (a, b) => score[a]! > score[b]!);
    else introsort(data, 0, length, (a, b) => score[a]! < score[b]!);
  }
}

/** The candidates found below one vertex, by type (flux-sched's `scoring_api_t`). */
export class CandidateLists {
  private readonly lists: (CandidateList | undefined)[] = [];
  private readonly used: number[] = [];
  /** Candidates were chosen at this vertex, so the lists are not merged into those of its parent. */
  chosen = false;
  /** Size of the vertex itself. */
  available = 0;
  score = 0;

  clear(): this {
    for (const type of this.used) this.lists[type]!.clear();
    this.used.length = 0;
    this.chosen = false;
    this.available = 0;
    this.score = 0;
    return this;
  }

  /** The list of a type, empty at first. */
  list(type: number): CandidateList {
    const list = this.lists[type];
    if (list === undefined) {
      this.used.push(type);
      const fresh = new CandidateList();
      this.lists[type] = fresh;
      return fresh;
    }
    if (list.length === 0 && !this.used.includes(type)) this.used.push(type);
    return list;
  }

  total(type: number): number {
    return this.lists[type]?.total ?? 0;
  }

  merge(below: CandidateLists): void {
    for (const type of below.used) this.list(type).append(below.lists[type]!);
  }
}
