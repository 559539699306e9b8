/** The final order of policy `locality`: runs of consecutive ids, the run with higher ids first. */
import type { CandidateList } from './candidates';
import { introsort } from './sort';

/** All candidates of a run are equal, so the sort algorithm decides their order. */
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
