/** Packs slots from the best elements, one after the other, without a search for better combinations. */
import type { CandidateList, CandidateLists, Candidates } from './candidates';
import { calcCount } from './count';
import type { Resource } from './request';

export function packSlots(
  slot: Resource,
  elements: CandidateLists,
  candidates: Candidates,
  slots: CandidateList,
  greaterFirst: boolean,
): void {
  let bundles = Number.POSITIVE_INFINITY;
  for (const resource of slot.with) {
    const list = elements.list(resource.type);
    list.sort(candidates.score, greaterFirst);
    bundles = Math.min(bundles, countBundles(resource, list, candidates));
  }
  const next = slot.with.map(() => 0);
  for (let i = 0; i < bundles; i++) {
    const bundle = candidates.add(-1, 1, 1, true);
    for (let r = 0; r < next.length; r++) {
      const resource = slot.with[r]!;
      const list = elements.list(resource.type);
      const wanted = calcCount(resource, list.total);
      for (let sum = 0; sum < wanted; ) {
        const item = list.data[next[r]!++]!;
        sum += candidates.count[item]!;
        candidates.addItem(bundle, item);
      }
    }
    slots.push(bundle, 1);
  }
}

function countBundles(resource: Resource, list: CandidateList, candidates: Candidates): number {
  const wanted = calcCount(resource, list.total);
  if (wanted === 0) return 0;
  let bundles = 0;
  let sum = 0;
  for (let i = 0; i < list.length; i++) {
    sum += candidates.count[list.data[i]!]!;
    if (sum < wanted) continue;
    bundles++;
    sum = 0;
  }
  return bundles;
}
