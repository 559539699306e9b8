import type { UnitSettings } from '../../jobspec/units';
import type { QueueSettings, Quota } from '../../queue/settings';
import type { WorkloadRow } from '../../queue/workload';
import { Planner } from '../../resources/planner';
import type { Allocation } from '../../resources/types';
import { askedBy, DIMENSIONS, heldBy, inWords, limitsOf, type Usage } from './usage';
import { LEAVING_SECONDS } from './victims';

export interface QuotaQueue {
  readonly settings: QueueSettings;
  readonly rows: readonly WorkloadRow[];
}

/** Why a workload can't start now. */
export interface QuotaShortage {
  readonly text: string;
  /** Not even if nothing else ran. */
  readonly never: boolean;
  /** Only because other queues of the cohort have borrowed what is this queue's own. */
  readonly lent: boolean;
}

interface Account {
  readonly planner: Planner;
  readonly limits: Usage;
  /** Node -> how many workloads hold something of it. */
  readonly nodes: Map<string, number>;
  readonly mostNodes: number;
  readonly whose: string;
}

interface Entry {
  readonly start: number;
  readonly end: number;
  readonly counts: Usage;
  readonly nodes: readonly string[];
}

const OPEN = Number.NEGATIVE_INFINITY;
const EVERY_LANE = Int32Array.from(DIMENSIONS.keys());

export class Quotas {
  private readonly own = new Map<string, Account>();
  private readonly nominal = new Map<string, Usage>();
  private readonly cohorts = new Map<string, Account>();
  private readonly cohortOf = new Map<string, string>();
  private readonly reclaiming = new Set<string>();
  private readonly entries = new Map<string, Entry>();

  constructor(
    queues: readonly QuotaQueue[],
    private readonly units: UnitSettings,
    private readonly now: number,
  ) {
    for (const { settings } of queues) this.open(settings);
    for (const [cohort, members] of byCohort(queues)) {
      const quotas = members.map(({ settings }) => settings.quota);
      this.cohorts.set(cohort, account(totalOf(quotas), `the quota of cohort ${cohort}`));
    }
    for (const { rows } of queues) for (const row of rows) this.holds(row);
  }

  private holds(row: WorkloadRow): void {
    const { allocation, recall } = row;
    if (allocation === null) return;
    const { start, end } = allocation;
    this.hold(row, start, recall === null ? end : Math.min(end, this.now + LEAVING_SECONDS), allocation);
  }

  private open({ name, quota, cohort, borrowing, reclaim }: QueueSettings): void {
    if (cohort === null && Object.keys(quota).length === 0) return;
    if (cohort !== null && reclaim) this.reclaiming.add(name);
    this.nominal.set(name, limitsOf(quota));
    const most = cohort === null ? quota : withBorrowing(quota, borrowing);
    this.own.set(name, account(most, "its queue's quota"));
    if (cohort !== null) this.cohortOf.set(name, cohort);
  }

  /** @returns why the row can't start now; undefined if it can */
  shortageOf(row: WorkloadRow): QuotaShortage | undefined {
    const accounts = this.accountsOf(row);
    if (accounts.length === 0) return undefined;
    const need = { dimensions: EVERY_LANE, amounts: askedBy(row, this.units) };
    for (const { limits, whose } of accounts) {
      const dimension = need.amounts.findIndex((amount, i) => amount > limits[i]!);
      if (dimension >= 0) {
        const text = `asks for ${inWords(dimension, need.amounts[dimension]!)}, more than ${whose} of ${inWords(dimension, limits[dimension]!)}`;
        return { text, never: true, lent: false };
      }
    }
    const end = this.now + row.walltime;
    const full = accounts.find(({ planner, limits }) => !planner.fits(need, limits, this.now, end, this.now));
    if (full === undefined) return undefined;
    return { text: this.inUse(full, need.amounts), never: false, lent: this.isLent(row, full, need.amounts) };
  }

  private inUse({ planner, limits, whose }: Account, amounts: Usage): string {
    const dimension = amounts.findIndex(
      (amount, i) => planner.usedAt(i, this.now, this.now) + amount > limits[i]!,
    );
    if (dimension < 0) return `${whose} is kept for an earlier workload`;
    return `needs ${inWords(dimension, amounts[dimension]!)}; ${whose} of ${inWords(dimension, limits[dimension]!)} is in use`;
  }

  private isLent({ queue }: WorkloadRow, full: Account, amounts: Usage): boolean {
    const own = this.own.get(queue)!;
    const nominal = this.nominal.get(queue)!;
    if (full === own) return false;
    return amounts.every((amount, i) => own.planner.usedAt(i, this.now, this.now) + amount <= nominal[i]!);
  }

  /** How much more of each lane than the cohort has left at a time the row needs; 0 and less: enough. */
  shortOf(row: WorkloadRow, at: number): Usage {
    const cohort = this.cohorts.get(this.cohortOf.get(row.queue) ?? '');
    const amounts = askedBy(row, this.units);
    if (cohort === undefined) return new Float64Array(DIMENSIONS.length);
    return amounts.map((amount, i) => cohort.planner.usedAt(i, at, this.now) + amount - cohort.limits[i]!);
  }

  /** How much more than its own quota a queue holds at a time, by lane; negative where it holds less. */
  borrowedBy(queue: string, at: number): Usage {
    const nominal = this.nominal.get(queue) ?? new Float64Array(DIMENSIONS.length).fill(Infinity);
    const planner = this.own.get(queue)?.planner;
    return nominal.map((limit, i) => (planner?.usedAt(i, at, this.now) ?? 0) - limit);
  }

  /** The text if the allocation, as it has come out, is more than the row may hold from its start to its end. */
  refuses(row: WorkloadRow, allocation: Allocation): string | undefined {
    const accounts = this.accountsOf(row);
    if (accounts.length === 0) return undefined;
    const { start, end } = allocation;
    const need = { dimensions: EVERY_LANE, amounts: heldBy(row, allocation, this.units) };
    for (const one of accounts) {
      if (!one.planner.fits(need, one.limits, start, end, this.now)) return this.inUse(one, need.amounts);
      const fresh = new Set(allocation.nodes.map(({ name }) => name));
      if (start <= this.now && new Set([...one.nodes.keys(), ...fresh]).size > one.mostNodes)
        return `needs more nodes; ${one.whose} of ${one.mostNodes} nodes is in use`;
    }
    return undefined;
  }

  /** The first time from which on the row's quota is free for its walltime; Infinity if that is not known. */
  freeFrom(row: WorkloadRow): number {
    const need = { dimensions: EVERY_LANE, amounts: askedBy(row, this.units) };
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
   * A queue that reclaims has the first claim on its own quota: whoever has given it back must not be lent it again at
   * once. @param rows all that wait, in order
   */
  claimOwn(rows: readonly WorkloadRow[]): void {
    const left = new Map<string, Usage>();
    for (const row of rows) {
      if (!this.reclaiming.has(row.queue) || this.entries.has(row.uid)) continue;
      const free = left.get(row.queue) ?? this.borrowedBy(row.queue, this.now).map((beyond) => -beyond);
      left.set(row.queue, free);
      const amounts = askedBy(row, this.units);
      if (amounts.some((amount, i) => amount > free[i]!)) continue;
      amounts.forEach((amount, i) => {
        free[i]! -= amount;
      });
      this.hold(row, this.now, this.now + row.walltime);
    }
  }

  /** @param allocation what it is given; without one it only claims what it asks for */
  hold(row: WorkloadRow, start: number, end: number, allocation?: Allocation): void {
    this.free(row);
    const accounts = this.accountsOf(row);
    if (accounts.length === 0) return;
    const counts = allocation === undefined ? askedBy(row, this.units) : heldBy(row, allocation, this.units);
    const runs = start <= this.now;
    const nodes = runs ? (allocation?.nodes.map(({ name }) => name) ?? []) : [];
    this.entries.set(row.uid, { start: runs ? OPEN : start, end, counts, nodes });
    for (const { planner, nodes: held } of accounts) {
      if (end > this.now) planner.add(runs ? OPEN : start, end, counts);
      else planner.addOver(counts);
      for (const name of nodes) held.set(name, (held.get(name) ?? 0) + 1);
    }
  }

  free(row: WorkloadRow): void {
    const entry = this.entries.get(row.uid);
    if (entry === undefined) return;
    this.entries.delete(row.uid);
    for (const { planner, nodes } of this.accountsOf(row)) {
      if (entry.end > this.now) planner.remove(entry.start, entry.end, entry.counts);
      else planner.removeOver(entry.counts);
      for (const name of entry.nodes) {
        const left = nodes.get(name)! - 1;
        if (left === 0) nodes.delete(name);
        else nodes.set(name, left);
      }
    }
  }

  private accountsOf({ queue }: Pick<WorkloadRow, 'queue'>): readonly Account[] {
    const own = this.own.get(queue);
    if (own === undefined) return [];
    const cohort = this.cohorts.get(this.cohortOf.get(queue) ?? '');
    return cohort === undefined ? [own] : [own, cohort];
  }
}

function account(quota: Quota, whose: string): Account {
  return {
    planner: new Planner(DIMENSIONS.length),
    limits: limitsOf(quota),
    nodes: new Map(),
    mostNodes: quota.nodes ?? Infinity,
    whose,
  };
}

function byCohort(queues: readonly QuotaQueue[]): Map<string, QuotaQueue[]> {
  const lenders = queues.filter(({ settings }) => settings.cohort !== null);
  return Map.groupBy(lenders, ({ settings }) => settings.cohort!);
}

const KINDS = [...DIMENSIONS, 'nodes'] as const;

/** A number that one of them does not limit is not limited for all of them together. */
function totalOf(quotas: readonly Quota[]): Quota {
  return each((kind) => quotas.reduce((sum, quota) => sum + (quota[kind] ?? Infinity), 0));
}

function withBorrowing(quota: Quota, borrowing: Quota): Quota {
  return each((kind) => (quota[kind] ?? Infinity) + (borrowing[kind] ?? Infinity));
}

function each(amount: (kind: (typeof KINDS)[number]) => number): Quota {
  return Object.fromEntries(KINDS.map((kind) => [kind, amount(kind)]).filter(([, n]) => n !== Infinity));
}
