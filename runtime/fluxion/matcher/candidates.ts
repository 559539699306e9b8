/**
 * What a walk finds, as columns: a candidate is a vertex or a slot with its
 * score and count. Lists hold candidates' numbers, one list per resource type
 * and level of the walk; all of it is used again for the next match.
 */
import { introsort } from './sort';

export class Candidates {
  length = 0;
  score = new Float64Array(1024);
  count = new Float64Array(1024);
  /** -1 for a slot. */
  vertex = new Int32Array(1024);
  exclusive = new Uint8Array(1024);
  /** A slot's candidates: `items[from, to)`. */
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

  /** Puts a candidate into the slot that was added last. */
  addItem(slot: number, item: number): void {
    if (this.itemCount === this.items.length)
      this.items = copied(this.items, new Int32Array(this.itemCount * 2));
    this.items[this.itemCount++] = item;
    this.to[slot] = this.itemCount;
    this.score[slot]! += this.score[item]!;
  }

  private grow(): void {
    const countFree = this.length * 2;
    this.score = copied(this.score, new Float64Array(countFree));
    this.count = copied(this.count, new Float64Array(countFree));
    this.vertex = copied(this.vertex, new Int32Array(countFree));
    this.exclusive = copied(this.exclusive, new Uint8Array(countFree));
    this.from = copied(this.from, new Int32Array(countFree));
    this.to = copied(this.to, new Int32Array(countFree));
  }
}

function copied<T extends Uint8Array | Int32Array | Float64Array>(old: T, fresh: T): T {
  fresh.set(old);
  return fresh;
}

/** A growing list of candidates of one type. */
export class CandidateList {
  data = new Int32Array(16);
  length = 0;
  /** Sum of their counts. */
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

  /** Sorts by score as `std::sort` would; lists without ties, most of them, need no more than a look. */
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

/** What was found below one vertex. */
export class Found {
  private readonly lists: (CandidateList | undefined)[] = [];
  private readonly used: number[] = [];
  /** Something was chosen here, so nothing goes further up by itself. */
  chosen = false;
  /** Size and score of the vertex itself. */
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

  merge(below: Found): void {
    for (const type of below.used) this.list(type).append(below.lists[type]!);
  }
}
