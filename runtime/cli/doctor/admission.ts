/** The objects of admission: policies with their bindings, and the registration of the webhook. */
import { CREATOR_KINDS } from '../../../constructs/api/creators';
import { WEBHOOK_CONFIGURATION } from '../../../constructs/api/labels';
import { LEADER_WORKER_SET } from '../../../constructs/api/leader-worker-set';
import { makerKinds, WORKLOAD_KINDS } from '../../../constructs/api/workload-kinds';
import {
  mutatingAdmissionPolicies,
  mutatingAdmissionPolicyBindings,
  mutatingWebhookConfigurations,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
} from '../../kubernetes/paths';
import type { KubernetesObject } from '../../kubernetes/types';
import { type Context, error, type Finding, listed, ok } from './finding';

interface Policy extends KubernetesObject {
  readonly spec: { readonly failurePolicy?: string };
}

export interface Binding extends KubernetesObject {
  readonly spec: {
    readonly policyName?: string;
    /** Of validating policies only. */
    readonly validationActions?: readonly string[];
    readonly matchResources?: { readonly namespaceSelector?: NamespaceSelector };
  };
}

export interface NamespaceSelector {
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

export interface WebhookConfiguration extends KubernetesObject {
  readonly webhooks?: readonly {
    readonly name: string;
    readonly failurePolicy?: string;
    readonly namespaceSelector?: NamespaceSelector;
    readonly clientConfig: {
      readonly caBundle?: string;
      readonly url?: string;
      readonly service?: { readonly name: string; readonly namespace: string };
    };
  }[];
}

/** What changes new objects, in both forms. */
const MUTATIONS: readonly string[] = [
  'jobs',
  'job-updates',
  'pods',
  ...CREATOR_KINDS.map(({ name }) => `creators-${name}`),
  ...WORKLOAD_KINDS.flatMap(({ plural }) => [plural, `${plural}-updates`]),
];

/** The guards of all workload kinds together. */
const OF_ANY_KIND = ['kind-classes', 'kind-settings'];

/** Guards that every stack has, in either form. @internal exported for tests */
export const GUARDS: readonly string[] = [
  ...CREATOR_KINDS.map(({ name }) => `creator-${name}`),
  'evictions',
  'grace',
  'grace-of-deletions',
  ...['app', 'cronjob', 'daemonset', 'job', 'minicluster', 'pod'].map((kind) => `${kind}-reach`),
  'job-settings',
  'jobs',
  LEADER_WORKER_SET.plural,
  'pod-settings',
  'pods',
  'priority-class',
  'release-jobs',
  'release-pods',
  'release-statuses',
  'resize',
  'subresources',
  ...OF_ANY_KIND,
  ...WORKLOAD_KINDS.flatMap(({ plural }) => [plural, `${plural}-settings`, `release-${plural}`]),
  ...makerKinds().map(({ plural }) => plural),
];

/** Those that only warn. @internal exported for tests */
export const WARNINGS: readonly string[] = [
  'ineffective',
  'ineffective-miniclusters',
  'ineffective-pods',
  'overwritten',
  'unread-settings',
  ...WORKLOAD_KINDS.map(({ plural }) => `ineffective-${plural}`),
];

/** A stack may leave workload kinds out: of one that it has, it has all parts. */
function ofFoundKinds(names: readonly string[], found: readonly string[]): readonly string[] {
  const missing = WORKLOAD_KINDS.filter(({ plural }) => !found.some((name) => name.includes(plural)));
  const hasNone = missing.length === WORKLOAD_KINDS.length;
  return names.filter(
    (name) =>
      !(OF_ANY_KIND.includes(name) && hasNone) &&
      !missing.some(({ plural, maker }) => name.includes(plural) || name === maker?.plural),
  );
}

const APPLY =
  'apply the last file of the stack again: kubectl apply --server-side -f fluxqueue-6-admission.k8s.yaml';

export function webhookConfiguration({ reader }: Context): Promise<WebhookConfiguration | undefined> {
  return reader.get(mutatingWebhookConfigurations(WEBHOOK_CONFIGURATION));
}

export async function checkPolicies({ reader }: Context): Promise<readonly Finding[]> {
  const [validating, bindings] = await Promise.all([
    reader.ofTheStack<Policy>(validatingAdmissionPolicies()),
    reader.ofTheStack<Binding>(validatingAdmissionPolicyBindings()),
  ]);
  const wrong = guardFindings(validating, bindings);
  const denying = validating.filter(({ metadata }) => !WARNING_POLICIES.includes(metadata.name));
  return wrong.length > 0
    ? wrong
    : [ok(`${denying.length} guards are bound, and deny what they cannot evaluate`)];
}

const WARNING_POLICIES: readonly (string | undefined)[] = WARNINGS.map((name) => `fluxqueue-guard-${name}`);

/** A guard that only warns has to be there, too, but lets pass what it cannot evaluate. @internal exported for tests */
export function guardFindings(found: readonly Policy[], bindings: readonly Binding[]): readonly Finding[] {
  const names = found.map(({ metadata }) => metadata.name);
  const expected = ofFoundKinds([...GUARDS, ...WARNINGS], names).map((name) => `fluxqueue-guard-${name}`);
  return policyFindings(
    'ValidatingAdmissionPolicy',
    expected,
    found.map((policy) =>
      WARNING_POLICIES.includes(policy.metadata.name) ? { ...policy, spec: {} } : policy,
    ),
    bindings.map(({ spec, ...rest }) => {
      const { validationActions: _, ...bound } = spec;
      return { ...rest, spec: WARNING_POLICIES.includes(spec.policyName) ? bound : spec };
    }),
  );
}

/** The form of admission: each of the two has all its parts, and at least one of them is there. */
export async function checkForm(context: Context): Promise<readonly Finding[]> {
  const { reader } = context;
  const [mutating, bindings, webhook] = await Promise.all([
    reader.ofTheStack<Policy>(mutatingAdmissionPolicies()),
    reader.ofTheStack<Binding>(mutatingAdmissionPolicyBindings()),
    webhookConfiguration(context),
  ]);
  const hasPolicies = mutating.length + bindings.length > 0;
  if (!hasPolicies && webhook === undefined)
    return [
      error(
        'neither MutatingAdmissionPolicies nor a webhook bring Jobs and pods into the queue: they run without it',
        APPLY,
      ),
    ];
  const names = mutating.map(({ metadata }) => metadata.name);
  const expected = ofFoundKinds(MUTATIONS, names).map((name) => `fluxqueue-${name}`);
  const wrong = [
    ...(hasPolicies ? policyFindings('MutatingAdmissionPolicy', expected, mutating, bindings) : []),
    ...(webhook === undefined ? [] : webhookFindings(webhook)),
  ];
  if (wrong.length > 0) return wrong;
  const forms = [...(hasPolicies ? ['policies'] : []), ...(webhook === undefined ? [] : ['the webhook'])];
  return [ok(`Jobs and pods come into the queue by ${forms.join(' and ')}`)];
}

/** Policies without binding, bindings without policy, and those that let pass. @internal exported for tests */
export function policyFindings(
  kind: string,
  expected: readonly string[],
  found: readonly Policy[],
  bindings: readonly Binding[],
): readonly Finding[] {
  const names = new Set(found.map(({ metadata }) => metadata.name));
  const bound = new Map(bindings.map(({ spec }) => [spec.policyName, spec]));
  const all = [...new Set([...expected, ...names])];
  const missing = all.filter((name) => !names.has(name));
  const unbound = all.filter((name) => names.has(name) && !bound.has(name));
  const weak = [...bound]
    .filter(([, { validationActions }]) => validationActions?.includes('Deny') === false)
    .map(([name]) => name!);
  const open = found
    .filter(({ spec }) => spec.failurePolicy === 'Ignore')
    .map(({ metadata }) => metadata.name);
  const findings: readonly [readonly string[], string][] = [
    [missing, `${kind} is missing`],
    [unbound, `${kind} is not in force, because no binding names it`],
    [weak, `${kind}Binding does not deny`],
    [open, `${kind} lets pass what it cannot evaluate (failurePolicy: Ignore)`],
  ];
  return findings
    .filter(([which]) => which.length > 0)
    .map(([which, problem]) => error(`${problem}: ${listed(which)}`, APPLY));
}

/** @internal exported for tests */
export function webhookFindings({ webhooks = [] }: WebhookConfiguration): readonly Finding[] {
  const names = webhooks.map(({ name }) => name);
  const expected = ofFoundKinds(MUTATIONS, names).map((name) => `${name}.fluxqueue.converged-computing.org`);
  const missing = expected.filter((name) => !webhooks.some((webhook) => webhook.name === name));
  const open = webhooks.filter(({ failurePolicy }) => failurePolicy === 'Ignore').map(({ name }) => name);
  const untrusted = webhooks
    .filter(({ clientConfig }) => (clientConfig.caBundle ?? '') === '')
    .map(({ name }) => name);
  return [
    ...(missing.length > 0
      ? [error(`the webhook configuration lacks webhooks: ${listed(missing)}`, APPLY)]
      : []),
    ...(open.length > 0
      ? [error(`webhooks let pass what they cannot answer (failurePolicy: Ignore): ${listed(open)}`, APPLY)]
      : []),
    ...(untrusted.length > 0
      ? [
          error(
            `webhooks have no CA yet: ${listed(untrusted)}`,
            'the webhook writes it when it starts, or cert-manager does: see that its pods run, and read their log',
          ),
        ]
      : []),
  ];
}
