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
import type { Constraint } from './types';

/** Callers keep a list for as long as no node changes. */
const indexes = new WeakMap<readonly IndexedNode[], NodeIndex>();

type Candidate = Pick<GraphNode, 'name' | 'properties'>;

/** @returns whether the node at this place of the list matches */
export function matcherOf(constraint: Constraint, nodes: readonly Candidate[]): (place: number) => boolean {
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
