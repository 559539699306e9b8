/** From node selector, affinity and tolerations of a pod to a constraint (RFC 31) on node properties. */
import type { GraphNode } from '../resources/types';
import type { NodeSelectorRequirement, NodeSelectorTerm, PodSpec, Toleration } from './pod';
import type { Requests } from './requests';
import type { Constraint } from './types';
import { isGpu } from './units';

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

/** Taints and labels of all nodes of the cluster: some constraints can only be written with them. */
export interface ClusterFacts {
  readonly taints: readonly Taint[];
  /** Label key -> all values of the label. */
  readonly labels: ReadonlyMap<string, ReadonlySet<string>>;
}

export const NO_FACTS: ClusterFacts = { taints: [], labels: new Map() };

/** A label with more values is left to kube-scheduler: the constraint would be too long. */
const MAX_VALUES = 256;

const EVERY: Constraint = {};
/** `{or: []}` would be shorter, but RFC 31 and Fluxion disagree about it. */
const NONE: Constraint = { not: [EVERY] };

/** @returns undefined if every node matches */
export function constraintOf(
  pod: PodSpec,
  requests: Requests = new Map(),
  facts: ClusterFacts = NO_FACTS,
): Constraint | undefined {
  const selector = Object.entries(pod.nodeSelector ?? {}).map(([key, value]) => label(key, value));
  const required = pod.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms =
    required === undefined ? EVERY : or(required.nodeSelectorTerms.map((term) => termOf(term, facts)));
  const gpus = [...requests.keys()].filter(isGpu).map((resource) => property(resourceProperty(resource)));
  const taints = facts.taints
    .filter((taint) => repels(taint) && !pod.tolerations?.some((t) => tolerates(t, taint)))
    .map((taint) => not(property(taintProperty(taint))));
  const constraint = and([...selector, terms, ...gpus, ...taints]);
  return isEvery(constraint) ? undefined : constraint;
}

export const labelProperty = (key: string, value: string) => `${key}=${value}`;
export const taintProperty = ({ key, value = '', effect }: Taint) => `taint:${key}=${value}:${effect}`;
export const resourceProperty = (resource: string) => `resource:${resource}`;

/** Whether a taint keeps pods off the node; PreferNoSchedule does not. */
export function repels({ effect }: Taint): boolean {
  return effect === 'NoSchedule' || effect === 'NoExecute';
}

/** Rule of Kubernetes: Exists without a key tolerates all taints, and no effect means every effect. */
function tolerates(
  { key = '', operator = 'Equal', value = '', effect = '' }: Toleration,
  taint: Taint,
): boolean {
  if ((effect !== '' && effect !== taint.effect) || (key !== '' && key !== taint.key)) {
    return false;
  }
  return operator === 'Exists' || (operator === 'Equal' && key !== '' && value === (taint.value ?? ''));
}

function termOf(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  facts: ClusterFacts,
): Constraint {
  if (matchExpressions.length === 0 && matchFields.length === 0) {
    return NONE;
  }
  return and([
    ...matchExpressions.map((requirement) => requirementOf(requirement, facts)),
    ...matchFields.map(fieldOf),
  ]);
}

function requirementOf(
  { key, operator, values = [] }: NodeSelectorRequirement,
  facts: ClusterFacts,
): Constraint {
  const known = [...(facts.labels.get(key) ?? [])];
  const anyOf = (some: readonly string[]) => or(some.map((value) => label(key, value)));
  switch (operator) {
    case 'In':
      return anyOf(values);
    case 'NotIn':
      return not(anyOf(values));
    case 'Exists':
      return known.length > MAX_VALUES ? EVERY : anyOf(known);
    case 'DoesNotExist':
      return known.length > MAX_VALUES ? EVERY : not(anyOf(known));
    case 'Gt':
    case 'Lt':
      return known.length > MAX_VALUES
        ? EVERY
        : anyOf(known.filter((value) => compares(value, operator, values[0])));
    default:
      return EVERY;
  }
}

function compares(value: string, operator: 'Gt' | 'Lt', bound: string | undefined): boolean {
  if (!/^[+-]?\d+$/.test(value) || bound === undefined || !/^[+-]?\d+$/.test(bound)) {
    return false;
  }
  return operator === 'Gt' ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound);
}

/** metadata.name is the only field that Kubernetes allows here. */
function fieldOf({ key, operator, values = [] }: NodeSelectorRequirement): Constraint {
  if (key !== 'metadata.name') {
    return EVERY;
  }
  const names: Constraint = values.length === 0 ? NONE : { hostlist: [...values].sort() };
  return operator === 'In' ? names : operator === 'NotIn' ? not(names) : EVERY;
}

function property(name: string): Constraint {
  return { properties: [name] };
}

function label(key: string, value: string): Constraint {
  return property(labelProperty(key, value));
}

function not(constraint: Constraint): Constraint {
  if (isEvery(constraint)) {
    return NONE;
  }
  return constraint === NONE ? EVERY : { not: [constraint] };
}

/** Sorted, so that equal pods have equal shapes in whatever order they are written. */
function and(constraints: readonly Constraint[]): Constraint {
  const parts = constraints.filter((part) => !isEvery(part));
  if (parts.includes(NONE)) {
    return NONE;
  }
  return parts.length <= 1 ? (parts[0] ?? EVERY) : { and: sorted(parts) };
}

/** Adds a constraint to another one, if there is one. */
export function narrowed(constraints: Constraint | undefined, more: Constraint): Constraint {
  return constraints === undefined ? more : { and: [constraints, more] };
}

function or(constraints: readonly Constraint[]): Constraint {
  const parts = constraints.filter((part) => part !== NONE);
  if (parts.some(isEvery)) {
    return EVERY;
  }
  return parts.length <= 1 ? (parts[0] ?? NONE) : { or: sorted(parts) };
}

function sorted(parts: readonly Constraint[]): Constraint[] {
  const byText = new Map(parts.map((part) => [JSON.stringify(part), part]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part);
}

function isEvery(constraint: Constraint): boolean {
  return Object.keys(constraint).length === 0;
}

/** Whether a node matches: RFC 31 as far as `constraintOf` uses it. Host names are literal. */
export function matches(constraint: Constraint, node: GraphNode): boolean {
  const [[operator, values] = []] = Object.entries(constraint) as [string, readonly unknown[]][];
  switch (operator) {
    case undefined:
      return true;
    case 'properties':
      return (values as readonly string[]).every((name) =>
        name.startsWith('^')
          ? !(node.properties ?? []).includes(name.slice(1))
          : (node.properties ?? []).includes(name),
      );
    case 'hostlist':
      return (values as readonly string[]).includes(node.name);
    case 'and':
      return (values as readonly Constraint[]).every((part) => matches(part, node));
    case 'or':
      return (values as readonly Constraint[]).some((part) => matches(part, node));
    case 'not':
      return !(values as readonly Constraint[]).every((part) => matches(part, node));
    default:
      return false;
  }
}
