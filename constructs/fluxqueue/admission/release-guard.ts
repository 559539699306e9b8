/** CEL of what the controller can change of Jobs and Pods: only what a release, a suspension or an eviction needs. */
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  DEADLINE_ANNOTATION,
  GATE,
  GROUP_MEMBER_ANNOTATION,
  JOB_UID_LABEL,
  JOBID_ANNOTATION,
} from '../../api/labels';
import { Wave } from '../../metadata';
import { sameExcept, sameMetadata } from './comparison';
import type { GuardSpec } from './guard-policy';
import { reachTheSame } from './minicluster-creation';
import { CHANGES_PODS, isMarked, ownedByMiniCluster, owners, UNKNOWN_OWNER } from './minicluster-objects';
import { gated } from './reserved';
import { type AdmissionScopeProps, cel, isInQueue, type MatchCondition, namespaceIsEnabled } from './scope';
import type { Validation } from './settings';

interface ReleaseGuardProps extends AdmissionScopeProps {
  readonly miniClusters: boolean;
  readonly mutatingPolicies: boolean;
}

const wasAdmitted = `oldObject.metadata.?labels[?${cel(ADMITTED_LABEL)}].orValue("") == "true"`;

/** A pod of a Job has its job id from the release of the Job; users cannot write it. */
const wasGranted = `oldObject.metadata.?annotations[?${cel(JOBID_ANNOTATION)}].hasValue()`;

const annotations = (metadata: string) => `dyn(${metadata}.?annotations.orValue({}))`;
const labels = (metadata: string) => `dyn(${metadata}.?labels.orValue({}))`;

/**
 * CEL: no label changes; what waits in a namespace that left the queue loses the label of admission.
 * @param defaults the apiserver gives a Job without labels those of its template
 */
const sameLabels = (scope: AdmissionScopeProps, defaults?: string) => {
  const [now, old] = [labels('object.metadata'), labels('oldObject.metadata')];
  const as = (other: string) => `(key in ${other} && ${now}[key] == ${other}[key])`;
  const known = [old, ...(defaults === undefined ? [] : [labels(defaults)])].map(as).join(' || ');
  return (
    `(${sameMetadata('labels')} || (!(${namespaceIsEnabled(scope)}) && ` +
    `${now}.all(key, ${known}) && ${old}.all(key, key == ${cel(ADMITTED_LABEL)} || key in ${now})))`
  );
};

/**
 * A Job of the queue changes its suspension, its deadline, which of its pods it replaces, and the assignment in its template. The template of a Job of a
 * MiniCluster can change too; ./minicluster-match.ts says to what.
 */
export const JOB_RELEASE_GUARD = (
  { miniClusters, mutatingPolicies, ...scope }: ReleaseGuardProps,
  byController: MatchCondition,
): GuardSpec => ({
  matchConstraints: {
    resourceRules: [
      { apiGroups: ['batch'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['jobs'] },
    ],
  },
  matchConditions: [byController],
  variables: [{ name: 'owned', expression: miniClusters ? ownedByMiniCluster('oldObject') : 'false' }],
  validations: [
    {
      expression: `variables.owned || (${wasAdmitted})`,
      message:
        'FLUXQ_RESERVED: metadata: the controller can only change Jobs that are admitted to the queue or belong to a MiniCluster',
    },
    {
      expression: sameMetadata('ownerReferences', 'finalizers'),
      message: 'FLUXQ_RESERVED: metadata: the controller cannot take over a Job',
    },
    {
      expression:
        `variables.owned || (${sameLabels(scope, 'object.spec.template.metadata')} && ` +
        `${sameExcept(annotations('object.metadata'), annotations('oldObject.metadata'), [DEADLINE_ANNOTATION])})`,
      message:
        'FLUXQ_RESERVED: metadata: a release changes no label and no annotation of another, and only a namespace that left the queue loses the label of admission',
    },
    {
      expression: `variables.owned || (${sameExcept('dyn(object.spec)', 'dyn(oldObject.spec)', [
        'suspend',
        'activeDeadlineSeconds',
        // One pod of a unit after the other.
        'podReplacementPolicy',
        'template',
      ])} && object.spec.template.spec == oldObject.spec.template.spec && ${sameExcept(
        annotations('object.spec.template.metadata'),
        annotations('oldObject.spec.template.metadata'),
        [ASSIGNMENT_ANNOTATION, JOBID_ANNOTATION],
      )} && ${sameExcept(
        labels('object.spec.template.metadata'),
        labels('oldObject.spec.template.metadata'),
        [
          // A Job with manualSelector gets it, so that its pods are found after its deletion.
          JOB_UID_LABEL,
        ],
      )})`,
      message:
        'FLUXQ_RESERVED: spec: a release changes only suspend, activeDeadlineSeconds, podReplacementPolicy and the assignment in the template',
    },
    ...(miniClusters ? [mutatingPolicies ? JOB_IS_MARKED : reachTheSame('variables.owned')] : []),
  ],
});

/**
 * Of the status of a Job the controller removes the start time, once the Job controller has seen that it is suspended, so that the Job can
 * start again. With the right to write the rest of it, it could end the Jobs of others.
 */
export const JOB_STATUS_GUARD = (byController: MatchCondition): GuardSpec => ({
  matchConstraints: {
    resourceRules: [
      { apiGroups: ['batch'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['jobs/status'] },
    ],
  },
  matchConditions: [byController],
  wave: Wave.BASE,
  validations: [
    {
      expression:
        `object.spec.?suspend.orValue(false) && (${wasAdmitted}) && ${sameMetadata('labels', 'annotations', 'ownerReferences', 'finalizers', 'generateName')} && ` +
        'oldObject.status.?conditions.orValue([]).exists(it, it.type == "Suspended" && it.status == "True") && ' +
        `!has(object.status.startTime) && ${sameExcept('dyn(object.status)', 'dyn(oldObject.status)', ['startTime'])}`,
      message:
        'FLUXQ_RESERVED: status: the controller only removes the startTime of a suspended Job that is admitted to the queue',
    },
  ],
});

const JOB_IS_MARKED: Validation = {
  expression: `!variables.owned || !${CHANGES_PODS} || ${isMarked(`${owners('oldObject')}[0]`)}`,
  message: UNKNOWN_OWNER,
};

/** A pod that waits in a group is marked with its grant by the patch that removes its gate, once. */
const joinsGroup = [
  wasAdmitted,
  gated('oldObject'),
  `!${gated('object')}`,
  sameExcept(annotations('object.metadata'), annotations('oldObject.metadata'), [
    DEADLINE_ANNOTATION,
    GROUP_MEMBER_ANNOTATION,
    JOBID_ANNOTATION,
  ]),
].join(' && ');

/** What is written of a deadline goes with it. */
const notesDeadline = sameExcept(annotations('object.metadata'), annotations('oldObject.metadata'), [
  DEADLINE_ANNOTATION,
]);

/** A gated pod loses its gate, is pinned to a node by its affinity, and gets a deadline; an orphaned pod gets a deadline. */
export const POD_RELEASE_GUARD = (props: ReleaseGuardProps, byController: MatchCondition): GuardSpec => ({
  matchConstraints: {
    resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['pods'] }],
  },
  matchConditions: [byController],
  validations: [
    {
      expression: `(${wasAdmitted} || ${wasGranted}) && ${sameLabels(props)} && ${sameMetadata('ownerReferences', 'finalizers')} && ((${notesDeadline}) || (${joinsGroup}))`,
      message:
        'FLUXQ_RESERVED: metadata: the controller can only release Pods that are admitted to the queue',
    },
    {
      expression: sameExcept('dyn(object.spec)', 'dyn(oldObject.spec)', [
        'schedulingGates',
        'affinity',
        'activeDeadlineSeconds',
      ]),
      message:
        'FLUXQ_RESERVED: spec: a release changes only schedulingGates, affinity and activeDeadlineSeconds',
    },
    {
      expression:
        `object.spec.?schedulingGates.orValue([]).filter(gate, gate.name != ${cel(GATE)}) == ` +
        `oldObject.spec.?schedulingGates.orValue([]).filter(gate, gate.name != ${cel(GATE)})`,
      message: `FLUXQ_RESERVED: spec.schedulingGates: a release removes only "${GATE}"`,
    },
  ],
});

/**
 * RBAC cannot restrict evictions to the namespaces of the queue, whose pods the queue may preempt, nor the creation of pods to
 * dry runs. Both in one guard: the apiserver pays for each guard of a resource at each request.
 */
export const EVICTION_GUARD = (props: ReleaseGuardProps, byController: MatchCondition): GuardSpec => ({
  matchConstraints: {
    resourceRules: [
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods', 'pods/eviction'] },
    ],
  },
  matchConditions: [byController],
  wave: Wave.BASE,
  validations: [
    {
      expression: 'request.?subResource.orValue("") == "eviction" || request.?dryRun.orValue(false)',
      message: 'FLUXQ_RESERVED: the controller creates Pods only as a dry run, which stores nothing',
    },
    {
      expression: isInQueue(props),
      message:
        'FLUXQ_RESERVED: the controller evicts Pods, and asks by dry runs what they would be, only in namespaces of the queue',
    },
  ],
});
