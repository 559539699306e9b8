/** What `usage` shows: allocated hours, and fair shares below them. Pure functions. */
import type { FairShareLine, Usage, UsageLine } from '../reader/kinds';
import { rfc3339 } from './durations';
import { tableLines } from './output';
import { TOP_KEYS, type TopKey } from './top';

/**
 * @param where `namespace science` or `all namespaces`
 * @param keys a line for each combination of these
 */
export function usageLines(
  { from, until, lines, shares }: Usage,
  where: string,
  keys: readonly TopKey[],
): string[] {
  return [
    `allocated hours of ${where}, and jobs that ended, from ${rfc3339(from)} until ${rfc3339(until)}`,
    ...(lines.length === 0 ? ['no workload held nodes in this period'] : hoursTable(lines, keys)),
    ...(shares.length === 0 ? [] : ['', ...sharesTable(shares)]),
  ];
}

function hoursTable(lines: readonly UsageLine[], asked: readonly TopKey[]): string[] {
  const keys = TOP_KEYS.filter((key) => asked.includes(key));
  const head = [...keys, 'jobs', 'pods', 'cpu-hours', 'GiB-hours', 'gpu-hours'].map((word) =>
    word.toUpperCase(),
  );
  const rows = lines.map((line) => [
    ...keys.map((key) => line[key] ?? ''),
    `${line.jobs}`,
    `${line.pods}`,
    ...[line.cpuHours, line.memoryGiBHours, line.gpuHours].map((hours) => hours.toFixed(2)),
  ]);
  return tableLines([head, ...rows]);
}

function sharesTable(shares: readonly FairShareLine[]): string[] {
  const rows = shares.map(({ queue, user, weight, usedShare, factor }) => [
    queue,
    user ?? '(all)',
    weight === undefined ? '-' : `${weight}`,
    `${(usedShare * 100).toFixed(1)}%`,
    factor.toFixed(3),
  ]);
  return [
    'fair shares: each factor is part of the priority, times priorityWeights.fairShare; older usage counts less',
    ...tableLines([['QUEUE', 'USER', 'WEIGHT', 'USED', 'FACTOR'], ...rows]),
  ];
}
