/**
 * Allocations as the graph can hold them: without nodes that left it, and with units below the number of units of each
 * node. A node has fewer units than before when it shrinks or when an agent starts on it. Which units of a node a workload
 * has means nothing to Kubernetes, so units that no longer exist are replaced by free ones: only their number counts. Units
 * that become free later go to the jobs that lack some first: kube-scheduler counts what their pods request.
 */
import { isDeepStrictEqual } from 'node:util';
import { countIdset, formatIdset, parseIdset, parseRanges } from '../resources/idset';
import type { AllocatedNode, Allocation, GraphNode, UnitCounts, UnitIds } from '../resources/types';

/** What jobs hold that have other units than they were granted, by job id. One that has none left has no nodes. */
export type MovedJobs = ReadonlyMap<number, Allocation>;

export interface FittedAllocations {
  /** By job id; without those that hold nothing. */
  readonly byJob: ReadonlyMap<number, Allocation>;
  readonly moved: MovedJobs;
}

type Nodes = ReadonlyMap<string, GraphNode>;

/**
 * @param allocations of all jobs: the first ones choose their units first
 * @param before what moved jobs hold now: they keep it, and get what they lack
 */
export function fitAllocations(
  allocations: readonly Allocation[],
  nodes: Nodes,
  before: MovedJobs = new Map(),
): FittedAllocations {
  const present = allocations
    .map((allocation) => onlyPresent(allocation, nodes))
    .filter(({ nodes: parts }) => parts.length > 0);
  const isShort = ({ name, units }: AllocatedNode) => isBeyond(units, nodes.get(name)!.units);
  const crowded = new Set<string>();
  for (const { nodes: parts } of present) for (const part of parts) if (isShort(part)) crowded.add(part.name);
  if (crowded.size === 0) return { byJob: byJobid(present), moved: new Map() };
  const taken = takenUnits(present, nodes, crowded);
  const short = present.flatMap(({ jobid, nodes: parts }) =>
    parts
      .filter((part) => crowded.has(part.name) && isShort(part))
      .map(({ name, units }) => {
        const choices = choicesOf(units, nodes.get(name)!.units, taken.get(name)!);
        return { jobid, name, choices };
      }),
  );
  for (const { jobid, name, choices } of short) {
    const held = before.get(jobid)?.nodes.find((part) => part.name === name)?.units;
    for (const choice of choices) take(choice, parseIdset(held?.[choice.type] ?? ''));
  }
  for (const { choices } of short) for (const choice of choices) take(choice, unitsBelow(choice.end));
  const shortOf = Map.groupBy(short, ({ jobid }) => jobid);
  const fitted = present.map((allocation) => withChoices(allocation, shortOf.get(allocation.jobid)));
  return {
    byJob: byJobid(fitted.filter(({ nodes: parts }) => parts.length > 0)),
    moved: byJobid(fitted.filter(({ jobid }) => shortOf.has(jobid))),
  };
}

/** Fluxion knows nothing of a node on which a job holds no unit. */
function holdsSomething({ units, exclusive = false }: AllocatedNode): boolean {
  return exclusive || Object.keys(units).length > 0;
}

/**
 * The jobs that had moved before and hold other units now, with the nodes on which they do. Others move only with the units
 * of a node.
 */
export function movedAgain(before: MovedJobs, now: MovedJobs): ReadonlyMap<number, readonly string[]> {
  const changes = new Map<number, readonly string[]>();
  for (const [jobid, allocation] of before) {
    const held = new Map(allocation.nodes.map(({ name, units }) => [name, units]));
    const parts = now
      .get(jobid)
      ?.nodes.filter(({ name, units }) => !isDeepStrictEqual(units, held.get(name)));
    if (parts !== undefined && parts.length > 0)
      changes.set(
        jobid,
        parts.map(({ name }) => name),
      );
  }
  return changes;
}

function byJobid(allocations: readonly Allocation[]): ReadonlyMap<number, Allocation> {
  return new Map(allocations.map((allocation) => [allocation.jobid, allocation]));
}

/** Without the nodes that have left the graph. */
export function onlyPresent(allocation: Allocation, nodes: Nodes): Allocation {
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

/** Units of one type that a job has instead of those that it was granted on a node. */
interface Choice {
  readonly type: string;
  readonly wanted: number;
  /** The first number that the node does not have. */
  readonly end: number;
  readonly chosen: number[];
  /** Those that any job has. */
  readonly taken: Set<number>;
}

interface ShortPart {
  readonly name: string;
  readonly choices: readonly Choice[];
}

/** A job keeps the units that still exist. */
function choicesOf(granted: UnitIds, total: UnitCounts, taken: Taken): readonly Choice[] {
  return Object.entries(granted).map(([type, idset]) => {
    const end = total[type] ?? 0;
    const chosen = parseIdset(idset).filter((id) => id < end);
    return { type, wanted: countIdset(idset), end, chosen, taken: taken[type]! };
  });
}

/** Takes those of the units that exist and are free, until the job has as many as it was granted. */
function take({ wanted, end, chosen, taken }: Choice, ids: Iterable<number>): void {
  for (const id of ids) {
    if (chosen.length === wanted) return;
    if (id >= end || taken.has(id)) continue;
    taken.add(id);
    chosen.push(id);
  }
}

function* unitsBelow(end: number): Iterable<number> {
  for (let id = 0; id < end; id++) yield id;
}

/** Units for which no other was free are left out. */
function withChoices(allocation: Allocation, parts: readonly ShortPart[] | undefined): Allocation {
  if (parts === undefined) return allocation;
  const choicesOn = new Map(parts.map(({ name, choices }) => [name, choices]));
  const nodes = allocation.nodes.map((part) => {
    const choices = choicesOn.get(part.name)?.filter(({ chosen }) => chosen.length > 0);
    if (choices === undefined) return part;
    return {
      ...part,
      units: Object.fromEntries(choices.map(({ type, chosen }) => [type, formatIdset(chosen)])),
    };
  });
  return { ...allocation, nodes: nodes.filter(holdsSomething) };
}
