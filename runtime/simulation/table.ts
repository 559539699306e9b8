/** The results of several replays side by side. */
import { columns } from '../columns';
import type { Result } from './results';
import type { Statistics } from './statistics';

export interface Column {
  readonly title: string;
  readonly text: (result: Result) => string;
}

const seconds = (of: (statistics: Statistics) => number) => (result: Result) =>
  `${Math.round(of(result.statistics))} s`;
const percent = (of: (statistics: Statistics) => number) => (result: Result) =>
  `${(of(result.statistics) * 100).toFixed(1)} %`;

export const COLUMNS: readonly Column[] = [
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

export function table(results: readonly Result[]): string {
  const head = COLUMNS.map(({ title }) => title);
  return columns([head, ...results.map((result) => COLUMNS.map(({ text }) => text(result)))], 'right').join(
    '\n',
  );
}
