/**
 * The leader's mirror of decayed usage: what Postgres has stored of units that
 * are free again, and from the rows what is held right now. So fair share costs
 * a pass no query.
 */
import { unitCounts } from '../resources/unit-counts';
import type { Share, WorkloadRow } from './workload';

/** Decayed core-seconds as of one moment. */
export interface FairUsage {
  readonly halfLifeSeconds: number;
  queueUsage(queue: string): number;
  userUsage(queue: string, user: string): number;
}

export interface FairUsageOptions {
  /** CPU of one core unit, in thousandths of a core. */
  readonly cpuMillis: number;
  readonly halfLifeSeconds: number;
}

export class UsageMirror {
  /** queue -> user -> what is stored. */
  private stored = new Map<string, Map<string, { coreSeconds: number; asOf: number }>>();

  constructor(private readonly options: FairUsageOptions) {}

  load(shares: readonly Share[]): void {
    this.stored = new Map();
    for (const { queue, user, coreSeconds, asOf } of shares)
      this.usersOf(queue).set(user, { coreSeconds, asOf });
  }

  /** Follows a row as its statement did: what it held and holds no longer is used. */
  follow(before: WorkloadRow | undefined, row: WorkloadRow, now: number): void {
    if (before === undefined || before.allocatedAt === null) return;
    const still = row.jobid === before.jobid ? this.coresOf(row) : 0;
    const freed = this.coresOf(before) - still;
    if (freed <= 0) return;
    const until = Math.max(row.finishedAt ?? now, before.allocatedAt);
    const users = this.usersOf(before.queue);
    const known = users.get(before.user) ?? { coreSeconds: 0, asOf: until };
    const asOf = Math.max(known.asOf, until);
    const { halfLifeSeconds: halfLife } = this.options;
    const coreSeconds =
      decayed(known.coreSeconds, asOf - known.asOf, halfLife) +
      usageAt(asOf, freed, before.allocatedAt, until, halfLife);
    users.set(before.user, { coreSeconds, asOf });
  }

  /** @param rows all that are active */
  at(now: number, rows: Iterable<WorkloadRow>): FairUsage {
    const { halfLifeSeconds } = this.options;
    const users = new Map<string, number>();
    const queues = new Map<string, number>();
    const add = (queue: string, user: string, amount: number) => {
      const key = keyOf(queue, user);
      users.set(key, (users.get(key) ?? 0) + amount);
      queues.set(queue, (queues.get(queue) ?? 0) + amount);
    };
    for (const [queue, byUser] of this.stored)
      for (const [user, { coreSeconds, asOf }] of byUser)
        add(queue, user, decayed(coreSeconds, now - asOf, halfLifeSeconds));
    for (const row of rows)
      if (row.allocatedAt !== null)
        add(row.queue, row.user, usageAt(now, this.coresOf(row), row.allocatedAt, now, halfLifeSeconds));
    return {
      halfLifeSeconds,
      queueUsage: (queue) => queues.get(queue) ?? 0,
      userUsage: (queue, user) => users.get(keyOf(queue, user)) ?? 0,
    };
  }

  /** Cores that a row holds; a finished one keeps its allocation and holds nothing. */
  private coresOf({ phase, allocation }: WorkloadRow): number {
    if (allocation === null || phase === 'Finished') return 0;
    return ((unitCounts(allocation).core ?? 0) * this.options.cpuMillis) / 1000;
  }

  private usersOf(queue: string): Map<string, { coreSeconds: number; asOf: number }> {
    const users = this.stored.get(queue) ?? new Map();
    this.stored.set(queue, users);
    return users;
  }
}

/** Neither a queue's nor a user's name can hold a NUL: Postgres would not have stored it. */
function keyOf(queue: string, user: string): string {
  return `${queue}\0${user}`;
}
/**
 * Decayed usage: a core that was held counts half after one half-life. What is
 * held at a steady `cores` from one second to another has a closed form, so
 * usage is exact at any time without ever being sampled. The same formula
 * stands in SQL (usage.ts).
 */

/** What a value is worth after so many seconds. */
export function decayed(value: number, seconds: number, halfLife: number): number {
  return value * 2 ** (-Math.max(0, seconds) / halfLife);
}

/** Core-seconds that `cores` held during [from, until) are worth at `now`; what is yet to come counts nothing. */
export function usageAt(now: number, cores: number, from: number, until: number, halfLife: number): number {
  const end = Math.min(until, now);
  if (end <= from) return 0;
  const perCore = halfLife / Math.LN2;
  return perCore * (decayed(cores, now - end, halfLife) - decayed(cores, now - from, halfLife));
}
