/** The results of several replays side by side, and what each gave to each queue. */
import { columns } from '../columns';
import type { QueueStatistics } from './queues';
import type { Result } from './results';
import type { Statistics } from './statistics';

export interface Column<T> {
  readonly title: string;
  readonly text: (row: T) => string;
}

const secondsText = (value: number) => `${Math.round(value)} s`;
const percentText = (value: number) => `${(value * 100).toFixed(1)} %`;
const seconds = (of: (statistics: Statistics) => number) => (result: Result) =>
  secondsText(of(result.statistics));
const percent = (of: (statistics: Statistics) => number) => (result: Result) =>
  percentText(of(result.statistics));

export const COLUMNS: readonly Column<Result>[] = [
  { title: '', text: ({ variant }) => variant.label },
  { title: 'mean wait', text: seconds(({ meanWait }) => meanWait) },
  { title: 'median', text: seconds(({ medianWait }) => medianWait) },
  { title: 'p90', text: seconds(({ waitP90 }) => waitP90) },
  { title: 'wide mean', text: seconds(({ wideMeanWait }) => wideMeanWait) },
  { title: 'wide longest', text: seconds(({ wideMaxWait }) => wideMaxWait) },
  { title: 'slowdown', text: ({ statistics }) => statistics.meanBoundedSlowdown.toFixed(2) },
  { title: 'in use', text: percent(({ utilisation }) => utilisation) },
  { title: 'delayed', text: ({ statistics }) => `${statistics.delayedReservations}` },
  { title: 'estimated', text: percent(({ estimated }) => estimated) },
  { title: 'error p50', text: seconds(({ estimateErrorP50 }) => estimateErrorP50) },
  { title: 'error p90', text: seconds(({ estimateErrorP90 }) => estimateErrorP90) },
];

/** What one variant gave to one queue. */
export interface QueueResult extends QueueStatistics {
  readonly label: string;
}

export const QUEUE_COLUMNS: readonly Column<QueueResult>[] = [
  { title: '', text: ({ label }) => label },
  { title: 'queue', text: ({ queue }) => queue },
  { title: 'weight', text: ({ weight }) => (weight === undefined ? '' : `${weight}`) },
  { title: 'jobs', text: ({ jobs }) => `${jobs}` },
  { title: 'mean wait', text: ({ meanWait }) => secondsText(meanWait) },
  { title: 'median', text: ({ medianWait }) => secondsText(medianWait) },
  { title: 'p90', text: ({ waitP90 }) => secondsText(waitP90) },
  { title: "longest user's median", text: ({ longestMedianOfUser }) => secondsText(longestMedianOfUser) },
  { title: 'share while others waited', text: ({ contendedShare }) => percentText(contendedShare) },
];

/** A row for each queue of each variant; none if the trace has one queue and fair share is off. */
export function queueResults(results: readonly Result[]): readonly QueueResult[] {
  const areShown = results.some(({ queues, variant }) => queues.length > 1 || variant.sharing.weights);
  if (!areShown) return [];
  return results.flatMap(({ variant, queues }) =>
    queues.map((queue) => ({ ...queue, label: variant.label })),
  );
}

export function table<T>(shown: readonly Column<T>[], rows: readonly T[]): string {
  const head = shown.map(({ title }) => title);
  return columns([head, ...rows.map((row) => shown.map(({ text }) => text(row)))], 'right').join('\n');
}
