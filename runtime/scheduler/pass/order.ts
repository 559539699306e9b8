/**
 * Who comes first. The order is one number for each workload, the sum of factors that are bounded by their weights, as in Slurm's
 * multifactor priority: own priority, queue, age, fair share and size. Equal sums start in the order of submission.
 */
import { QUEUE_DEFAULTS } from '../../../constructs/api/queue-defaults';
import type { QueueSettings } from '../../queue/settings';
import type { WorkloadRow } from '../../queue/workload';
import type { ShareFactors } from './fair-share';

export type Ordered = Pick<WorkloadRow, 'queue' | 'user' | 'priority' | 'submittedAt' | 'seq'>;

type Weights = Pick<QueueSettings, 'priority' | 'agingPerHour' | 'priorityWeights'>;

/** What decides the order, apart from the rows. */
export interface Precedence<T extends Ordered = WorkloadRow> {
  /** Unix seconds. */
  readonly now: number;
  readonly settingsOf: (queue: string) => Weights | undefined;
  /** @default - fair share is off */
  readonly shares?: ShareFactors | undefined;
  /** The part of the cluster that a row asks for, 0 to 1. @default - sizes do not count */
  readonly sizeOf?: ((row: T) => number) | undefined;
}

/** Points of priority. */
export interface PriorityFactors {
  /** That of the workload, within the range of its queue. */
  readonly own: number;
  readonly queue: number;
  readonly age: number;
  readonly fairShare: number;
  readonly size: number;
}

/**
 * Sorts rows by their points, and by submission where these are equal.
 * @param precedence without it own priorities decide alone
 */
export function inOrder<T extends Ordered>(rows: readonly T[], precedence?: Precedence<T>): T[] {
  if (precedence === undefined) return [...rows].sort(olderFirst);
  const ranked = rows.map((row) => ({ row, points: pointsOf(factorsOf(row, precedence)) }));
  ranked.sort((a, b) => b.points - a.points || bySubmission(a.row, b.row));
  return ranked.map(({ row }) => row);
}

export function pointsOf({ own, queue, age, fairShare, size }: PriorityFactors): number {
  return own + queue + age + fairShare + size;
}

export function factorsOf<T extends Ordered>(row: T, precedence: Precedence<T>): PriorityFactors {
  const { now, settingsOf, shares, sizeOf } = precedence;
  const { priority, priorityWeights, agingPerHour } = settingsOf(row.queue) ?? QUEUE_DEFAULTS;
  const { age, fairShare, size, queue, maxAgeSeconds } = priorityWeights;
  const waited = Math.min(maxAgeSeconds, Math.max(0, now - row.submittedAt));
  const share = shares === undefined ? 0 : shares.queue(row.queue) * shares.user(row.queue, row.user);
  return {
    own: withinRange(row.priority, priority),
    queue,
    age: (age * waited) / maxAgeSeconds + (agingPerHour * waited) / 3600,
    fairShare: fairShare * share,
    // To measure ten thousand rows takes time.
    size: size === 0 || sizeOf === undefined ? 0 : size * sizeOf(row),
  };
}

/** The priority of a row within the range of its queue: it alone decides who may preempt whom, and take whose reservation. */
export function priorityOf(
  { priority }: Pick<WorkloadRow, 'priority'>,
  settings: Pick<QueueSettings, 'priority'> | undefined,
): number {
  return settings === undefined ? priority : withinRange(priority, settings.priority);
}

function withinRange(priority: number, { min, max }: QueueSettings['priority']): number {
  return Math.min(max, Math.max(min, priority));
}

function olderFirst(a: Ordered, b: Ordered): number {
  return b.priority - a.priority || bySubmission(a, b);
}

function bySubmission(a: Ordered, b: Ordered): number {
  return a.submittedAt - b.submittedAt || a.seq - b.seq;
}
