import { joined } from '../../columns';
import { type NodeClass, podsOn } from '../../jobspec/capacity';
import { type Ask, askOf, isArray } from '../../jobspec/jobspec';
import { podSetsOf, setsOf, unitsOfAll } from '../../jobspec/pod-sets';
import type { UnitSettings } from '../../jobspec/units';
import type { Quota } from '../../queue/settings';
import type { WorkloadRow } from '../../queue/workload';
import type { Allocation, Surplus, UnitCounts } from '../../resources/types';
import { addUnits, unitCounts } from '../../resources/unit-counts';
import { podsOn as podsOnPart } from './placed-pods';

/** Dimensions of a `Planner` of quota; the first counts jobs. */
export const DIMENSIONS = ['jobs', 'pods', 'cores', 'memoryGiB', 'gpus'] as const;

type Dimension = (typeof DIMENSIONS)[number];

/** One number per dimension: jobs, pods, thousandths of a core, MiB, gpus. */
export type Usage = Float64Array;

/** One unit of a quota (1 core, 1 GiB) in numbers of its dimension. */
const SCALE: Readonly<Record<Dimension, number>> = {
  jobs: 1,
  pods: 1,
  cores: 1000,
  memoryGiB: 1024,
  gpus: 1,
};

/** A number that the quota does not name is not limited: Infinity. */
export function limitsOf(quota: Quota): Usage {
  const limits = new Float64Array(DIMENSIONS.length);
  DIMENSIONS.forEach((dimension, i) => {
    limits[i] = Math.round((quota[dimension] ?? Infinity) * SCALE[dimension]);
  });
  return limits;
}

/** Usage in the units of a quota: cores, GiB. */
export function inQuota(usage: Usage): Readonly<Record<Dimension, number>> {
  return Object.fromEntries(
    DIMENSIONS.map((dimension, i) => [dimension, usage[i]! / SCALE[dimension]]),
  ) as Record<Dimension, number>;
}

/**
 * An amount with the unit of a quota: "8 cores".
 * @param gpu the name that a workload uses for its GPUs. @default - the quota's word
 */
export function formatAmount(dimension: number, amount: number, gpu?: string): string {
  const name = DIMENSIONS[dimension]!;
  const count = amount / SCALE[name];
  if (name === 'memoryGiB') return `${count} GiB of memory`;
  if (name === 'gpus' && gpu !== undefined) return `${count} ${gpu}`;
  return `${count} ${count === 1 ? name.slice(0, -1) : name}`;
}

/** As a quota names them: "cores and memory". */
export function namesOf(dimensions: readonly number[]): string {
  return joined(dimensions.map((i) => DIMENSIONS[i]!.replace('GiB', '')));
}

/** What a row requests; whole nodes may come to more. */
export function requestedBy({ jobspec, pods }: WorkloadRow, units: UnitSettings): Usage {
  const all = unitsOfAll(jobspec);
  return usage(pods, units, (type) => all[type] ?? 0);
}

/** What a row takes with this allocation. @param surplus what its pods use beyond that: it is charged, but it is no other job */
export function heldBy(
  row: WorkloadRow,
  allocation: Allocation,
  units: UnitSettings,
  surplus?: Surplus,
): Usage {
  const pods = podsWith(row, allocation);
  if (surplus === undefined) return usageOf(pods, units, unitCounts(allocation));
  return usageOf(pods + surplus.pods, units, addUnits([unitCounts(allocation), surplus.units]));
}

/** Every pass counts all allocations. They never change, so the counts are kept with them. */
const atOnce = new WeakMap<Allocation, number>();

/** An array may have been granted fewer pods than it asks for. */
function podsWith(row: WorkloadRow, allocation: Allocation): number {
  if (!isArray(row.jobspec)) return row.pods;
  const granted =
    atOnce.get(allocation) ?? allocation.nodes.reduce((sum, part) => sum + podsOnPart(row, part), 0);
  atOnce.set(allocation, granted);
  return Math.min(row.pods, granted);
}

/** What a job with so many pods and these units comes to. */
export function usageOf(pods: number, units: UnitSettings, counts: UnitCounts): Usage {
  return usage(pods, units, (type) => counts[type] ?? 0);
}

/** The least that a row can hold on the nodes of the cluster. */
export interface LeastUsage {
  /** Of whole nodes the smallest ones that fit it, for each dimension on its own. */
  readonly amounts: Usage;
  /** On the largest nodes; 0 if that is not known. */
  fewestNodes(): number;
}

/** @param classes the nodes that the row may use */
export function leastUsage(row: WorkloadRow, classes: readonly NodeClass[], units: UnitSettings): LeastUsage {
  const asks = setsOf(row.jobspec).map(askOf);
  const [ask] = asks;
  let known: number | undefined;
  const fewestNodes = () => {
    known ??= Math.max(...asks.map((one) => countFewest(one, classes)));
    return known;
  };
  // Few quotas limit nodes, so they are counted when one asks.
  if (!ask!.exclusive || podSetsOf(row.jobspec) !== undefined || fewestNodes() === 0)
    return { amounts: requestedBy(row, units), fewestNodes };
  const fitting = classes.filter((one) => podsOn(one.units, ask!) > 0);
  const amounts = usage(row.pods, units, (type) => smallest(fitting, type, fewestNodes()));
  return { amounts, fewestNodes };
}

/** @returns 0 if the nodes do not suffice: then another reason than quota keeps it from starting */
function countFewest(ask: Ask, classes: readonly NodeClass[]): number {
  const bySize = classes
    .map(({ units, count }) => ({ room: podsOn(units, ask), count }))
    .filter(({ room }) => room > 0)
    .sort((a, b) => b.room - a.room);
  let nodes = 0;
  let left = ask.pods;
  for (const { room, count } of bySize) {
    const taken = Math.min(count, Math.ceil(left / room));
    nodes += taken;
    left -= taken * room;
    if (left <= 0) return nodes;
  }
  return 0;
}

function smallest(classes: readonly NodeClass[], type: string, nodes: number): number {
  const bySize = classes
    .map(({ units, count }) => ({ units: units[type] ?? 0, count }))
    .sort((a, b) => a.units - b.units);
  let sum = 0;
  let left = nodes;
  for (const { units, count } of bySize) {
    sum += Math.min(left, count) * units;
    left -= Math.min(left, count);
  }
  return sum;
}

function usage(pods: number, units: UnitSettings, count: (type: string) => number): Usage {
  return Float64Array.of(
    1,
    pods,
    count('core') * units.cpuMillis,
    count('memory') * units.memoryMiB,
    count('gpu'),
  );
}

export const NOTHING: Usage = new Float64Array(DIMENSIONS.length);

/** The sum, as a usage of its own. @param more @default - nothing */
export function plus(usage: Usage, more: Usage = NOTHING): Usage {
  return usage.map((amount, i) => amount + more[i]!);
}

/** Adds the amounts to the usage, or takes them from it. */
export function addTo(usage: Usage, amounts: Usage, sign: 1 | -1 = 1): void {
  for (let i = 0; i < usage.length; i++) usage[i]! += sign * amounts[i]!;
}
