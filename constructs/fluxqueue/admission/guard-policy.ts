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

/** Objects to which a guard applies, and its rules. */
interface GuardSpec {
  /** Cluster-scoped kind: the rules are evaluated once with each of its objects as `params`. @default - evaluated once */
  readonly paramKind?: { readonly apiVersion: string; readonly kind: string };
  readonly matchConstraints: {
    /** Namespaces to which it applies. @default - every namespace */
    readonly namespaceSelector?: ReturnType<typeof namespaceSelector>;
    readonly resourceRules: readonly ResourceRule[];
  };
  readonly matchConditions: readonly MatchCondition[];
  readonly variables?: readonly Variable[];
  readonly validations: readonly Validation[];
}

/** Adds a ValidatingAdmissionPolicy with the id in its name, and its binding. It denies requests that it cannot evaluate. */
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
    spec: {
      policyName: policy.name,
      validationActions: ['Deny'],
      ...(spec.paramKind === undefined
        ? {}
        : { paramRef: { selector: {}, parameterNotFoundAction: 'Allow' } }),
    },
  });
}
