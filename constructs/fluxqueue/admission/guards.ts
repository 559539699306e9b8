import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { JOB_GUARD, POD_GUARD, TOUCHES_RESERVED } from './reserved';
import {
  type AdmissionScopeProps,
  admissionMetadata,
  type ControllerUserProps,
  celList,
  controllerUsers,
  HAS_ASSIGNMENT,
  JOB_CONDITIONS,
  type MatchCondition,
  namespaceSelector,
  outsideExcluded,
  POD_CONDITIONS,
  type Variable,
} from './scope';
import { SETTING_CONDITIONS, SETTING_VALIDATIONS, SETTING_VARIABLES, type Validation } from './settings';

export interface AdmissionGuardsProps extends AdmissionScopeProps, ControllerUserProps {}

interface Guard {
  readonly resources: readonly { readonly apiGroup: string; readonly resource: string }[];
  /** Looked at in every namespace but the excluded ones, not only in those that take part. */
  readonly everywhere: boolean;
  readonly conditions: readonly MatchCondition[];
  readonly variables: readonly Variable[];
  readonly validations: readonly Validation[];
}

const JOBS = { apiGroup: 'batch', resource: 'jobs' };
const PODS = { apiGroup: '', resource: 'pods' };

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
    const settings = { everywhere: false, variables: SETTING_VARIABLES, validations: SETTING_VALIDATIONS };
    this.addGuard('job-settings', props, {
      ...settings,
      resources: [JOBS],
      conditions: [...JOB_CONDITIONS, ...SETTING_CONDITIONS],
    });
    this.addGuard('pod-settings', props, {
      ...settings,
      resources: [PODS],
      // The settings of a pod with an assignment are those of its Job, checked there.
      conditions: [
        ...POD_CONDITIONS,
        { name: 'no-assignment', expression: `!(${HAS_ASSIGNMENT})` },
        ...SETTING_CONDITIONS,
      ],
    });
    this.addGuard('jobs', props, {
      resources: [JOBS],
      everywhere: true,
      conditions: [byUser],
      ...JOB_GUARD(props),
    });
    this.addGuard('pods', props, {
      resources: [PODS],
      everywhere: true,
      conditions: [byUser, TOUCHES_RESERVED],
      ...POD_GUARD(props),
    });
  }

  private addGuard(id: string, props: AdmissionGuardsProps, guard: Guard): void {
    const name = `${props.name ?? 'fluxqueue'}-guard-${id}`;
    const policy = new ApiObject(this, id, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: admissionMetadata(name),
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          namespaceSelector: guard.everywhere ? outsideExcluded(props) : namespaceSelector(props),
          resourceRules: guard.resources.map(({ apiGroup, resource }) => ({
            apiGroups: [apiGroup],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: [resource],
          })),
        },
        matchConditions: guard.conditions,
        variables: guard.variables,
        validations: guard.validations,
      },
    });
    new ApiObject(this, `${id}-binding`, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: admissionMetadata(name),
      spec: { policyName: policy.name, validationActions: ['Deny'] },
    });
  }
}
