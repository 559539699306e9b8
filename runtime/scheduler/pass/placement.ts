/** One workload after the other gets its place: units now, units later, or a reason to wait. */
import { FluxqError } from '../../errors';
import type { MatchOperation, MatchResult } from '../../fluxion/types';
import type { WorkloadRow } from '../../queue/workload';
import type { AllocatedNode, Allocation } from '../../resources/types';
import { priorityOf } from './order';
import { preempt, reclaim } from './preemptor';
import type { QueueBudget } from './queue-budget';
import type { Reservation } from './reservations';
import { forecastOf, type Pass } from './state';
import { LEAVING_SECONDS } from './victims';

export class Placer {
  private readonly rows = new Map<string, WorkloadRow>();
  /** The next pass has to begin from the front. */
  private over = false;

  constructor(private readonly pass: Pass) {}

  /** Keeps the reservations that still hold; gives the others up. @param ordered all rows that may have one */
  async takeOver(standing: readonly Reservation[], ordered: readonly WorkloadRow[]): Promise<void> {
    const { pass, rows } = this;
    for (const row of ordered) rows.set(row.uid, row);
    for (const reservation of standing) {
      const row = rows.get(reservation.uid);
      if (row === undefined || !this.holds(reservation, row)) {
        await pass.input.matcher.cancel(reservation.jobid);
        pass.overdue.delete(reservation.uid);
        this.givenBack();
      } else {
        pass.reservations.takeOver(reservation);
        this.book(row, reservation);
      }
    }
    pass.quotas.claimOwn(ordered);
  }

  private holds({ jobid, allocation }: Reservation, row: WorkloadRow): boolean {
    const { cluster, input } = this.pass;
    if (jobid !== row.jobid || this.turnOf(row).reservationsLeft <= 0) return false;
    if (input.nodes === undefined || input.graphGrew === false) return true;
    return allocation.nodes.every(({ name }) => cluster.isUp(name));
  }

  /** @returns false when the pass ends here */
  async place(row: WorkloadRow): Promise<boolean> {
    const { pass } = this;
    const turn = this.turnOf(row);
    const standing = pass.reservations.of(row.uid);
    pass.reservations.reach(row.uid);
    const unseen = turn.limits.waits(row);
    if (unseen !== undefined) {
      if (standing !== undefined) await this.giveUp(standing);
      pass.waits.markQuota(row, unseen);
      return true;
    }
    if (standing !== undefined && !this.isWorthAsking(turn, row, standing)) {
      pass.waits.markReserved(row, standing.allocation.start, pass.input.now);
      return true;
    }
    if (turn.cutShort) return true;
    if (turn.closed) {
      pass.waits.markBehind(row);
      return true;
    }
    if (!(await this.mayStart(turn, row, standing))) return true;
    if (standing === undefined && this.refusedBefore(turn, row)) return true;
    if (pass.input.interrupted?.() === true) {
      pass.more = true;
      return false;
    }
    if (turn.asksLeft === 0) {
      turn.spend();
      if (turn.closed) pass.waits.markBehind(row);
      return true;
    }
    await this.ask(turn, row, standing);
    return !this.over;
  }

  /** It is due, or something was given back that may let it start earlier. */
  private isWorthAsking(turn: QueueBudget, row: WorkloadRow, { allocation }: Reservation): boolean {
    const { pass } = this;
    if (turn.asksLeft === 0 || turn.closed || turn.cutShort) return false;
    if (allocation.start <= pass.input.now) return true;
    if (!pass.freed) return false;
    if (pass.input.nodes === undefined || pass.overdue.has(row.uid)) return true;
    // Far behind it is enough to know who could start now: plans for later are made better when they come near.
    const before = turn.improvementsLeft > 0 ? allocation.start : pass.input.now + 1;
    if (!forecastOf(pass).mayImprove(row, allocation, before)) return false;
    turn.improvementsLeft -= 1;
    return true;
  }

  /** Limits and quota. A reservation that is not due is kept whatever they say now. */
  private async mayStart(
    turn: QueueBudget,
    row: WorkloadRow,
    standing: Reservation | undefined,
  ): Promise<boolean> {
    const { pass } = this;
    pass.quotas.free(row);
    const full = turn.limits.shortageOf(row);
    const lack = full === undefined ? pass.quotas.shortageOf(row) : undefined;
    const text = full ?? lack?.text;
    if (text === undefined) return true;
    if (standing !== undefined && standing.allocation.start > pass.input.now) {
      this.claim(row, standing.allocation);
      pass.waits.markReserved(row, standing.allocation.start, pass.input.now);
      return false;
    }
    if (standing !== undefined) await this.giveUp(standing);
    pass.waits.markQuota(row, text);
    if (lack === undefined || lack.never) return false;
    if (lack.lent && turn.settings.reclaim) await reclaim(pass, row);
    this.keepQuota(turn, row);
    return false;
  }

  /** The first of its queue that lacks quota finds it free when what holds it has ended, whoever comes behind. */
  private keepQuota(turn: QueueBudget, row: WorkloadRow): void {
    if (turn.strict) turn.closed = true;
    if (turn.strict || turn.claims) return;
    turn.claims = true;
    const { quotas } = this.pass;
    const from = quotas.freeFrom(row);
    if (from < Infinity) quotas.hold(row, from, from + row.walltime);
  }

  /**
   * While the queue may still reserve, only what can't be planned at all is
   * passed over: a workload that another queue was refused has a right to its
   * reservation here.
   */
  private refusedBefore(turn: QueueBudget, row: WorkloadRow): boolean {
    const { memory, waits, cluster, input } = this.pass;
    if (memory.never.covers(row.jobspec)) {
      waits.markUnsatisfiable(row, 'larger than one that can never start');
      return true;
    }
    // Nobody knows when nodes that are down come back: what needs them blocks nothing, and nothing is reserved for it.
    const down = memory.down.covers(row.jobspec);
    if (down || (input.nodes !== undefined && !cluster.fitsUp(row.jobspec) && cluster.fits(row.jobspec))) {
      waits.markDown(row);
      return true;
    }
    // The head of a fcfs queue has to be asked about, or it would not block.
    const known = this.mayReserve(turn, row) ? memory.unplannable : memory.busy;
    if (turn.strict || !known.covers(row.jobspec)) return false;
    if (known === memory.busy) turn.passedOver = true;
    waits.markBusy(row);
    return true;
  }

  private mayReserve(turn: QueueBudget, row: WorkloadRow): boolean {
    if (turn.reservationsLeft > 0) return true;
    return !turn.strict && this.rivals(row).some(({ uid }) => this.rows.get(uid)!.queue === row.queue);
  }

  /** Reservations of lower priority behind it: made before it came, and to be made anew behind it. */
  private rivals(row: WorkloadRow): readonly Reservation[] {
    const { reservations } = this.pass;
    const priority = this.priorityOf(row);
    return reservations.ahead().filter(({ uid }) => this.priorityOf(this.rows.get(uid)!) < priority);
  }

  private async ask(turn: QueueBudget, row: WorkloadRow, standing: Reservation | undefined): Promise<void> {
    const mayReserve = standing !== undefined || this.mayReserve(turn, row);
    const rivals = standing === undefined && mayReserve ? this.rivals(row) : [];
    turn.asksLeft -= 1;
    // Its own place must be free while the question is asked; nobody else's is.
    if (standing !== undefined) await this.giveUp(standing, false);
    let answer = await this.match(row, this.operationFor(row, mayReserve && rivals.length === 0));
    if (answer.status === 'BUSY' && rivals.length > 0) answer = await this.matchWithout(rivals, row);
    // While the overrun lasts nothing is gained by planning everything anew every second.
    else if (standing !== undefined && this.slips(standing, answer) && this.pass.freed) {
      const behind = this.pass.reservations.ahead();
      if (behind.length > 0) answer = await this.matchWithout(behind, row);
    }
    if (this.mayPreempt(turn, row, mayReserve, answer) && (await preempt(this.pass, row))) {
      if (answer.status === 'OK') await this.pass.input.matcher.cancel(row.jobid);
      answer = await this.match(row, this.operationFor(row, mayReserve));
    }
    await this.decide(turn, row, answer, mayReserve, standing);
  }

  /** It is given the place of others, which are made anew behind it. */
  private async matchWithout(others: readonly Reservation[], row: WorkloadRow): Promise<MatchResult> {
    for (const other of others) await this.giveUp(other);
    await this.pass.input.matcher.cancel(row.jobid);
    return this.match(row, 'allocate_orelse_reserve');
  }

  /** It is due, or was before, and nothing but an overrun keeps it: the plan behind it is void then, the order is not. */
  private slips({ uid, allocation }: Reservation, answer: MatchResult): boolean {
    const { overdue, input } = this.pass;
    const due = overdue.get(uid) ?? allocation.start;
    const late = answer.status !== 'OK' || answer.allocation.start > Math.max(due, input.now);
    if (late) overdue.set(uid, due);
    return late;
  }

  /** Only who comes next may take others back, once, and not for a start that is near anyway. */
  private mayPreempt(turn: QueueBudget, row: WorkloadRow, mayReserve: boolean, answer: MatchResult): boolean {
    if (!turn.settings.preempts || row.preemptions > 0 || !(mayReserve || turn.strict)) return false;
    if (answer.status === 'BUSY') return true;
    return answer.status === 'OK' && answer.allocation.start > this.pass.input.now + LEAVING_SECONDS;
  }

  private match(row: WorkloadRow, operation: MatchOperation): Promise<MatchResult> {
    const { input } = this.pass;
    this.pass.matches += 1;
    return input.matcher.match({ jobid: row.jobid, jobspec: row.jobspec, operation, now: input.now });
  }

  /** Plain allocate says busy to the impossible too: only for what fits the cluster, but then Fluxion answers far sooner. */
  private operationFor({ jobspec }: WorkloadRow, mayReserve: boolean): MatchOperation {
    if (mayReserve) return 'allocate_orelse_reserve';
    return this.pass.cluster.fits(jobspec) ? 'allocate' : 'allocate_with_satisfiability';
  }

  private async decide(
    turn: QueueBudget,
    row: WorkloadRow,
    answer: MatchResult,
    mayReserve: boolean,
    standing: Reservation | undefined,
  ): Promise<void> {
    const { memory, waits } = this.pass;
    if (
      standing !== undefined &&
      !(answer.status === 'OK' && isSamePlace(answer.allocation, standing.allocation))
    )
      this.givenBack();
    switch (answer.status) {
      case 'OK':
        await this.take(turn, row, answer);
        // Its reservation is to have again: for who was passed over, not for who comes next.
        if (standing !== undefined && !answer.reserved && turn.passedOver) this.beginAgain();
        return;
      case 'BUSY':
        memory.busy.add(row.jobspec);
        if (mayReserve) memory.unplannable.add(row.jobspec);
        else turn.passedOver = true;
        waits.markBusy(row);
        if (turn.strict) turn.closed = true;
        return;
      case 'UNSATISFIABLE':
        return this.refuseForGood(row, answer.text);
      case 'INVALID':
        return waits.markInvalid(row, answer.text);
      case 'NOT_READY':
        throw new FluxqError('FLUXQ_FLUXION_IN_DOUBT', `Fluxion has no graph: ${answer.text}`, {
          remedy: 'init and replay, then go on',
          retryable: true,
        });
    }
  }

  private async take(
    turn: QueueBudget,
    row: WorkloadRow,
    answer: MatchResult & { status: 'OK' },
  ): Promise<void> {
    const { pass } = this;
    const { allocation, reserved } = answer;
    // Whole nodes and different nodes are only known now.
    const refusal = pass.quotas.refuses(row, allocation);
    if (refusal !== undefined) {
      await pass.input.matcher.cancel(row.jobid);
      pass.waits.markQuota(row, refusal);
      return this.keepQuota(turn, row);
    }
    if (reserved) {
      pass.memory.busy.add(row.jobspec);
      pass.waits.markReserved(row, allocation.start, pass.input.now);
      const reservation = { uid: row.uid, jobid: row.jobid, allocation };
      pass.reservations.add(reservation);
      this.book(row, reservation);
    } else {
      turn.granted = true;
      turn.limits.starts(row);
      pass.grants.push({ uid: row.uid, allocation });
      pass.waits.starts(row);
      pass.overdue.delete(row.uid);
      this.claim(row, allocation);
    }
    pass.forecast?.add(allocation);
  }

  /** With nodes down, Fluxion says unsatisfiable to a request for more nodes than are up, though it fits the cluster. */
  private async refuseForGood(row: WorkloadRow, text: string): Promise<void> {
    const { memory, waits, input } = this.pass;
    const { satisfiable } = await input.matcher.satisfiable(row.jobspec);
    if (satisfiable) {
      memory.down.add(row.jobspec);
      waits.markDown(row);
    } else {
      memory.never.add(row.jobspec);
      waits.markUnsatisfiable(row, text);
    }
  }

  private book(row: WorkloadRow, { allocation }: Reservation): void {
    this.turnOf(row).reservationsLeft -= 1;
    this.claim(row, allocation);
  }

  private claim(row: WorkloadRow, allocation: Allocation): void {
    this.pass.quotas.hold(row, allocation.start, allocation.end, allocation);
  }

  /** @param forGood its place is free for others */
  private async giveUp({ uid, jobid, allocation }: Reservation, forGood = true): Promise<void> {
    const { pass } = this;
    const row = this.rows.get(uid)!;
    await pass.input.matcher.cancel(jobid);
    pass.reservations.remove(uid);
    pass.quotas.free(row);
    pass.forecast?.remove(allocation);
    this.turnOf(row).reservationsLeft += 1;
    if (forGood) this.givenBack();
  }

  private beginAgain(): void {
    this.over = true;
    this.pass.more = true;
  }

  /** What was refused or planned before may now do better. */
  private givenBack(): void {
    this.pass.freed = true;
    this.pass.memory.busy.clear();
    this.pass.memory.unplannable.clear();
  }

  private priorityOf(row: WorkloadRow): number {
    return priorityOf(row, this.turnOf(row).settings);
  }

  private turnOf(row: WorkloadRow): QueueBudget {
    return this.pass.budgets.get(row.queue)!;
  }
}

function isSamePlace(a: Allocation, b: Allocation): boolean {
  if (a.start !== b.start || a.nodes.length !== b.nodes.length) return false;
  return a.nodes.every((node, i) => holdsSame(node, b.nodes[i]!));
}

function holdsSame(a: AllocatedNode, b: AllocatedNode): boolean {
  if (a.name !== b.name || a.exclusive !== b.exclusive) return false;
  const types = Object.keys(a.units);
  return (
    types.length === Object.keys(b.units).length && types.every((type) => a.units[type] === b.units[type])
  );
}
