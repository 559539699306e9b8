/**
 * The sort algorithm of libstdc++'s `std::sort`, which is not stable above 16 elements. Fluxion takes the first elements
 * of a sorted list, so this algorithm decides which of several equal candidates a job gets.
 */
const THRESHOLD = 16;

/** Whether element `a` sorts before element `b`; elements are indexes into arrays of the caller. */
export type Before = (a: number, b: number) => boolean;

/** Sorts `list[from, to)` in place. */
export function introsort(list: Int32Array, from: number, to: number, before: Before): void {
  if (to - from < 2) return;
  introsortLoop(list, from, to, 2 * (31 - Math.clz32(to - from)), before);
  if (to - from <= THRESHOLD) {
    insertionSort(list, from, to, before);
    return;
  }
  insertionSort(list, from, from + THRESHOLD, before);
  for (let i = from + THRESHOLD; i < to; i++) linearInsert(list, i, before);
}

function introsortLoop(list: Int32Array, from: number, end: number, depth: number, before: Before): void {
  let to = end;
  let left = depth;
  while (to - from > THRESHOLD) {
    if (left === 0) {
      heapsort(list, from, to, before);
      return;
    }
    left--;
    const cut = partition(list, from, to, before);
    introsortLoop(list, cut, to, left, before);
    to = cut;
  }
}

function swap(list: Int32Array, a: number, b: number): void {
  const kept = list[a]!;
  list[a] = list[b]!;
  list[b] = kept;
}

function partition(list: Int32Array, from: number, to: number, before: Before): number {
  medianToFirst(list, from, from + 1, from + ((to - from) >> 1), to - 1, before);
  const pivot = list[from]!;
  let low = from + 1;
  let high = to;
  for (;;) {
    while (before(list[low]!, pivot)) low++;
    high--;
    while (before(pivot, list[high]!)) high--;
    if (low >= high) return low;
    swap(list, low, high);
    low++;
  }
}

function medianToFirst(
  list: Int32Array,
  first: number,
  a: number,
  b: number,
  c: number,
  before: Before,
): void {
  const [x, y, z] = [list[a]!, list[b]!, list[c]!];
  if (before(x, y)) {
    if (before(y, z)) swap(list, first, b);
    else swap(list, first, before(x, z) ? c : a);
  } else if (before(x, z)) swap(list, first, a);
  else swap(list, first, before(y, z) ? c : b);
}

function insertionSort(list: Int32Array, from: number, to: number, before: Before): void {
  for (let i = from + 1; i < to; i++) {
    const value = list[i]!;
    if (before(value, list[from]!)) {
      list.copyWithin(from + 1, from, i);
      list[from] = value;
    } else linearInsert(list, i, before);
  }
}

/** Requires an element further left that does not sort after this one. */
function linearInsert(list: Int32Array, at: number, before: Before): void {
  const value = list[at]!;
  let i = at;
  while (before(value, list[i - 1]!)) {
    list[i] = list[i - 1]!;
    i--;
  }
  list[i] = value;
}

function heapsort(list: Int32Array, from: number, to: number, before: Before): void {
  const length = to - from;
  for (let parent = (length - 2) >> 1; parent >= 0; parent--) {
    sift(list, from, parent, length, list[from + parent]!, before);
  }
  for (let last = length - 1; last > 0; last--) {
    const value = list[from + last]!;
    list[from + last] = list[from]!;
    sift(list, from, 0, last, value, before);
  }
}

/** libstdc++'s __adjust_heap: the hole moves down to a leaf first, then the value moves up from there. */
function sift(
  list: Int32Array,
  from: number,
  top: number,
  length: number,
  value: number,
  before: Before,
): void {
  let hole = top;
  let child = top;
  while (child < (length - 1) >> 1) {
    child = 2 * (child + 1);
    if (before(list[from + child]!, list[from + child - 1]!)) child--;
    list[from + hole] = list[from + child]!;
    hole = child;
  }
  if ((length & 1) === 0 && child === (length - 2) >> 1) {
    child = 2 * (child + 1);
    list[from + hole] = list[from + child - 1]!;
    hole = child - 1;
  }
  let parent = (hole - 1) >> 1;
  while (hole > top && before(list[from + parent]!, value)) {
    list[from + hole] = list[from + parent]!;
    hole = parent;
    parent = (hole - 1) >> 1;
  }
  list[from + hole] = value;
}
