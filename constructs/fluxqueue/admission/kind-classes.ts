/** CEL that refuses PriorityClasses in the templates of workload kinds. */
import type { Construct } from 'constructs';
import { PRIORITY } from '../../api/labels';
import { PRIORITY_CODE, USER_PRIORITIES } from '../../api/priorities';
import type { WorkloadKind } from '../../api/workload-kinds';
import { addGuard } from './guard-policy';
import { podSpecOfSet, resourceRules, setsIn } from './kind-fields';
import type { ReachGuardProps } from './reach-guard';
import { cel, namespaceSelector } from './scope';

/**
 * The controller of a kind makes its pods, so no right of its user to a class counts for them: they would be refused, and what is
 * granted for them held in vain. CEL cannot look up the value of a class, so the policy is evaluated with each of them.
 */
export function addKindClasses(
  scope: Construct,
  kinds: readonly WorkloadKind[],
  props: ReachGuardProps,
): void {
  if (kinds.length === 0) return;
  const { max } = props.userPriorities ?? USER_PRIORITIES;
  const classes = (object: string) =>
    `${kinds.map((kind) => `${object}.kind == ${cel(kind.kind)} ? ${classesIn(object, kind)} : `).join('')}[]`;
  addGuard(scope, 'kind-classes', props, {
    params: { kind: { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' } },
    matchConstraints: {
      namespaceSelector: namespaceSelector(props),
      resourceRules: kinds.flatMap((kind) => resourceRules(kind, ['CREATE', 'UPDATE'])),
    },
    matchConditions: [
      { name: 'changes-the-spec', expression: 'oldObject == null || object.spec != oldObject.spec' },
    ],
    variables: [
      { name: 'classes', expression: classes('object') },
      { name: 'before', expression: `oldObject == null ? [] : (${classes('oldObject')})` },
    ],
    validations: [
      {
        expression:
          `params.value <= ${max} || params.?globalDefault.orValue(false) || ` +
          '!(params.metadata.name in variables.classes) || params.metadata.name in variables.before',
        message:
          `${PRIORITY_CODE}: priorityClassName: the pods of this kind cannot have this PriorityClass, because its value is more ` +
          `than ${max} and their controller makes them; remove it, and set ${PRIORITY} in the metadata of the object instead`,
      },
    ],
  });
}

/** CEL: the names of the classes in the templates of an object, as a list. */
function classesIn(object: string, kind: WorkloadKind): string {
  return `${setsIn(`dyn(${object})`, kind)}.map(set, ${podSpecOfSet(kind)}.?priorityClassName.orValue(""))`;
}
