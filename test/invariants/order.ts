/**
 * Checks I4 and I5 in the event log: equal workloads start in the order of their submission, and an estimated start
 * moves later only for a reason other than backfill.
 */
import type { Interventions, LoggedEvent, SeenRow, Violation } from './observation';

/** Reasons of workloads that compete for units; with any other reason they do not. */
const COMPETING = new Set(['Submitted', 'Busy', 'Reserved', 'Requeued']);
/** Seconds from the snapshot of a pass to its commit, at most, faults included. */
const PASS_SECONDS = 5;
const YEAR = 365 * 24 * 3600;
/** Seconds: estimates are whole numbers. */
const SLACK = 1;

/** State of one workload in the log so far. */
interface Entry {
  readonly row: SeenRow;
  /** Whether it was ever updated: the log does not contain its earlier shape. */
  readonly edited: boolean;
  priority: number;
  queue: string;
  walltime: number;
  /** Since when it competes for units; undefined: it does not. */
  since: number | undefined;
  estimate: number | undefined;
  /** When that estimate was written. */
  estimatedAt: number;
  /** End of its allocation, while it has one. */
  end: number | undefined;
}

/** @param rows for what the log does not contain: shapes and the order of arrival */
export function orderFaults(
  events: readonly LoggedEvent[],
  rows: readonly SeenRow[],
  interventions: Interventions,
): Violation[] {
  const edits = events.filter(({ event }) => event === 'Updated');
  const order = new OrderCheck(rows, new Set(edits.map(({ uid }) => uid)), interventions);
  for (const event of events) order.apply(event);
  return order.found;
}

class OrderCheck {
  readonly found: Violation[] = [];
  private readonly entries = new Map<string, Entry>();
  private readonly rows: ReadonlyMap<string, SeenRow>;
  /** When which workload began to compete; undefined: a change that concerns all workloads. */
  private readonly changes: { readonly at: number; readonly entry: Entry | undefined }[] = [];
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
      this.changes.push({ at: event.at, entry: undefined });
    }
    const entry = this.entryOf(event);
    if (entry === undefined) return;
    switch (event.event) {
      case 'Submitted':
      case 'Updated':
        this.submit(entry, event);
        break;
      case 'Waiting':
        this.wait(entry, event);
        break;
      case 'Allocated':
        this.start(entry, event);
        break;
      case 'Requeued':
        this.release(entry, event.at);
        entry.estimate = undefined;
        this.compete(entry, event.at);
        // Free units have changed.
        this.changes.push({ at: event.at, entry: undefined });
        break;
      case 'Finished':
        entry.since = undefined;
        this.release(entry, event.at);
        break;
    }
  }

  /** A workload that ran past its end has delayed the ones after it. */
  private release(entry: Entry, when: number): void {
    if (entry.end !== undefined && when > entry.end) this.changes.push({ at: when, entry: undefined });
    entry.end = undefined;
  }

  private entryOf({ uid }: LoggedEvent): Entry | undefined {
    const row = this.rows.get(uid);
    if (row === undefined) return undefined;
    const known = this.entries.get(uid);
    if (known !== undefined) return known;
    const { priority, queue, walltime } = row;
    const entry: Entry = {
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
    this.entries.set(uid, entry);
    return entry;
  }

  private submit(entry: Entry, { at: when, detail }: LoggedEvent): void {
    entry.priority = Number(detail.priority);
    entry.queue = String(detail.queue);
    entry.walltime = Number(detail.walltime);
    entry.estimate = undefined;
    if (detail.held === true) entry.since = undefined;
    else this.compete(entry, when);
  }

  private compete(entry: Entry, when: number): void {
    entry.since = when;
    this.changes.push({ at: when, entry });
  }

  private wait(entry: Entry, { at: when, detail }: LoggedEvent): void {
    if (!COMPETING.has(String(detail.reason))) {
      entry.since = undefined;
      entry.estimate = undefined;
      return;
    }
    if (entry.since === undefined) this.compete(entry, when);
    const written = typeof detail.estimatedStart === 'number' ? detail.estimatedStart : undefined;
    // A later start is behind pods outside the queue, whose end is not known.
    const estimate = written !== undefined && written < when + YEAR ? written : undefined;
    if (
      estimate !== undefined &&
      entry.estimate !== undefined &&
      estimate > entry.estimate + SLACK &&
      !this.isExcused(entry, when)
    )
      this.found.push({
        invariant: 'I5',
        text: `${entry.row.name} was estimated to start at ${entry.estimate} and now at ${estimate}`,
      });
    // A reservation that is dropped without another estimate breaks none: only estimates are compared.
    if (estimate !== undefined) {
      entry.estimate = estimate;
      entry.estimatedAt = when;
    }
  }

  /** An earlier workload came, free units changed, or a workload runs past its end. */
  private isExcused(entry: Entry, when: number): boolean {
    if (!this.interventions.comparable) return true;
    // The pass that estimated it may have begun before the log contained later changes.
    const from = entry.estimatedAt - PASS_SECONDS;
    for (let i = this.changes.length - 1; i >= 0 && this.changes[i]!.at >= from; i--) {
      const { entry: other } = this.changes[i]!;
      if (other === undefined || isBefore(other, entry)) return true;
    }
    return [...this.entries.values()].some(({ end }) => end !== undefined && end <= when + SLACK);
  }

  private start(entry: Entry, { at: when, detail }: LoggedEvent): void {
    for (const other of this.entries.values()) {
      if (other === entry || !areEqual(other, entry) || !isBefore(other, entry)) continue;
      if (other.since !== undefined && when - other.since > PASS_SECONDS)
        this.found.push({
          invariant: 'I4',
          text: `${entry.row.name} started before the equal ${other.row.name}`,
        });
    }
    // Its dependency was met, and the pass that noticed it allocated the units at once.
    if (entry.since === undefined) this.compete(entry, when);
    entry.since = undefined;
    entry.estimate = undefined;
    entry.end = Number(detail.end);
  }
}

function areEqual(a: Entry, b: Entry): boolean {
  return (
    a.queue === b.queue &&
    a.priority === b.priority &&
    a.walltime === b.walltime &&
    a.row.shape === b.row.shape &&
    !a.edited &&
    !b.edited &&
    // A requeued workload has a backoff of its own.
    a.row.requeues === 0
  );
}

function isBefore(a: Entry, b: Entry): boolean {
  return (
    a.priority > b.priority ||
    (a.priority === b.priority &&
      (a.row.submittedAt < b.row.submittedAt ||
        (a.row.submittedAt === b.row.submittedAt && a.row.seq < b.row.seq)))
  );
}
