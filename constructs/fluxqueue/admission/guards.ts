import { Construct } from 'constructs';
import { BYPASS_GUARD } from './bypass';
import { RESIZE_GUARD } from './granted-pods';
import { addGuard } from './guard-policy';
import { podLimitRules } from './pod-limits';
import { JOB_GUARD, POD_GUARD, PRIORITY_CLASS_GUARD, TOUCHES_RESERVED } from './reserved';
import {
  type AdmissionScopeProps,
  type ControllerUserProps,
  celList,
  controllerUsers,
  HAS_ASSIGNMENT,
  JOB_CONDITIONS,
  namespaceSelector,
  notExcluded,
  outsideStack,
  POD_CONDITIONS,
} from './scope';
import { SETTING_CONDITIONS, SETTING_VALIDATIONS, SETTING_VARIABLES } from './settings';

export interface AdmissionGuardsProps extends AdmissionScopeProps, ControllerUserProps {}

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
    const byUser = {
      name: 'not-the-controller',
      expression: `!(request.userInfo.username in ${celList(controllerUsers(props))})`,
    };
    const settings = { variables: SETTING_VARIABLES, validations: SETTING_VALIDATIONS };
    addGuard(this, 'job-settings', props, {
      ...settings,
      matchConstraints: createdOrUpdated(JOBS, namespaceSelector(props)),
      matchConditions: [...JOB_CONDITIONS, ...SETTING_CONDITIONS],
    });
    addGuard(this, 'pod-settings', props, {
      ...settings,
      matchConstraints: createdOrUpdated(PODS, namespaceSelector(props)),
      // A pod with an assignment has the settings of its Job, which are already validated.
      matchConditions: [NOT_ASSIGNED, ...POD_CONDITIONS, ...SETTING_CONDITIONS],
    });
    addGuard(this, 'bypass', props, {
      ...BYPASS_GUARD,
      matchConstraints: created(PODS, namespaceSelector(props)),
      matchConditions: [byUser, ...BYPASS_GUARD.matchConditions],
    });
    this.addPodLimits(props);
    this.addPriorityClass(props);
    // Reserved names apply in every namespace except the excluded ones, also in namespaces that are not enabled.
    addGuard(this, 'jobs', props, {
      matchConstraints: createdOrUpdated(JOBS, notExcluded(props)),
      matchConditions: [byUser],
      ...JOB_GUARD(props),
    });
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
  }

  /** A class cannot be limited to a namespace, and a ResourceQuota would be needed in each of the others. */
  private addPriorityClass(props: AdmissionGuardsProps): void {
    addGuard(this, 'priority-class', props, {
      matchConstraints: created(PODS, outsideStack(props)),
      ...PRIORITY_CLASS_GUARD,
    });
  }

  private addPodLimits(props: AdmissionGuardsProps): void {
    const selector = namespaceSelector(props);
    const ofJobs = podLimitRules('spec.template.spec');
    addGuard(this, 'job-limits', props, {
      ...ofJobs,
      matchConstraints: createdOrUpdated(JOBS, selector),
      matchConditions: [...ofJobs.matchConditions, ...JOB_CONDITIONS],
    });
    const ofPods = podLimitRules('spec');
    addGuard(this, 'pod-limits', props, {
      ...ofPods,
      matchConstraints: createdOrUpdated(PODS, selector),
      // A pod with an assignment has the fields of its Job, which are already checked.
      matchConditions: [NOT_ASSIGNED, ...ofPods.matchConditions, ...POD_CONDITIONS],
    });
  }
}
