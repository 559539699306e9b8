/**
 * Workloads that are late. Fluxion takes a unit for free once the walltime of
 * its job is over, but pods take their time to stop. What is held past its end
 * gets a new end, a little after `now`, before anything is asked.
 */

import { formatIdset, parseIdset } from '../fluxion/idset';
import type { AllocatedNode, Allocation, Fluxion, GraphNode } from '../fluxion/types';
import type { WorkloadRow } from '../queue/types';

/** Seconds at a time; what is reserved on the same nodes moves by as much. */
const EXTENSION = 10;

export interface Overruns {
  readonly now: number;
  readonly matcher: Pick<Fluxion, 'cancel' | 'replay'>;
  readonly holding?: readonly WorkloadRow[];
  readonly nodes?: readonly GraphNode[];
}

/** Extends them in Fluxion; no reservation may be there. @returns the new allocations, to commit */
export async function extendOverruns({
  now,
  matcher,
  holding = [],
  nodes,
}: Overruns): Promise<{ uid: string; allocation: Allocation }[]> {
  // Fluxion counts whole seconds.
  const second = Math.ceil(now);
  const extended: { uid: string; allocation: Allocation }[] = [];
  for (const { uid, phase, allocation } of holding) {
    if ((phase === 'Ready' || phase === 'Running') && allocation !== null && allocation.end <= second) {
      const longer = { ...allocation, end: second + EXTENSION };
      const there = nodes === undefined ? longer : stillThere(longer, nodes);
      await matcher.cancel(allocation.jobid);
      await matcher.replay(there.nodes.length === 0 ? [] : [there], now);
      extended.push({ uid, allocation: longer });
    }
  }
  return extended;
}

/** Fluxion gives back only what its graph still has: a node may be gone, or smaller, under its job. */
function stillThere(allocation: Allocation, nodes: readonly GraphNode[]): Allocation {
  const known = new Map(nodes.map((node) => [node.name, node]));
  const parts = allocation.nodes.flatMap((part) => {
    const node = known.get(part.name);
    return node === undefined ? [] : [within(part, node)];
  });
  return { ...allocation, nodes: parts };
}

function within(part: AllocatedNode, node: GraphNode): AllocatedNode {
  const units = Object.entries(part.units)
    .map(([type, ids]) => [type, parseIdset(ids).filter((id) => id < (node.units[type] ?? 0))] as const)
    .filter(([, ids]) => ids.length > 0)
    .map(([type, ids]) => [type, formatIdset(ids)] as const);
  return { ...part, units: Object.fromEntries(units) };
}
