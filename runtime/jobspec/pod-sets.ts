/**
 * Jobspecs of gangs with several pod sets: one slot for each, in the same order. Fluxion matches no such jobspec (decision 47): a pass
 * plans it, and reads each pod set as the jobspec of one slot that it would be alone.
 */
import type { AllocatedNode, GraphNode, UnitCounts } from '../resources/types';
import { addUnits } from '../resources/unit-counts';
import { conjunction, EVERY, matches, narrowed, partsOf } from './constraints';
import { askOf } from './jobspec';
import type { PodTraits } from './placement-rules';
import type { Jobspec, JobspecResource, PodSetRequest } from './types';

/** One pod set of a gang. */
export interface SetJobspec {
  readonly name: string;
  readonly traits: Pick<PodTraits, 'namespace' | 'labels'>;
  /** What it asks for, as the jobspec of one slot. */
  readonly jobspec: Jobspec;
}

/**
 * The jobspec of a gang. That of one pod set is its own.
 * @param sets of equal walltime, and all of whole nodes or none
 */
export function gangOf(sets: readonly [SetJobspec, ...SetJobspec[]]): Jobspec {
  const [first, ...others] = sets;
  if (others.length === 0) return first.jobspec;
  const { version, attributes } = first.jobspec;
  const { units } = attributes.user ?? {};
  const shared = sharedPart(sets.map(({ jobspec }) => jobspec));
  return {
    version,
    resources: sets.map(({ name, jobspec }) => labelled(jobspec.resources[0]!, name)),
    tasks: sets.map(({ name }) => ({ command: ['pod'], slot: name, count: { per_slot: 1 } })),
    attributes: {
      system: { duration: attributes.system.duration },
      user: { ...(units && { units }), ...shared, podSets: sets.map(requestOf) },
    },
  };
}

function labelled(resource: JobspecResource, label: string): JobspecResource {
  if (resource.type === 'slot') return { ...resource, label };
  return { ...resource, with: resource.with!.map((below) => labelled(below, label)) };
}

function requestOf({ name, traits, jobspec }: SetJobspec): PodSetRequest {
  const { constraints } = jobspec.attributes.system;
  const { requests, placement } = jobspec.attributes.user ?? {};
  return {
    name,
    namespace: traits.namespace,
    labels: traits.labels,
    ...(constraints && { constraints }),
    ...(requests && { requests }),
    ...(placement && { placement }),
  };
}

/** What holds for the gang as soon as it holds for one of its pod sets. */
function sharedPart(jobspecs: readonly Jobspec[]): Jobspec['attributes']['user'] {
  const users = jobspecs.map(({ attributes }) => attributes.user ?? {});
  const lists = (['claims', 'unmodeled', 'gates', 'labels'] as const).map((key) => {
    const all = [...new Set(users.flatMap((user) => user[key] ?? []))];
    return [key, all] as const;
  });
  const graces = users.flatMap(({ graceSeconds }) => graceSeconds ?? []);
  return {
    ...Object.fromEntries(lists.filter(([, all]) => all.length > 0)),
    ...(graces.length > 0 && { graceSeconds: Math.max(...graces) }),
  };
}

/** A jobspec never changes, and every pass reads those of all that wait. */
const known = new WeakMap<Jobspec, readonly SetJobspec[]>();

/** The pod sets of a gang of several; undefined for any other jobspec. */
export function podSetsOf(jobspec: Jobspec): readonly SetJobspec[] | undefined {
  const requests = jobspec.attributes.user?.podSets;
  if (requests === undefined) return undefined;
  const sets = known.get(jobspec) ?? requests.map((request, i) => setOf(jobspec, request, i));
  known.set(jobspec, sets);
  return sets;
}

/** What is asked for the pods of each pod set, as jobspecs of one slot: the jobspec itself, if it is of one. */
export function setsOf(jobspec: Jobspec): readonly Jobspec[] {
  return podSetsOf(jobspec)?.map((set) => set.jobspec) ?? [jobspec];
}

function setOf(
  { version, resources, tasks, attributes }: Jobspec,
  request: PodSetRequest,
  i: number,
): SetJobspec {
  const { name, namespace, labels, constraints, requests, placement } = request;
  const { constraints: ofGang, ...system } = attributes.system;
  const { units, claims, unmodeled } = attributes.user!;
  const wanted = constraints === undefined ? ofGang : narrowed(ofGang, constraints);
  const jobspec: Jobspec = {
    version,
    resources: [resources[i]!],
    tasks: [tasks[i]!],
    attributes: {
      system: { ...system, ...(wanted && { constraints: wanted }) },
      user: {
        ...(units && { units }),
        ...(requests && { requests }),
        ...(placement && { placement }),
        ...(claims && { claims }),
        ...(unmodeled && { unmodeled }),
      },
    },
  };
  return { name, traits: { namespace, labels }, jobspec };
}

/** Whether passes have to look at pods, and not only at units, to place it. */
export function hasPlacementRules(jobspec: Jobspec): boolean {
  const { placement, podSets } = jobspec.attributes.user ?? {};
  return placement !== undefined || podSets?.some((set) => set.placement !== undefined) === true;
}

/** Every pass asks for those of all that wait. */
const totals = new WeakMap<Jobspec, UnitCounts>();

/** The units of all its pods. */
export function unitsOfAll(jobspec: Jobspec): UnitCounts {
  const units = totals.get(jobspec) ?? addUnits(setsOf(jobspec).map(unitsOfSet));
  totals.set(jobspec, units);
  return units;
}

function unitsOfSet(jobspec: Jobspec): UnitCounts {
  const { pods, perPod } = askOf(jobspec);
  return Object.fromEntries(Object.entries(perPod).map(([type, count]) => [type, pods * count]));
}

/** The request as it is on any node. */
export function withoutConstraints(jobspec: Jobspec): Jobspec {
  const { attributes, ...rest } = jobspec;
  const { constraints: _, ...system } = attributes.system;
  const { podSets, ...user } = attributes.user ?? {};
  const free = podSets?.map(({ constraints: __, ...set }) => set);
  return {
    ...rest,
    attributes: {
      ...attributes,
      system,
      ...(attributes.user && { user: { ...user, ...(free && { podSets: free }) } }),
    },
  };
}

/** Whether the pods on each of these nodes may be there. */
export function meetsConstraints(
  jobspec: Jobspec,
  granted: readonly AllocatedNode[],
  nodeOf: (name: string) => GraphNode | undefined,
): boolean {
  const sets = podSetsOf(jobspec);
  return granted.every(({ name, podSets = {} }) => {
    const node = nodeOf(name);
    if (node === undefined) return false;
    const there = sets?.filter((set) => (podSets[set.name] ?? 0) > 0).map((set) => set.jobspec) ?? [jobspec];
    return there.every(({ attributes }) => matches(attributes.system.constraints ?? EVERY, node));
  });
}

/** How many pods of a gang of several pod sets a node was granted for. */
export function podsOfSetsOn({ podSets = {} }: AllocatedNode): number {
  return Object.values(podSets).reduce((sum, count) => sum + count, 0);
}

/**
 * The jobspec of as many pods as the gang has, each as large as the largest of every unit: if these fit, so does the gang in any order,
 * because none of its pods takes more than one of their places.
 */
export function uniformOf(jobspec: Jobspec): Jobspec {
  const sets = podSetsOf(jobspec);
  if (sets === undefined) return jobspec;
  const asks = sets.map((set) => askOf(set.jobspec));
  const largest: Record<string, number> = {};
  for (const { perPod } of asks)
    for (const type in perPod) largest[type] = Math.max(largest[type] ?? 0, perPod[type]!);
  const pods = asks.reduce((sum, ask) => sum + ask.pods, 0);
  const constraints = conjunction(
    sets.flatMap((set) => partsOf(set.jobspec.attributes.system.constraints ?? EVERY)),
  );
  const [first] = sets;
  const { system } = first!.jobspec.attributes;
  return {
    ...first!.jobspec,
    resources: [withUnits(first!.jobspec.resources[0]!, pods, largest)],
    attributes: { system: { ...system, constraints } },
  };
}

function withUnits(resource: JobspecResource, pods: number, units: UnitCounts): JobspecResource {
  if (resource.type === 'node')
    return { ...resource, count: pods, with: [withUnits(resource.with![0]!, 1, units)] };
  return { ...resource, count: pods, with: Object.entries(units).map(([type, count]) => ({ type, count })) };
}
