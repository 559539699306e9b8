/**
 * Packs slots from the best elements, one after the other, without a search for better combinations. Slots of counted
 * units have no equal scores, so slots beyond the largest count of the request can not be chosen and are left out.
 */
import type { CandidateList, CandidateLists, Candidates } from './candidates';
import { calcCount } from './count';
import type { Resource } from './request';

export function packSlots(
  slot: Resource,
  elements: CandidateLists,
  candidates: Candidates,
  slots: CandidateList,
  greaterFirst: boolean,
  countsUnits: boolean,
): void {
  let bundles = countsUnits ? slot.largestCount : Number.POSITIVE_INFINITY;
  for (const resource of slot.with) {
    const list = elements.list(resource.type);
    list.sort(candidates.score, greaterFirst);
    bundles = Math.min(bundles, countBundles(resource, list, candidates));
  }
  const parts = slot.with.map((resource) => {
    const list = elements.list(resource.type);
    return { cursor: new Cursor(list, candidates), wanted: calcCount(resource, list.total) };
  });
  for (let i = 0; i < bundles; i++) {
    const bundle = candidates.add(-1, 1, 1, true);
    for (const { cursor, wanted } of parts) cursor.take(wanted, bundle);
    slots.push(bundle, 1);
  }
}

/** Takes candidates of a sorted list one after the other. */
class Cursor {
  private next = 0;
  /** Units of the next candidate that are taken already. */
  private taken = 0;

  constructor(
    private readonly list: CandidateList,
    private readonly candidates: Candidates,
  ) {}

  /** Adds candidates with at least this count to the last added slot. */
  take(wanted: number, slot: number): void {
    const { candidates } = this;
    for (let sum = 0; sum < wanted; ) {
      const item = this.list.data[this.next]!;
      const left = candidates.count[item]! - this.taken;
      const count = candidates.isRun(item) ? Math.min(left, wanted - sum) : left;
      sum += count;
      candidates.addItem(slot, candidates.isRun(item) ? candidates.partOf(item, this.taken, count) : item);
      this.taken = count < left ? this.taken + count : 0;
      if (this.taken === 0) this.next++;
    }
  }
}

function countBundles(resource: Resource, list: CandidateList, candidates: Candidates): number {
  const wanted = calcCount(resource, list.total);
  if (wanted === 0) return 0;
  let bundles = 0;
  let sum = 0;
  for (let i = 0; i < list.length; i++) {
    const item = list.data[i]!;
    sum += candidates.count[item]!;
    if (sum < wanted) continue;
    // A run is cut where a bundle ends; a vertex of any size belongs to one bundle.
    bundles += candidates.isRun(item) ? Math.floor(sum / wanted) : 1;
    sum = candidates.isRun(item) ? sum % wanted : 0;
  }
  return bundles;
}
