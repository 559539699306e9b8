/**
 * Quotas and limits over time. A workload is charged to several accounts: the quota of its queue (up to its own quota plus
 * borrowing), that of the cohort (up to the sum of all quotas), and the workloads that its queue and its user may run. All
 * of them must have room from its start to its end, so a reservation is charged like a workload that runs.
 */
import type { UnitSettings } from '../../jobspec/units';
import type { QueueSettings } from '../../queue/settings';
import type { WorkloadRow } from '../../queue/workload';
import type { Allocation, Surplus } from '../../resources/types';
import type { Cluster } from './cluster';
import { byCohort, Lending, ownedQuota, totalOf, withBorrowing } from './cohort-quota';
import { NEVER_MET } from './dependencies';
import { KeptQuotas } from './kept-quota';
import { LeastUsages } from './least-usages';
import type { Span } from './placed-pods';
import {
  type Account,
  type Charge,
  charge,
  discharge,
  hasRoom,
  inUse,
  type Lack,
  neverFits,
  nodesInUse,
  quotaAccount,
  runningAccount,
  unownedText,
} from './quota-account';
import { neverShortage, type QuotaShortage, type Refusal } from './quota-shortage';
import { DIMENSIONS, heldBy, limitsOf, requestedBy, type Usage } from './usage';

export interface QuotaQueue {
  readonly settings: QueueSettings;
  readonly rows: readonly WorkloadRow[];
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
  private readonly reclaimingCohorts = new Set<string>();
  private readonly least: LeastUsages;
  /** Queue -> user -> everything that a workload is charged to. */
  private readonly accounts = new Map<string, Map<string, AccountsOfUser>>();
  /** Most workloads are of the queue and user of the one before. */
  private last: AccountsOfUser | undefined;
  private readonly charges = new Map<string, Charge>();
  /** Own quota that is kept where a queue of the cohort reclaims. */
  readonly kept: KeptQuotas;

  constructor(
    queues: readonly QuotaQueue[],
    private readonly units: UnitSettings,
    private readonly now: number,
    cluster: Cluster,
    private readonly surpluses: ReadonlyMap<string, Surplus> = new Map(),
  ) {
    this.least = new LeastUsages(cluster, units);
    const cohorts = byCohort(queues.map(({ settings }) => settings));
    const borrows = (row: WorkloadRow, at: number) => this.borrows(row, this.leftOf(row.queue, at));
    this.kept = new KeptQuotas(cohorts, now, this.least, borrows);
    for (const { settings } of queues) this.openAccounts(settings, cohorts.get(settings.cohort ?? '') ?? []);
    for (const [cohort, members] of cohorts) {
      const total = quotaAccount(totalOf(members), `the quota of cohort ${cohort}`, now);
      this.cohorts.set(cohort, total);
      const usedBy = (queue: string) => this.own.get(queue)!.planner;
      this.lending.set(cohort, new Lending(members, usedBy, total, now));
    }
    for (const row of queues.flatMap(({ rows }) => rows))
      if (row.allocation !== null) this.hold(row, row.allocation.start, row.allocation.end, row.allocation);
  }

  private openAccounts(settings: QueueSettings, members: readonly QueueSettings[]): void {
    const { name, quota, cohort, borrowing, reclaim, limits } = settings;
    this.settings.set(name, settings);
    const { running } = limits.queue;
    if (running !== undefined) this.running.set(name, runningAccount(running, 'queue'));
    if (cohort === null && Object.keys(quota).length === 0) return;
    if (cohort !== null && reclaim) {
      this.reclaiming.add(name);
      this.reclaimingCohorts.add(cohort);
    }
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
    const never = this.neverText(row);
    if (never !== undefined) return neverShortage(never);
    const { amounts } = this.least.of(row);
    const span = this.spanOf(row, this.now);
    const full = this.fullFor(row, amounts, span);
    if (full === undefined) return undefined;
    const { message, ofCohort } = this.refusal(full, row, inUse(full, row, amounts, this.now));
    const lent = !ofCohort && full.kind === 'quota' && full !== this.own.get(row.queue);
    return { message, never: false, lent, ofUser: full.kind === 'limit of user', ofCohort };
  }

  /** What has no room for the row in this span. */
  private fullFor(row: WorkloadRow, amounts: Usage, span: Span): Account | undefined {
    const full = this.accountsOf(row).find((account) => !hasRoom(account, amounts, span, this.now));
    return full ?? (this.kept.takenUntil(row, span) === undefined ? undefined : this.own.get(row.queue));
  }

  /** Whether what its cohort lends to its queue is enough now for the row and for these amounts of others. */
  hasRoomBeside(row: WorkloadRow, others: Usage): boolean {
    const lent = this.lentTo(row.queue);
    if (lent === undefined) return true;
    const isEnough = (amount: number, i: number) =>
      amount === 0 || lent.planner.usedAt(i, this.now, this.now) + amount + others[i]! <= lent.limits[i]!;
    return this.leastOf(row).every(isEnough);
  }

  /** Why the row exceeds its quota or a limit even if nothing else runs; undefined if it does not. */
  neverText(row: WorkloadRow): string | undefined {
    const least = this.least.of(row);
    for (const account of this.accountsOf(row)) {
      const never = neverFits(account, row, least);
      if (never !== undefined) return `${NEVER_MET}${never}`;
    }
    return undefined;
  }

  /** Whether the limit of its user alone keeps the row from starting now. Its own reservation does not count. */
  isAtUserLimit(row: WorkloadRow): boolean {
    if (this.userAccount(row) === undefined) return false;
    return this.without([row], () => this.shortageOf(row)?.ofUser === true);
  }

  /** Whether the row, which has a reservation, has room for a start before this time. */
  mayStartBefore(row: WorkloadRow, time: number): boolean {
    return this.without([row], () => this.freeFrom(row) < time);
  }

  /** Asks as if these had no charge. */
  without<T>(rows: readonly WorkloadRow[], ask: () => T): T {
    const lifted = rows.flatMap((row) => {
      const one = this.charges.get(row.uid);
      return one === undefined ? [] : [{ row, one }];
    });
    for (const { row, one } of lifted) this.discharge(row, one);
    const answer = ask();
    for (const { row, one } of lifted) this.charge(row, one);
    return answer;
  }

  /** The cohort of a queue, if one of its queues takes its own quota back. */
  reclaimingCohortOf(queue: string): string | undefined {
    const cohort = this.cohortOf.get(queue);
    return cohort !== undefined && this.reclaimingCohorts.has(cohort) ? cohort : undefined;
  }

  /** Whether the queue takes back what others have borrowed of its own quota. */
  isReclaiming(queue: string): boolean {
    return this.reclaiming.has(queue);
  }

  /**
   * Whether the row would hold more than its queue's own quota if it started now. What it does not request does not count.
   * @param own what is left of the own quota. @default - as the queue is now
   */
  borrows(row: WorkloadRow, own = this.leftOf(row.queue)): boolean {
    return this.least.of(row).amounts.some((amount, i) => amount > 0 && amount > own[i]!);
  }

  /** What a queue does not use of its own quota at that time, by dimension. */
  leftOf(queue: string, at = this.now): Usage {
    return this.borrowedBy(queue, at).map((beyond) => -beyond);
  }

  /** The least that the row can hold, by dimension. */
  leastOf(row: WorkloadRow): Usage {
    return this.least.of(row).amounts;
  }

  /** How much each account of the row lacks at that time for a start, by dimension; 0 or less: it has enough. */
  lacking(row: WorkloadRow, at: number): readonly Lack[] {
    const amounts = requestedBy(row, this.units);
    const seen = this.accountsOf(row);
    return this.countedIn(row).map((account, n) => {
      const { planner, limits } = seen[n]!;
      const short = amounts.map((amount, i) => planner.usedAt(i, at, this.now) + amount - limits[i]!);
      return { account, short };
    });
  }

  /** Whether what the row holds is charged to the account. */
  isCharged(row: Pick<WorkloadRow, 'queue' | 'user'>, account: Account): boolean {
    return this.countedIn(row).includes(account);
  }

  /** How much more than its own quota a queue holds at that time, by dimension; negative: it holds less. */
  borrowedBy(queue: string, at: number): Usage {
    const nominal = this.nominal.get(queue) ?? new Float64Array(DIMENSIONS.length).fill(Infinity);
    const planner = this.own.get(queue)?.planner;
    return nominal.map((limit, i) => (planner?.usedAt(i, at, this.now) ?? 0) - limit);
  }

  /** @returns why the row may not hold this allocation from its start to its end; undefined if it may */
  refuses(row: WorkloadRow, allocation: Allocation): Refusal | undefined {
    const accounts = this.accountsOf(row);
    if (accounts.length === 0) return undefined;
    const amounts = heldBy(row, allocation, this.units);
    const names = allocation.nodes.map(({ name }) => name);
    const full = this.fullFor(row, amounts, allocation);
    if (full !== undefined) return this.refusal(full, row, inUse(full, row, amounts, this.now));
    const small = accounts.find(({ nodes }) => nodes?.fits(names, allocation) === false);
    return small && this.refusal(small, row, nodesInUse(small));
  }

  private refusal(account: Account, row: WorkloadRow, message: string): Refusal {
    const isOfCohort = account.kind === 'quota' && account !== this.own.get(row.queue);
    if (!isOfCohort || !this.borrows(row)) return { message, ofCohort: false };
    if (!this.isReclaiming(row.queue)) return { message, ofCohort: true };
    const asked = { amounts: this.leastOf(row), left: this.leftOf(row.queue) };
    return { message: message + unownedText(account, asked, this.now), ofCohort: true };
  }

  /** The earliest time from `from` on at which the row has room for its walltime; Infinity if that is not known. */
  freeFrom(row: WorkloadRow, from = this.now): number {
    const accounts = this.accountsOf(row);
    if (accounts.length === 0) return from;
    return this.kept.roomFrom(row, accounts, (at) => this.spanOf(row, at), from);
  }

  /** Whether the two are charged to a common account. */
  areRivals(a: WorkloadRow, b: WorkloadRow): boolean {
    const accounts = this.countedIn(b);
    return this.countedIn(a).some((account) => accounts.includes(account));
  }

  /** Charges the row from `start` to `end`. @param allocation without one the row is charged for the least it can hold */
  hold(row: WorkloadRow, start: number, end: number, allocation?: Allocation): void {
    this.free(row);
    const accounts = this.chargedFor(row);
    if (accounts.length === 0) return;
    const counts = allocation === undefined ? this.least.of(row).amounts : this.chargedBy(row, allocation);
    const nodes = allocation?.nodes.map(({ name }) => name) ?? [];
    const one = { start: start <= this.now ? STARTED : start, end, counts, nodes };
    this.charges.set(row.uid, one);
    this.charge(row, one);
  }

  private charge(row: WorkloadRow, one: Charge): void {
    this.kept.hold(row, one);
    for (const account of this.chargedFor(row)) charge(account, one, this.now);
  }

  private discharge(row: WorkloadRow, one: Charge): void {
    this.kept.free(row);
    for (const account of this.chargedFor(row)) discharge(account, one, this.now);
  }

  /** What the row is charged for this allocation, with what it uses beyond it. */
  chargedBy(row: WorkloadRow, allocation: Allocation): Usage {
    return heldBy(row, allocation, this.units, this.surpluses.get(row.uid));
  }

  /** Ends the charge of the row, if there is one. */
  free(row: WorkloadRow): void {
    if (this.charges.size === 0) return;
    const one = this.charges.get(row.uid);
    if (one === undefined) return;
    this.charges.delete(row.uid);
    this.discharge(row, one);
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
