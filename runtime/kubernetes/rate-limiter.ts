/**
 * Limits the rate of writes that are not urgent, in the order of their requests. Every write has a deadline, and the rate
 * is as low as the deadlines allow: a burst is written at an even rate, a stream at the rate of its requests.
 */
import type { Clock } from '../clock';

export interface RateLimiterOptions {
  /** The lowest rate. It is read often, so it may depend on load. */
  readonly perSecond: () => number;
  /** The number of writes that are admitted at once. */
  readonly burst: number;
  /** Seconds after which a write is admitted at the latest, unless `mostPerSecond` forbids it. @default - no limit */
  readonly longestWait?: number;
  /** The highest rate: beyond it, a burst takes longer. @default - no limit */
  readonly mostPerSecond?: number;
  /** Called when a key that had to wait is admitted: its next request is. */
  readonly onAdmitted: (key: string) => void;
  readonly clock: Clock;
}

/** Keys that were requested within BUCKET_SECONDS have one deadline, the last one of theirs. */
interface Bucket {
  readonly since: number;
  deadline: number;
  waiting: number;
}

/** Seconds. */
const BUCKET_SECONDS = 0.25;
/** Milliseconds between two admissions of several keys at once. */
const SHORTEST_TICK_MS = 20;
const ROUNDING = 1e-9;

export class RateLimiter {
  /** How many writes are admitted now, with fractions. */
  private tokens: number;
  /** Seconds of the clock. */
  private asOf: number | undefined;
  private deadline = Number.NEGATIVE_INFINITY;
  /** In the order of their requests. */
  private readonly waiting = new Map<string, Bucket>();
  private readonly buckets: Bucket[] = [];
  /** Keys that were woken and have not requested again. */
  private readonly admitted = new Set<string>();
  private cancelTick: (() => void) | undefined;

  constructor(private readonly options: RateLimiterOptions) {
    this.tokens = options.burst;
  }

  /** Requests a write for this key. @returns whether it is admitted; otherwise `onAdmitted` is called later */
  claim(key: string): boolean {
    if (this.admitted.delete(key)) return true;
    if (this.waiting.has(key)) return false;
    this.refill();
    if (this.waiting.size === 0 && this.takeToken()) return true;
    this.waiting.set(key, this.bucket());
    this.schedule();
    return false;
  }

  /** The key no longer needs to write. */
  drop(key: string): void {
    if (this.admitted.delete(key)) this.tokens += 1;
    this.remove(key);
  }

  /** Admits nothing any more. */
  stop(): void {
    this.cancelTick?.();
    this.cancelTick = undefined;
    this.waiting.clear();
    this.buckets.length = 0;
  }

  private get seconds(): number {
    return this.options.clock.now() / 1000;
  }

  private takeToken(): boolean {
    if (this.tokens + ROUNDING < 1) return false;
    this.tokens -= 1;
    return true;
  }

  private bucket(): Bucket {
    const { longestWait = Number.POSITIVE_INFINITY, mostPerSecond = Number.POSITIVE_INFINITY } = this.options;
    const now = this.seconds;
    this.deadline = Math.max(now + longestWait, this.deadline + 1 / mostPerSecond);
    const last = this.buckets.at(-1);
    const bucket =
      last !== undefined && now - last.since < BUCKET_SECONDS
        ? last
        : { since: now, deadline: this.deadline, waiting: 0 };
    if (bucket !== last) this.buckets.push(bucket);
    bucket.deadline = this.deadline;
    bucket.waiting += 1;
    return bucket;
  }

  private remove(key: string): void {
    const bucket = this.waiting.get(key);
    if (bucket === undefined) return;
    this.waiting.delete(key);
    bucket.waiting -= 1;
    while (this.buckets[0]?.waiting === 0) this.buckets.shift();
  }

  private refill(): void {
    const now = this.seconds;
    const rate = this.rate(now);
    // After a delay of this process the writes that it missed follow, but not those of a long rest.
    const most = this.waiting.size === 0 ? this.options.burst : Math.max(this.options.burst, rate);
    this.tokens = Math.min(most, this.tokens + Math.max(0, now - (this.asOf ?? now)) * rate);
    this.asOf = now;
  }

  /** The lowest rate with which every key is admitted before its deadline. */
  private rate(now: number): number {
    const { perSecond, mostPerSecond = Number.POSITIVE_INFINITY } = this.options;
    let needed = 0;
    let waiting = -this.tokens;
    for (const bucket of this.buckets) {
      waiting += bucket.waiting;
      const left = bucket.deadline - now;
      needed = Math.max(needed, left > 0 ? waiting / left : mostPerSecond);
    }
    const lowest = perSecond();
    return Math.max(lowest, Math.min(mostPerSecond, needed));
  }

  private schedule(): void {
    if (this.cancelTick !== undefined || this.waiting.size === 0) return;
    const wait = ((1 - this.tokens) / this.rate(this.seconds)) * 1000;
    this.cancelTick = this.options.clock.after(Math.max(SHORTEST_TICK_MS, wait), () => {
      this.cancelTick = undefined;
      this.admit();
      this.schedule();
    });
  }

  private admit(): void {
    this.refill();
    for (const key of this.waiting.keys()) {
      if (!this.takeToken()) return;
      this.remove(key);
      this.admitted.add(key);
      this.options.onAdmitted(key);
    }
  }
}
