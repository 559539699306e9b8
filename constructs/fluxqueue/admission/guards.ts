import { Construct } from 'constructs';
import { workloadKinds } from '../../api/workload-kinds';
import { bypassPart } from './bypass';
import { type GraceProps, gracePart } from './grace-guard';
import { RESIZE_GUARD } from './granted-pods';
import { type GuardPart, guardOf } from './guard-parts';
import { addGuard, type GuardSpec, resourceRule } from './guard-policy';
import { ineffectiveChanges, ineffectivePodChanges, overwrittenKeys } from './ineffective-changes';
import { WAS_ADMITTED } from './job-reapplied';
import { resourceRules as rulesOfKind } from './kind-fields';
import { KUEUE_DELETION_GUARD, type KueueProps, kueuePart } from './kueue';
import { metadataPart, templateMetadataPart } from './metadata-limits';
import { ineffectiveMiniClusterChanges } from './minicluster-changes';
import { podLimitPart } from './pod-limits';
import { priorityRight, type ReachGuardProps } from './reach-guard';
import {
  JOB_GUARD,
  JOB_TOUCHES_RESERVED,
  POD_GUARD,
  PRIORITY_CLASS_GUARD,
  TEMPLATE_INDEX_PART,
  TOUCHES_RESERVED,
} from './reserved';
import {
  allConditions,
  HAS_ASSIGNMENT,
  jobConditions,
  type MatchCondition,
  namespaceSelector,
  notExcluded,
  notTheController,
  outsideStack,
  POD_CONDITIONS,
  type Variable,
} from './scope';
import { SETTING_PROBLEM, settingVariables } from './settings';
import { SUBRESOURCE_GUARD } from './subresources';
import { KEY_PROBLEM, KEY_VARIABLES, TEMPLATE_KEY_PART, TOUCHES_USER_KEYS } from './unknown-keys';
import { unreadSettings } from './unread-settings';

export interface AdmissionGuardsProps extends ReachGuardProps, KueueProps, GraceProps {}

const JOBS = { apiGroup: 'batch', resource: 'jobs' };
const NOT_ASSIGNED = { name: 'no-assignment', expression: `!(${HAS_ASSIGNMENT})` };
const PODS = { apiGroup: '', resource: 'pods' };

function created(kind: typeof JOBS, selector: ReturnType<typeof namespaceSelector>) {
  return constraints(kind, selector, ['CREATE']);
}

function createdOrUpdated(kind: typeof JOBS, selector: ReturnType<typeof namespaceSelector>) {
  return constraints(kind, selector, ['CREATE', 'UPDATE']);
}

/** Matches these operations in the selected namespaces. */
function constraints(
  { apiGroup, resource }: typeof JOBS,
  selector: ReturnType<typeof namespaceSelector>,
  operations: readonly ('CREATE' | 'UPDATE')[],
) {
  return {
    namespaceSelector: selector,
    resourceRules: [{ apiGroups: [apiGroup], apiVersions: ['v1'], operations, resources: [resource] }],
  };
}

/**
 * Denies requests that mutation cannot correct, in both forms of admission: invalid settings, reserved names, and the start
 * of a suspended or gated workload. These are ValidatingAdmissionPolicies, so they apply also while the runtime is down.
 */
export class AdmissionGuards extends Construct {
  constructor(scope: Construct, id: string, props: AdmissionGuardsProps = {}) {
    super(scope, id);
    const byUser = notTheController(props);
    this.addSettings(props);
    this.addPriorityClass(props);
    // Reserved names apply in every namespace except the excluded ones, also in namespaces that are not enabled.
    addGuard(this, 'jobs', props, {
      matchConstraints: createdOrUpdated(JOBS, notExcluded(props)),
      matchConditions: [byUser, JOB_TOUCHES_RESERVED],
      ...JOB_GUARD(props),
    });
    const warn = (
      id: string,
      kind: typeof JOBS,
      changes: Omit<GuardSpec, 'matchConstraints' | 'matchConditions'> & {
        readonly matchCondition: MatchCondition;
      },
    ) => {
      const { matchCondition, ...warning } = changes;
      addGuard(this, id, props, {
        matchConstraints: constraints(kind, notExcluded(props), ['UPDATE']),
        matchConditions: [byUser, matchCondition],
        action: 'Warn',
        ...warning,
      });
    };
    warn('ineffective', JOBS, ineffectiveChanges(props));
    warn('ineffective-pods', PODS, ineffectivePodChanges(props));
    this.addOverwritten(props);
    addGuard(this, 'ineffective-miniclusters', props, ineffectiveMiniClusterChanges(props));
    addGuard(this, 'unread-settings', props, unreadSettings(props));
    addGuard(this, 'pods', props, {
      matchConstraints: createdOrUpdated(PODS, notExcluded(props)),
      matchConditions: [byUser, TOUCHES_RESERVED],
      ...POD_GUARD(props),
    });
    addGuard(this, 'resize', props, {
      matchConstraints: constraints({ apiGroup: '', resource: 'pods/resize' }, notExcluded(props), [
        'UPDATE',
      ]),
      matchConditions: [byUser, ...RESIZE_GUARD.matchConditions],
      validations: RESIZE_GUARD.validations,
    });
    // Without users of Kueue no Job is Kueue's.
    if (props.kueueUsers !== undefined && props.kueueUsers.length > 0)
      addGuard(this, 'kueue-deletions', props, KUEUE_DELETION_GUARD(props));
    const { resourceRules, ...subresources } = SUBRESOURCE_GUARD;
    addGuard(this, 'subresources', props, {
      matchConstraints: { namespaceSelector: notExcluded(props), resourceRules },
      ...subresources,
    });
  }

  /** The kinds, too, have no guard of their own for it: the apiserver compiles each text of a policy. */
  private addOverwritten(props: AdmissionGuardsProps): void {
    const { matchCondition, validations } = overwrittenKeys;
    const kinds = workloadKinds(props.workloadKinds);
    addGuard(this, 'overwritten', props, {
      matchConstraints: {
        namespaceSelector: notExcluded(props),
        resourceRules: [
          resourceRule('batch', ['UPDATE'], 'jobs'),
          ...kinds.flatMap((kind) => rulesOfKind(kind, ['UPDATE'])),
        ],
      },
      matchConditions: [notTheController(props), matchCondition],
      action: 'Warn',
      validations,
    });
  }

  /** A class cannot be limited to a namespace, and a ResourceQuota would be needed in each of the others. */
  private addPriorityClass(props: AdmissionGuardsProps): void {
    addGuard(this, 'priority-class', props, {
      matchConstraints: created(PODS, outsideStack(props)),
      ...PRIORITY_CLASS_GUARD,
    });
  }

  /** What users write into Jobs and pods of the queue. */
  private addSettings(props: AdmissionGuardsProps): void {
    const selector = namespaceSelector(props);
    const right = priorityRight(props);
    const add = (id: string, kind: typeof JOBS, parts: readonly GuardPart[]) => {
      const { validations, ...guard } = guardOf(parts);
      addGuard(this, id, props, {
        ...guard,
        matchConstraints: createdOrUpdated(kind, selector),
        validations: [...validations, right],
      });
    };
    const ofJobs = `(${allConditions(jobConditions(props))} || ${WAS_OURS})`;
    const { when, problem, ...template } = TEMPLATE_KEY_PART;
    add('job-settings', JOBS, [
      kueuePart(props),
      ...settingParts('Job', ofJobs),
      { ...template, when: `(${when}) && ${ofJobs}`, problem },
      TEMPLATE_INDEX_PART,
      podLimitPart('spec.template.spec', ofJobs),
      gracePart('spec.template.spec', props),
      metadataPart(props),
      templateMetadataPart(props),
    ]);
    // A pod with an assignment has the settings and the fields of its Job, which are already validated.
    const ofPods = allConditions([NOT_ASSIGNED, ...POD_CONDITIONS]);
    add('pod-settings', PODS, [
      // Bound pods are those of the queue if they were admitted.
      ...settingParts('Pod', `(${ofPods}) || ${WAS_OURS}`),
      podLimitPart('spec', ofPods),
      bypassPart(props),
      gracePart('spec', props),
      metadataPart(props),
    ]);
  }
}

/** CEL: an admitted object stays one of the queue, whatever owner or label its user gives it. */
export const WAS_OURS = `(oldObject != null && ${WAS_ADMITTED})`;

/** @param isOurs CEL: whether the queue has the object */
export function settingParts(kind: 'Job' | 'Pod', isOurs: string): readonly GuardPart[] {
  const part = (name: string, problem: string, variables: readonly Variable[]) => ({
    name,
    when: TOUCHES_USER_KEYS,
    problem: `!(${isOurs}) ? "" : ${problem}`,
    variables,
  });
  return [
    part('settings', SETTING_PROBLEM, settingVariables(kind)),
    part('keys', KEY_PROBLEM, KEY_VARIABLES),
  ];
}
