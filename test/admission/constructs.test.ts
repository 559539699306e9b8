/** The manifests of admission; the tests with a cluster check their effect. */
import { App, Chart, Testing } from 'cdk8s';
import { makerKinds, WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import { CreatorGuard } from '../../constructs/fluxqueue/admission/creators';
import { AdmissionGuards } from '../../constructs/fluxqueue/admission/guards';
import { AdmissionPolicies } from '../../constructs/fluxqueue/admission/policies';
import { ReachGuard } from '../../constructs/fluxqueue/admission/reach-guard';
import {
  AdmissionWebhookConfiguration,
  type AdmissionWebhookConfigurationProps,
} from '../../constructs/fluxqueue/admission/webhook-configuration';

interface Selector {
  matchExpressions: { key: string; operator: string; values: string[] }[];
}
interface Webhook {
  name: string;
  clientConfig: object;
  namespaceSelector: Selector;
  matchConditions: { name: string }[];
  rules: object[];
}
interface Manifest {
  kind: string;
  metadata: { name: string; annotations: Record<string, string> };
  spec: {
    policyName?: string;
    matchConditions: object[];
    matchConstraints: object;
    matchResources: { namespaceSelector: Selector };
  };
  webhooks: Webhook[];
}

function configuration(props: AdmissionWebhookConfigurationProps = {}): Manifest {
  const chart = new Chart(new App(), 'test');
  new AdmissionWebhookConfiguration(chart, 'webhook', props);
  return (Testing.synth(chart) as Manifest[])[0]!;
}

describe('the webhook configuration', () => {
  it('fails closed for namespaces that opted in and matches no other namespaces', () => {
    const { metadata, webhooks } = configuration();
    expect(metadata.name).toBe('fluxqueue');
    expect(webhooks.map(({ name }) => name.split('.')[0])).toEqual([
      'jobs',
      'other-jobs',
      'job-updates',
      'pods',
      ...WORKLOAD_KINDS.flatMap(({ plural }) => [plural, `${plural}-updates`]),
      'creators-apps',
      'creators-cronjobs',
      'creators-miniclusters',
      'creators-trainjobs',
    ]);
    for (const webhook of webhooks) {
      expect(webhook).toMatchObject({
        failurePolicy: 'Fail',
        sideEffects: 'None',
        reinvocationPolicy: 'Never',
      });
      const [, of = ''] = /(updates|^creators)/.exec(webhook.name) ?? [];
      const operations = { updates: ['UPDATE'], creators: ['CREATE', 'UPDATE'] }[of] ?? ['CREATE'];
      expect(webhook.rules).toEqual([expect.objectContaining({ operations })]);
      // A namespace can leave the queue while its Jobs run, whose updates are corrected further.
      const enabled = { key: 'fluxqueue/enabled', operator: 'In', values: ['true'] };
      expect(webhook.namespaceSelector.matchExpressions).toEqual([
        ...(of === 'updates' ? [] : [enabled]),
        {
          key: 'kubernetes.io/metadata.name',
          operator: 'NotIn',
          values: ['kube-system', 'fluxqueue-system'],
        },
      ]);
    }
  });

  it('calls the Service of the stack, or a URL', () => {
    const service = { namespace: 'ns', name: 'hook', port: 443, path: '/mutate' };
    expect(configuration({ stackNamespace: 'ns', serviceName: 'hook' }).webhooks[0]?.clientConfig).toEqual({
      service,
    });
    const { clientConfig } = configuration({ url: 'https://127.0.0.1:9443', caBundle: 'PEM' }).webhooks[0]!;
    expect(clientConfig).toEqual({ url: 'https://127.0.0.1:9443/mutate', caBundle: 'UEVN' });
  });

  it('has the given annotations in addition to its own', () => {
    const { annotations } = configuration({
      annotations: { 'cert-manager.io/inject-ca-from': 'a/b' },
    }).metadata;
    expect(annotations).toMatchObject({
      'cert-manager.io/inject-ca-from': 'a/b',
      'argocd.argoproj.io/sync-wave': '1',
    });
  });

  it('has the conditions of the policies', () => {
    const chart = new Chart(new App(), 'test');
    new AdmissionPolicies(chart, 'policies');
    const policies = (Testing.synth(chart) as Manifest[]).filter(
      ({ kind }) => kind === 'MutatingAdmissionPolicy',
    );
    const conditions = configuration().webhooks.map(({ matchConditions }) => matchConditions);
    expect(policies.map(({ spec }) => spec.matchConditions)).toEqual(conditions);
  });
});

describe('every policy', () => {
  const chart = new Chart(new App(), 'test');
  new AdmissionPolicies(chart, 'policies', { stackNamespace: 'ns', excludedNamespaces: ['more'] });
  new AdmissionGuards(chart, 'guards', { stackNamespace: 'ns', excludedNamespaces: ['more'] });
  new CreatorGuard(chart, 'creators', { stackNamespace: 'ns', excludedNamespaces: ['more'] });
  new ReachGuard(chart, 'priorities', { stackNamespace: 'ns', excludedNamespaces: ['more'] });
  const manifests = Testing.synth(chart) as Manifest[];
  const policies = manifests.filter(({ kind }) => kind.endsWith('Policy'));

  it.each(policies.map((policy) => [policy.metadata.name, policy] as const))(
    '%s has a binding and excludes the namespaces of the system, the stack and the user',
    (name, { spec }) => {
      const [binding, ...others] = manifests.filter((manifest) => manifest.spec.policyName === name);
      expect(others).toEqual([]);
      // The apiserver compares it with every request if it is part of the policy.
      expect(spec.matchConstraints).not.toHaveProperty('namespaceSelector');
      expect(binding!.spec.matchResources.namespaceSelector.matchExpressions).toContainEqual({
        key: 'kubernetes.io/metadata.name',
        operator: 'NotIn',
        // The class of the stack's pods is refused everywhere else.
        values: name === 'fluxqueue-guard-priority-class' ? ['ns'] : ['kube-system', 'ns', 'more'],
      });
    },
  );

  it('validates with functions that CEL has in Kubernetes 1.30', () => {
    const validating = policies.filter(({ kind }) => kind === 'ValidatingAdmissionPolicy');
    expect(validating.length).toBeGreaterThan(10);
    // The control plane of the tests, also where it is emulated as an earlier one, has the later libraries.
    const later =
      /[.](sort|sortBy|distinct|flatten|reverse|slice|transform\w+|first|last)[(]|lists[.]range[(]|math[.]|format[.]/;
    for (const policy of validating) expect(JSON.stringify(policy.spec)).not.toMatch(later);
  });

  it('is applied after the objects that it protects', () => {
    for (const { metadata } of manifests)
      expect(metadata.annotations['argocd.argoproj.io/sync-wave']).toBe('1');
    expect(policies).toHaveLength(28 + 2 * (WORKLOAD_KINDS.length + makerKinds().length));
  });
});
