import type { QueueSettings } from '../../queue/settings';
import type { WorkloadRow } from '../../queue/workload';
import type { ShareFactors } from './fair-share';

export type Ordered = Pick<WorkloadRow, 'queue' | 'user' | 'priority' | 'submittedAt' | 'seq'>;

/** What decides the order, apart from the rows. */
export interface Precedence {
  /** Unix seconds. */
  readonly now: number;
  readonly settingsOf: (queue: string) => Pick<QueueSettings, 'priority' | 'agingPerHour'> | undefined;
  /** @default - fair share is off */
  readonly shares?: ShareFactors | undefined;
}

/**
 * Sorts rows by priority, shares and time of submission.
 * @param precedence without it there are no priority ranges, no aging and no shares
 */
export function inOrder<T extends Ordered>(rows: readonly T[], precedence?: Precedence): T[] {
  if (precedence === undefined) return [...rows].sort(olderFirst);
  const { shares } = precedence;
  const ranked = rows.map((row) => ({
    row,
    priority: effectivePriority(row, precedence),
    queue: shares?.queue(row.queue) ?? 0,
    user: shares?.user(row.queue, row.user) ?? 0,
  }));
  ranked.sort(
    (a, b) => b.priority - a.priority || b.queue - a.queue || b.user - a.user || bySubmission(a.row, b.row),
  );
  return ranked.map(({ row }) => row);
}

/** The priority of a row within the range of its queue, without aging. */
export function priorityOf(
  { priority }: Pick<WorkloadRow, 'priority'>,
  settings: Pick<QueueSettings, 'priority'> | undefined,
): number {
  if (settings === undefined) return priority;
  const { min, max } = settings.priority;
  return Math.min(max, Math.max(min, priority));
}

/** Aging may raise it above the range of its queue: else it would not help workloads at the top of the range. */
function effectivePriority(row: Ordered, { now, settingsOf }: Precedence): number {
  const settings = settingsOf(row.queue);
  const aging = settings?.agingPerHour ?? 0;
  const hours = aging === 0 ? 0 : Math.max(0, now - row.submittedAt) / 3600;
  return priorityOf(row, settings) + aging * hours;
}

function olderFirst(a: Ordered, b: Ordered): number {
  return b.priority - a.priority || bySubmission(a, b);
}

function bySubmission(a: Ordered, b: Ordered): number {
  return a.submittedAt - b.submittedAt || a.seq - b.seq;
}
