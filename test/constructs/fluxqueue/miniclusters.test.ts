/** A stack without MiniClusters, and the policies of one with them. */
import { WORKLOAD_KINDS } from '../../../constructs/api/workload-kinds';
import { names, stackObjects } from '../manifests';

const POLICIES = [
  'MutatingAdmissionPolicy/fluxqueue-minicluster-mark',
  'MutatingAdmissionPolicy/fluxqueue-minicluster-unmark',
  'ValidatingAdmissionPolicy/fluxqueue-guard-controller',
  'ValidatingAdmissionPolicy/fluxqueue-guard-minicluster-match',
  'ValidatingAdmissionPolicy/fluxqueue-guard-minicluster-rights',
  'ValidatingAdmissionPolicy/fluxqueue-guard-miniclusters',
];
const RELEASE = ['release-jobs', 'release-statuses', 'release-pods', 'evictions'].map(
  (id) => `ValidatingAdmissionPolicy/fluxqueue-guard-${id}`,
);
const policiesOf = (all: readonly string[]) =>
  all.filter((name) => POLICIES.includes(name) || RELEASE.includes(name)).sort();

test.each(['policies', 'webhook'] as const)(
  'all policies are in the stack with admission %s',
  (admission) => {
    const found = policiesOf(names(stackObjects({ kubernetesVersion: '1.37.1', admission })));
    expect(found).toEqual([...POLICIES, ...RELEASE].sort());
  },
);

/** Of a policy or its binding. */
interface PolicySpec {
  readonly paramKind?: { readonly kind: string };
  readonly paramRef?: object;
  readonly policyName?: string;
}

test('policies are evaluated once per MiniCluster that is being applied, not once per MiniCluster', () => {
  const objects = stackObjects({ kubernetesVersion: '1.37.1' });
  const specsOf = (kind: RegExp) =>
    objects
      .filter((each) => kind.test(each.kind))
      .map(({ metadata, spec }) => ({ name: metadata.name, spec: spec as PolicySpec }));
  const perMiniCluster = specsOf(/AdmissionPolicy$/).filter(
    ({ spec }) => spec.paramKind?.kind === 'MiniCluster',
  );
  const policies = new Set(perMiniCluster.map(({ name }) => name));
  const withParams = specsOf(/AdmissionPolicyBinding$/).flatMap(({ spec }) =>
    policies.has(spec.policyName) ? [spec.paramRef] : [],
  );
  expect(withParams).toEqual(
    Array(2).fill({
      selector: { matchLabels: { 'flux-framework.org/applying': 'true' } },
      parameterNotFoundAction: 'Allow',
    }),
  );
});

test('only policies with params select objects, because each costs every write of the cluster time', () => {
  const policies = stackObjects({ kubernetesVersion: '1.37.1' }).filter(({ kind }) =>
    /AdmissionPolicy$/.test(kind),
  );
  const withSelector = policies.filter(({ spec }) => JSON.stringify(spec).includes('"objectSelector"'));
  expect(names(withSelector)).toEqual([
    'MutatingAdmissionPolicy/fluxqueue-minicluster-mark',
    'ValidatingAdmissionPolicy/fluxqueue-guard-minicluster-match',
  ]);
});

test('an apiserver without mutating policies gets those that it can evaluate', () => {
  const found = policiesOf(names(stackObjects({ kubernetesVersion: '1.35.2' })));
  expect(found).not.toContain(POLICIES[0]);
  expect(found).toEqual(expect.arrayContaining([POLICIES[2], POLICIES[4], ...RELEASE]));
});

test('without MiniClusters the stack has neither their rights nor their policies nor their CRD', () => {
  const objects = stackObjects({ kubernetesVersion: '1.37.1', miniClusters: false });
  expect(policiesOf(names(objects))).toEqual([...RELEASE].sort());
  expect(names(objects)).not.toContain('CustomResourceDefinition/miniclusters.flux-framework.org');
  const role = objects.find(
    ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'fluxqueue-controller',
  );
  const rules = role!.rules as { resources: string[]; verbs: string[] }[];
  const written = rules.flatMap(({ resources, verbs }) =>
    verbs.some((verb) => ['create', 'delete', 'patch', 'update'].includes(verb)) ? resources : [],
  );
  expect(written.sort()).toEqual(
    [
      'events',
      'fluxjobs',
      'fluxsetups/status',
      'jobs',
      'jobs/status',
      'pods',
      'pods/eviction',
      ...WORKLOAD_KINDS.map(({ plural }) => plural),
    ].sort(),
  );
  expect(JSON.stringify(objects)).toContain('miniClusters:\\n  enabled: false');
});
