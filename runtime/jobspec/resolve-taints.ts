/** Constraints for whoever knows nothing of tolerations: the taints of the nodes that a workload does not tolerate are named. */
import { conjunction, EVERY, isEvery, not, property } from './constraints';
import { taintIn, tolerates } from './tolerations';
import type { Constraint, Jobspec } from './types';

/** The taints of some nodes, as properties. The same list until one is new or gone. */
export type Taints = readonly string[];

const resolved = new WeakMap<Constraint, { readonly taints: Taints; readonly constraint: Constraint }>();

/** The same constraint in RFC 31, on nodes with these taints. The same object for the same arguments. */
export function withTaints(constraint: Constraint, taints: Taints): Constraint {
  const known = resolved.get(constraint);
  if (known?.taints === taints) return known.constraint;
  const result = resolve(constraint, taints);
  resolved.set(constraint, { taints, constraint: result });
  return result;
}

function resolve(constraint: Constraint, taints: Taints): Constraint {
  if ('tolerates' in constraint) {
    const repelling = taints.filter((taint) => !tolerates(constraint.tolerates, taintIn(taint)!));
    return conjunction(repelling.map((taint) => not(property(taint))));
  }
  const partsWith = (parts: readonly Constraint[], made: (parts: readonly Constraint[]) => Constraint) => {
    const now = parts.map((part) => resolve(part, taints));
    return now.every((part, i) => part === parts[i]) ? constraint : made(now);
  };
  if ('and' in constraint) return partsWith(constraint.and, allOf);
  if ('or' in constraint) return partsWith(constraint.or, (or) => ({ or }));
  if ('not' in constraint) return partsWith(constraint.not, (parts) => ({ not: parts }));
  return constraint;
}

/** In the same order, so that messages name the parts as before. */
function allOf(parts: readonly Constraint[]): Constraint {
  const telling = parts.filter((part) => !isEvery(part));
  return telling.length <= 1 ? (telling[0] ?? EVERY) : { and: telling };
}

/** The jobspec for a Fluxion whose graph has these taints. */
export function jobspecWithTaints(jobspec: Jobspec, taints: Taints): Jobspec {
  const { attributes } = jobspec;
  const { constraints, ...system } = attributes.system;
  if (constraints === undefined) return jobspec;
  const plain = withTaints(constraints, taints);
  if (plain === constraints) return jobspec;
  const restricted = isEvery(plain) ? {} : { constraints: plain };
  return { ...jobspec, attributes: { ...attributes, system: { ...system, ...restricted } } };
}

/** The taints of nodes with these properties. */
export function taintsIn(nodes: Iterable<{ readonly properties?: readonly string[] | undefined }>): Taints {
  const taints = new Set<string>();
  for (const { properties = [] } of nodes)
    for (const name of properties) if (taintIn(name) !== undefined) taints.add(name);
  return taints.size === 0 ? NO_TAINTS : [...taints].sort();
}

export const NO_TAINTS: Taints = [];
