import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import {
  type AdmissionScopeProps,
  admissionMetadata,
  type MatchCondition,
  type namespaceSelector,
  type Variable,
} from './scope';
import type { Validation } from './settings';

interface ResourceRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly ('CREATE' | 'UPDATE' | 'DELETE')[];
  readonly resources: readonly string[];
}

/** What a guard looks at, and what it lets pass. */
interface GuardSpec {
  readonly matchConstraints: {
    /** @default - every namespace */
    readonly namespaceSelector?: ReturnType<typeof namespaceSelector>;
    readonly resourceRules: readonly ResourceRule[];
  };
  readonly matchConditions: readonly MatchCondition[];
  readonly variables?: readonly Variable[];
  readonly validations: readonly Validation[];
}

/** A ValidatingAdmissionPolicy, named by its id, and its binding. What it can't judge it refuses. */
export function addGuard(scope: Construct, id: string, props: AdmissionScopeProps, spec: GuardSpec): void {
  const name = `${props.name ?? 'fluxqueue'}-guard-${id}`;
  const policy = new ApiObject(scope, id, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: admissionMetadata(name),
    spec: { failurePolicy: 'Fail', ...spec },
  });
  new ApiObject(scope, `${id}-binding`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: admissionMetadata(name),
    spec: { policyName: policy.name, validationActions: ['Deny'] },
  });
}
