/** Policy `locality` at the end: runs of consecutive ids, the higher run first. */
import type { CandidateList } from './candidates';
import { introsort } from './sort';

/** Inside one run all candidates are equal, so the sort's own order decides. */
export function sortByInterval(list: CandidateList, score: Float64Array): void {
  const scores = Array.from(list.data.subarray(0, list.length), (candidate) => score[candidate]!);
  const ascending = [...new Set(scores)].sort((a, b) => a - b);
  const runOf = new Map<number, number>();
  let run = 0;
  ascending.forEach((value, i) => {
    if (i > 0 && value !== ascending[i - 1]! + 1) run++;
    runOf.set(value, run);
  });
  introsort(list.data, 0, list.length, (a, b) => runOf.get(score[a]!)! > runOf.get(score[b]!)!);
}
