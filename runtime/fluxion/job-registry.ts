/**
 * The jobs that a Fluxion holds, in order of their grants, for servers that can't list them; and the units that these
 * jobs leave free.
 */

import type { Allocation } from '../resources/types';
import { unitsOf } from './jgf/allocation';
import type { GraphLayout } from './jgf/layout';
import type { FluxionState } from './types';

export interface RegisteredJob {
  readonly allocation: Allocation;
  /** The allocation is a reservation: it starts in the future. */
  readonly reserved: boolean;
}

export class JobRegistry<Job extends RegisteredJob> {
  private readonly jobs = new Map<number, Job>();

  get size(): number {
    return this.jobs.size;
  }
  has(jobid: number): boolean {
    return this.jobs.has(jobid);
  }
  get(jobid: number): Job | undefined {
    return this.jobs.get(jobid);
  }
  set(job: Job): void {
    this.jobs.set(job.allocation.jobid, job);
  }
  delete(jobid: number): void {
    this.jobs.delete(jobid);
  }
  /** All jobs in order of their grants. */
  values(): Job[] {
    return [...this.jobs.values()];
  }
  /** The jobs with units on one of these nodes. */
  withUnitsOn(names: ReadonlySet<string>): Job[] {
    return this.values().filter(({ allocation }) => allocation.nodes.some(({ name }) => names.has(name)));
  }

  /** A unit is free unless a job holds it at `now`; a reservation holds nothing yet. */
  state(bootId: string, layout: GraphLayout, now: number): FluxionState {
    const held = new Map<string, Map<string, Set<number>>>();
    for (const { allocation } of this.jobs.values()) {
      if (allocation.start <= now) this.count(allocation, layout, held);
    }
    const nodes = [...layout.nodes.values()].map(({ node }) => {
      const { name, units, properties = [], zone, rack } = node;
      const total = Object.entries(units).filter(([, count]) => count > 0);
      const free = total.map(([type, count]) => [type, count - (held.get(name)?.get(type)?.size ?? 0)]);
      return {
        name,
        up: node.up !== false,
        total: Object.fromEntries(total),
        free: Object.fromEntries(free),
        properties,
        ...(zone === undefined ? {} : { zone }),
        ...(rack === undefined ? {} : { rack }),
      };
    });
    return { bootId, jobs: this.values().map(({ allocation }) => allocation), nodes };
  }

  private count(
    allocation: Allocation,
    layout: GraphLayout,
    held: Map<string, Map<string, Set<number>>>,
  ): void {
    for (const granted of allocation.nodes) {
      const ofNode = held.get(granted.name) ?? new Map<string, Set<number>>();
      held.set(granted.name, ofNode);
      const all = granted.exclusive ? (layout.nodes.get(granted.name)?.node.units ?? {}) : {};
      const whole = Object.entries(all).map(
        ([type, n]) => [type, Array.from({ length: n }, (_, i) => i)] as const,
      );
      for (const [type, numbers] of [...unitsOf(granted), ...whole]) {
        const ofType = ofNode.get(type) ?? new Set<number>();
        ofNode.set(type, ofType);
        for (const number of numbers) ofType.add(number);
      }
    }
  }
}

/** The rest of an allocation without these nodes. */
export function withoutNodes(allocation: Allocation, names: ReadonlySet<string>): Allocation {
  return { ...allocation, nodes: allocation.nodes.filter(({ name }) => !names.has(name)) };
}
