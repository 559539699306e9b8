import { askOf } from '../../jobspec/jobspec';
import type { WorkloadRow } from '../../queue/workload';
import { Planner } from '../../resources/planner';
import type { Allocation, GraphNode } from '../../resources/types';
import { unitCounts } from '../../resources/unit-counts';

export interface Reservation {
  readonly uid: string;
  readonly jobid: number;
  /** Where and when. */
  readonly allocation: Allocation;
}

/** Those that stand at one moment of a pass. */
export class Reservations {
  private readonly byUid = new Map<string, Reservation>();
  /** Of rows that the pass has still to come to. */
  private readonly notReached = new Map<string, Reservation>();

  of(uid: string): Reservation | undefined {
    return this.byUid.get(uid);
  }

  all(): readonly Reservation[] {
    return [...this.byUid.values()];
  }

  /** Those of rows that the pass has still to come to. */
  ahead(): readonly Reservation[] {
    return [...this.notReached.values()];
  }

  /** Those it has come to, and that start before a time. */
  reachedBy(time: number): readonly Reservation[] {
    return this.all().filter(({ uid, allocation }) => allocation.start < time && !this.notReached.has(uid));
  }

  reach(uid: string): void {
    this.notReached.delete(uid);
  }

  /** One of an earlier pass. */
  takeOver(reservation: Reservation): void {
    this.byUid.set(reservation.uid, reservation);
    this.notReached.set(reservation.uid, reservation);
  }

  add(reservation: Reservation): void {
    this.byUid.set(reservation.uid, reservation);
  }

  remove(uid: string): void {
    this.byUid.delete(uid);
    this.notReached.delete(uid);
  }
}

/**
 * How much of the whole cluster is taken over time, to tell without Fluxion that
 * a reservation can't come earlier. Only that: what is free in the sum may lie
 * on the wrong nodes.
 */
export class CapacityForecast {
  private readonly types: readonly string[];
  private readonly totals: Float64Array;
  private readonly planner: Planner;

  constructor(
    nodes: readonly GraphNode[],
    private readonly now: number,
  ) {
    const totals: Record<string, number> = {};
    for (const { units } of nodes)
      for (const type in units) totals[type] = (totals[type] ?? 0) + units[type]!;
    this.types = Object.keys(totals);
    this.totals = Float64Array.of(Infinity, ...Object.values(totals));
    this.planner = new Planner(this.totals.length);
  }

  add(allocation: Allocation): void {
    const { start, end } = allocation;
    const counts = this.countsOf(allocation);
    if (end <= this.now) this.planner.addOver(counts);
    else this.planner.add(this.from(start), end, counts);
  }

  remove(allocation: Allocation): void {
    const { start, end } = allocation;
    const counts = this.countsOf(allocation);
    if (end <= this.now) this.planner.removeOver(counts);
    else this.planner.remove(this.from(start), end, counts);
  }

  /** Whether so much could be free at a start before this time. Its own reservation is not counted while this is asked. */
  mayImprove({ jobspec }: Pick<WorkloadRow, 'jobspec'>, allocation: Allocation, before: number): boolean {
    const { pods, perPod } = askOf(jobspec);
    const dimensions: number[] = [];
    const amounts: number[] = [];
    this.types.forEach((type, i) => {
      if (perPod[type] === undefined) return;
      dimensions.push(i + 1);
      amounts.push(pods * perPod[type]);
    });
    const need = { dimensions: Int32Array.from(dimensions), amounts: Float64Array.from(amounts) };
    const duration = Math.ceil(jobspec.attributes.system.duration);
    this.remove(allocation);
    const earliest = this.earliest(need, duration, before);
    this.add(allocation);
    return earliest < before;
  }

  private earliest(
    need: { dimensions: Int32Array; amounts: Float64Array },
    duration: number,
    before: number,
  ) {
    let at = this.now;
    while (at < before) {
      const until = this.planner.blockedUntil(need, this.totals, at, at + duration, this.now);
      if (until <= at) return at;
      at = until;
    }
    return at;
  }

  private from(start: number): number {
    return start <= this.now ? Number.NEGATIVE_INFINITY : start;
  }

  private countsOf(allocation: Allocation): Float64Array {
    const counts = unitCounts(allocation);
    return Float64Array.of(1, ...this.types.map((type) => counts[type] ?? 0));
  }
}
