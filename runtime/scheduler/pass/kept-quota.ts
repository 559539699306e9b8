/**
 * Own quota that a queue keeps for those that it has promised a start. Where a queue of its cohort reclaims, a promise may be one to
 * borrow, which the owner takes back when it needs its quota. So the own quota is kept as well, from the time on from which it is
 * enough: else later workloads of the same queue would use it up, each within own quota, and the first in line would have neither.
 */
import type { QueueSettings } from '../../queue/settings';
import type { WorkloadRow } from '../../queue/workload';
import { ownedQuota } from './cohort-quota';
import type { LeastUsages } from './least-usages';
import type { Span } from './placed-pods';
import {
  type Account,
  type Charge,
  charge,
  discharge,
  hasRoom,
  quotaAccount,
  roomFrom,
} from './quota-account';
import { NOTHING, type Usage } from './usage';

/** Those of all queues. */
export class KeptQuotas {
  private readonly byQueue = new Map<string, KeptQuota>();
  private readonly ranks = new Map<string, number>();
  /** Uids of workloads that start whatever is kept for others: their promised start has come, or others leave for them. */
  readonly due = new Set<string>();

  /**
   * @param cohorts their queues, by name
   * @param borrows whether the row would borrow if it started then
   */
  constructor(
    cohorts: ReadonlyMap<string, readonly QueueSettings[]>,
    private readonly now: number,
    private readonly least: LeastUsages,
    private readonly borrows: (row: WorkloadRow, at: number) => boolean,
  ) {
    const reclaiming = [...cohorts.values()].filter((members) => members.some(({ reclaim }) => reclaim));
    for (const members of reclaiming) for (const queue of members) this.open(queue, members);
  }

  private open({ name, quota }: QueueSettings, members: readonly QueueSettings[]): void {
    const own = quotaAccount(ownedQuota(quota, members), '', this.now);
    this.byQueue.set(name, new KeptQuota(own, this.now, (uid) => this.ranks.get(uid) ?? Infinity));
  }

  /** Tells the order in which own quota is kept. */
  setLine(line: readonly Pick<WorkloadRow, 'uid'>[]): void {
    if (this.byQueue.size > 0) for (const [rank, { uid }] of line.entries()) this.ranks.set(uid, rank);
  }

  hold(row: WorkloadRow, one: Charge): void {
    const kept = this.byQueue.get(row.queue);
    kept?.hold(row.uid, one, one.start > this.now && this.isBound(row, kept));
  }

  free({ queue, uid }: WorkloadRow): void {
    this.byQueue.get(queue)?.free(uid);
  }

  /** The end of what is kept for a workload before the row and not left by it; undefined: it leaves everything. */
  takenUntil(row: WorkloadRow, span: Span): number | undefined {
    const kept = this.byQueue.get(row.queue);
    if (kept === undefined || !this.isBound(row, kept)) return undefined;
    const until = kept.takenUntil(row.uid, this.least.of(row).amounts, span);
    // Who borrows takes nothing of it, and may have to leave for it.
    return until === undefined || this.borrows(row, span.start) ? undefined : until;
  }

  /** The first time from `from` on at which all accounts have room for the row, and it takes nothing that is kept; Infinity: none is known. */
  roomFrom(
    row: WorkloadRow,
    accounts: readonly Account[],
    spanOf: (at: number) => Span,
    from: number,
  ): number {
    const { amounts } = this.least.of(row);
    let next = roomFrom(accounts, amounts, spanOf, from, this.now);
    while (next < Infinity) {
      const until = this.takenUntil(row, spanOf(next));
      if (until === undefined) break;
      next = roomFrom(accounts, amounts, spanOf, until, this.now);
    }
    return next;
  }

  /** Whether own quota is enough for the row, and it has no better right to start. */
  private isBound(row: WorkloadRow, { limits }: KeptQuota): boolean {
    const isWithin = (amount: number, i: number) => amount === 0 || amount <= limits[i]!;
    return !this.due.has(row.uid) && this.least.of(row).amounts.every(isWithin);
  }
}

/** For how many of a queue own quota is kept: each of them is planned anew when something changes. */
const MOST_KEPT = 8;

class KeptQuota {
  private readonly charges = new Map<string, Charge>();
  /** Those that are promised a start. */
  private readonly promised = new Map<string, Charge>();
  /** What is kept for the first of them, from the time on from which own quota is enough. */
  private readonly kept = new Map<string, Charge>();
  private isKnown = true;

  /**
   * @param own the quota of the queue without what it may borrow, with no charges
   * @param rankOf the place of a workload in the line, by uid
   */
  constructor(
    private readonly own: Account,
    private readonly now: number,
    private readonly rankOf: (uid: string) => number,
  ) {}

  get limits(): Usage {
    return this.own.limits;
  }

  /** @param isPromised whether it starts later */
  hold(uid: string, one: Charge, isPromised: boolean): void {
    this.isKnown = false;
    if (isPromised) this.promised.set(uid, one);
    else {
      this.charges.set(uid, one);
      charge(this.own, one, this.now);
    }
  }

  free(uid: string): void {
    if (this.promised.delete(uid)) this.isKnown = false;
    const one = this.charges.get(uid);
    if (one === undefined) return;
    this.isKnown = false;
    this.charges.delete(uid);
    discharge(this.own, one, this.now);
  }

  /** The end of what is kept for a workload before it and not left by this one; undefined: it leaves everything. */
  takenUntil(uid: string, amounts: Usage, { start, end }: Span): number | undefined {
    this.keep();
    for (const [other, plan] of this.kept) {
      if (plan.start >= end || plan.end <= start || this.rankOf(other) >= this.rankOf(uid)) continue;
      const both = { start: Math.max(plan.start, start), end: Math.min(plan.end, end) };
      // What is beyond own quota without it is so with it.
      if (!hasRoom(this.own, amounts, both, this.now) && hasRoom(this.own, NOTHING, both, this.now))
        return plan.end;
    }
    return undefined;
  }

  private keep(): void {
    if (this.isKnown) return;
    this.isKnown = true;
    for (const one of this.kept.values()) discharge(this.own, one, this.now);
    this.kept.clear();
    for (const uid of this.firsts()) {
      const one = this.within(this.promised.get(uid)!);
      if (one === undefined) continue;
      this.kept.set(uid, one);
      charge(this.own, one, this.now);
    }
  }

  /** The first in line: a conservative queue promises a start to each of thousands, and each may be asked for again. */
  private firsts(): readonly string[] {
    const line: string[] = [];
    for (const uid of this.promised.keys()) {
      const rank = this.rankOf(uid);
      const at = line.findLastIndex((other) => this.rankOf(other) <= rank) + 1;
      if (at < MOST_KEPT) line.splice(at, 0, uid);
      if (line.length > MOST_KEPT) line.pop();
    }
    return line;
  }

  /** From its promised start on; undefined: no time is known. */
  private within(given: Charge): Charge | undefined {
    const length = given.end - given.start;
    const spanOf = (start: number) => ({ start, end: start + length });
    const start = roomFrom([this.own], given.counts, spanOf, given.start, this.now);
    return start === Infinity ? undefined : { ...given, ...spanOf(start) };
  }
}
