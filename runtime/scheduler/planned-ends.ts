/**
 * Keeps the ends with which Fluxion plans equal to the planned ends of the rows: an end moves when a prediction is reached
 * and when an eviction is requested. Fluxion cannot move an end, so the allocation is replaced.
 */
import type { Fluxion } from '../fluxion/types';
import type { WorkloadRow } from '../queue/workload';
import type { Allocation } from '../resources/types';
import { countsOn, type Delay, dueEnd, plannedEndOf } from './pass/planned-end';
import type { Reservation } from './pass/reservations';
import type { Grant } from './pass/types';

export interface PlanUpdate {
  /** Whether an end moved: requests that were refused may fit now, and reservations may be lost. */
  readonly moved: boolean;
  /** The reservations that are still possible. */
  readonly reservations: readonly Reservation[];
}

/** A job with its new planned end, and the one before. */
interface Moved {
  readonly allocation: Allocation;
  readonly before: number;
}

/** Entries of jobs that have ended are dropped when there are this many more entries than jobs. */
const SLACK = 1_000;

export class PlannedEnds {
  /** Job id -> the end of its row, with its grace, and the planned end in Fluxion that was made of it. */
  private ends = new Map<number, { readonly due: number; readonly planned: number }>();

  constructor(private readonly fluxion: Pick<Fluxion, 'cancel' | 'replay'>) {}

  /** Fluxion was rebuilt, and holds these rows with their planned ends. */
  reset(holders: readonly WorkloadRow[], now: number): void {
    const endsOf = (holder: WorkloadRow) => ({ due: dueEnd(holder), planned: plannedEndOf(holder, now) });
    this.ends = new Map(holders.map((holder) => [holder.jobid, endsOf(holder)] as const));
  }

  /** Fluxion holds these with the ends that they were planned with: those in the rows may move before the next pass. */
  granted(grants: readonly Grant[]): void {
    for (const { allocation, plannedEnd: planned = allocation.end } of grants)
      this.ends.set(allocation.jobid, { due: planned, planned });
  }

  /**
   * Moves ends in Fluxion, and cancels the reservations that begin on one of its nodes between the end with which they were planned and
   * a later one: they may count on the same units.
   * @param planned the allocation with its planned end as Fluxion can hold it; undefined if it can hold none of it
   */
  async update(
    holders: readonly WorkloadRow[],
    planned: (holder: WorkloadRow) => Allocation | undefined,
    reservations: readonly Reservation[],
    now: number,
  ): Promise<PlanUpdate> {
    const moved = this.movedAt(holders, now).flatMap(({ holder, before }): Moved[] => {
      const allocation = planned(holder);
      return allocation === undefined ? [] : [{ allocation, before }];
    });
    if (moved.length === 0) return { moved: false, reservations };
    const kept = await this.cancelInTheWay(moved, reservations);
    for (const { allocation } of moved) await this.fluxion.cancel(allocation.jobid);
    await this.fluxion.replay(
      moved.map(({ allocation }) => allocation),
      now,
    );
    return { moved: true, reservations: kept };
  }

  private movedAt(
    holders: readonly WorkloadRow[],
    now: number,
  ): readonly { readonly holder: WorkloadRow; readonly before: number }[] {
    if (this.ends.size > holders.length + SLACK) this.forgetAllBut(holders);
    return holders.flatMap((holder) => {
      const { jobid } = holder;
      const due = dueEnd(holder);
      // Fluxion granted a job that is new here with the end of its row.
      const known = this.ends.get(jobid) ?? { due, planned: due };
      const planned = plannedEndOf(holder, now);
      this.ends.set(jobid, { due, planned });
      if (known.due === due) return known.planned === planned ? [] : [{ holder, before: known.planned }];
      // The pass that evicts has cut the end in Fluxion: even if the old one is wanted again, it is not there.
      return [{ holder, before: Math.min(known.planned, due) }];
    });
  }

  private forgetAllBut(holders: readonly WorkloadRow[]): void {
    const held = new Set(holders.map(({ jobid }) => jobid));
    for (const jobid of this.ends.keys()) if (!held.has(jobid)) this.ends.delete(jobid);
  }

  private async cancelInTheWay(
    moved: readonly Moved[],
    reservations: readonly Reservation[],
  ): Promise<readonly Reservation[]> {
    const delays = delaysOf(moved);
    const kept: Reservation[] = [];
    for (const reservation of reservations) {
      const { nodes, start } = reservation.allocation;
      const isInTheWay = nodes.some(({ name }) => delays.get(name)?.some((delay) => countsOn(start, delay)));
      if (isInTheWay) await this.fluxion.cancel(reservation.jobid);
      else kept.push(reservation);
    }
    return kept;
  }
}

/** By node. */
function delaysOf(moved: readonly Moved[]): ReadonlyMap<string, readonly Delay[]> {
  const delays = new Map<string, Delay[]>();
  for (const { allocation, before } of moved) {
    const { end, nodes } = allocation;
    if (end <= before) continue;
    for (const { name } of nodes) {
      const known = delays.get(name) ?? [];
      known.push({ before, end });
      delays.set(name, known);
    }
  }
  return delays;
}
