/**
 * I4 and I5, read from the event log: equals start in the order in which they
 * came, and an estimated start moves later only for a reason that is no
 * backfill.
 */
import type { Interventions, LoggedEvent, SeenRow, Violation } from './observation';

/** Reasons of those who stand in line; with any other they stand aside. */
const QUEUED_REASONS = new Set(['Submitted', 'Busy', 'Reserved', 'Requeued']);
/** Seconds a pass may take from its snapshot to its commit, faults included. */
const PASS_SECONDS = 5;
const YEAR_SECONDS = 365 * 24 * 3600;
/** Seconds: estimates are whole. */
const SLACK_SECONDS = 1;

/** One workload as the log tells of it so far. */
interface TrackedWorkload {
  readonly row: SeenRow;
  /** At any time: the log does not say what its shape was before. */
  readonly edited: boolean;
  priority: number;
  queue: string;
  walltime: number;
  /** Since when it stands in line; undefined: it does not. */
  since: number | undefined;
  estimate: number | undefined;
  /** When that estimate was told. */
  estimatedAt: number;
  /** Ends of its allocation, while it has one. */
  end: number | undefined;
}

/** @param rows for what the log does not say: shapes, and the order of arrival */
export function orderViolations(
  events: readonly LoggedEvent[],
  rows: readonly SeenRow[],
  interventions: Interventions,
): Violation[] {
  const edits = events.filter(({ event }) => event === 'Updated');
  const checker = new OrderChecker(rows, new Set(edits.map(({ uid }) => uid)), interventions);
  for (const event of events) checker.apply(event);
  return checker.violations;
}

class OrderChecker {
  readonly violations: Violation[] = [];
  private readonly workloads = new Map<string, TrackedWorkload>();
  private readonly rows: ReadonlyMap<string, SeenRow>;
  /** Who came or stepped into line when; undefined: something that shook everything. */
  private readonly disruptions: { readonly at: number; readonly workload: TrackedWorkload | undefined }[] =
    [];
  private lastDisturbance = 0;

  constructor(
    rows: readonly SeenRow[],
    private readonly edited: ReadonlySet<string>,
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
      case 'Requeued':
        this.endAllocation(workload, event.at);
        workload.estimate = undefined;
        this.enqueue(workload, event.at);
        // What it held, or what it lost, is counted anew.
        this.disruptions.push({ at: event.at, workload: undefined });
        break;
      case 'Finished':
        workload.since = undefined;
        this.endAllocation(workload, event.at);
        break;
    }
  }

  /** Who stayed longer than he said has delayed whoever was to come after him. */
  private endAllocation(workload: TrackedWorkload, when: number): void {
    if (workload.end !== undefined && when > workload.end)
      this.disruptions.push({ at: when, workload: undefined });
    workload.end = undefined;
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
    if (detail.held === true) workload.since = undefined;
    else this.enqueue(workload, when);
  }

  private enqueue(workload: TrackedWorkload, when: number): void {
    workload.since = when;
    this.disruptions.push({ at: when, workload });
  }

  private wait(workload: TrackedWorkload, { at: when, detail }: LoggedEvent): void {
    if (!QUEUED_REASONS.has(String(detail.reason))) {
      workload.since = undefined;
      workload.estimate = undefined;
      return;
    }
    if (workload.since === undefined) this.enqueue(workload, when);
    const told = typeof detail.estimatedStart === 'number' ? detail.estimatedStart : undefined;
    // Behind pods that are not ours, whose end nobody knows.
    const estimate = told !== undefined && told < when + YEAR_SECONDS ? told : undefined;
    if (
      estimate !== undefined &&
      workload.estimate !== undefined &&
      estimate > workload.estimate + SLACK_SECONDS &&
      !this.isExcused(workload, when)
    )
      this.violations.push({
        invariant: 'I5',
        text: `${workload.row.name} was to start at ${workload.estimate} and is now to start at ${estimate}`,
      });
    // Who lost its reservation to nobody has lost nothing that was promised: only what is promised anew is compared.
    if (estimate !== undefined) {
      workload.estimate = estimate;
      workload.estimatedAt = when;
    }
  }

  /** Somebody came before it, something was lost, or somebody stays longer than he said. */
  private isExcused(workload: TrackedWorkload, when: number): boolean {
    if (!this.interventions.comparable) return true;
    // The pass that told it may have begun before the log had what came then.
    const from = workload.estimatedAt - PASS_SECONDS;
    for (let i = this.disruptions.length - 1; i >= 0 && this.disruptions[i]!.at >= from; i--) {
      const { workload: other } = this.disruptions[i]!;
      if (other === undefined || isBefore(other, workload)) return true;
    }
    return [...this.workloads.values()].some(({ end }) => end !== undefined && end <= when + SLACK_SECONDS);
  }

  private start(workload: TrackedWorkload, { at: when, detail }: LoggedEvent): void {
    for (const other of this.workloads.values()) {
      if (other === workload || !areEqual(other, workload) || !isBefore(other, workload)) continue;
      if (other.since !== undefined && when - other.since > PASS_SECONDS)
        this.violations.push({
          invariant: 'I4',
          text: `${workload.row.name} started before ${other.row.name}, its equal`,
        });
    }
    // What it waited for came to pass, and it was granted in the pass that saw it.
    if (workload.since === undefined) this.enqueue(workload, when);
    workload.since = undefined;
    workload.estimate = undefined;
    workload.end = Number(detail.end);
  }
}

function areEqual(a: TrackedWorkload, b: TrackedWorkload): boolean {
  return (
    a.queue === b.queue &&
    a.priority === b.priority &&
    a.walltime === b.walltime &&
    a.row.shape === b.row.shape &&
    !a.edited &&
    !b.edited &&
    // A wait after a failure is its own.
    a.row.requeues === 0
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
