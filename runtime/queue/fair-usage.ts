/**
 * Decayed usage for fair share: what was held counts half after one half-life. A steady amount from one second to another
 * has a closed form, so usage is exact at any time without sampling. The same formula is in SQL (usage.ts). Cores, memory
 * and gpus are kept apart and weighed when they are read, so a change of the billing weights of a queue applies to all of
 * its usage.
 *
 * The leader keeps a copy of what Postgres stores and adds what the rows hold now, so fair share costs a pass no query.
 */
import type { UnitSettings } from '../jobspec/units';
import type { Surplus } from '../resources/types';
import { addUnits, unitCounts } from '../resources/unit-counts';
import type { BillingWeights } from './settings';
import type { Share, WorkloadRow } from './workload';

/** Decayed usage as of one moment, in seconds of what has the weight 1: of cores, by default. */
export interface FairUsage {
  readonly halfLifeSeconds: number;
  queueUsage(queue: string): number;
  userUsage(queue: string, user: string): number;
}

export interface FairUsageOptions {
  readonly units: UnitSettings;
  readonly halfLifeSeconds: number;
}

/** Cores, GiB and gpus, or the same multiplied by seconds. */
type Amounts = readonly [cores: number, memoryGiB: number, gpus: number];

const NOTHING: Amounts = [0, 0, 0];

interface Stored {
  readonly spent: Amounts;
  readonly asOf: number;
}

export class UsageCache {
  /** queue -> user -> usage of units that are free again. */
  private stored = new Map<string, Map<string, Stored>>();

  constructor(private readonly options: FairUsageOptions) {}

  load(shares: readonly Share[]): void {
    this.stored = new Map();
    for (const { queue, user, coreSeconds, memoryGiBSeconds, gpuSeconds, asOf } of shares)
      this.usersOf(queue).set(user, { spent: [coreSeconds, memoryGiBSeconds, gpuSeconds], asOf });
  }

  /** Applies a commit as its statement did: units that the row held and holds no longer become usage. */
  apply(before: WorkloadRow | undefined, row: WorkloadRow, now: number): void {
    const from = before === undefined ? null : chargedFrom(before);
    if (before === undefined || from === null) return;
    const kept = row.jobid === before.jobid ? this.heldBy(row) : NOTHING;
    const freed = each((i) => Math.max(0, this.heldBy(before)[i] - kept[i]));
    if (freed.every((amount) => amount === 0)) return;
    const until = Math.max(row.finishedAt ?? now, from);
    const users = this.usersOf(before.queue);
    const known = users.get(before.user) ?? { spent: NOTHING, asOf: until };
    const asOf = Math.max(known.asOf, until);
    const { halfLifeSeconds: halfLife } = this.options;
    const spent = each(
      (i) =>
        decayed(known.spent[i], asOf - known.asOf, halfLife) + usageAt(asOf, freed[i], from, until, halfLife),
    );
    users.set(before.user, { spent, asOf });
  }

  /**
   * @param rows all active rows
   * @param weightsOf the billing weights of a queue
   * @param surpluses what workloads use beyond their grants, by uid: while that lasts, it counts as if they had used it from their start. @default - nothing
   */
  at(
    now: number,
    rows: Iterable<WorkloadRow>,
    weightsOf: (queue: string) => BillingWeights,
    surpluses: ReadonlyMap<string, Surplus> = new Map(),
  ): FairUsage {
    const { halfLifeSeconds } = this.options;
    const users = new Map<string, number>();
    const queues = new Map<string, number>();
    const add = (queue: string, user: string, spent: Amounts) => {
      const { cores, memoryGiB, gpus } = weightsOf(queue);
      const amount = spent[0] * cores + spent[1] * memoryGiB + spent[2] * gpus;
      const key = keyOf(queue, user);
      users.set(key, (users.get(key) ?? 0) + amount);
      queues.set(queue, (queues.get(queue) ?? 0) + amount);
    };
    for (const [queue, byUser] of this.stored)
      for (const [user, { spent, asOf }] of byUser)
        add(
          queue,
          user,
          each((i) => decayed(spent[i], now - asOf, halfLifeSeconds)),
        );
    for (const row of rows) {
      const { queue, user } = row;
      const from = chargedFrom(row);
      if (from === null) continue;
      const held = this.heldBy(row, surpluses.get(row.uid));
      add(
        queue,
        user,
        each((i) => usageAt(now, held[i], from, now, halfLifeSeconds)),
      );
    }
    return {
      halfLifeSeconds,
      queueUsage: (queue) => queues.get(queue) ?? 0,
      userUsage: (queue, user) => users.get(keyOf(queue, user)) ?? 0,
    };
  }

  /** What a row holds. A Finished row keeps its allocation but holds nothing. */
  private heldBy({ phase, allocation }: WorkloadRow, surplus?: Surplus): Amounts {
    if (allocation === null || phase === 'Finished') return NOTHING;
    const granted = unitCounts(allocation);
    const { core = 0, memory = 0, gpu = 0 } = surplus ? addUnits([granted, surplus.units]) : granted;
    const { cpuMillis, memoryMiB } = this.options.units;
    return [(core * cpuMillis) / 1000, (memory * memoryMiB) / 1024, gpu];
  }

  private usersOf(queue: string): Map<string, Stored> {
    const users = this.stored.get(queue) ?? new Map<string, Stored>();
    this.stored.set(queue, users);
    return users;
  }
}

function each(amount: (i: 0 | 1 | 2) => number): Amounts {
  return [amount(0), amount(1), amount(2)];
}

/** What could not start for a cause of its own held its nodes in vain from its grant on. */
function chargedFrom({ startedAt, allocatedAt, evictionCause }: WorkloadRow): number | null {
  return startedAt ?? (evictionCause === 'failure' ? allocatedAt : null);
}

/** Neither name can contain a NUL: Postgres would not store it. */
function keyOf(queue: string, user: string): string {
  return `${queue}\0${user}`;
}

/** The value after this many seconds. */
export function decayed(value: number, seconds: number, halfLife: number): number {
  return value * 2 ** (-Math.max(0, seconds) / halfLife);
}

/** Decayed amount-seconds at `now` of an amount that was held during [from, until). The future does not count. */
export function usageAt(now: number, amount: number, from: number, until: number, halfLife: number): number {
  const end = Math.min(until, now);
  if (end <= from) return 0;
  const perUnit = halfLife / Math.LN2;
  return perUnit * (decayed(amount, now - end, halfLife) - decayed(amount, now - from, halfLife));
}
