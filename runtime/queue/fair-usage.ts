/**
 * Decayed usage for fair share: a core that was held counts half after one half-life. A steady number of cores from one
 * second to another has a closed form, so usage is exact at any time without sampling. The same formula is in SQL
 * (usage.ts).
 *
 * The leader keeps a copy of what Postgres stores and adds what the rows hold now, so fair share costs a pass no query.
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

export class UsageCache {
  /** queue -> user -> usage of units that are free again. */
  private stored = new Map<string, Map<string, { coreSeconds: number; asOf: number }>>();

  constructor(private readonly options: FairUsageOptions) {}

  load(shares: readonly Share[]): void {
    this.stored = new Map();
    for (const { queue, user, coreSeconds, asOf } of shares)
      this.usersOf(queue).set(user, { coreSeconds, asOf });
  }

  /** Applies a commit as its statement did: units that the row held and holds no longer become usage. */
  apply(before: WorkloadRow | undefined, row: WorkloadRow, now: number): void {
    if (before === undefined || before.startedAt === null) return;
    const kept = row.jobid === before.jobid ? this.coresOf(row) : 0;
    const freed = this.coresOf(before) - kept;
    if (freed <= 0) return;
    const until = Math.max(row.finishedAt ?? now, before.startedAt);
    const users = this.usersOf(before.queue);
    const known = users.get(before.user) ?? { coreSeconds: 0, asOf: until };
    const asOf = Math.max(known.asOf, until);
    const { halfLifeSeconds: halfLife } = this.options;
    const coreSeconds =
      decayed(known.coreSeconds, asOf - known.asOf, halfLife) +
      usageAt(asOf, freed, before.startedAt, until, halfLife);
    users.set(before.user, { coreSeconds, asOf });
  }

  /** @param rows all active rows */
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
      if (row.startedAt !== null)
        add(row.queue, row.user, usageAt(now, this.coresOf(row), row.startedAt, now, halfLifeSeconds));
    return {
      halfLifeSeconds,
      queueUsage: (queue) => queues.get(queue) ?? 0,
      userUsage: (queue, user) => users.get(keyOf(queue, user)) ?? 0,
    };
  }

  /** Cores that a row holds. A Finished row keeps its allocation but holds nothing. */
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

/** Neither name can contain a NUL: Postgres would not store it. */
function keyOf(queue: string, user: string): string {
  return `${queue}\0${user}`;
}
/** The value after this many seconds. */
export function decayed(value: number, seconds: number, halfLife: number): number {
  return value * 2 ** (-Math.max(0, seconds) / halfLife);
}

/** Decayed core-seconds at `now` of cores that were held during [from, until). The future does not count. */
export function usageAt(now: number, cores: number, from: number, until: number, halfLife: number): number {
  const end = Math.min(until, now);
  if (end <= from) return 0;
  const perCore = halfLife / Math.LN2;
  return perCore * (decayed(cores, now - end, halfLife) - decayed(cores, now - from, halfLife));
}
