import type { GraphNode, UnitCounts } from '../resources/types';
import { podsOn } from './capacity';
import { matches } from './constraints';
import { type Ask, askOf } from './jobspec';
import type { Jobspec } from './types';
import { DEFAULT_UNITS, type UnitSettings } from './units';

/** "needs 4 pods with 2 cores and 4 GiB of memory each" */
function needs(jobspec: Jobspec, units: UnitSettings = DEFAULT_UNITS): string {
  const { pods, perPod, exclusive } = askOf(jobspec);
  const many = plural(pods, exclusive ? 'whole node' : 'pod');
  return `needs ${many} with ${amounts(perPod, units)}${pods > 1 ? ' each' : ''}`;
}

/** While it would fit some day, but not now. */
export function busyText(jobspec: Jobspec, units: UnitSettings = DEFAULT_UNITS): string {
  return `${needs(jobspec, units)}; not free now`;
}

/** Fits the cluster, but not what of it is up. */
export function downText(jobspec: Jobspec, units: UnitSettings = DEFAULT_UNITS): string {
  return `${needs(jobspec, units)}; that needs nodes that are down or cordoned`;
}

/**
 * Why it can never start on these nodes, up or down: "asks for 5 nodes with 8
 * gpus, the cluster has 3".
 *
 * @returns undefined if it fits, as far as can be counted
 */
export function unsatisfiableText(
  jobspec: Jobspec,
  nodes: readonly GraphNode[],
  units: UnitSettings = DEFAULT_UNITS,
): string | undefined {
  const ask = askOf(jobspec);
  const missing = Object.keys(ask.perPod).find((type) => !nodes.some((node) => (node.units[type] ?? 0) > 0));
  if (missing !== undefined) {
    return `asks for ${amounts({ [missing]: ask.perPod[missing] ?? 0 }, units)}, no node of the cluster has any`;
  }
  const eligible = nodes.filter((node) => matches(jobspec.attributes.system.constraints ?? {}, node));
  const capacity = roomFor(ask, eligible);
  if (capacity >= ask.pods) {
    return undefined;
  }
  const onePerNode = ask.exclusive || eligible.every((node) => roomFor(ask, [node]) <= 1);
  const what = plural(ask.pods, onePerNode ? 'node' : 'pod');
  const asked = `asks for ${what} with ${amounts(ask.perPod, units)}${onePerNode || ask.pods === 1 ? '' : ' each'}`;
  if (roomFor(ask, nodes) >= ask.pods) {
    return `${asked}, its node selector, affinity and tolerations leave ${has(capacity, onePerNode)}`;
  }
  return `${asked}, the cluster has ${has(capacity, onePerNode)}`;
}

function has(capacity: number, onePerNode: boolean): string {
  if (capacity === 0) {
    return 'none';
  }
  return onePerNode ? String(capacity) : `room for ${capacity}`;
}

/** How many of the pods would fit if all of it were free. */
function roomFor(ask: Ask, nodes: readonly GraphNode[]): number {
  return nodes.reduce((total, { units }) => total + podsOn(units, ask), 0);
}

function amounts(perPod: UnitCounts, units: UnitSettings): string {
  const parts = Object.entries(perPod).map(([type, count]) => amount(type, count, units));
  return parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}` : (parts[0] ?? 'nothing');
}

function amount(type: string, count: number, { cpuMillis, memoryMiB }: UnitSettings): string {
  switch (type) {
    case 'core':
      return plural((count * cpuMillis) / 1000, 'core');
    case 'memory': {
      const mebibytes = count * memoryMiB;
      return mebibytes % 1024 === 0 ? `${mebibytes / 1024} GiB of memory` : `${mebibytes} MiB of memory`;
    }
    case 'gpu':
      return plural(count, 'gpu');
    default:
      return `${count} ${type}`;
  }
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
