/** Messages about what a jobspec requests and why it can't start. */
import type { GraphNode, UnitCounts } from '../resources/types';
import { podsOn } from './capacity';
import { matches, soleHost } from './constraints';
import { type Ask, askOf } from './jobspec';
import { phrasesOf } from './placement-rules';
import type { Jobspec } from './types';
import { DEFAULT_UNITS, type UnitSettings } from './units';

/** `needs 4 pods with 2 cores and 4 GiB of memory each` */
function needs(jobspec: Jobspec, units: UnitSettings = DEFAULT_UNITS): string {
  const { pods, perPod, exclusive } = askOf(jobspec);
  const many = plural(pods, exclusive ? 'whole node' : 'pod');
  const rules = phrasesOf(jobspec.attributes.user?.placement ?? {}).map((phrase) => `, ${phrase}`);
  return `needs ${many} with ${amounts(perPod, units)}${pods > 1 ? ' each' : ''}${rules.join('')}`;
}

/** For a jobspec of which only some pods fit the cluster, because of its placement rules or the pods that nodes take. */
export function rulesText(jobspec: Jobspec, fitting: number, units: UnitSettings = DEFAULT_UNITS): string {
  return `${needs(jobspec, units)}; the cluster has room for ${fitting === 0 ? 'none' : fitting}`;
}

/** For a jobspec that fits the cluster, but not now. */
export function busyText(jobspec: Jobspec, units: UnitSettings = DEFAULT_UNITS): string {
  return `${needs(jobspec, units)}; not free now`;
}

/** For a jobspec that fits the cluster, but not the nodes that are up. */
export function downText(jobspec: Jobspec, units: UnitSettings = DEFAULT_UNITS): string {
  return `${needs(jobspec, units)}; that needs nodes that are down or cordoned`;
}

/** For a jobspec that fits the cluster, but not beside what has no end. */
export function endlessText(
  jobspec: Jobspec,
  { services, more, unmanaged }: Readonly<{ services: readonly string[]; more: boolean; unmanaged: boolean }>,
  units: UnitSettings = DEFAULT_UNITS,
): string {
  const named = `${services.join(', ')}${more ? ' and others' : ''}`;
  const leave = services.length === 0 ? [] : [`services leave their nodes (${named})`];
  const end = unmanaged ? ['pods outside the queue end'] : [];
  return `${needs(jobspec, units)}; it can start only when ${[...leave, ...end].join(' and ')}`;
}

/**
 * Why a jobspec can never start on these nodes, up or down: "asks for 5 nodes with 8 gpus, the cluster has 3".
 * @returns undefined if it fits as far as counting tells
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
  const constraint = jobspec.attributes.system.constraints ?? {};
  const eligible = nodes.filter((node) => matches(constraint, node));
  const capacity = podsFitting(ask, eligible);
  if (capacity >= ask.pods) {
    return undefined;
  }
  const onePerNode = ask.exclusive || eligible.every((node) => podsFitting(ask, [node]) <= 1);
  const count = plural(ask.pods, onePerNode ? 'node' : 'pod');
  const asked = `asks for ${count} with ${amounts(ask.perPod, units)}${onePerNode || ask.pods === 1 ? '' : ' each'}`;
  const host = soleHost(constraint);
  if (host !== undefined && !nodes.some(({ name }) => name === host)) {
    return `asks for node ${host}, which does not exist`;
  }
  if (podsFitting(ask, nodes) >= ask.pods) {
    const restricting =
      jobspec.attributes.user?.claims === undefined
        ? 'node selector, affinity and tolerations'
        : 'node selector, affinity, tolerations and volumes';
    return `${asked}, its ${restricting} leave ${has(capacity, onePerNode)}`;
  }
  return `${asked}, the cluster has ${has(capacity, onePerNode)}`;
}

function has(capacity: number, onePerNode: boolean): string {
  if (capacity === 0) {
    return 'none';
  }
  return onePerNode ? String(capacity) : `room for ${capacity}`;
}

/** How many of the pods fit these nodes if they are empty. */
function podsFitting(ask: Ask, nodes: readonly GraphNode[]): number {
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
