/** Messages about what a jobspec requests and why it can't start. */
import { joined } from '../columns';
import type { GraphNode, UnitCounts } from '../resources/types';
import { podsOn } from './capacity';
import { resourceProperty, soleHost } from './constraints';
import { exclusionsText } from './exclusions';
import { type Ask, askOf, DEFAULT_GRACE_SECONDS } from './jobspec';
import { matchingNodes } from './matching-nodes';
import { phrasesOf } from './placement-rules';
import { podSetsOf, setsOf } from './pod-sets';
import type { Jobspec } from './types';
import { DEFAULT_UNITS, isGpu, type UnitSettings, unitType } from './units';

/** `needs 4 pods with 2 cores and 4 GiB of memory each`, of several pod sets with the name of each */
function needs(jobspec: Jobspec, units: UnitSettings = DEFAULT_UNITS): string {
  const sets = podSetsOf(jobspec);
  if (sets === undefined) return `needs ${podsText(jobspec, units)}`;
  return `needs at once ${sets.map((set) => `${set.name}: ${podsText(set.jobspec, units)}`).join('; ')}`;
}

function podsText(jobspec: Jobspec, units: UnitSettings): string {
  const { pods, exclusive } = askOf(jobspec);
  const many = plural(pods, exclusive ? 'whole node' : 'pod');
  const rules = phrasesOf(jobspec.attributes.user?.placement ?? {}).map((phrase) => `, ${phrase}`);
  return `${many}${withAmounts(jobspec, units, pods > 1)}${rules.join('')}`;
}

/** For a jobspec of which only some pods fit the cluster, because of its placement rules or the pods that nodes take. */
export function rulesText(jobspec: Jobspec, fitting: number, units: UnitSettings = DEFAULT_UNITS): string {
  return `${needs(jobspec, units)}; the cluster has room for ${fitting === 0 ? 'none' : fitting}`;
}

/** Every pass tells it of nearly all that wait, so the text is kept with the jobspec. */
const busyTexts = new WeakMap<UnitSettings, WeakMap<Jobspec, string>>();

/** It has no room from now on until it would end, beside what runs and what is reserved. */
export const NOT_FREE = 'not free now for its walltime';

/** For a jobspec that fits the cluster, but not now. */
export function busyText(jobspec: Jobspec, units: UnitSettings = DEFAULT_UNITS): string {
  const known = busyTexts.get(units)?.get(jobspec);
  if (known !== undefined) return known;
  const { graceSeconds: grace = 0 } = jobspec.attributes.user ?? {};
  const andGrace = grace > DEFAULT_GRACE_SECONDS ? ` and its grace period of ${grace} s` : '';
  const text = `${needs(jobspec, units)}; ${NOT_FREE}${andGrace}`;
  const texts = busyTexts.get(units) ?? new WeakMap<Jobspec, string>();
  busyTexts.set(units, texts.set(jobspec, text));
  return text;
}

/**
 * What a pod asks for beyond what was granted for it; undefined if that is enough. Units are compared, as they were granted: each
 * was rounded up.
 * @param jobspec of one slot
 */
export function excessText(jobspec: Jobspec, asked: UnitCounts): string | undefined {
  const { exclusive, perPod } = askOf(jobspec);
  if (exclusive) return undefined;
  const units = jobspec.attributes.user?.units ?? DEFAULT_UNITS;
  const text = (type: string, count: number) => amountOfUnits(type, count, units);
  const larger = Object.entries(asked).filter(([type, count]) => count > (perPod[type] ?? 0));
  if (larger.length === 0) return undefined;
  return joined(
    larger.map(([type, count]) => `${text(type, count)} instead of ${text(type, perPod[type] ?? 0)}`),
  );
}

/** A message that named all nodes would be long, and would change whenever one of them does. */
const MOST_NODES = 3;

/**
 * For a jobspec that fits the cluster, but not the nodes that are up.
 * @param down the nodes that are down, or some of them
 */
export function downText(
  jobspec: Jobspec,
  units: UnitSettings = DEFAULT_UNITS,
  down: readonly GraphNode[] = [],
): string {
  const wanted = [...new Set(setsOf(jobspec).flatMap((set) => usableBy(set, down)))];
  const named = wanted.length === 0 ? '' : ` (${namedNodes(wanted)})`;
  return `${needs(jobspec, units)}; that needs nodes that are down or cordoned${named}`;
}

function usableBy(jobspec: Jobspec, nodes: readonly GraphNode[]): readonly string[] {
  const ask = askOf(jobspec);
  return matchingNodes(jobspec.attributes.system.constraints ?? {}, nodes)
    .filter((node) => podsOn(node.units, ask) > 0)
    .map(({ name }) => name);
}

function namedNodes(names: readonly string[]): string {
  return `${names.slice(0, MOST_NODES).join(', ')}${names.length > MOST_NODES ? ' and others' : ''}`;
}

interface EndlessText {
  /** Services that have to leave. */
  readonly services: readonly string[];
  /** Whether there are more services than are named. */
  readonly more: boolean;
  /** Nodes that pods outside the queue have to leave. */
  readonly unmanaged: readonly string[];
}

/** @param more whether there are more than these */
export function namedServices(names: readonly string[], more: boolean): string {
  return `${names.join(', ')}${more ? ' and others' : ''}`;
}

/** For a jobspec that fits the cluster, but not beside what has no end. */
export function endlessText(
  jobspec: Jobspec,
  { services, more, unmanaged }: EndlessText,
  units: UnitSettings = DEFAULT_UNITS,
): string {
  const leave =
    services.length === 0 ? [] : [`services leave their nodes (${namedServices(services, more)})`];
  const end = unmanaged.length === 0 ? [] : [`pods outside the queue end (on ${namedNodes(unmanaged)})`];
  return `${needs(jobspec, units)}; it can start only when ${[...leave, ...end].join(' and ')}`;
}

/**
 * Why a jobspec can never start on these nodes, up or down: "asks for 5 nodes with 8 nvidia.com/gpu, the cluster has 3".
 * @returns undefined if it fits as far as counting tells
 */
export function unsatisfiableText(
  jobspec: Jobspec,
  nodes: readonly GraphNode[],
  units: UnitSettings = DEFAULT_UNITS,
): string | undefined {
  const sets = podSetsOf(jobspec);
  if (sets === undefined) return shortageText(jobspec, nodes, units);
  for (const set of sets) {
    const text = shortageText(set.jobspec, nodes, units);
    if (text !== undefined) return `pod set ${set.name} ${text}`;
  }
  return undefined;
}

function shortageText(
  jobspec: Jobspec,
  nodes: readonly GraphNode[],
  units: UnitSettings,
): string | undefined {
  const ask = askOf(jobspec);
  const missing = missingAmounts(jobspec, nodes, units);
  if (missing !== undefined) return `asks for ${missing}, no node of the cluster has any`;
  const constraint = jobspec.attributes.system.constraints ?? {};
  const eligible = matchingNodes(constraint, nodes);
  const capacity = podsFitting(ask, eligible);
  if (capacity >= ask.pods) {
    return undefined;
  }
  const onePerNode = ask.exclusive || eligible.every((node) => podsFitting(ask, [node]) <= 1);
  const count = plural(ask.pods, onePerNode ? 'node' : 'pod');
  const asked = `asks for ${count}${withAmounts(jobspec, units, !onePerNode && ask.pods > 1)}`;
  const host = soleHost(constraint);
  if (host !== undefined && !nodes.some(({ name }) => name === host)) {
    return `asks for node ${host}, which does not exist`;
  }
  if (podsFitting(ask, withGpus(jobspec, nodes)) >= ask.pods) {
    const restricting =
      jobspec.attributes.user?.claims === undefined
        ? 'node selector, affinity and tolerations'
        : 'node selector, affinity, tolerations and volumes';
    const large = nodes.filter((node) => podsOn(node.units, ask) > 0);
    return `${asked}, its ${restricting} leave ${has(capacity, onePerNode)}${exclusionsText(constraint, large)}`;
  }
  const room = capacity === 0 ? roomText(jobspec, nodes, units) : '';
  return `${asked}, the cluster has ${has(capacity, onePerNode)}${room}`;
}

/** What the largest nodes have of what is too much for each of them. */
function roomText(jobspec: Jobspec, nodes: readonly GraphNode[], units: UnitSettings): string {
  const most: UnitCounts = { ...largestUnits(nodes), gpu: largestUnits(withGpus(jobspec, nodes)).gpu ?? 0 };
  const short = Object.entries(askOf(jobspec).perPod).filter(([type, count]) => count > (most[type] ?? 0));
  if (short.length === 0) return '; no node has all of it at once';
  const name = gpuName(jobspec);
  const parts = short.map(([type]) => {
    const count = most[type] ?? 0;
    return type === 'gpu' && name !== undefined ? `${count} ${name}` : amountOfUnits(type, count, units);
  });
  return `; the largest has ${joined(parts)}`;
}

/** The most units of each type that a node has. */
export function largestUnits(nodes: readonly GraphNode[]): UnitCounts {
  const most: Record<string, number> = {};
  for (const { units } of nodes)
    for (const type in units) most[type] = Math.max(most[type] ?? 0, units[type]!);
  return most;
}

/** What the jobspec asks for and no node has. */
function missingAmounts(
  jobspec: Jobspec,
  nodes: readonly GraphNode[],
  units: UnitSettings,
): string | undefined {
  const { perPod } = askOf(jobspec);
  const type = Object.keys(perPod).find((each) => !nodes.some((node) => (node.units[each] ?? 0) > 0));
  if (type !== undefined) return joined(amountsOf(jobspec, type, units)) || 'cpu';
  const gpu = gpusOf(jobspec).find((resource) => withGpu(nodes, resource).length === 0);
  return gpu && amount(gpu, jobspec.attributes.user!.requests![gpu]!);
}

/** All kinds of GPUs are units of one type. Which of them a node has is one of its properties. */
function withGpus(jobspec: Jobspec, nodes: readonly GraphNode[]): readonly GraphNode[] {
  return gpusOf(jobspec).reduce(withGpu, nodes);
}

function withGpu(nodes: readonly GraphNode[], resource: string): readonly GraphNode[] {
  return nodes.filter(({ properties }) => properties?.includes(resourceProperty(resource)) === true);
}

/** The GPUs that the workload asks for, by the names that its user wrote. */
function gpusOf(jobspec: Jobspec): readonly string[] {
  const requests = setsOf(jobspec).map(({ attributes }) => attributes.user?.requests ?? {});
  return [...new Set(requests.flatMap(Object.keys))].filter(isGpu);
}

/** The user's name for GPUs; undefined if it is not known, or if there are several. */
export function gpuName(jobspec: Jobspec): string | undefined {
  const [name, ...others] = gpusOf(jobspec);
  return others.length === 0 ? name : undefined;
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

/** ` with 2 cores and 4 GiB of memory each`; nothing for pods without requests. */
function withAmounts(jobspec: Jobspec, units: UnitSettings, isEach: boolean): string {
  const types = Object.keys(askOf(jobspec).perPod);
  const text = joined(types.flatMap((type) => amountsOf(jobspec, type, units)));
  return text === '' ? '' : ` with ${text}${isEach ? ' each' : ''}`;
}

/** What a pod requests of resources with this unit type: in the user's own numbers if the jobspec has them. */
function amountsOf(jobspec: Jobspec, type: string, units: UnitSettings): readonly string[] {
  const { requests } = jobspec.attributes.user ?? {};
  if (requests === undefined) return [amountOfUnits(type, askOf(jobspec).perPod[type] ?? 0, units)];
  return Object.entries(requests)
    .filter(([resource]) => unitType(resource) === type)
    .map(([resource, quantity]) => amount(resource, quantity));
}

function amount(resource: string, quantity: string): string {
  switch (resource) {
    case 'cpu':
      return /^\d+$/.test(quantity) ? plural(Number(quantity), 'core') : `${quantity} of cpu`;
    case 'memory':
      return `${quantity.replace(/([KMGTPE]i)$/, ' $1B')} of memory`;
    default:
      return `${quantity} ${resource}`;
  }
}

/** In units: a jobspec that an earlier release stored has no requests. */
function amountOfUnits(type: string, count: number, { cpuMillis, memoryMiB }: UnitSettings): string {
  const millis = count * cpuMillis;
  const mebibytes = count * memoryMiB;
  switch (type) {
    case 'core':
      return amount('cpu', millis % 1000 === 0 ? String(millis / 1000) : `${millis}m`);
    case 'memory':
      return amount('memory', mebibytes % 1024 === 0 ? `${mebibytes / 1024}Gi` : `${mebibytes}Mi`);
    case 'gpu':
      return plural(count, 'gpu');
    default:
      return `${count} ${type}`;
  }
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
