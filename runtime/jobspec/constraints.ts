/** From node selector, affinity and tolerations of a pod to a constraint (RFC 31) on node properties. */
import { NODE_NAME_PATTERN } from '../../constructs/api/node-name';
import type { GraphNode } from '../resources/types';
import type { NodeSelectorRequirement, NodeSelectorTerm, PodSpec } from './pod';
import type { Requests } from './requests';
import { taintIn, tolerates, writtenTolerations } from './tolerations';
import type { Constraint, Jobspec } from './types';
import { isGpu } from './units';

/** Labels of all nodes of the cluster: some constraints can only be written with them. */
export interface ClusterFacts {
  /** Label key -> all values of the label. */
  readonly labels: Pick<ReadonlyMap<string, ReadonlySet<string>>, 'get'>;
}

/** The facts with every label. */
export interface NodeFacts extends ClusterFacts {
  readonly labels: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The same facts, which add the keys of the labels that are looked up to `keys`. */
export function recordingFacts({ labels }: ClusterFacts, keys: Set<string>): ClusterFacts {
  return {
    labels: {
      get(key) {
        keys.add(key);
        return labels.get(key);
      },
    },
  };
}

export const NO_FACTS: ClusterFacts = { labels: new Map() };

/** A comparison of a label with more values is left to kube-scheduler: the constraint would be too long. */
const MAX_VALUES = 256;

export const EVERY: Constraint = {};
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
  const terms = required === undefined ? EVERY : selectorConstraint(required.nodeSelectorTerms, facts);
  const gpus = [...requests.keys()].filter(isGpu).map((resource) => property(resourceProperty(resource)));
  const only = pod.nodeName ? [named([pod.nodeName])] : [];
  return restriction([...only, ...selector, terms, ...gpus, toleration(pod)]);
}

/** The nodes all of whose taints the pod tolerates. */
function toleration({ tolerations }: PodSpec): Constraint {
  const written = writtenTolerations(tolerations);
  return written === undefined ? EVERY : { tolerates: written };
}

/** All of these constraints. @returns undefined if every node matches */
export function restriction(constraints: readonly Constraint[]): Constraint | undefined {
  const constraint = conjunction(constraints);
  return isEvery(constraint) ? undefined : constraint;
}

/**
 * Labels with too many values in the cluster for a constraint: comparisons of them are left to kube-scheduler.
 */
export function uncountedLabels({ affinity }: PodSpec, { labels }: ClusterFacts): readonly string[] {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const expressions = (required?.nodeSelectorTerms ?? []).flatMap(
    ({ matchExpressions = [] }) => matchExpressions,
  );
  return expressions
    .filter(({ operator }) => operator === 'Gt' || operator === 'Lt')
    .map(({ key }) => key)
    .filter((key) => (labels.get(key)?.size ?? 0) > MAX_VALUES);
}

export const labelProperty = (key: string, value: string) => `${key}=${value}`;
const RESOURCE_PREFIX = 'resource:';
export const resourceProperty = (resource: string) => `${RESOURCE_PREFIX}${resource}`;

/** The resource that a property of a node names; undefined for any other property. */
export function resourceOf(property: string): string | undefined {
  return property.startsWith(RESOURCE_PREFIX) ? property.slice(RESOURCE_PREFIX.length) : undefined;
}

/** Nodes that match one of the terms. */
export function selectorConstraint(terms: readonly NodeSelectorTerm[], facts: ClusterFacts): Constraint {
  return alternatives(terms.map((term) => termOf(term, facts)));
}

/** Nodes on which the label has one of the values. */
export function labelIn(key: string, values: readonly string[]): Constraint {
  return alternatives(values.map((value) => label(key, value)));
}

function termOf(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  facts: ClusterFacts,
): Constraint {
  if (matchExpressions.length === 0 && matchFields.length === 0) {
    return NONE;
  }
  return conjunction([
    ...matchExpressions.map((requirement) => requirementOf(requirement, facts)),
    ...matchFields.map(fieldOf),
  ]);
}

function requirementOf(
  { key, operator, values = [] }: NodeSelectorRequirement,
  facts: ClusterFacts,
): Constraint {
  switch (operator) {
    case 'In':
      return labelIn(key, values);
    case 'NotIn':
      return not(labelIn(key, values));
    case 'Exists':
      return property(key);
    case 'DoesNotExist':
      return not(property(key));
    case 'Gt':
    case 'Lt':
      return comparison(key, operator, values[0], facts);
    default:
      return EVERY;
  }
}

/** Of each label, the constraints of its comparisons: one workload may compare hundreds of times. */
const comparisons = new WeakMap<ReadonlySet<string>, Map<string, Constraint>>();
/** Users choose the bounds, so that only some constraints of each label are kept. */
const MAX_COMPARISONS = 32;
const NO_VALUES: ReadonlySet<string> = new Set();

/** Fluxion does not compare numbers: the values of the cluster's nodes that satisfy the comparison are listed. */
function comparison(
  key: string,
  operator: 'Gt' | 'Lt',
  bound: string | undefined,
  facts: ClusterFacts,
): Constraint {
  // The set is the same for as long as no node has another value.
  const values = facts.labels.get(key) ?? NO_VALUES;
  if (values.size === 0 || values.size > MAX_VALUES) return values.size === 0 ? NONE : EVERY;
  const known = comparisons.get(values) ?? new Map<string, Constraint>();
  comparisons.set(values, known);
  const id = `${key} ${operator} ${bound}`;
  const found = known.get(id);
  if (found !== undefined) return found;
  const matching = [...values].filter((value) => compares(value, operator, bound));
  const constraint = labelIn(key, matching);
  if (known.size >= MAX_COMPARISONS) known.clear();
  known.set(id, constraint);
  return constraint;
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
  const names = named(values);
  return operator === 'In' ? names : operator === 'NotIn' ? not(names) : EVERY;
}

const NODE_NAME = new RegExp(NODE_NAME_PATTERN);

/** The nodes of these names. What no node can be called is left out: as a hostlist it could be the names of many. */
function named(values: readonly string[]): Constraint {
  const names = values.filter((name) => NODE_NAME.test(name)).sort();
  return names.length === 0 ? NONE : { hostlist: names };
}

export function property(name: string): Constraint {
  return { properties: [name] };
}

function label(key: string, value: string): Constraint {
  return property(labelProperty(key, value));
}

export function not(constraint: Constraint): Constraint {
  if (isEvery(constraint)) {
    return NONE;
  }
  return constraint === NONE ? EVERY : { not: [constraint] };
}

/** Sorted, so that equal pods have equal shapes in whatever order they are written. */
export function conjunction(constraints: readonly Constraint[]): Constraint {
  const parts = constraints.filter((part) => !isEvery(part));
  if (parts.includes(NONE)) {
    return NONE;
  }
  return parts.length <= 1 ? (parts[0] ?? EVERY) : { and: sorted(parts) };
}

/** The constraints all of which a node has to match. */
export function partsOf(constraint: Constraint): readonly Constraint[] {
  if ('and' in constraint) return constraint.and.flatMap(partsOf);
  return isEvery(constraint) ? [] : [constraint];
}

/** The jobspec with one more constraint. */
export function narrowedTo(jobspec: Jobspec, more: Constraint): Jobspec {
  const { attributes } = jobspec;
  const constraints = narrowed(attributes.system.constraints, more);
  return { ...jobspec, attributes: { ...attributes, system: { ...attributes.system, constraints } } };
}

/** Adds a constraint to another one, if there is one. */
export function narrowed(constraints: Constraint | undefined, more: Constraint): Constraint {
  return constraints === undefined ? more : { and: [constraints, more] };
}

export function alternatives(constraints: readonly Constraint[]): Constraint {
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

/** The only node that a constraint allows by name; undefined if it allows others. */
export function soleHost(constraint: Constraint): string | undefined {
  if ('hostlist' in constraint) return constraint.hostlist.length === 1 ? constraint.hostlist[0] : undefined;
  if (!('and' in constraint)) return undefined;
  for (const part of constraint.and) {
    const host = soleHost(part);
    if (host !== undefined) return host;
  }
  return undefined;
}

export function isEvery(constraint: Constraint): boolean {
  return Object.keys(constraint).length === 0;
}

/** Whether a node matches: what `constraintOf` uses of RFC 31, and tolerations. Host names are literal. */
export function matches(constraint: Constraint, node: Pick<GraphNode, 'name' | 'properties'>): boolean {
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
    case 'tolerates':
      return (node.properties ?? []).every((name) => {
        const taint = taintIn(name);
        return taint === undefined || tolerates(values as readonly string[], taint);
      });
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
