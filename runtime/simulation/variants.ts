/** What one call compares: every policy on every size of the machine. */
import { InvalidArgumentError } from 'commander';
import { QUEUE_POLICIES, type QueuePolicy } from '../../constructs/api/policies';
import type { Machine } from './replay';

export interface Variant extends Machine {
  readonly policy: QueuePolicy;
  /** For tables and legends, as short as the comparison allows. */
  readonly label: string;
}

const MAX_NODES = 100_000;
/** More would be unreadable as a table and as curves. */
export const MAX_VARIANTS = 16;

/** @param text `all`, or names separated by commas */
export function parsePolicies(text: string): readonly QueuePolicy[] {
  if (text === 'all') return QUEUE_POLICIES;
  return unique(text.split(',').map(policyOf));
}

function policyOf(name: string): QueuePolicy {
  const found = QUEUE_POLICIES.find((policy) => policy === name);
  if (found !== undefined) return found;
  throw new InvalidArgumentError(`must be all, or one or more of ${QUEUE_POLICIES.join(', ')}.`);
}

/** @param text numbers separated by commas; `+20` is 20 more than the first */
export function parseNodes(text: string): readonly number[] {
  const [first = '', ...others] = text.split(',');
  const base = nodesOf(first, 0);
  return unique([base, ...others.map((other) => nodesOf(other, base))]);
}

function nodesOf(text: string, base: number): number {
  const isMore = base > 0 && text.startsWith('+');
  const nodes = Number(isMore ? text.slice(1) : text) + (isMore ? base : 0);
  if (/^\+?\d+$/.test(text) && (isMore || !text.startsWith('+')) && nodes >= 1 && nodes <= MAX_NODES)
    return nodes;
  throw new InvalidArgumentError(
    `must be whole numbers from 1 to ${MAX_NODES}, separated by commas; after the first, +20 means 20 more.`,
  );
}

function unique<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}

export function variantsOf(
  policies: readonly QueuePolicy[],
  nodes: readonly number[],
  coresPerNode: number,
): readonly Variant[] {
  const label = (policy: QueuePolicy, count: number) =>
    [
      ...(policies.length > 1 || nodes.length === 1 ? [policy] : []),
      ...(nodes.length > 1 ? [`${count} nodes`] : []),
    ].join(', ');
  return policies.flatMap((policy) =>
    nodes.map((count) => ({ policy, nodes: count, coresPerNode, label: label(policy, count) })),
  );
}
