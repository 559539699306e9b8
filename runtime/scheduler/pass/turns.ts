/**
 * Whose turn it is. In a cohort with a queue that reclaims, own quota comes before priority: a workload that would borrow
 * waits until those have been placed that such a queue has own quota for. What these can't use yet, it may borrow. The
 * order within a queue stays: behind a workload that lets others go first, the rest of its queue does so too.
 */
import type { WorkloadRow } from '../../queue/workload';
import { type DueBorrowers, dueBorrowers } from './borrowed-plans';
import { evicted } from './eviction';
import type { Quotas } from './quota';
import { inShareOrder } from './share-order';
import { budgetOf, type Pass } from './state';
import { addTo, NOTHING, plus, type Usage } from './usage';

/** @yields all rows, each when it is its turn, which also depends on what those before it took */
export function* inTurn(pass: Pass, ordered: readonly WorkloadRow[]): Generator<WorkloadRow> {
  const { lines, never, due } = linesOf(pass, ordered);
  const isDueNow = (row: WorkloadRow) => isDue(pass, row) && !due.uids.has(row.uid);
  for (const row of inShareOrder(pass, ordered)) {
    const line = lines.get(pass.quotas.reclaimingCohortOf(row.queue) ?? '');
    // A promised start is kept if it borrows nothing, or if others have to leave for it.
    if (line === undefined || isDueNow(row) || pass.beneficiaries.has(row.uid) || never.has(row.uid)) {
      const budget = budgetOf(pass, row);
      const wasClosed = budget.closed;
      const charge = line?.settle(row);
      yield row;
      line?.expectMore(row, charge);
      // It closes a fcfs queue for those behind it only.
      if (line?.isWaiting(row) === true) budget.closed = wasClosed;
      line?.judge(row.queue);
    } else line.add(row);
    if (line !== undefined) yield* line.turns();
  }
}

function isDue({ reservations, input }: Pass, { uid }: WorkloadRow): boolean {
  return (reservations.of(uid)?.allocation.start ?? Infinity) <= input.now;
}

interface Lines {
  readonly lines: Map<string, CohortLine>;
  /** Uids of workloads that can never start: behind them, their queue has as much for which others wait as without them. */
  readonly never: Set<string>;
  readonly due: DueBorrowers;
}

/** The lines of the cohorts in which a queue reclaims, with those that are expected in them. */
function linesOf(pass: Pass, ordered: readonly WorkloadRow[]): Lines {
  const { quotas } = pass;
  const due = dueBorrowers(
    pass,
    ordered.filter((row) => isDue(pass, row) && quotas.reclaimingCohortOf(row.queue) !== undefined),
  );
  const found: Lines = { lines: new Map(), never: new Set(), due };
  for (const row of ordered) {
    const cohort = quotas.reclaimingCohortOf(row.queue);
    if (cohort === undefined) continue;
    const line = found.lines.get(cohort) ?? new CohortLine(pass);
    found.lines.set(cohort, line);
    if (!quotas.isReclaiming(row.queue)) continue;
    const { queue } = row;
    line.own.set(
      queue,
      line.own.get(queue) ?? new OwnQuota(pass, queue, plus(line.leavingOf(queue), due.charged.get(queue))),
    );
    // What it is promised now is charged already.
    if (isDue(pass, row) && !due.uids.has(row.uid)) line.expect(row, NOTHING);
    else if (line.own.get(queue)!.take(row)) line.expect(row, quotas.leastOf(row));
    else if (quotas.neverText(row) !== undefined) found.never.add(row.uid);
  }
  return found;
}

/** How many of those that its own quota is not enough for a queue looks at when it has more left. */
const MOST_LOOKED_AT = 16;

/** For which workloads a queue that reclaims has own quota, one behind the other. */
class OwnQuota {
  private readonly left: Usage;
  /** Those that it is not enough for, in order, by uid. */
  private readonly beyond = new Map<string, WorkloadRow>();
  /** Behind a workload that borrows and lets none pass. */
  private isClosed = false;

  constructor(
    private readonly pass: Pass,
    queue: string,
    more: Usage,
  ) {
    this.left = plus(pass.quotas.leftOf(queue), more);
  }

  /** @returns whether it is enough for the row behind those that it was enough for before */
  take(row: WorkloadRow): boolean {
    const { quotas } = this.pass;
    if (this.isClosed) return false;
    if (!quotas.borrows(row, this.left)) {
      addTo(this.left, quotas.leastOf(row), -1);
      return true;
    }
    // What may start behind it has the rest of the own quota before others borrow it.
    if (quotas.neverText(row) === undefined) {
      this.isClosed = budgetOf(this.pass, row).isStrict;
      this.beyond.set(row.uid, row);
    }
    return false;
  }

  /** It is the turn of the row. */
  reach({ uid }: WorkloadRow): void {
    this.beyond.delete(uid);
  }

  /** A workload has not started. @returns those behind it that it is enough for now */
  giveBack(charge: Usage): readonly WorkloadRow[] {
    const { quotas } = this.pass;
    addTo(this.left, charge);
    const found: WorkloadRow[] = [];
    let looked = 0;
    for (const row of this.isClosed ? [] : this.beyond.values()) {
      looked += 1;
      if (looked > MOST_LOOKED_AT) break;
      if (quotas.borrows(row, this.left)) continue;
      addTo(this.left, quotas.leastOf(row), -1);
      this.beyond.delete(row.uid);
      found.push(row);
    }
    return found;
  }
}

interface Entry {
  readonly row: WorkloadRow;
  readonly rank: number;
  isTaken: boolean;
}

/**
 * The workloads of one cohort. A thousand queues may have ten thousand of them, so each step looks only at the queue that it
 * concerns.
 */
class CohortLine {
  /** All that let others go first, in order. Those before `front` have had their turn. */
  private readonly entries: Entry[] = [];
  private front = 0;
  /** The same by queue, without those that have had their turn. */
  private readonly waiting = new Map<string, { readonly entries: Entry[]; next: number }>();
  /** What those within the own quota of their queue will be charged that have not had their turn, by queue and uid. */
  private readonly expected = new Map<string, Map<string, Usage>>();
  /** Their sum. */
  private readonly charges = NOTHING.slice();
  /** Queues of which one is expected and none waits. */
  private readonly ahead = new Set<string>();
  /** Queues whose first waiting workload borrows nothing. */
  private readonly within = new Set<string>();
  /** By queue that reclaims. */
  readonly own = new Map<string, OwnQuota>();
  /** By queue: what its workloads hold that have to leave. It is not theirs any more. */
  private readonly leaving = new Map<string, Usage>();
  private readonly noted = new Set<string>();
  /** How many evictions of this pass are noted. */
  private evictions = -1;
  private readonly quotas: Quotas;

  constructor(private readonly pass: Pass) {
    this.quotas = pass.quotas;
    this.noteEvictions();
  }

  leavingOf(queue: string): Usage {
    return this.leaving.get(queue) ?? NOTHING;
  }

  /** Whoever has to leave returns what it holds to those of its queue that wait, before others borrow it. */
  private noteEvictions(): void {
    const { length } = this.pass.evictions;
    if (length === this.evictions) return;
    this.evictions = length;
    for (const { row } of evicted(this.pass)) {
      if (this.noted.has(row.uid)) continue;
      this.noted.add(row.uid);
      const held = this.quotas.chargedBy(row, row.allocation!);
      this.leaving.set(row.queue, plus(held, this.leaving.get(row.queue)));
      this.expectWith(row.queue, held);
      this.judge(row.queue);
    }
  }

  /** @param charge what it will be charged that it is not yet */
  expect({ queue, uid }: WorkloadRow, charge: Usage): void {
    const charges = this.expected.get(queue) ?? new Map();
    this.expected.set(queue, charges.set(uid, charge));
    if (!this.waiting.has(queue)) this.ahead.add(queue);
    addTo(this.charges, charge);
  }

  /** It is its turn, so it is expected no more. @returns what it was expected to be charged */
  settle(row: WorkloadRow): Usage | undefined {
    const { queue, uid } = row;
    this.own.get(queue)?.reach(row);
    const charges = this.expected.get(queue);
    const charge = charges?.get(uid);
    if (charges === undefined || charge === undefined) return undefined;
    addTo(this.charges, charge, -1);
    charges.delete(uid);
    if (charges.size > 0) return charge;
    this.expected.delete(queue);
    this.ahead.delete(queue);
    return charge;
  }

  /** It has had its turn. Where it was expected to start and has not, own quota is left for others behind it. */
  expectMore({ uid, queue }: WorkloadRow, charge: Usage | undefined): void {
    this.noteEvictions();
    if (charge === undefined || this.pass.grants.at(-1)?.uid === uid) return;
    this.expectWith(queue, charge);
  }

  private expectWith(queue: string, more: Usage): void {
    for (const next of this.own.get(queue)?.giveBack(more) ?? [])
      this.expect(next, this.quotas.leastOf(next));
  }

  add(row: WorkloadRow): void {
    const { queue } = row;
    const entry = { row, rank: this.entries.length, isTaken: false };
    this.entries.push(entry);
    const own = this.waiting.get(queue) ?? { entries: [], next: 0 };
    own.entries.push(entry);
    this.waiting.set(queue, own);
    this.ahead.delete(queue);
    this.judge(queue);
  }

  /** Whether workloads of its queue let others go first. */
  isWaiting({ queue }: WorkloadRow): boolean {
    return this.waiting.has(queue);
  }

  *turns(): Generator<WorkloadRow> {
    for (let entry = this.first(); entry !== undefined; entry = this.first()) {
      const charge = this.take(entry);
      yield entry.row;
      this.expectMore(entry.row, charge);
      this.judge(entry.row.queue);
    }
  }

  private take(entry: Entry): Usage | undefined {
    const { queue } = entry.row;
    const own = this.waiting.get(queue)!;
    const charge = this.settle(entry.row);
    entry.isTaken = true;
    own.next += 1;
    if (own.next < own.entries.length) return charge;
    this.waiting.delete(queue);
    if (this.expected.has(queue)) this.ahead.add(queue);
    return charge;
  }

  /**
   * The first that borrows nothing, or else the first of all, unless one is expected that borrows nothing. Where that one waits behind a
   * workload of its queue that borrows, this one is next, if what the first of all would borrow is not left beside it.
   */
  private first(): Entry | undefined {
    if (this.within.size > 0) return this.firstOf(this.within);
    if (this.ahead.size > 0) return undefined;
    while (this.entries[this.front]?.isTaken === true) this.front += 1;
    const first = this.entries[this.front];
    if (first === undefined || this.expected.size === 0 || this.hasRoom(first.row)) return first;
    return this.firstOf(this.expected.keys());
  }

  private firstOf(queues: Iterable<string>): Entry {
    return [...queues]
      .map((queue) => this.frontOf(queue)!)
      .reduce((best, one) => (one.rank < best.rank ? one : best));
  }

  /** Whether the cohort has enough for the row beside what is expected of other queues. */
  private hasRoom(row: WorkloadRow): boolean {
    const others = this.charges.slice();
    for (const charge of this.expected.get(row.queue)?.values() ?? []) addTo(others, charge, -1);
    // Its promised start may have come.
    return this.quotas.without([row], () => this.quotas.hasRoomBeside(row, others));
  }

  private frontOf(queue: string): Entry | undefined {
    const own = this.waiting.get(queue);
    return own?.entries[own.next];
  }

  /** What the queue uses, or its first waiting workload, is another one. */
  judge(queue: string): void {
    const front = this.frontOf(queue);
    if (front === undefined || this.borrows(front.row)) this.within.delete(queue);
    else this.within.add(queue);
  }

  private borrows(row: WorkloadRow): boolean {
    const leaving = this.leaving.get(row.queue);
    if (leaving === undefined) return this.quotas.borrows(row);
    return this.quotas.borrows(row, plus(this.quotas.leftOf(row.queue), leaving));
  }
}
