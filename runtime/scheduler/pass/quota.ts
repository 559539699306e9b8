/**
 * Quotas of queues and cohorts over time. A queue of a cohort has two accounts: its own, up to quota plus borrowing,
 * and the cohort's, up to the sum of all quotas. Both must have room from the start to the end of a workload.
 */
import { gpuName } from '../../jobspec/explain';
import type { UnitSettings } from '../../jobspec/units';
import type { QueueSettings, Quota } from '../../queue/settings';
import type { WorkloadRow } from '../../queue/workload';
import { Planner } from '../../resources/planner';
import type { Allocation } from '../../resources/types';
import { Lending, ownedQuota, totalOf, withBorrowing } from './cohort-quota';
import { DIMENSIONS, formatAmount, heldBy, limitsOf, requestedBy, type Usage } from './usage';

export interface QuotaQueue {
  readonly settings: QueueSettings;
  readonly rows: readonly WorkloadRow[];
}

/** Why the quota keeps a workload from starting now. */
export interface QuotaShortage {
  readonly message: string;
  /** Whether it exceeds the quota even if nothing else runs. */
  readonly never: boolean;
  /** Whether it would fit if other queues of the cohort had not borrowed this queue's own quota. */
  readonly lent: boolean;
}

interface Account {
  readonly planner: Planner;
  readonly limits: Usage;
  /** Node -> how many workloads hold units of it. */
  readonly nodes: Map<string, number>;
  readonly maxNodes: number;
  /** For messages: `its queue's quota`. */
  readonly title: string;
}

interface Entry {
  readonly start: number;
  readonly end: number;
  readonly counts: Usage;
  readonly nodes: readonly string[];
}

/** Start of everything that runs already. */
const STARTED = Number.NEGATIVE_INFINITY;
const ALL_DIMENSIONS = Int32Array.from(DIMENSIONS.keys());

export class Quotas {
  private readonly own = new Map<string, Account>();
  private readonly nominal = new Map<string, Usage>();
  private readonly cohorts = new Map<string, Account>();
  private readonly cohortOf = new Map<string, string>();
  private readonly lending = new Map<string, Lending>();
  private readonly reclaiming = new Set<string>();
  private readonly entries = new Map<string, Entry>();

  constructor(
    queues: readonly QuotaQueue[],
    private readonly units: UnitSettings,
    private readonly now: number,
  ) {
    const cohorts = byCohort(queues);
    for (const { settings } of queues) this.openAccount(settings, cohorts.get(settings.cohort ?? '') ?? []);
    for (const [cohort, members] of cohorts) {
      const total = account(totalOf(members), `the quota of cohort ${cohort}`);
      this.cohorts.set(cohort, total);
      const usedBy = (queue: string) => this.own.get(queue)!.planner;
      this.lending.set(cohort, new Lending(members, usedBy, total, now));
    }
    for (const { rows } of queues) for (const row of rows) this.holdCurrent(row);
  }

  private holdCurrent(row: WorkloadRow): void {
    const { allocation } = row;
    if (allocation !== null) this.hold(row, allocation.start, allocation.end, allocation);
  }

  private openAccount(
    { name, quota, cohort, borrowing, reclaim }: QueueSettings,
    members: readonly QueueSettings[],
  ): void {
    if (cohort === null && Object.keys(quota).length === 0) return;
    if (cohort !== null && reclaim) this.reclaiming.add(name);
    const owned = ownedQuota(quota, members);
    this.nominal.set(name, limitsOf(owned));
    const limit = cohort === null ? quota : withBorrowing(owned, borrowing);
    this.own.set(name, account(limit, "its queue's quota"));
    if (cohort !== null) this.cohortOf.set(name, cohort);
  }

  /** @returns why the row can't start now; undefined if it can */
  shortageOf(row: WorkloadRow): QuotaShortage | undefined {
    const accounts = this.accountsOf(row);
    if (accounts.length === 0) return undefined;
    const need = { dimensions: ALL_DIMENSIONS, amounts: requestedBy(row, this.units) };
    for (const { limits, title } of accounts) {
      const dimension = need.amounts.findIndex((amount, i) => amount > limits[i]!);
      if (dimension >= 0) {
        const message = `asks for ${formatAmount(dimension, need.amounts[dimension]!, gpuName(row.jobspec))}, more than ${title} of ${formatAmount(dimension, limits[dimension]!)}`;
        return { message, never: true, lent: false };
      }
    }
    const end = this.now + row.walltime;
    const full = accounts.find(({ planner, limits }) => !planner.fits(need, limits, this.now, end, this.now));
    if (full === undefined) return undefined;
    return {
      message: this.inUse(row, full, need.amounts),
      never: false,
      lent: this.isLent(row, full, need.amounts),
    };
  }

  private inUse({ jobspec }: WorkloadRow, { planner, limits, title }: Account, amounts: Usage): string {
    const dimension = amounts.findIndex(
      (amount, i) => planner.usedAt(i, this.now, this.now) + amount > limits[i]!,
    );
    if (dimension < 0) return `${title} is kept for an earlier workload`;
    return `needs ${formatAmount(dimension, amounts[dimension]!, gpuName(jobspec))}; ${title} of ${formatAmount(dimension, limits[dimension]!)} is in use`;
  }

  private isLent({ queue }: WorkloadRow, full: Account, amounts: Usage): boolean {
    const own = this.own.get(queue)!;
    const nominal = this.nominal.get(queue)!;
    if (full === own) return false;
    return amounts.every((amount, i) => own.planner.usedAt(i, this.now, this.now) + amount <= nominal[i]!);
  }

  /** How much the cohort lacks at that time to start the row, by dimension; 0 or less: it has enough. */
  shortOf(row: WorkloadRow, at: number): Usage {
    const cohort = this.lentTo(row.queue);
    const amounts = requestedBy(row, this.units);
    if (cohort === undefined) return new Float64Array(DIMENSIONS.length);
    return amounts.map((amount, i) => cohort.planner.usedAt(i, at, this.now) + amount - cohort.limits[i]!);
  }

  /** How much more than its own quota a queue holds at that time, by dimension; negative: it holds less. */
  borrowedBy(queue: string, at: number): Usage {
    const nominal = this.nominal.get(queue) ?? new Float64Array(DIMENSIONS.length).fill(Infinity);
    const planner = this.own.get(queue)?.planner;
    return nominal.map((limit, i) => (planner?.usedAt(i, at, this.now) ?? 0) - limit);
  }

  /** @returns why the row may not hold this allocation from its start to its end; undefined if it may */
  refuses(row: WorkloadRow, allocation: Allocation): string | undefined {
    const accounts = this.accountsOf(row);
    if (accounts.length === 0) return undefined;
    const { start, end } = allocation;
    const need = { dimensions: ALL_DIMENSIONS, amounts: heldBy(row, allocation, this.units) };
    for (const one of accounts) {
      if (!one.planner.fits(need, one.limits, start, end, this.now))
        return this.inUse(row, one, need.amounts);
      const fresh = new Set(allocation.nodes.map(({ name }) => name));
      if (start <= this.now && new Set([...one.nodes.keys(), ...fresh]).size > one.maxNodes)
        return `needs more nodes; ${one.title} of ${one.maxNodes} nodes is in use`;
    }
    return undefined;
  }

  /** The earliest time at which the row's quota is free for its walltime; Infinity if that is not known. */
  freeFrom(row: WorkloadRow): number {
    const need = { dimensions: ALL_DIMENSIONS, amounts: requestedBy(row, this.units) };
    let at = this.now;
    for (let moved = true; moved && at < Infinity; ) {
      moved = false;
      for (const { planner, limits } of this.accountsOf(row)) {
        const until = planner.blockedUntil(need, limits, at, at + row.walltime, this.now);
        if (until <= at) continue;
        at = until;
        moved = true;
      }
    }
    return at;
  }

  /**
   * Keeps the own quota of queues that reclaim for their waiting rows: borrowers that have returned it must not get it
   * again at once.
   * @param rows all rows that may start, in order
   */
  claimOwn(rows: readonly WorkloadRow[]): void {
    const left = new Map<string, Usage>();
    for (const row of rows) {
      if (!this.reclaiming.has(row.queue) || this.entries.has(row.uid)) continue;
      const free = left.get(row.queue) ?? this.borrowedBy(row.queue, this.now).map((beyond) => -beyond);
      left.set(row.queue, free);
      const amounts = requestedBy(row, this.units);
      if (amounts.some((amount, i) => amount > free[i]!)) continue;
      amounts.forEach((amount, i) => {
        free[i]! -= amount;
      });
      this.hold(row, this.now, this.now + row.walltime);
    }
  }

  /** Charges the row from `start` to `end`. @param allocation without one the row is charged for what it requests */
  hold(row: WorkloadRow, start: number, end: number, allocation?: Allocation): void {
    this.free(row);
    const accounts = this.chargedFor(row);
    if (accounts.length === 0) return;
    const counts =
      allocation === undefined ? requestedBy(row, this.units) : heldBy(row, allocation, this.units);
    const runs = start <= this.now;
    const nodes = runs ? (allocation?.nodes.map(({ name }) => name) ?? []) : [];
    this.entries.set(row.uid, { start: runs ? STARTED : start, end, counts, nodes });
    for (const { planner, nodes: held } of accounts) {
      if (end > this.now) planner.add(runs ? STARTED : start, end, counts);
      else planner.addOver(counts);
      for (const name of nodes) held.set(name, (held.get(name) ?? 0) + 1);
    }
  }

  /** Ends the charge of the row, if there is one. */
  free(row: WorkloadRow): void {
    const entry = this.entries.get(row.uid);
    if (entry === undefined) return;
    this.entries.delete(row.uid);
    for (const { planner, nodes } of this.chargedFor(row)) {
      if (entry.end > this.now) planner.remove(entry.start, entry.end, entry.counts);
      else planner.removeOver(entry.counts);
      for (const name of entry.nodes) {
        const left = nodes.get(name)! - 1;
        if (left === 0) nodes.delete(name);
        else nodes.set(name, left);
      }
    }
  }

  /** Both have room for a row that may start. */
  private accountsOf({ queue }: Pick<WorkloadRow, 'queue'>): readonly Account[] {
    const own = this.own.get(queue);
    if (own === undefined) return [];
    const cohort = this.lentTo(queue);
    return cohort === undefined ? [own] : [own, cohort];
  }

  /** The cohort of the queue without what its other queues keep. */
  private lentTo(queue: string): Account | undefined {
    const name = this.cohortOf.get(queue) ?? '';
    const cohort = this.cohorts.get(name);
    const lent = this.lending.get(name)?.to(queue);
    if (cohort === undefined || lent === undefined) return cohort;
    return { ...cohort, ...lent, title: `${cohort.title} without what other queues keep` };
  }

  /** Those that count what the row holds. */
  private chargedFor({ queue }: Pick<WorkloadRow, 'queue'>): readonly Account[] {
    const name = this.cohortOf.get(queue) ?? '';
    this.lending.get(name)?.markChanged();
    return [this.own.get(queue), this.cohorts.get(name)].filter((one) => one !== undefined);
  }
}

function account(quota: Quota, title: string): Account {
  return {
    planner: new Planner(DIMENSIONS.length),
    limits: limitsOf(quota),
    nodes: new Map(),
    maxNodes: quota.nodes ?? Infinity,
    title,
  };
}

function byCohort(queues: readonly QuotaQueue[]): Map<string, QueueSettings[]> {
  const lenders = queues.map(({ settings }) => settings).filter(({ cohort }) => cohort !== null);
  return Map.groupBy(lenders, ({ cohort }) => cohort!);
}
