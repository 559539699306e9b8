/** Pods on nodes, as far as they decide where kube-scheduler lets others run. */
import { askOf } from '../../jobspec/jobspec';
import type { PodTraits } from '../../jobspec/placement-rules';
import { podSetsOf, podsOfSetsOn, type SetJobspec } from '../../jobspec/pod-sets';
import type { WorkloadRow } from '../../queue/workload';
import { countIdset } from '../../resources/idset';
import type { AllocatedNode, Allocation } from '../../resources/types';

/** A span of time in Unix seconds. */
export interface Span {
  readonly start: number;
  /** Exclusive. Infinity: not known. */
  readonly end: number;
}

/** Pods of one kind on one node. */
export interface PlacedPods extends Span {
  readonly traits: PodTraits;
  readonly node: string;
  readonly count: number;
  /** The pods of a reservation: they may come to other nodes. @default false */
  readonly planned?: boolean;
}

/** What a pass knows of the pods of the cluster, and of nodes beside their units. */
export interface Surroundings {
  /** Pods outside the queue that use a node. */
  unmanaged(): readonly PlacedPods[];
  /** Those of them that keep certain other pods out of their group of nodes: few, and read in every pass. */
  repelling(): readonly PlacedPods[];
  /** How many pods outside the queue use this node. */
  unmanagedOn(node: string): number;
  /** The pods of a workload of the queue. */
  traitsOf(row: WorkloadRow): PodTraits;
  /** Amounts of resources of the node that are not units of the graph, e.g. `pods`. */
  amountsOf(node: string): Readonly<Record<string, number>>;
}

/** The pods of an allocation. */
export function podsOfJob(
  row: WorkloadRow,
  { nodes, start, end }: Allocation,
  { traitsOf }: Pick<Surroundings, 'traitsOf'>,
): readonly PlacedPods[] {
  const sets = podSetsOf(row.jobspec);
  if (sets !== undefined)
    return nodes.flatMap(({ name: node, podSets = {} }) =>
      sets.flatMap((set) => {
        const count = podSets[set.name] ?? 0;
        return count === 0 ? [] : [{ traits: traitsOfSet(set), node, count, start, end }];
      }),
    );
  const traits = traitsOf(row);
  return nodes.map((part) => ({ traits, node: part.name, count: podsOn(row, part), start, end }));
}

/** The pods of one pod set of several. */
export function traitsOfSet({ traits, jobspec }: SetJobspec): PodTraits {
  const rules = jobspec.attributes.user?.placement;
  return { ...traits, ...(rules && { rules }) };
}

/** At least one: the node may have lost units since. */
export function podsOn({ jobspec }: Pick<WorkloadRow, 'jobspec'>, part: AllocatedNode): number {
  if (podSetsOf(jobspec) !== undefined) return podsOfSetsOn(part);
  const { units } = part;
  const { perPod, exclusive } = askOf(jobspec);
  if (exclusive) return 1;
  const shares = Object.entries(perPod).map(([type, count]) =>
    Math.floor(countIdset(units[type] ?? '') / count),
  );
  return Math.max(1, Math.min(...shares));
}

/** Resources that these pods take on each node, also one of `pods` each. */
export function usedAmounts(
  pods: readonly PlacedPods[],
): ReadonlyMap<string, Readonly<Record<string, number>>> {
  const used = new Map<string, Record<string, number>>();
  for (const { node, traits, count } of pods) {
    const ofNode = used.get(node) ?? {};
    used.set(node, ofNode);
    ofNode.pods = (ofNode.pods ?? 0) + count;
    for (const [resource, amount] of Object.entries(traits.rules?.amounts ?? {}))
      ofNode[resource] = (ofNode[resource] ?? 0) + count * amount;
  }
  return used;
}

/** How many pods with these amounts a node has room for. */
export function amountRoom(
  wanted: Readonly<Record<string, number>>,
  all: Readonly<Record<string, number>>,
  used: Readonly<Record<string, number>> = {},
): number {
  let room = Infinity;
  for (const resource in wanted) {
    // A node that does not say how many pods it takes has no limit of them.
    const total = all[resource] ?? (resource === 'pods' ? Infinity : 0);
    room = Math.min(room, Math.floor((total - (used[resource] ?? 0)) / wanted[resource]!));
  }
  return Math.max(0, room);
}
