/**
 * CEL of the kinds of constructs/api/workload-kinds.ts: their objects are held as Jobs are, by a field of their own. What is in
 * their specs is theirs, so nothing of it is written but that field. runtime/admission/jobs.ts and reapplied.ts have the same rules.
 */
import {
  ASSIGNMENT_ANNOTATION,
  ENDED_ANNOTATION,
  IGNORED_ANNOTATION,
  JOBID_ANNOTATION,
  USER_ANNOTATION,
} from '../../api/labels';
import { type WorkloadKind, workloadKinds } from '../../api/workload-kinds';
import { heldPatch, heldVariables } from './job-mutation';
import {
  ANNOTATIONS,
  kept,
  type QueueFields,
  reappliedPatch,
  reappliedVariables,
  touchesTheQueue,
  WAS_ADMITTED,
} from './job-reapplied';
import type { Rule } from './rule';
import {
  type AdmissionScopeProps,
  allConditions,
  type ControllerUserProps,
  cel,
  fieldOr,
  type MatchCondition,
  NO_KUEUE,
  notExcluded,
  notOfKind,
  notTheController,
} from './scope';
import { carriesUserVariable, userVariable } from './user-mutation';

type Props = AdmissionScopeProps & ControllerUserProps;

/** Annotations of its metadata that only the queue writes. */
export const OF_THE_GRANT = [ASSIGNMENT_ANNOTATION, JOBID_ANNOTATION, ENDED_ANNOTATION];

const queueFields = ({ suspend }: WorkloadKind): QueueFields => ({
  suspend,
  kept: [USER_ANNOTATION, ...OF_THE_GRANT],
  inTemplate: [],
});

/** CEL: whether the controller of the kind in this cluster makes the pods of the object. */
const isBuiltIn = ({ managedBy: { field, builtIn } }: WorkloadKind) =>
  `${fieldOr('object', field, cel(builtIn))} == ${cel(builtIn)}`;

const heldIf = (builtIn: string, props: Props): readonly MatchCondition[] => [
  { name: 'built-in-controller', expression: builtIn },
  NO_KUEUE,
  notOfKind(props),
];

/** Objects that the queue holds: not those of Kueue, of a controller elsewhere, or made for another one that is held. */
export const kindConditions = (kind: WorkloadKind, props: Props) => heldIf(isBuiltIn(kind), props);

/** CEL: whether the queue holds an object of one of the kinds. */
export function isHeld(kinds: readonly WorkloadKind[], props: Props): string {
  const builtIn = kinds.map(
    (kind) => `request.resource.resource == ${cel(kind.plural)} && ${isBuiltIn(kind)}`,
  );
  return allConditions(heldIf(builtIn.map((each) => `(${each})`).join(' || '), props));
}

/** What both forms of admission do with each kind. */
export function kindRules(props: Props): readonly (Rule & { readonly id: string })[] {
  return workloadKinds(props.workloadKinds).flatMap((kind) => {
    const { group, version, plural, suspend } = kind;
    const of = { apiGroups: [group], apiVersion: version, resources: [plural] };
    return [
      {
        ...of,
        id: `Kind-${plural}`,
        suffix: plural,
        operations: ['CREATE'],
        conditions: kindConditions(kind, props),
        variables: [...heldVariables(suspend), userVariable(props), carriesUserVariable(props)],
        patch: heldPatch(suspend),
      },
      {
        ...of,
        id: `KindUpdates-${plural}`,
        suffix: `${plural}-updates`,
        operations: ['UPDATE'],
        // As of Jobs: a namespace can leave the queue while they run.
        namespaces: notExcluded(props),
        conditions: [
          notTheController(props),
          { name: 'admitted', expression: WAS_ADMITTED },
          { name: 'changes-what-is-the-queues', expression: touchesTheQueue(queueFields(kind)) },
        ],
        variables: reappliedVariables(queueFields(kind)),
        patch: `${reappliedPatch(queueFields(kind))}\n+ ${kept(ANNOTATIONS, IGNORED_ANNOTATION, 'variables.overwritten.join(",")')}`,
      },
    ];
  });
}
