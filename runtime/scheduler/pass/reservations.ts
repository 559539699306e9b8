import type { AllocatedNode, Allocation } from '../../resources/types';

/** An allocation that starts later and is kept from pass to pass until then. */
export interface Reservation {
  readonly uid: string;
  readonly jobid: number;
  readonly allocation: Allocation;
  /** The quota or limit for which its workload waits. @default - it waits for nodes */
  readonly shortage?: string;
  /** Whether that is the limit of its user: such reservations are counted on their own. @default false */
  readonly ofUser?: boolean;
}

/** The reservations that Fluxion holds at one moment of a pass. */
export class Reservations {
  private readonly byUid = new Map<string, Reservation>();
  /** Reservations of rows that the pass has not reached yet. */
  private readonly pending = new Map<string, Reservation>();

  of(uid: string): Reservation | undefined {
    return this.byUid.get(uid);
  }

  all(): readonly Reservation[] {
    return [...this.byUid.values()];
  }

  /** Reservations of rows that the pass has not reached yet. */
  unreached(): readonly Reservation[] {
    return [...this.pending.values()];
  }

  /** Reservations of rows that the pass has reached, if they start before this time. */
  reachedBefore(time: number): readonly Reservation[] {
    return this.all().filter(({ uid, allocation }) => allocation.start < time && !this.pending.has(uid));
  }

  /** The pass comes to this row. */
  markReached(uid: string): void {
    this.pending.delete(uid);
  }

  /** Keeps a reservation of an earlier pass. */
  keep(reservation: Reservation): void {
    this.byUid.set(reservation.uid, reservation);
    this.pending.set(reservation.uid, reservation);
  }

  add(reservation: Reservation): void {
    this.byUid.set(reservation.uid, reservation);
  }

  remove(uid: string): void {
    this.byUid.delete(uid);
    this.pending.delete(uid);
  }
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
