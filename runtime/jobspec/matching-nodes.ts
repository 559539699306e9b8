/** The nodes of a list that match a constraint. */
import {
  FEW_LITERALS,
  has,
  type IndexedNode,
  indexOf,
  literalsOf,
  type NodeIndex,
} from '../resources/node-index';
import type { GraphNode } from '../resources/types';
import { matches } from './constraints';
import { type Taints, taintsIn, withTaints } from './resolve-taints';
import type { Constraint } from './types';

/** Callers keep a list for as long as no node changes. */
const indexes = new WeakMap<readonly IndexedNode[], NodeIndex>();
const taints = new WeakMap<readonly Candidate[], Taints>();

type Candidate = Pick<GraphNode, 'name' | 'properties'>;

/** @returns whether the node at this place of the list matches */
export function matcherOf(wanted: Constraint, nodes: readonly Candidate[]): (place: number) => boolean {
  const known = taints.get(nodes) ?? taintsIn(nodes);
  taints.set(nodes, known);
  const constraint = withTaints(wanted, known);
  if (literalsOf(constraint) <= FEW_LITERALS) return (place) => matches(constraint, nodes[place]!);
  const index = indexes.get(nodes) ?? indexOf(nodes);
  indexes.set(nodes, index);
  const set = index.matching(constraint);
  return set === undefined ? (place) => matches(constraint, nodes[place]!) : (place) => has(set, place);
}

export function matchingNodes<T extends Candidate>(
  constraint: Constraint,
  nodes: readonly T[],
): readonly T[] {
  const isMatch = matcherOf(constraint, nodes);
  return nodes.filter((_, place) => isMatch(place));
}
