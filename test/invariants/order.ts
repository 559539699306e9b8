/**
 * Checks I4 and I5 on the event log: equal workloads start in the order of their submission, and an estimated start is
 * postponed only for a reason other than backfill.
 */
import type { Interventions, LoggedEvent, SeenRow, Violation } from './observation';

/** Wait reasons of workloads that compete for resources; a workload with another reason does not. */
const QUEUED_REASONS = new Set(['Submitted', 'Busy', 'Reserved', 'Requeued']);
/** Seconds from the snapshot of a pass to its commit, including faults. */
const PASS_SECONDS = 5;
const YEAR_SECONDS = 365 * 24 * 3600;
/** Tolerated difference of estimates, which are whole seconds. */
const SLACK_SECONDS = 1;

/** An equal workload that was submitted later started first, and took nothing from this one if it starts in time. */
interface Overtaking {
  readonly by: string;
  readonly at: number;
  /** The estimated start of the workload that was overtaken. */
  readonly estimate: number;
}

/** The state of a workload after the events so far. */
interface TrackedWorkload {
  readonly row: SeenRow;
  /** The workload is edited at some time: the log does not contain its earlier shape. */
  readonly edited: boolean;
  priority: number;
  queue: string;
  walltime: number;
  /** Time since which the workload competes for resources; undefined if it does not. */
  since: number | undefined;
  estimate: number | undefined;
  /** Time since which nodes are reserved for it; undefined if none are. */
  reservedSince: number | undefined;
  /** When a pass last said why it waits, a workload overran its walltime: its start may be unknown for that. */
  behindOverrun: boolean;
  /** The first time that it was overtaken since it waits. */
  overtaken: Overtaking | undefined;
  /** A pass has said why it waits. */
  judged: boolean;
  /** Who started first before a pass has said why it waits: a violation, unless it could not start. */
  suspected: string | undefined;
  /** Time of the event with that estimate. */
  estimatedAt: number;
  /** End of the current allocation. */
  end: number | undefined;
}

/** @param rows for shapes and the order of submission, which the log does not contain */
export function orderViolations(
  events: readonly LoggedEvent[],
  rows: readonly SeenRow[],
  interventions: Interventions,
): Violation[] {
  const edits = events.filter(({ event }) => event === 'Updated');
  const grants = events.filter(({ event }) => event === 'Allocated').map(keyOf);
  const checker = new OrderChecker(
    rows,
    new Set(edits.map(({ uid }) => uid)),
    new Set(grants),
    interventions,
  );
  for (const event of events) checker.apply(event);
  checker.finish();
  return checker.violations;
}

class OrderChecker {
  readonly violations: Violation[] = [];
  private readonly workloads = new Map<string, TrackedWorkload>();
  private readonly rows: ReadonlyMap<string, SeenRow>;
  /** Events that may postpone estimates: a workload that starts to compete, or undefined for an event that affects all. */
  private readonly disruptions: { readonly at: number; readonly workload: TrackedWorkload | undefined }[] =
    [];
  private lastDisturbance = 0;

  constructor(
    rows: readonly SeenRow[],
    private readonly edited: ReadonlySet<string>,
    /** Keys of all grants. */
    private readonly grants: ReadonlySet<string>,
    private readonly interventions: Interventions,
  ) {
    this.rows = new Map(rows.map((row) => [row.uid, row]));
  }

  apply(event: LoggedEvent): void {
    if (this.interventions.disturbances.some((when) => when > this.lastDisturbance && when <= event.at)) {
      this.lastDisturbance = event.at;
      this.disruptions.push({ at: event.at, workload: undefined });
    }
    const workload = this.workloadOf(event);
    if (workload === undefined) return;
    switch (event.event) {
      case 'Submitted':
      case 'Updated':
        this.updateSettings(workload, event);
        break;
      case 'Waiting':
        this.wait(workload, event);
        break;
      case 'Allocated':
        this.start(workload, event);
        break;
      case 'Adopted':
        this.adopt(workload, event);
        break;
      case 'Reallocated':
        this.moveEnd(workload, event);
        break;
      case 'Requeued':
        this.endAllocation(workload, event.at);
        workload.estimate = undefined;
        this.enqueue(workload, event.at);
        // Its allocation, or the loss of its nodes, changes the forecast for all others.
        this.disruptions.push({ at: event.at, workload: undefined });
        break;
      case 'Finished':
        workload.since = undefined;
        workload.suspected = undefined;
        this.endAllocation(workload, event.at);
        break;
    }
  }

  /** To be called at the end of the log. */
  finish(): void {
    for (const workload of this.workloads.values()) this.reportSuspected(workload);
  }

  /** A workload that overran its walltime may have delayed all others. */
  private endAllocation(workload: TrackedWorkload, when: number): void {
    if (workload.end !== undefined && when > workload.end)
      this.disruptions.push({ at: when, workload: undefined });
    workload.end = undefined;
  }

  /** Its first container started late, so it may run for longer than planned, and its walltime is not over by the old end. */
  private moveEnd(workload: TrackedWorkload, { at, detail }: LoggedEvent): void {
    const end = Number(detail.end);
    if (workload.end === undefined || end <= workload.end) return;
    workload.end = end;
    this.disruptions.push({ at, workload: undefined });
  }

  private workloadOf({ uid }: LoggedEvent): TrackedWorkload | undefined {
    const row = this.rows.get(uid);
    if (row === undefined) return undefined;
    const known = this.workloads.get(uid);
    if (known !== undefined) return known;
    const { priority, queue, walltime } = row;
    const workload: TrackedWorkload = {
      row,
      edited: this.edited.has(uid),
      priority,
      queue,
      walltime,
      since: undefined,
      estimate: undefined,
      reservedSince: undefined,
      behindOverrun: false,
      overtaken: undefined,
      judged: false,
      suspected: undefined,
      estimatedAt: 0,
      end: undefined,
    };
    this.workloads.set(uid, workload);
    return workload;
  }

  private updateSettings(workload: TrackedWorkload, { at: when, detail }: LoggedEvent): void {
    workload.priority = Number(detail.priority);
    workload.queue = String(detail.queue);
    workload.walltime = Number(detail.walltime);
    workload.estimate = undefined;
    workload.overtaken = undefined;
    workload.judged = false;
    if (detail.held === true) workload.since = undefined;
    else this.enqueue(workload, when);
  }

  private enqueue(workload: TrackedWorkload, when: number): void {
    workload.since = when;
    this.disruptions.push({ at: when, workload });
  }

  private wait(workload: TrackedWorkload, { at: when, detail }: LoggedEvent): void {
    workload.reservedSince = detail.reason === 'Reserved' ? (workload.reservedSince ?? when) : undefined;
    workload.behindOverrun = this.hasOverrun(when);
    workload.judged = true;
    if (!QUEUED_REASONS.has(String(detail.reason))) {
      workload.suspected = undefined;
      workload.since = undefined;
      workload.overtaken = undefined;
      // A quota or limit may reserve as well, and promises then as nodes do.
      if (detail.reason === 'QuotaExceeded') this.promise(workload, { at: when, detail });
      else workload.estimate = undefined;
      return;
    }
    this.reportSuspected(workload);
    if (workload.since === undefined) this.enqueue(workload, when);
    this.promise(workload, { at: when, detail });
  }

  /** An estimated start may only become earlier. */
  private promise(workload: TrackedWorkload, { at: when, detail }: Pick<LoggedEvent, 'at' | 'detail'>): void {
    const logged = typeof detail.estimatedStart === 'number' ? detail.estimatedStart : undefined;
    // A start after more than a year means that it waits for unmanaged pods, whose end is not known.
    const estimate = logged !== undefined && logged < when + YEAR_SECONDS ? logged : undefined;
    if (
      estimate !== undefined &&
      workload.estimate !== undefined &&
      estimate > workload.estimate + SLACK_SECONDS &&
      !this.isExcused(workload, when)
    )
      this.violations.push({
        invariant: 'I5',
        text: `the estimated start of ${workload.row.name} moved from ${workload.estimate} to ${estimate}`,
      });
    // Without a new estimate there is no promise to compare.
    if (estimate !== undefined) {
      workload.estimate = estimate;
      workload.estimatedAt = when;
    }
  }

  /** Whether a workload ahead of it was submitted, resources were lost, or a workload overruns its walltime. */
  private isExcused(workload: TrackedWorkload, when: number): boolean {
    return !this.interventions.comparable || this.isDisrupted(workload, workload.estimatedAt, when);
  }

  /**
   * @param since time of the event with the estimate, whose pass may have a snapshot older than events in the log
   * @param rival a workload that is no excuse
   */
  private isDisrupted(
    workload: TrackedWorkload,
    since: number,
    when: number,
    rival?: TrackedWorkload,
  ): boolean {
    const from = since - PASS_SECONDS;
    for (let i = this.disruptions.length - 1; i >= 0 && this.disruptions[i]!.at >= from; i--) {
      const { workload: other } = this.disruptions[i]!;
      if (other === undefined || (other !== rival && isBefore(other, workload))) return true;
    }
    return this.hasOverrun(when);
  }

  private hasOverrun(when: number): boolean {
    return [...this.workloads.values()].some(({ end }) => end !== undefined && end <= when + SLACK_SECONDS);
  }

  private start(workload: TrackedWorkload, { at: when, detail }: LoggedEvent): void {
    for (const other of this.workloads.values()) {
      if (other === workload || !areEqual(other, workload) || !isBefore(other, workload)) continue;
      // One statement grants both, and logs them in the order of their arrival.
      if (this.grants.has(keyOf({ uid: other.row.uid, at: when }))) continue;
      if (other.since === undefined || when - other.since <= PASS_SECONDS) continue;
      if (this.mayOvertake(workload, other, when)) continue;
      other.suspected = workload.row.name;
      if (other.judged) this.reportSuspected(other);
    }
    this.reportSuspected(workload);
    this.checkOvertaken(workload, when);
    // The workload started to compete and was granted in the same pass.
    if (workload.since === undefined) this.enqueue(workload, when);
    this.setAllocation(workload, detail);
  }

  /**
   * Who has a reservation may start before an earlier workload that was not in line when it was made, or that has its own
   * reservation: each has its own nodes, and those of the later one may become free first. Both must start by their
   * estimates. A start that was reserved behind an overrun has none, also when that has ended.
   */
  private mayOvertake(workload: TrackedWorkload, other: TrackedWorkload, when: number): boolean {
    const { reservedSince, estimate, estimatedAt } = workload;
    if (reservedSince === undefined) return false;
    if (estimate === undefined) return workload.behindOverrun;
    if (isLate(estimate, when) && !this.isDisrupted(workload, estimatedAt, when, other)) return false;
    if (other.since! > workload.since! && reservedSince <= other.since! + PASS_SECONDS) return true;
    if (other.reservedSince === undefined) return false;
    if (other.estimate === undefined) return other.behindOverrun;
    other.overtaken ??= { by: workload.row.name, at: when, estimate: other.estimate };
    return true;
  }

  private reportSuspected(workload: TrackedWorkload): void {
    const { suspected, row } = workload;
    if (suspected === undefined) return;
    workload.suspected = undefined;
    this.violations.push({
      invariant: 'I4',
      text: `${suspected} started before ${row.name}, which is equal and was submitted earlier`,
    });
  }

  private checkOvertaken(workload: TrackedWorkload, when: number): void {
    const { overtaken, row } = workload;
    if (overtaken === undefined || !isLate(overtaken.estimate, when)) return;
    if (this.isDisrupted(workload, overtaken.at, when)) return;
    this.violations.push({
      invariant: 'I4',
      text: `${overtaken.by} started before ${row.name}, which is equal and started at ${when} instead of ${overtaken.estimate}`,
    });
  }

  /** It was granted before the database was restored, and its allocation changes the forecast for all others. */
  private adopt(workload: TrackedWorkload, { at, detail }: LoggedEvent): void {
    this.disruptions.push({ at, workload: undefined });
    this.setAllocation(workload, detail);
  }

  private setAllocation(workload: TrackedWorkload, detail: LoggedEvent['detail']): void {
    workload.since = undefined;
    workload.estimate = undefined;
    workload.reservedSince = undefined;
    workload.overtaken = undefined;
    workload.end = Number(detail.end);
  }
}

function isLate(estimate: number, when: number): boolean {
  return when > estimate + PASS_SECONDS;
}

function keyOf({ uid, at }: Pick<LoggedEvent, 'uid' | 'at'>): string {
  return `${uid} ${at}`;
}

function areEqual(a: TrackedWorkload, b: TrackedWorkload): boolean {
  return (
    a.queue === b.queue &&
    a.priority === b.priority &&
    a.walltime === b.walltime &&
    a.row.shape === b.row.shape &&
    !a.edited &&
    !b.edited &&
    // The backoff after a failure applies to one workload only, and a preempted workload preempts no other.
    a.row.requeues === 0 &&
    a.row.preemptions === 0
  );
}

function isBefore(a: TrackedWorkload, b: TrackedWorkload): boolean {
  return (
    a.priority > b.priority ||
    (a.priority === b.priority &&
      (a.row.submittedAt < b.row.submittedAt ||
        (a.row.submittedAt === b.row.submittedAt && a.row.seq < b.row.seq)))
  );
}
