import { unitsOfAll } from '../../jobspec/pod-sets';
import type { WorkloadRow } from '../../queue/workload';
import { type Need, Planner } from '../../resources/planner';
import type { Allocation, GraphNode } from '../../resources/types';
import { unitCounts } from '../../resources/unit-counts';

/**
 * How much of the whole cluster is taken over time. It tells without Fluxion that a reservation can't start earlier,
 * and only that: units that are free in the sum may be on the wrong nodes.
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

  /**
   * Whether enough units could be free for a start before this time.
   * @param own the reservation that the row has now; it does not count against itself
   */
  mayStartBefore(time: number, { jobspec }: Pick<WorkloadRow, 'jobspec'>, own: Allocation): boolean {
    // Thousands of reservations are asked for a start now, and nearly all of them find no room in the first second.
    if (time <= this.now + 1 && own.start > this.now && !this.hasRoomNow(jobspec)) return false;
    const duration = Math.ceil(jobspec.attributes.system.duration);
    this.remove(own);
    const earliest = this.earliest(this.needOf(jobspec), duration, time);
    this.add(own);
    return earliest < time;
  }

  /** The first time from `from` on at which enough units could be free. */
  freeFrom({ jobspec }: Pick<WorkloadRow, 'jobspec'>, from: number): number {
    const duration = Math.ceil(jobspec.attributes.system.duration);
    return this.earliest(this.needOf(jobspec), duration, Infinity, from);
  }

  private hasRoomNow(jobspec: WorkloadRow['jobspec']): boolean {
    const all = unitsOfAll(jobspec);
    const { now, planner, totals } = this;
    return this.types.every((type, i) => {
      const needed = all[type];
      return needed === undefined || planner.usedAt(i + 1, now, now) + needed <= totals[i + 1]!;
    });
  }

  private needOf(jobspec: WorkloadRow['jobspec']): Need {
    const all = unitsOfAll(jobspec);
    const dimensions: number[] = [];
    const amounts: number[] = [];
    this.types.forEach((type, i) => {
      if (all[type] === undefined) return;
      dimensions.push(i + 1);
      amounts.push(all[type]);
    });
    return { dimensions: Int32Array.from(dimensions), amounts: Float64Array.from(amounts) };
  }

  private earliest(need: Need, duration: number, before: number, from = this.now): number {
    let at = from;
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
