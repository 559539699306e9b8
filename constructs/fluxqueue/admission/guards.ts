import { Construct } from 'constructs';
import { addGuard } from './guard-policy';
import { JOB_GUARD, POD_GUARD, TOUCHES_RESERVED } from './reserved';
import {
  type AdmissionScopeProps,
  type ControllerUserProps,
  celList,
  controllerUsers,
  HAS_ASSIGNMENT,
  JOB_CONDITIONS,
  namespaceSelector,
  outsideExcluded,
  POD_CONDITIONS,
} from './scope';
import { SETTING_CONDITIONS, SETTING_VALIDATIONS, SETTING_VARIABLES } from './settings';

export interface AdmissionGuardsProps extends AdmissionScopeProps, ControllerUserProps {}

const JOBS = { apiGroup: 'batch', resource: 'jobs' };
const PODS = { apiGroup: '', resource: 'pods' };

/** What users write, in the namespaces that this selects. */
function written({ apiGroup, resource }: typeof JOBS, selector: ReturnType<typeof namespaceSelector>) {
  const operations = ['CREATE', 'UPDATE'] as const;
  return {
    namespaceSelector: selector,
    resourceRules: [{ apiGroups: [apiGroup], apiVersions: ['v1'], operations, resources: [resource] }],
  };
}

/**
 * What neither form of admission can do by changing objects: refusing. Wrong
 * settings, what is reserved for the runtime, and letting loose what the queue
 * holds. ValidatingAdmissionPolicies, so they hold while nothing of ours runs.
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
      matchConstraints: written(JOBS, namespaceSelector(props)),
      matchConditions: [...JOB_CONDITIONS, ...SETTING_CONDITIONS],
    });
    addGuard(this, 'pod-settings', props, {
      ...settings,
      matchConstraints: written(PODS, namespaceSelector(props)),
      // The settings of a pod with an assignment are those of its Job, checked there.
      matchConditions: [
        ...POD_CONDITIONS,
        { name: 'no-assignment', expression: `!(${HAS_ASSIGNMENT})` },
        ...SETTING_CONDITIONS,
      ],
    });
    // In every namespace but the excluded ones, not only in those that take part.
    addGuard(this, 'jobs', props, {
      matchConstraints: written(JOBS, outsideExcluded(props)),
      matchConditions: [byUser],
      ...JOB_GUARD(props),
    });
    addGuard(this, 'pods', props, {
      matchConstraints: written(PODS, outsideExcluded(props)),
      matchConditions: [byUser, TOUCHES_RESERVED],
      ...POD_GUARD(props),
    });
  }
}
