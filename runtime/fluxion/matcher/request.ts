/** Compiles a jobspec for one graph: types become numbers, counts become needs by dimension. */

import type { Need } from '../../resources/planner';
import type { Branch } from './branch';
import { JobspecError, parseConstraint } from './constraint';
import { type CountRange, calcCount, UNLIMITED } from './count';
import { type ParsedResource, parseJobspec } from './parse-jobspec';
import type { Policy } from './policy';
import type { ResourceGraph } from './resource-graph';
import { NODE, SLOT } from './resource-types';

/** The time span of a graph and the meaning of duration 0: 100 years in seconds. */
export const GRAPH_DURATION = 3_153_600_000;

/** Also thrown for requests that flux-sched parses but this matcher does not support. */
export { JobspecError };

/** The text for a request that flux-sched parses and its traverser refuses. */
const TRAVERSER_INVALID = 'traverser: Invalid argument';

export interface Resource extends CountRange {
  readonly type: number;
  /** The jobspec has `exclusive: true`. */
  readonly exclusive: boolean;
  readonly with: readonly Resource[];
  /** The slot in `with`. */
  readonly slot: Resource | undefined;
  /** The largest allowed count. */
  readonly largestCount: number;
  /** The minimum that each such vertex needs below it. */
  readonly need: Need;
}

export interface Request {
  readonly resources: readonly Resource[];
  /** Whole seconds, at least 1. */
  readonly duration: number;
  /** Whether a node matches the constraint. */
  readonly constraint: ((node: Branch) => boolean) | undefined;
  /** Types whose vertices are allocated as a whole when any of their descendants is. */
  readonly wholeTypes: ReadonlySet<number>;
  /** The minimum size of the whole request, by dimension. */
  readonly total: Float64Array;
  /** The minimum number of nodes. */
  readonly nodes: number;
  readonly hasRange: boolean;
}

/** @throws JobspecError whose message is the text of the INVALID answer */
export function readRequest(jobspec: unknown, graph: ResourceGraph, policy: Policy): Request {
  const parsed = parseJobspec(jobspec, (type) => graph.types.find(type) !== undefined);
  const constraint = parsed.constraints === undefined ? undefined : parseConstraint(parsed.constraints);
  if (parsed.resources.length === 0) throw new JobspecError(TRAVERSER_INVALID);
  const { duration } = parsed;
  if (!(duration >= 0 && duration <= GRAPH_DURATION)) throw new JobspecError(TRAVERSER_INVALID);
  checkSubset(parsed.resources, policy);
  const whole = new Set<number>(policy.nodeExclusive ? [NODE] : []);
  const total = new Float64Array(graph.dimensions);
  const resources = parsed.resources.map((resource) => compile(resource, graph, whole, total));
  return {
    resources,
    duration: duration === 0 ? GRAPH_DURATION : Math.ceil(duration),
    constraint,
    wholeTypes: whole,
    total,
    nodes: total[graph.dimensionOf[NODE] ?? 0]!,
    hasRange: parsed.resources.some(hasRange),
  };
}

function hasRange(resource: ParsedResource): boolean {
  return resource.count.min !== resource.count.max || resource.with.some(hasRange);
}

function compile(
  parsed: ParsedResource,
  graph: ResourceGraph,
  whole: Set<number>,
  above: Float64Array,
): Resource {
  if (parsed.count.max === 0) throw new JobspecError(TRAVERSER_INVALID);
  const type = graph.types.find(parsed.type)!;
  const own = new Float64Array(graph.dimensions);
  const children = parsed.with.map((child) => compile(child, graph, whole, own));
  if (parsed.exclusive === true) whole.add(type);
  const { min } = parsed.count;
  const dimension = type === SLOT ? 0 : (graph.dimensionOf[type] ?? 0);
  if (dimension > 0) above[dimension]! += min;
  for (let k = 1; k < own.length; k++) above[k]! += min * own[k]!;
  return {
    ...parsed.count,
    type,
    exclusive: parsed.exclusive === true,
    with: children,
    slot: children.find((child) => child.type === SLOT),
    largestCount: calcCount(parsed.count, UNLIMITED),
    need: needOf(own),
  };
}

export function needOf(amounts: Float64Array): Need {
  const dimensions: number[] = [];
  for (let k = 1; k < amounts.length; k++) if (amounts[k]! > 0) dimensions.push(k);
  return {
    dimensions: Int32Array.from(dimensions),
    amounts: Float64Array.from(dimensions, (k) => amounts[k]!),
  };
}

/** Refuses requests that flux-sched accepts but does not answer in a defined way. */
function checkSubset(resources: readonly ParsedResource[], policy: Policy): void {
  if (!resources.some((resource) => allocates(resource, policy))) {
    throw new JobspecError('a jobspec without a slot and without "exclusive: true" allocates no resources');
  }
  checkSiblings(resources, false, false);
}

function allocates(resource: ParsedResource, policy: Policy): boolean {
  return (
    resource.type === 'slot' ||
    resource.exclusive === true ||
    (policy.nodeExclusive && resource.type === 'node') ||
    resource.with.some((child) => allocates(child, policy))
  );
}

function checkSiblings(resources: readonly ParsedResource[], inSlot: boolean, inExclusive: boolean): void {
  const types = new Set(resources.map(({ type }) => type));
  if (types.size < resources.length)
    throw new JobspecError('two siblings of one resource type are not supported');
  if (types.has('xor_slot')) throw new JobspecError('xor_slot is not supported');
  if (inSlot && types.has('slot')) throw new JobspecError('a slot inside a slot is not supported');
  for (const resource of resources) {
    const isSlot = resource.type === 'slot';
    if (isSlot && resource.with.length === 0)
      throw new JobspecError('a slot without resources is not supported');
    if (resource.exclusive === false && (inSlot || inExclusive)) {
      throw new JobspecError('"exclusive: false" below a slot or an exclusive resource is not supported');
    }
    checkSiblings(resource.with, inSlot || isSlot, inExclusive || resource.exclusive === true);
  }
}
