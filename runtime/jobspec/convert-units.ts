/** Jobspecs and allocations in units of another size: the units of a stack can be changed while workloads wait and run. */
import { countIdset } from '../resources/idset';
import type { AllocatedNode, UnitCounts } from '../resources/types';
import { addUnits } from '../resources/unit-counts';
import { askOf } from './jobspec';
import { podSetsOf, setsOf } from './pod-sets';
import { parseQuantity } from './quantity';
import type { Jobspec, JobspecResource } from './types';
import { type UnitSettings, unitsOf } from './units';

/**
 * @param assumed the units of a jobspec that does not name its own, because an earlier release stored it
 * @returns the same jobspec if it is in these units already
 */
export function jobspecInUnits(jobspec: Jobspec, assumed: UnitSettings, wanted: UnitSettings): Jobspec {
  const sets = podSetsOf(jobspec);
  if (sets === undefined) return inUnits(jobspec, assumed, wanted);
  const { units = assumed } = jobspec.attributes.user!;
  if (isSame(units, wanted)) return jobspec;
  const converted = sets.map((set) => inUnits(set.jobspec, assumed, wanted).resources[0]!);
  const user = { ...jobspec.attributes.user, units: wanted };
  return { ...jobspec, resources: converted, attributes: { ...jobspec.attributes, user } };
}

function inUnits(jobspec: Jobspec, assumed: UnitSettings, wanted: UnitSettings): Jobspec {
  const { user = {} } = jobspec.attributes;
  const { units = assumed, requests } = user;
  if (user.units !== undefined && isSame(units, wanted)) return jobspec;
  const { perPod } = askOf(jobspec);
  const counts = requests === undefined ? scaled(perPod, units, wanted) : requestedUnits(requests, wanted);
  return {
    ...jobspec,
    resources: jobspec.resources.map((resource) => withCounts(resource, { ...perPod, ...counts })),
    attributes: { ...jobspec.attributes, user: { ...user, units: wanted } },
  };
}

/** How many units the part of an allocation has when its jobspec was converted. */
export function countsInUnits(part: AllocatedNode, before: Jobspec, after: Jobspec): UnitCounts {
  const sets = podSetsOf(after);
  if (sets !== undefined && part.exclusive !== true)
    return addUnits(
      sets.map(({ name, jobspec }) => {
        const pods = part.podSets?.[name] ?? 0;
        return Object.fromEntries(Object.entries(askOf(jobspec).perPod).map(([type, n]) => [type, n * pods]));
      }),
    );
  // Whole nodes of a gang are scaled as those of its first pod set.
  const [old, next] = [before, after].map((jobspec) => askOf(setsOf(jobspec)[0]!).perPod) as [
    UnitCounts,
    UnitCounts,
  ];
  const held = Object.entries(part.units).map(([type, ids]) => [type, countIdset(ids)] as const);
  const counts = held.map(([type, count]) => {
    const [from = 1, to = 1] = [old[type], next[type]];
    return [type, Math.floor((count * to) / from)] as const;
  });
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

function isSame(a: UnitSettings, b: UnitSettings): boolean {
  return a.cpuMillis === b.cpuMillis && a.memoryMiB === b.memoryMiB;
}

function requestedUnits(requests: Readonly<Record<string, string>>, units: UnitSettings): UnitCounts {
  const parsed = Object.entries(requests).map(
    ([name, quantity]) => [name, parseQuantity(quantity, name)] as const,
  );
  return unitsOf(new Map(parsed), units);
}

function scaled(perPod: UnitCounts, from: UnitSettings, to: UnitSettings): UnitCounts {
  const { core, memory } = perPod;
  return {
    ...(core === undefined ? {} : { core: Math.ceil((core * from.cpuMillis) / to.cpuMillis) }),
    ...(memory === undefined ? {} : { memory: Math.ceil((memory * from.memoryMiB) / to.memoryMiB) }),
  };
}

function withCounts(resource: JobspecResource, counts: UnitCounts): JobspecResource {
  if (resource.with !== undefined)
    return { ...resource, with: resource.with.map((below) => withCounts(below, counts)) };
  return { ...resource, count: counts[resource.type] ?? resource.count };
}
