/**
 * The candidates of a traversal in columns: a candidate is a vertex or a slot with its score and count. Lists hold the
 * numbers of candidates, one list per resource type and level. The next match reuses all arrays.
 */
import { introsort } from './sort';

export class Candidates {
  length = 0;
  score = new Float64Array(1024);
  count = new Float64Array(1024);
  /** The vertex of the candidate; -1 for a slot. */
  vertex = new Int32Array(1024);
  exclusive = new Uint8Array(1024);
  /** The candidates in a slot are `items[from, to)`. */
  from = new Int32Array(1024);
  to = new Int32Array(1024);
  items = new Int32Array(1024);
  itemCount = 0;

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
    this.from[c] = this.itemCount;
    this.to[c] = this.itemCount;
    return c;
  }

  /** Adds a candidate to the last added slot. */
  addItem(slot: number, item: number): void {
    if (this.itemCount === this.items.length)
      this.items = copied(this.items, new Int32Array(this.itemCount * 2));
    this.items[this.itemCount++] = item;
    this.to[slot] = this.itemCount;
    this.score[slot]! += this.score[item]!;
  }

  private grow(): void {
    const capacity = this.length * 2;
    this.score = copied(this.score, new Float64Array(capacity));
    this.count = copied(this.count, new Float64Array(capacity));
    this.vertex = copied(this.vertex, new Int32Array(capacity));
    this.exclusive = copied(this.exclusive, new Uint8Array(capacity));
    this.from = copied(this.from, new Int32Array(capacity));
    this.to = copied(this.to, new Int32Array(capacity));
  }
}

function copied<T extends Uint8Array | Int32Array | Float64Array>(old: T, fresh: T): T {
  fresh.set(old);
  return fresh;
}

/** A list of candidates of one type. */
export class CandidateList {
  data = new Int32Array(16);
  length = 0;
  /** Sum of the counts of the candidates. */
  total = 0;

  push(candidate: number, count: number): void {
    if (this.length === this.data.length) this.data = copied(this.data, new Int32Array(this.length * 2));
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
      this.data = copied(this.data, new Int32Array(Math.max(needed, this.data.length * 2)));
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
