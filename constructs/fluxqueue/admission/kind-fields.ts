/** Where the objects of workload kinds have what their guards read. */
import { MOST_POD_SETS, type WorkloadKind } from '../../api/workload-kinds';
import { fieldOr } from './scope';

export const resourceRules = (
  { group, version, plural }: Pick<WorkloadKind, 'group' | 'version' | 'plural'>,
  operations: readonly ('CREATE' | 'UPDATE')[],
) => [{ apiGroups: [group], apiVersions: [version], operations, resources: [plural] }];

/** CEL: the pod sets of an object, as a list. */
export function setsIn(object: string, { podSets: { in: path, name } }: WorkloadKind): string {
  if (name !== undefined) return fieldOr(object, path, '[]');
  const map = `dyn(${fieldOr(object, path, '{}')})`;
  return `${map}.map(key, ${map}[key])`;
}

/** CEL: whether an object has more pod sets than a workload can have. */
export const hasTooManySets = (object: string, kind: WorkloadKind) =>
  `${setsIn(object, kind)}.size() > ${MOST_POD_SETS}`;

/**
 * CEL: those that the object had not before; none of too many, for each of which all others would be compared. Two lists of the same
 * map may differ in their order.
 */
export function newSetsIn(kind: WorkloadKind): string {
  const isNew = `oldObject == null || !(set in ${setsIn('oldObject', kind)})`;
  const tooMany = `(${hasTooManySets('object', kind)} || (oldObject != null && ${hasTooManySets('oldObject', kind)}))`;
  return `(${tooMany} ? [] : ${setsIn('object', kind)}.filter(set, ${isNew}))`;
}

/** CEL: the spec of the pods of a pod set `set`, which may have none. */
export const podSpecOfSet = ({ podSets: { template } }: WorkloadKind) =>
  ['set', ...[...template, 'spec'].map((key) => `?${key}`)].join('.');
