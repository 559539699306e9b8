/**
 * Allocations as the graph can hold them: without nodes that left it, and with units below the number of units of each
 * node. A node has fewer units than before when it shrinks or when an agent starts on it. Which units of a node a workload
 * has means nothing to Kubernetes, so units that no longer exist are replaced by free ones: only their number counts.
 */
import { countIdset, formatIdset, parseIdset, parseRanges } from '../resources/idset';
import type { AllocatedNode, Allocation, GraphNode, UnitCounts, UnitIds } from '../resources/types';

export interface FittedAllocations {
  /** By job id; without those of which no node is left. */
  readonly byJob: ReadonlyMap<number, Allocation>;
  /** Job ids of those that have other units than they were granted. */
  readonly moved: ReadonlySet<number>;
}

type Nodes = ReadonlyMap<string, GraphNode>;

/** @param allocations of all jobs: the first ones choose their units first */
export function fitAllocations(allocations: readonly Allocation[], nodes: Nodes): FittedAllocations {
  const present = allocations
    .map((allocation) => onlyPresent(allocation, nodes))
    .filter(({ nodes: parts }) => parts.length > 0);
  const crowded = new Set<string>();
  for (const { nodes: parts } of present)
    for (const part of parts) if (isBeyond(part.units, nodes.get(part.name)!.units)) crowded.add(part.name);
  if (crowded.size === 0) return { byJob: byJobid(present), moved: new Set() };
  const taken = takenUnits(present, nodes, crowded);
  const moved = new Set<number>();
  const fitted = present.map((allocation) => {
    if (!allocation.nodes.some(({ name }) => crowded.has(name))) return allocation;
    const parts = allocation.nodes.map((part) => {
      const { units } = nodes.get(part.name)!;
      if (!isBeyond(part.units, units)) return part;
      moved.add(allocation.jobid);
      return { ...part, units: moveUnits(part.units, units, taken.get(part.name)!) };
    });
    return { ...allocation, nodes: parts };
  });
  return { byJob: byJobid(fitted), moved };
}

function byJobid(allocations: readonly Allocation[]): ReadonlyMap<number, Allocation> {
  return new Map(allocations.map((allocation) => [allocation.jobid, allocation]));
}

function onlyPresent(allocation: Allocation, nodes: Nodes): Allocation {
  const present = allocation.nodes.filter(({ name }) => nodes.has(name));
  return present.length === allocation.nodes.length ? allocation : { ...allocation, nodes: present };
}

function isBeyond(ids: UnitIds, total: UnitCounts): boolean {
  for (const type in ids) {
    const [, end = 0] = parseRanges(ids[type]!).at(-1) ?? [];
    if (end > (total[type] ?? 0)) return true;
  }
  return false;
}

type Taken = Record<string, Set<number>>;

/** Units of the crowded nodes that exist and are held. */
function takenUnits(
  allocations: readonly Allocation[],
  nodes: Nodes,
  crowded: ReadonlySet<string>,
): ReadonlyMap<string, Taken> {
  const taken = new Map<string, Taken>([...crowded].map((name) => [name, {}]));
  for (const { nodes: parts } of allocations) for (const part of parts) add(part, taken.get(part.name));
  return taken;

  function add({ name, units }: AllocatedNode, known: Taken | undefined): void {
    if (known === undefined) return;
    const total = nodes.get(name)!.units;
    for (const type in units) {
      const ids = known[type] ?? new Set();
      known[type] = ids;
      for (const id of parseIdset(units[type]!)) if (id < (total[type] ?? 0)) ids.add(id);
    }
  }
}

/** Units for which no other is free are left out. */
function moveUnits(held: UnitIds, total: UnitCounts, taken: Taken): UnitIds {
  const fitted = Object.entries(held).map(([type, idset]) => {
    const count = total[type] ?? 0;
    const kept = parseIdset(idset).filter((id) => id < count);
    let missing = countIdset(idset) - kept.length;
    const used = taken[type]!;
    for (let id = 0; id < count && missing > 0; id++) {
      if (used.has(id)) continue;
      used.add(id);
      kept.push(id);
      missing -= 1;
    }
    return [type, formatIdset(kept)] as const;
  });
  return Object.fromEntries(fitted.filter(([, ids]) => ids !== ''));
}
