/**
 * I4 and I5, read from the event log: equals start in the order in which they
 * came, and an estimated start moves later only for a reason that is no
 * backfill.
 */
import type { Deeds, LoggedEvent, SeenRow, Violation } from './observation';

/** Reasons of those who stand in line; with any other they stand aside. */
const IN_LINE = new Set(['Submitted', 'Busy', 'Reserved', 'Requeued']);
/** Seconds a pass may take from its snapshot to its commit, faults included. */
const PASS = 5;
const YEAR = 365 * 24 * 3600;
/** Seconds: estimates are whole. */
const SLACK = 1;

/** One workload as the log tells of it so far. */
interface Placer {
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
export function orderFaults(
  events: readonly LoggedEvent[],
  rows: readonly SeenRow[],
  deeds: Deeds,
): Violation[] {
  const edits = events.filter(({ event }) => event === 'Updated');
  const line = new Line(rows, new Set(edits.map(({ uid }) => uid)), deeds);
  for (const event of events) line.follow(event);
  return line.found;
}

class Line {
  readonly found: Violation[] = [];
  private readonly places = new Map<string, Placer>();
  private readonly rows: ReadonlyMap<string, SeenRow>;
  /** Who came or stepped into line when; undefined: something that shook everything. */
  private readonly stirs: { readonly at: number; readonly place: Placer | undefined }[] = [];
  private lastDisturbance = 0;

  constructor(
    rows: readonly SeenRow[],
    private readonly edited: ReadonlySet<string>,
    private readonly deeds: Deeds,
  ) {
    this.rows = new Map(rows.map((row) => [row.uid, row]));
  }

  follow(event: LoggedEvent): void {
    if (this.deeds.disturbances.some((when) => when > this.lastDisturbance && when <= event.at)) {
      this.lastDisturbance = event.at;
      this.stirs.push({ at: event.at, place: undefined });
    }
    const place = this.placeOf(event);
    if (place === undefined) return;
    switch (event.event) {
      case 'Submitted':
      case 'Updated':
        this.arrive(place, event);
        break;
      case 'Waiting':
        this.wait(place, event);
        break;
      case 'Allocated':
        this.start(place, event);
        break;
      case 'Requeued':
        this.leave(place, event.at);
        place.estimate = undefined;
        this.stepIn(place, event.at);
        // What it held, or what it lost, is counted anew.
        this.stirs.push({ at: event.at, place: undefined });
        break;
      case 'Finished':
        place.since = undefined;
        this.leave(place, event.at);
        break;
    }
  }

  /** Who stayed longer than he said has delayed whoever was to come after him. */
  private leave(place: Placer, when: number): void {
    if (place.end !== undefined && when > place.end) this.stirs.push({ at: when, place: undefined });
    place.end = undefined;
  }

  private placeOf({ uid }: LoggedEvent): Placer | undefined {
    const row = this.rows.get(uid);
    if (row === undefined) return undefined;
    const known = this.places.get(uid);
    if (known !== undefined) return known;
    const { priority, queue, walltime } = row;
    const place: Placer = {
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
    this.places.set(uid, place);
    return place;
  }

  private arrive(place: Placer, { at: when, detail }: LoggedEvent): void {
    place.priority = Number(detail.priority);
    place.queue = String(detail.queue);
    place.walltime = Number(detail.walltime);
    place.estimate = undefined;
    if (detail.held === true) place.since = undefined;
    else this.stepIn(place, when);
  }

  private stepIn(place: Placer, when: number): void {
    place.since = when;
    this.stirs.push({ at: when, place });
  }

  private wait(place: Placer, { at: when, detail }: LoggedEvent): void {
    if (!IN_LINE.has(String(detail.reason))) {
      place.since = undefined;
      place.estimate = undefined;
      return;
    }
    if (place.since === undefined) this.stepIn(place, when);
    const told = typeof detail.estimatedStart === 'number' ? detail.estimatedStart : undefined;
    // Behind pods that are not ours, whose end nobody knows.
    const estimate = told !== undefined && told < when + YEAR ? told : undefined;
    if (
      estimate !== undefined &&
      place.estimate !== undefined &&
      estimate > place.estimate + SLACK &&
      !this.isExcused(place, when)
    )
      this.found.push({
        invariant: 'I5',
        text: `${place.row.name} was to start at ${place.estimate} and is now to start at ${estimate}`,
      });
    // Who lost its reservation to nobody has lost nothing that was promised: only what is promised anew is compared.
    if (estimate !== undefined) {
      place.estimate = estimate;
      place.estimatedAt = when;
    }
  }

  /** Somebody came before it, something was lost, or somebody stays longer than he said. */
  private isExcused(place: Placer, when: number): boolean {
    if (!this.deeds.comparable) return true;
    // The pass that told it may have begun before the log had what came then.
    const from = place.estimatedAt - PASS;
    for (let i = this.stirs.length - 1; i >= 0 && this.stirs[i]!.at >= from; i--) {
      const { place: other } = this.stirs[i]!;
      if (other === undefined || isBefore(other, place)) return true;
    }
    return [...this.places.values()].some(({ end }) => end !== undefined && end <= when + SLACK);
  }

  private start(place: Placer, { at: when, detail }: LoggedEvent): void {
    for (const other of this.places.values()) {
      if (other === place || !areEqual(other, place) || !isBefore(other, place)) continue;
      if (other.since !== undefined && when - other.since > PASS)
        this.found.push({
          invariant: 'I4',
          text: `${place.row.name} started before ${other.row.name}, its equal`,
        });
    }
    // What it waited for came to pass, and it was granted in the pass that saw it.
    if (place.since === undefined) this.stepIn(place, when);
    place.since = undefined;
    place.estimate = undefined;
    place.end = Number(detail.end);
  }
}

function areEqual(a: Placer, b: Placer): boolean {
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

function isBefore(a: Placer, b: Placer): boolean {
  return (
    a.priority > b.priority ||
    (a.priority === b.priority &&
      (a.row.submittedAt < b.row.submittedAt ||
        (a.row.submittedAt === b.row.submittedAt && a.row.seq < b.row.seq)))
  );
}
