import type { WorkloadRow } from '../../queue/workload';
import type { AllocatedNode, Allocation } from '../../resources/types';

/** An allocation that starts later and is kept from pass to pass until then. */
export interface Reservation {
  readonly uid: string;
  readonly jobid: number;
  readonly allocation: Allocation;
  /** The priority of its workload when it was made. @default - it was found elsewhere than in its turn */
  readonly priority?: number;
  /** The quota or limit for which its workload waits. @default - it waits for nodes */
  readonly shortage?: string;
  /**
   * Whether that was the limit of its user when it was made: such reservations are counted on their own, and stay so when the limit is
   * no longer in the way, or the queue would have one too many. @default false
   */
  readonly ofUser?: boolean;
  /** Whether it is quota that its queue would borrow. @default false */
  readonly ofCohort?: boolean;
  /**
   * Whether it is for own quota that others are returning: it is not one of those that its queue may have, and yields to its
   * own queue only. @default false
   */
  readonly isClaim?: boolean;
  /**
   * Users of whom earlier workloads of its fcfs queue waited for their limit without a reservation when it was made: it does not yield to
   * them. @default - none
   */
  readonly passedUsers?: ReadonlySet<string>;
}

/** Whether the reservation was made although the row was there and comes before it. */
export function hasPassed({ passedUsers }: Reservation, { user }: Pick<WorkloadRow, 'user'>): boolean {
  return passedUsers?.has(user) === true;
}

const NONE: readonly Reservation[] = [];

/** The reservations that Fluxion holds at one moment of a pass. */
export class Reservations {
  private readonly byUid = new Map<string, Reservation>();
  /** Reservations of rows that the pass has not reached yet. */
  private readonly pending = new Map<string, Reservation>();
  private readonly rows = new Map<string, WorkloadRow>();
  private readonly byLine = new Map<string, Map<string, Reservation>>();
  private readonly byQueue = new Map<string, Map<string, Reservation>>();
  private readonly byRequest = new Map<string, Map<string, Reservation>>();

  /** @param lineOf the line in which a row waits for a reservation */
  constructor(private readonly lineOf: (row: WorkloadRow) => string) {}

  of(uid: string): Reservation | undefined {
    return this.byUid.get(uid);
  }

  all(): readonly Reservation[] {
    return [...this.byUid.values()];
  }

  /** Those in a line that other queues wait in too. */
  ofLine(line: string): Iterable<Reservation> {
    return this.byLine.get(line)?.values() ?? NONE;
  }

  /** Those of one queue. */
  ofQueue(queue: string): Iterable<Reservation> {
    return this.byQueue.get(queue)?.values() ?? NONE;
  }

  /** Those of rows of its queue that ask for the same with the same priority: each start looks for them, and thousands may have one. */
  ofRequest(row: WorkloadRow): Iterable<Reservation> {
    return this.byRequest.get(requestOf(row))?.values() ?? NONE;
  }

  get hasUnreached(): boolean {
    return this.pending.size > 0;
  }

  /** Reservations of rows that the pass has not reached yet. */
  unreached(): readonly Reservation[] {
    if (this.pending.size === 0) return NONE;
    return [...this.pending.values()];
  }

  /** Reservations of rows that the pass has reached, if they start before this time. */
  reachedBefore(time: number): readonly Reservation[] {
    return this.all().filter(({ uid, allocation }) => allocation.start < time && !this.pending.has(uid));
  }

  isReached({ uid }: Pick<Reservation, 'uid'>): boolean {
    return !this.pending.has(uid);
  }

  /** The row that has, or had, this reservation. */
  rowOf({ uid }: Pick<Reservation, 'uid'>): WorkloadRow {
    return this.rows.get(uid)!;
  }

  /** The pass comes to this row. @returns its reservation; of ten thousand rows few have one */
  reach({ uid }: Pick<WorkloadRow, 'uid'>): Reservation | undefined {
    if (this.pending.size === 0) return undefined;
    const reservation = this.pending.get(uid);
    this.pending.delete(uid);
    return reservation;
  }

  /** Keeps a reservation of an earlier pass. */
  keep(reservation: Reservation, row: WorkloadRow): void {
    this.add(reservation, row);
    this.pending.set(reservation.uid, reservation);
  }

  add(reservation: Reservation, row: WorkloadRow): void {
    this.byUid.set(reservation.uid, reservation);
    this.rows.set(reservation.uid, row);
    put(this.byQueue, row.queue, reservation);
    put(this.byRequest, requestOf(row), reservation);
    if (isOfLine(reservation)) put(this.byLine, this.lineOf(row), reservation);
  }

  remove(uid: string): void {
    if (!this.byUid.delete(uid)) return;
    const row = this.rows.get(uid)!;
    this.byLine.get(this.lineOf(row))?.delete(uid);
    this.byQueue.get(row.queue)?.delete(uid);
    this.byRequest.get(requestOf(row))?.delete(uid);
    this.pending.delete(uid);
  }
}

function requestOf({ queue, priority, walltime, shape }: WorkloadRow): string {
  return `${queue} ${priority} ${walltime} ${shape}`;
}

function put(by: Map<string, Map<string, Reservation>>, key: string, reservation: Reservation): void {
  const all = by.get(key) ?? new Map<string, Reservation>();
  by.set(key, all.set(reservation.uid, reservation));
}

/** What a queue lacks of its own quota or limit is in nobody else's way, and others leave for a claim. */
function isOfLine({ shortage, ofCohort, isClaim }: Reservation): boolean {
  return isClaim !== true && (shortage === undefined || ofCohort === true);
}

/** Whether both start at the same time on the same units. */
export function isSamePlan(a: Allocation, b: Allocation): boolean {
  if (a.start !== b.start || a.nodes.length !== b.nodes.length) return false;
  return a.nodes.every((node, i) => hasSameUnits(node, b.nodes[i]!));
}

function hasSameUnits(a: AllocatedNode, b: AllocatedNode): boolean {
  if (a.name !== b.name || a.exclusive !== b.exclusive) return false;
  const types = Object.keys(a.units);
  return (
    types.length === Object.keys(b.units).length && types.every((type) => a.units[type] === b.units[type])
  );
}
