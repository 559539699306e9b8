/** What one call compares: every policy on every size of the machine, with every way to share it. */
import { InvalidArgumentError } from 'commander';
import { QUEUE_POLICIES, type QueuePolicy } from '../../constructs/api/policies';
import { QUEUE_RANGES } from '../../constructs/api/queue-defaults';
import type { Sharing } from './fair-share';
import type { Machine } from './replay';

export interface Variant extends Machine {
  readonly policy: QueuePolicy;
  /** Reservations of policy hybrid. @default - that of a queue */
  readonly reservations?: number;
  readonly sharing: Sharing;
  /** For tables and legends, as short as the comparison allows. */
  readonly label: string;
}

/** A number of nodes, or a number of nodes more than the first. */
export interface NodeCount {
  readonly count: number;
  readonly isMore: boolean;
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

/** @param text numbers separated by commas */
export function parseReservations(text: string): readonly number[] {
  const { min, max } = QUEUE_RANGES.reservations;
  const numbers = text.split(',').map((word) => (/^\d+$/.test(word) ? Number(word) : Number.NaN));
  if (numbers.every((number) => number >= min && number <= max)) return unique(numbers);
  throw new InvalidArgumentError(`must be whole numbers from ${min} to ${max}, separated by commas.`);
}

/** @param text numbers separated by commas; `+20` is 20 more than the first, or than the machine of the trace */
export function parseNodes(text: string): readonly NodeCount[] {
  return text.split(',').map(nodeCountOf);
}

function nodeCountOf(text: string): NodeCount {
  const [, sign, digits] = /^(\+?)(\d+)$/.exec(text) ?? [];
  const count = Number(digits);
  if (count >= 1 && count <= MAX_NODES) return { count, isMore: sign === '+' };
  throw new InvalidArgumentError(
    `must be whole numbers from 1 to ${MAX_NODES}, separated by commas; +20 means 20 more than the first, or than the machine of the trace.`,
  );
}

/**
 * The sizes to compare.
 * @param counts empty: only the machine
 * @param nodes those of the machine, which is the first number that is no `+20`, or the trace's
 */
export function sizesOf(counts: readonly NodeCount[], nodes: number): readonly number[] {
  const sizes = counts.map(({ count, isMore }) => (isMore ? nodes + count : count));
  return unique(counts[0]?.isMore === false ? sizes : [nodes, ...sizes]);
}

function unique<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}

export interface Choices {
  readonly policies: readonly QueuePolicy[];
  /** Of policy hybrid; empty: that of a queue. */
  readonly reservations: readonly number[];
  readonly sizes: readonly number[];
  readonly coresPerNode: number;
  readonly sharings: readonly Sharing[];
}

type Part = Pick<Variant, 'policy' | 'reservations'>;

export function variantsOf({
  policies,
  reservations,
  sizes,
  coresPerNode,
  sharings,
}: Choices): readonly Variant[] {
  const parts = policies.flatMap((policy): Part[] =>
    policy === 'hybrid' && reservations.length > 0
      ? reservations.map((count) => ({ policy, reservations: count }))
      : [{ policy }],
  );
  const label = (part: Part, nodes: number, sharing: Sharing) => {
    const differing = [
      ...(parts.length > 1 ? [policyText(part, reservations.length > 1)] : []),
      ...(sizes.length > 1 ? [`${nodes} nodes`] : []),
      ...(sharings.length > 1 ? [sharing.label] : []),
    ];
    return differing.length === 0 ? part.policy : differing.join(', ');
  };
  return parts.flatMap((part) =>
    sizes.flatMap((nodes) =>
      sharings.map((sharing) => ({
        ...part,
        nodes,
        coresPerNode,
        sharing,
        label: label(part, nodes, sharing),
      })),
    ),
  );
}

function policyText({ policy, reservations }: Part, differs: boolean): string {
  return differs && reservations !== undefined ? `${policy} ${reservations}` : policy;
}
