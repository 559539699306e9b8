import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import type { Wave } from '../../metadata';
import {
  type AdmissionScopeProps,
  admissionMetadata,
  allOf,
  type MatchCondition,
  type namespaceSelector,
  type Variable,
} from './scope';
import type { Validation } from './settings';

/** Selects objects by their labels before or after the request. */
type ObjectSelector =
  | { readonly matchExpressions: readonly { readonly key: string; readonly operator: 'Exists' }[] }
  | { readonly matchLabels: Readonly<Record<string, string>> };

export interface ResourceRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly ('CREATE' | 'UPDATE' | 'DELETE')[];
  readonly resources: readonly string[];
}

export const resourceRule = (
  group: string,
  operations: ResourceRule['operations'],
  ...resources: string[]
): ResourceRule => ({ apiGroups: [group], apiVersions: ['v1'], operations, resources });

/** Params of a policy: it holds for each object of the kind. */
export interface Params {
  /** A namespaced kind means its objects in the namespace of the request. */
  readonly kind: { readonly apiVersion: string; readonly kind: string };
  /** Labels of the objects. @default - every object */
  readonly matchLabels?: Readonly<Record<string, string>>;
  /**
   * What becomes of a request if there is no such object. `Deny` denies all that the constraints of the policy select,
   * before any matchCondition.
   * @default 'Allow'
   */
  readonly notFound?: 'Allow' | 'Deny';
}

/** Objects to which a guard applies, and its rules. */
export interface GuardSpec {
  readonly matchConstraints: {
    /** Namespaces to which it applies. @default - every namespace */
    readonly namespaceSelector?: ReturnType<typeof namespaceSelector>;
    /**
     * Objects to which it applies. It is for policies with params, which deny all that they select as long as the apiserver does
     * not know the kind of the params. It costs each write of the cluster 3 µs.
     * @default - every object
     */
    readonly objectSelector?: ObjectSelector;
    readonly resourceRules: readonly ResourceRule[];
  };
  /** All must hold; the first should exclude most requests. */
  readonly matchConditions: readonly MatchCondition[];
  /** Objects for each of which the rules hold, as `params`. @default - evaluated once */
  readonly params?: Params;
  readonly variables?: readonly Variable[];
  readonly validations: readonly Validation[];
  /**
   * Reason of the refusal. An engine of GitOps that may force deletes an object whose update is Invalid, to create it again.
   * @default 'Forbidden'
   */
  readonly reason?: 'Forbidden' | 'Invalid';
  /**
   * `Warn`: the request passes, and its answer has the sentence as a warning, which kubectl prints.
   * @default 'Deny'
   */
  readonly action?: 'Deny' | 'Warn';
  /** When Argo CD applies it: a right that it restricts must not come earlier. @default - with the other guards */
  readonly wave?: Wave;
}

/** The reference to the params in a binding. */
export function paramRef({ matchLabels, notFound = 'Allow' }: Params): object {
  const selector = matchLabels === undefined ? {} : { matchLabels };
  return { paramRef: { selector, parameterNotFoundAction: notFound } };
}

/**
 * The part of a binding that limits a policy to namespaces. The apiserver compares the namespace of every request with the
 * selector of a policy, and with that of a binding only if the policy matches the resource: with thirty policies the first
 * costs each write of the cluster 0.2 ms.
 */
export function inNamespaces(selector: ReturnType<typeof namespaceSelector> | undefined): object {
  return selector === undefined ? {} : { matchResources: { namespaceSelector: selector } };
}

/** Adds a ValidatingAdmissionPolicy with the id in its name, and its binding. One that denies also denies what it cannot evaluate. */
export function addGuard(
  scope: Construct,
  id: string,
  props: AdmissionScopeProps,
  {
    params,
    reason = 'Forbidden',
    action = 'Deny',
    wave,
    matchConstraints: { namespaceSelector: selector, ...matchConstraints },
    matchConditions,
    ...spec
  }: GuardSpec,
): void {
  const name = `${props.name ?? 'fluxqueue'}-guard-${id}`;
  const metadata = admissionMetadata(name, {}, wave);
  const policy = new ApiObject(scope, id, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      failurePolicy: action === 'Deny' ? 'Fail' : 'Ignore',
      ...(params === undefined ? {} : { paramKind: params.kind }),
      matchConstraints,
      matchConditions: allOf(matchConditions),
      ...spec,
      validations: spec.validations.map((validation) => ({ ...validation, reason })),
    },
  });
  new ApiObject(scope, `${id}-binding`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: {
      policyName: policy.name,
      validationActions: [action],
      ...(params === undefined ? {} : paramRef(params)),
      ...inNamespaces(selector),
    },
  });
}
