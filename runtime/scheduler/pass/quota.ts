/**
 * Quotas and limits over time. A workload is charged to several accounts: the quota of its queue (up to its own quota plus
 * borrowing), that of the cohort (up to the sum of all quotas), and the workloads that its queue and its user may run. All
 * of them must have room from its start to its end, so a reservation is charged like a workload that runs.
 */
import type { UnitSettings } from '../../jobspec/units';
import type { QueueSettings } from '../../queue/settings';
import type { WorkloadRow } from '../../queue/workload';
import type { Allocation } from '../../resources/types';
import type { Cluster } from './cluster';
import { Lending, ownedQuota, totalOf, withBorrowing } from './cohort-quota';
import { NEVER_MET } from './dependencies';
import { LeastUsages } from './least-usages';
import type { Span } from './placed-pods';
import {
  type Account,
  blockedUntil,
  type Charge,
  charge,
  discharge,
  hasRoom,
  inUse,
  neverFits,
  nodesInUse,
  quotaAccount,
  runningAccount,
} from './quota-account';
import { DIMENSIONS, heldBy, limitsOf, requestedBy, type Usage } from './usage';

export interface QuotaQueue {
  readonly settings: QueueSettings;
  readonly rows: readonly WorkloadRow[];
}

/** Why quota or a limit keeps a workload from starting now. */
export interface QuotaShortage {
  readonly message: string;
  /** Whether it exceeds the quota even if nothing else runs. */
  readonly never: boolean;
  /** Whether it would fit if other queues of the cohort had not borrowed this queue's own quota. */
  readonly lent: boolean;
  /** Whether only the limit of its user is in the way. */
  readonly ofUser: boolean;
}

/** Start of everything that runs already. */
const STARTED = Number.NEGATIVE_INFINITY;

interface AccountsOfUser {
  readonly queue: string;
  readonly user: string;
  readonly accounts: readonly Account[];
}

export class Quotas {
  private readonly own = new Map<string, Account>();
  private readonly nominal = new Map<string, Usage>();
  private readonly cohorts = new Map<string, Account>();
  private readonly cohortOf = new Map<string, string>();
  private readonly lending = new Map<string, Lending>();
  private readonly running = new Map<string, Account>();
  /** Queue and user -> the limit of the user. */
  private readonly users = new Map<string, Account>();
  private readonly settings = new Map<string, QueueSettings>();
  private readonly reclaiming = new Set<string>();
  private readonly least: LeastUsages;
  /** Queue -> user -> everything that a workload is charged to. */
  private readonly accounts = new Map<string, Map<string, AccountsOfUser>>();
  /** Most workloads are of the queue and user of the one before. */
  private last: AccountsOfUser | undefined;
  private readonly charges = new Map<string, Charge>();
  /** Rows for which a queue that reclaims keeps its own quota. */
  private readonly claims = new Map<string, WorkloadRow>();

  constructor(
    queues: readonly QuotaQueue[],
    private readonly units: UnitSettings,
    private readonly now: number,
    cluster: Cluster,
  ) {
    this.least = new LeastUsages(cluster, units);
    const cohorts = byCohort(queues);
    for (const { settings } of queues) this.openAccounts(settings, cohorts.get(settings.cohort ?? '') ?? []);
    for (const [cohort, members] of cohorts) {
      const total = quotaAccount(totalOf(members), `the quota of cohort ${cohort}`, now);
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

  private openAccounts(settings: QueueSettings, members: readonly QueueSettings[]): void {
    const { name, quota, cohort, borrowing, reclaim, limits } = settings;
    this.settings.set(name, settings);
    const { running } = limits.queue;
    if (running !== undefined) this.running.set(name, runningAccount(running, 'queue'));
    if (cohort === null && Object.keys(quota).length === 0) return;
    if (cohort !== null && reclaim) this.reclaiming.add(name);
    const owned = ownedQuota(quota, members);
    this.nominal.set(name, limitsOf(owned));
    const limit = cohort === null ? quota : withBorrowing(owned, borrowing);
    this.own.set(name, quotaAccount(limit, "its queue's quota", this.now, owned));
    if (cohort !== null) this.cohortOf.set(name, cohort);
  }

  /** @returns why the row can't start now; undefined if it can */
  shortageOf(row: WorkloadRow): QuotaShortage | undefined {
    const accounts = this.accountsOf(row);
    if (accounts.length === 0) return undefined;
    const least = this.least.of(row);
    for (const account of accounts) {
      const never = neverFits(account, row, least);
      if (never !== undefined)
        return { message: `${NEVER_MET}${never}`, never: true, lent: false, ofUser: false };
    }
    const { amounts } = least;
    const span = this.spanOf(row, this.now);
    const full = accounts.find((account) => !hasRoom(account, amounts, span, this.now));
    if (full === undefined) return undefined;
    return {
      message: inUse(full, row, amounts, this.now),
      never: false,
      lent: full.kind === 'quota' && this.isLent(row, full, amounts),
      ofUser: full.kind === 'limit of user',
    };
  }

  /** Whether the limit of its user alone keeps the row from starting now. Its own reservation does not count. */
  isAtUserLimit(row: WorkloadRow): boolean {
    if (this.userAccount(row) === undefined) return false;
    return this.withoutOwn(row, () => this.shortageOf(row)?.ofUser === true);
  }

  /** Whether the row, which has a reservation, has room for a start before this time. */
  mayStartBefore(row: WorkloadRow, time: number): boolean {
    return this.withoutOwn(row, () => this.freeFrom(row) < time);
  }

  private withoutOwn<T>(row: WorkloadRow, ask: () => T): T {
    const own = this.charges.get(row.uid);
    if (own === undefined) return ask();
    for (const account of this.chargedFor(row)) discharge(account, own, this.now);
    const answer = ask();
    for (const account of this.chargedFor(row)) charge(account, own, this.now);
    return answer;
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
    const amounts = heldBy(row, allocation, this.units);
    const names = allocation.nodes.map(({ name }) => name);
    for (const account of accounts) {
      if (!hasRoom(account, amounts, allocation, this.now)) return inUse(account, row, amounts, this.now);
      if (account.nodes?.fits(names, allocation) === false) return nodesInUse(account);
    }
    return undefined;
  }

  /** The earliest time from `from` on at which the row has room for its walltime; Infinity if that is not known. */
  freeFrom(row: WorkloadRow, from = this.now): number {
    const accounts = this.accountsOf(row);
    if (accounts.length === 0) return from;
    const { amounts } = this.least.of(row);
    let at = from;
    for (let moved = true; moved && at < Infinity; ) {
      moved = false;
      for (const account of accounts) {
        const until = blockedUntil(account, amounts, this.spanOf(row, at), this.now);
        if (until <= at) continue;
        at = until;
        moved = true;
      }
    }
    return at;
  }

  /** Whether the two are charged to a common account. */
  areRivals(a: WorkloadRow, b: WorkloadRow): boolean {
    const accounts = this.countedIn(b);
    return this.countedIn(a).some((account) => accounts.includes(account));
  }

  /**
   * Keeps the own quota of queues that reclaim for their waiting rows: borrowers that have returned it must not get it
   * again at once.
   * @param rows all rows that may start, in order
   */
  claimOwn(rows: readonly WorkloadRow[]): void {
    if (this.reclaiming.size === 0) return;
    const left = new Map<string, Usage>();
    for (const row of rows) {
      if (!this.reclaiming.has(row.queue) || this.charges.has(row.uid)) continue;
      const free = left.get(row.queue) ?? this.borrowedBy(row.queue, this.now).map((beyond) => -beyond);
      left.set(row.queue, free);
      const { amounts } = this.least.of(row);
      if (amounts.some((amount, i) => amount > free[i]!)) continue;
      amounts.forEach((amount, i) => {
        free[i]! -= amount;
      });
      this.claim(row);
    }
  }

  private claim(row: WorkloadRow): void {
    this.hold(row, this.now, this.now + row.walltime);
    this.claims.set(row.uid, row);
  }

  /** A promise was made before these claims, and goes first. @returns the claims, for {@link claimAgain} */
  dropClaims(): readonly WorkloadRow[] {
    const claims = [...this.claims.values()];
    for (const row of claims) this.free(row);
    return claims;
  }

  claimAgain(rows: readonly WorkloadRow[]): void {
    for (const row of rows) if (!this.charges.has(row.uid)) this.claim(row);
  }

  /** Charges the row from `start` to `end`. @param allocation without one the row is charged for the least it can hold */
  hold(row: WorkloadRow, start: number, end: number, allocation?: Allocation): void {
    this.free(row);
    const accounts = this.chargedFor(row);
    if (accounts.length === 0) return;
    const counts =
      allocation === undefined ? this.least.of(row).amounts : heldBy(row, allocation, this.units);
    const nodes = allocation?.nodes.map(({ name }) => name) ?? [];
    const one = { start: start <= this.now ? STARTED : start, end, counts, nodes };
    this.charges.set(row.uid, one);
    for (const account of accounts) charge(account, one, this.now);
  }

  /** Ends the charge of the row, if there is one. */
  free(row: WorkloadRow): void {
    if (this.charges.size === 0) return;
    const one = this.charges.get(row.uid);
    if (one === undefined) return;
    this.charges.delete(row.uid);
    this.claims.delete(row.uid);
    for (const account of this.chargedFor(row)) discharge(account, one, this.now);
  }

  private spanOf({ walltime }: WorkloadRow, start: number): Span {
    return { start, end: start + Math.ceil(walltime) };
  }

  /** All have room for a row that may start. */
  accountsOf(row: Pick<WorkloadRow, 'queue' | 'user'>): readonly Account[] {
    const counted = this.countedIn(row);
    if (this.cohortOf.size === 0) return counted;
    const cohort = this.accountOfCohort(row.queue);
    const lent = this.lentTo(row.queue);
    return lent === cohort ? counted : counted.map((account) => (account === cohort ? lent! : account));
  }

  /** All of these count what the row holds. */
  private countedIn({ queue, user }: Pick<WorkloadRow, 'queue' | 'user'>): readonly Account[] {
    if (this.last?.queue === queue && this.last.user === user) return this.last.accounts;
    const ofQueue = this.accounts.get(queue) ?? new Map<string, AccountsOfUser>();
    this.accounts.set(queue, ofQueue);
    const found = ofQueue.get(user) ?? { queue, user, accounts: this.findAccounts({ queue, user }) };
    ofQueue.set(user, found);
    this.last = found;
    return found.accounts;
  }

  /** The same, to be changed. */
  private chargedFor(row: Pick<WorkloadRow, 'queue' | 'user'>): readonly Account[] {
    this.lendingOf(row.queue)?.markChanged();
    return this.countedIn(row);
  }

  private findAccounts(row: Pick<WorkloadRow, 'queue' | 'user'>): readonly Account[] {
    const { queue } = row;
    const accounts = [
      this.own.get(queue),
      this.accountOfCohort(queue),
      this.running.get(queue),
      this.userAccount(row),
    ];
    return accounts.filter((account) => account !== undefined);
  }

  private accountOfCohort(queue: string): Account | undefined {
    return this.cohorts.get(this.cohortOf.get(queue) ?? '');
  }

  private lendingOf(queue: string): Lending | undefined {
    return this.lending.get(this.cohortOf.get(queue) ?? '');
  }

  /** The cohort of the queue without what its other queues keep. */
  private lentTo(queue: string): Account | undefined {
    const cohort = this.accountOfCohort(queue);
    const lent = this.lendingOf(queue)?.to(queue);
    if (cohort === undefined || lent === undefined) return cohort;
    return { ...cohort, ...lent, title: `${cohort.title} without what other queues keep` };
  }

  private userAccount({ queue, user }: Pick<WorkloadRow, 'queue' | 'user'>): Account | undefined {
    const running = this.settings.get(queue)?.limits.user.running;
    if (running === undefined) return undefined;
    const key = `${queue} ${user}`;
    const account = this.users.get(key) ?? runningAccount(running, 'user');
    this.users.set(key, account);
    return account;
  }
}

function byCohort(queues: readonly QuotaQueue[]): Map<string, QueueSettings[]> {
  const lenders = queues.map(({ settings }) => settings).filter(({ cohort }) => cohort !== null);
  return Map.groupBy(lenders, ({ cohort }) => cohort!);
}
