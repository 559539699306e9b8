/** Compiles a jobspec for one graph: types become numbers, counts become needs by dimension. */

import type { Need } from '../../resources/planner';
import { HUNDRED_YEARS } from '../time-axis';
import type { Branch } from './branch';
import type { Matches } from './constraint';
import { type CountRange, calcCount, UNLIMITED } from './count';
import type { ParsedResource } from './parse-jobspec';
import type { Policy } from './policy';
import type { ResourceGraph } from './resource-graph';
import { NODE, SLOT } from './resource-types';
import { readSubset } from './subset';

/** The time span of a graph and the meaning of duration 0. */
export const GRAPH_DURATION = HUNDRED_YEARS;

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
  readonly constraint: Matches<Branch> | undefined;
  /** Types whose vertices are allocated as a whole when any of their descendants is. */
  readonly wholeTypes: ReadonlySet<number>;
  /** The minimum size of the whole request, by dimension. */
  readonly total: Float64Array;
  /** The minimum number of nodes. */
  readonly nodes: number;
  readonly hasRange: boolean;
}

/**
 * @param isKnown whether a request may name this resource type
 * @throws JobspecError whose message is the text of the INVALID answer
 */
export function readRequest(
  jobspec: unknown,
  graph: ResourceGraph,
  policy: Policy,
  isKnown: (type: string) => boolean,
): Request {
  const parsed = readSubset(jobspec, isKnown, policy);
  const { duration, constraint } = parsed;
  const whole = new Set<number>(policy.nodeExclusive ? [NODE] : []);
  const total = new Float64Array(graph.dimensions);
  const resources = parsed.resources.map((resource) => compile(resource, graph, whole, total));
  return {
    resources,
    duration: duration === 0 ? GRAPH_DURATION : Math.ceil(duration),
    constraint,
    wholeTypes: whole,
    total,
    nodes: nodesIn(parsed.resources),
    hasRange: parsed.resources.some(hasRange),
  };
}

/** Also in a graph without nodes, which does not count them. */
function nodesIn(resources: readonly ParsedResource[]): number {
  return resources.reduce(
    (sum, { type, count, with: below }) => sum + count.min * ((type === 'node' ? 1 : 0) + nodesIn(below)),
    0,
  );
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
