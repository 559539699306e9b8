/** The results of several replays side by side. */
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
  const rows = [
    COLUMNS.map(({ title }) => title),
    ...results.map((result) => COLUMNS.map(({ text }) => text(result))),
  ];
  const widths = COLUMNS.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  const line = (row: readonly string[]) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ');
  return rows.map(line).join('\n');
}
