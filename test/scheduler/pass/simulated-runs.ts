/** What ran in a simulation, and what was evicted. */

import type { WorkloadRow } from '../../../runtime/queue/workload';
import { parseIdset } from '../../../runtime/resources/idset';
import type { Allocation, GraphNode } from '../../../runtime/resources/types';
import { heldAllocations } from '../../../runtime/scheduler/replay';

export interface Start {
  readonly uid: string;
  readonly start: number;
  /** When it ended, if it has. */
  end?: number;
  readonly allocation: Allocation;
}

/** An eviction that a pass asked for. */
export interface Eviction {
  readonly uid: string;
  readonly message: string;
  readonly at: number;
  /** When its pods were gone, or it had ended by itself. */
  gone?: number;
}

export function holdersIn(rows: ReadonlyMap<string, WorkloadRow>): WorkloadRow[] {
  return [...rows.values()].filter(({ allocation }) => allocation !== null);
}

/** @returns what these nodes can hold of one of the holders; it is found when it is first asked for */
export function heldOn(nodes: readonly GraphNode[], holders: readonly WorkloadRow[], now: number) {
  let held: ReadonlyMap<number, Allocation> | undefined;
  return ({ jobid }: WorkloadRow): Allocation | undefined => {
    held ??= heldAllocations(holders, new Map(nodes.map((node) => [node.name, node])), now).byJob;
    return held.get(jobid);
  };
}

/** Units that two workloads held at the same time; empty if there are none. */
export function doubleGrants(started: readonly Start[]): string[] {
  const doubled: string[] = [];
  const spans = new Map<string, { uid: string; start: number; end: number }[]>();
  for (const { uid, start, end = Number.POSITIVE_INFINITY, allocation } of started) {
    for (const unit of unitsIn(allocation)) {
      const before = spans.get(unit) ?? [];
      const clash = before.find((other) => other.start < end && start < other.end);
      if (clash !== undefined) doubled.push(`${unit}: ${clash.uid} and ${uid}`);
      spans.set(unit, [...before, { uid, start, end }]);
    }
  }
  return doubled;
}

function unitsIn({ nodes }: Allocation): string[] {
  return nodes.flatMap(({ name, units }) =>
    Object.entries(units).flatMap(([type, ids]) => parseIdset(ids).map((id) => `${name}/${type}${id}`)),
  );
}
