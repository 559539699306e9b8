import { PRIORITY_RANGE, type QueueSettings } from './settings';

export const QUEUE_DEFAULTS = {
  policy: 'easy',
  reservations: 8,
  depth: 10_000,
  defaultWalltimeSeconds: 3_600,
  maxWalltimeSeconds: 7 * 24 * 3_600,
  priority: PRIORITY_RANGE,
  agingPerHour: 0,
  quota: {},
  cohort: null,
  borrowing: {},
  reclaim: false,
  limits: { queue: {}, user: {} },
  weight: 1,
  preempts: false,
  requeue: { limit: 5, backoffSeconds: 5 },
} as const satisfies Omit<QueueSettings, 'name' | 'namespace'>;

/** Seconds after which usage counts half: seven days. */
export const DEFAULT_HALF_LIFE = 7 * 24 * 3600;
