/** What groups of jobs hold now and have held this month. Pure functions. */
import type { FairShareView, JobView, UsageLineView } from '../messages';
import { type Usage, usageBy } from './state';

/** By what usage is shown. Jobs do not tell their users. */
export type UsageKey = 'queue' | 'namespace' | 'user';

interface Hours {
  readonly jobs: number;
  readonly cpu: number;
  readonly memoryGiB: number;
  readonly gpu: number;
}

export interface UsageRow {
  readonly name: string;
  /** @default - it holds nothing and nothing waits, or that is not known */
  readonly now?: Usage;
  /** @default - none this month */
  readonly hours?: Hours;
}

const NO_HOURS: Hours = { jobs: 0, cpu: 0, memoryGiB: 0, gpu: 0 };

/** Most core hours first, then what holds most now. */
export function usageRows(
  jobs: Iterable<JobView>,
  lines: readonly UsageLineView[],
  key: UsageKey,
): UsageRow[] {
  const now = key === 'user' ? [] : usageBy(jobs, (job) => job[key]);
  const rows = new Map<string, UsageRow>(now.map((usage) => [usage.name, { name: usage.name, now: usage }]));
  for (const line of lines) {
    const name = line[key];
    if (name === undefined) continue;
    const row = rows.get(name) ?? { name };
    rows.set(name, { ...row, hours: plus(row.hours ?? NO_HOURS, line) });
  }
  return [...rows.values()].sort(
    (a, b) =>
      (b.hours?.cpu ?? 0) - (a.hours?.cpu ?? 0) ||
      (b.now?.cores ?? 0) - (a.now?.cores ?? 0) ||
      (a.name < b.name ? -1 : 1),
  );
}

function plus(sum: Hours, { jobs, cpuHours, memoryGiBHours, gpuHours }: UsageLineView): Hours {
  return {
    jobs: sum.jobs + jobs,
    cpu: sum.cpu + cpuHours,
    memoryGiB: sum.memoryGiB + memoryGiBHours,
    gpu: sum.gpu + gpuHours,
  };
}

/** Each queue, and then its users, those who start first at the top. */
export function inOrder(shares: readonly FairShareView[]): FairShareView[] {
  const rank = ({ user }: FairShareView) => (user === undefined ? 0 : 1);
  return [...shares].sort(
    (a, b) =>
      (a.queue === b.queue ? 0 : a.queue < b.queue ? -1 : 1) ||
      rank(a) - rank(b) ||
      b.factor - a.factor ||
      ((a.user ?? '') < (b.user ?? '') ? -1 : 1),
  );
}
