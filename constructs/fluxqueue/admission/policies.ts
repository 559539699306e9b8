import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { CREATOR_KINDS } from '../../api/creators';
import { JOB_SUSPEND } from '../../api/workload-kinds';
import { creatorConditions, creatorPatch } from './creators';
import { inNamespaces } from './guard-policy';
import { heldPatch, heldVariables } from './job-mutation';
import { JOB_UPDATE_PATCH, JOB_UPDATE_VARIABLES, jobUpdateConditions } from './job-update';
import { kindRules } from './kinds';
import { podPatch, podVariables } from './pod-mutation';
import type { Rule } from './rule';
import {
  type AdmissionScopeProps,
  admissionMetadata,
  allOf,
  type ControllerUserProps,
  jobConditions,
  namespaceSelector,
  notExcluded,
  otherJobConditions,
  POD_CONDITIONS,
} from './scope';
import { carriesUserVariable, OTHER_JOB_PATCH, otherJobVariables, userVariable } from './user-mutation';

export interface AdmissionPoliciesProps extends AdmissionScopeProps, ControllerUserProps {
  /**
   * Scheduler of admitted pods that request none.
   * @default - pods keep their schedulerName
   */
  readonly schedulerName?: string;
}

/**
 * Admission inside the apiserver: MutatingAdmissionPolicies and their bindings. Unlike a webhook, they need no process,
 * no certificate and no network call. They require an apiserver that serves MutatingAdmissionPolicy in v1.
 */
export class AdmissionPolicies extends Construct {
  constructor(scope: Construct, id: string, props: AdmissionPoliciesProps = {}) {
    super(scope, id);
    this.addPolicy('Jobs', props, {
      apiGroups: ['batch'],
      resources: ['jobs'],
      operations: ['CREATE'],
      suffix: 'jobs',
      conditions: jobConditions(props),
      variables: [...heldVariables(JOB_SUSPEND), userVariable(props), carriesUserVariable(props)],
      patch: heldPatch(JOB_SUSPEND),
    });
    this.addPolicy('OtherJobs', props, {
      apiGroups: ['batch'],
      resources: ['jobs'],
      operations: ['CREATE'],
      suffix: 'other-jobs',
      conditions: otherJobConditions(props),
      variables: [
        { name: 'annotations', expression: 'object.metadata.?annotations.orValue({})' },
        userVariable(props),
        carriesUserVariable(props),
        ...otherJobVariables(props),
      ],
      patch: OTHER_JOB_PATCH,
    });
    this.addPolicy('JobUpdates', props, {
      apiGroups: ['batch'],
      resources: ['jobs'],
      operations: ['UPDATE'],
      suffix: 'job-updates',
      // A namespace can leave the queue while its Jobs run, and the guard applies there too.
      namespaces: notExcluded(props),
      conditions: jobUpdateConditions(props),
      variables: JOB_UPDATE_VARIABLES,
      patch: JOB_UPDATE_PATCH,
    });
    this.addPolicy('Pods', props, {
      apiGroups: [''],
      resources: ['pods'],
      operations: ['CREATE'],
      suffix: 'pods',
      conditions: POD_CONDITIONS,
      variables: [userVariable(props), carriesUserVariable(props), ...podVariables(props)],
      patch: podPatch(props.schedulerName),
    });
    for (const { id, ...rule } of kindRules(props)) this.addPolicy(id, props, rule);
    this.addCreators(props);
  }

  /** The person who created a template or a MiniCluster. */
  private addCreators(props: AdmissionPoliciesProps): void {
    for (const kind of CREATOR_KINDS)
      this.addPolicy(`Creators-${kind.name}`, props, {
        apiGroups: kind.apiGroups,
        apiVersion: kind.version,
        resources: kind.resources,
        operations: ['CREATE', 'UPDATE'],
        suffix: `creators-${kind.name}`,
        conditions: creatorConditions(kind, props),
        variables: [],
        patch: creatorPatch(kind, props),
      });
  }

  private addPolicy(id: string, props: AdmissionPoliciesProps, rule: Rule): void {
    const name = `${props.name ?? 'fluxqueue'}-${rule.suffix}`;
    const policy = new ApiObject(this, id, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicy',
      metadata: admissionMetadata(name),
      spec: {
        failurePolicy: 'Fail',
        // A second evaluation after the patch of another policy could pin the pod twice.
        reinvocationPolicy: 'Never',
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: rule.apiGroups,
              apiVersions: [rule.apiVersion ?? 'v1'],
              operations: rule.operations,
              resources: rule.resources,
            },
          ],
        },
        matchConditions: allOf(rule.conditions),
        variables: rule.variables,
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: rule.patch } }],
      },
    });
    new ApiObject(this, `${id}Binding`, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicyBinding',
      metadata: admissionMetadata(name),
      spec: { policyName: policy.name, ...inNamespaces(rule.namespaces ?? namespaceSelector(props)) },
    });
  }
}
