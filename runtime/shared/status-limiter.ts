/** The pace of status writes: while workloads start and end, the apiserver's time belongs to them. */
import type { Clock } from '../clock';
import { RateLimiter } from '../kubernetes/rate-limiter';

export interface StatusPace {
  /** The lowest rate while many workloads start and end, and otherwise. */
  readonly perSecond: { readonly busy: number; readonly quiet: number };
  /** The number of writes that are admitted at once. */
  readonly burst: number;
  /** Seconds that a write waits at the longest, unless `mostPerSecond` forbids it. */
  readonly longestWait: number;
  /** The highest rate: beyond it, a burst takes longer. */
  readonly mostPerSecond: number;
}

export interface StatusLimiterOptions {
  readonly isBusy: () => boolean;
  /** Called when a key that had to wait is admitted. */
  readonly enqueue: (key: string) => void;
  readonly clock: Clock;
}

export function createStatusLimiter(
  { perSecond, ...limits }: StatusPace,
  { isBusy, enqueue, clock }: StatusLimiterOptions,
): RateLimiter {
  return new RateLimiter({
    ...limits,
    perSecond: () => (isBusy() ? perSecond.busy : perSecond.quiet),
    onAdmitted: enqueue,
    clock,
  });
}
