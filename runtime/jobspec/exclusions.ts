/** Which parts of a constraint keep a workload from how many nodes, in words. */
import { cut, joined } from '../columns';
import type { GraphNode } from '../resources/types';
import { matches, partsOf, resourceOf } from './constraints';
import { matchingNodes } from './matching-nodes';
import { taintsIn, withTaints } from './resolve-taints';
import { taintIn } from './tolerations';
import type { Constraint } from './types';

/** A message names the parts that exclude the most nodes. */
const MOST_PARTS = 3;
/** Labels and taints in a phrase; a list that is longer says nothing to a reader. */
const MOST_NAMES = 3;
/** Characters of a label or taint. */
const LONGEST_NAME = 100;

/** To compare more parts with every node would take too much of a pass. */
const MOST_JUDGED = 32;

/**
 * `: of 4 nodes that are large enough, 3 lack label disk=ssd and 1 has taint spot=true:NoSchedule`
 * @returns nothing for a constraint of very many parts
 * @param nodes on which a pod of the workload has room; at least one
 */
export function exclusionsText(constraint: Constraint, nodes: readonly GraphNode[]): string {
  const parts = partsOf(withTaints(constraint, taintsIn(nodes)));
  if (parts.length > MOST_JUDGED) return '';
  const excluded = parts
    .map((part) => ({ part, count: nodes.length - matchingNodes(part, nodes).length }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count);
  const phrases = excluded.slice(0, MOST_PARTS).map(({ part, count }) => `${count} ${phraseOf(part, count)}`);
  const more = excluded.length > MOST_PARTS ? ['others are excluded by other terms'] : [];
  const total = `of ${nodes.length} ${nodes.length === 1 ? 'node that is' : 'nodes that are'} large enough`;
  return `: ${total}, ${joined([...phrases, ...more])}`;
}

/** Whether a change of a node changes what is said of the constraint. */
export function areExcludedAlike(constraint: Constraint, a: GraphNode, b: GraphNode): boolean {
  const parts = partsOf(withTaints(constraint, taintsIn([a, b])));
  return parts.every((part) => matches(part, a) === matches(part, b));
}

function phraseOf(part: Constraint, count: number): string {
  const isOne = count === 1;
  const lack = isOne ? 'lacks' : 'lack';
  const have = isOne ? 'has' : 'have';
  const are = isOne ? 'is' : 'are';
  const wanted = namesIn(part);
  if (wanted !== undefined) return `${lack} ${wanted}`;
  const refused = 'not' in part && part.not.length === 1 ? namesIn(part.not[0]!) : undefined;
  if (refused !== undefined) return `${have} ${refused}`;
  if ('hostlist' in part) return `${are} not ${listed(part.hostlist)}`;
  return `${are} excluded by its node affinity or volumes`;
}

/** The labels, taints or resources of which one is meant; undefined for any other constraint. */
function namesIn(part: Constraint): string | undefined {
  const alternatives = 'or' in part ? part.or : [part];
  const names = alternatives.flatMap((one) =>
    'properties' in one && one.properties.length === 1 ? [one.properties[0]!] : [],
  );
  if (names.length === 0 || names.length !== alternatives.length) return undefined;
  if (names.every((name) => taintIn(name) !== undefined))
    return `taint ${listed(names.map((name) => taintIn(name)!.replace('=:', ':')))}`;
  if (names.every((name) => resourceOf(name) !== undefined))
    return listed(names.map((name) => resourceOf(name)!));
  return `label ${listed(names)}`;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => cut(name, LONGEST_NAME));
  return [...shown, ...(names.length > MOST_NAMES ? [`${names.length - MOST_NAMES} more`] : [])].join(' or ');
}
