import type { k8s } from 'cdk8s-plus-28';
import { names, podTemplates, stackObjects } from '../manifests';
import { requestsOf } from './callers';

const objects = stackObjects({ kubernetesVersion: '1.35.2', scheduler: true });
const roles = objects.filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole');
const rules = roles.flatMap((role) =>
  (role.rules as k8s.PolicyRule[]).map((rule) => ({ role: role.metadata.name, ...rule })),
);

test('no rule has a wildcard', () => {
  for (const { apiGroups = [], resources = [], verbs } of rules) {
    expect([...apiGroups, ...resources, ...verbs]).not.toContain('*');
  }
});

/** `VERB RESOURCE` of every rule of a component. */
function grantsOf(component: string): Set<string> {
  const own = rules.filter(({ role }) => role === component);
  return new Set(
    own.flatMap(({ apiGroups = [], resources = [], verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          verbs.map((verb) => `${verb} ${group === '' ? resource : `${group}/${resource}`}`),
        ),
      ),
    ),
  );
}

test.each(['fluxqueue-controller', 'fluxqueue-webhook', 'fluxqueue-reader', 'fluxqueue-database'])(
  'every right of %s has a caller in the runtime, and every caller has its right',
  (component) => {
    const granted = grantsOf(component);
    expect(granted.size).toBeGreaterThan(1);
    expect([...granted].sort()).toEqual([...requestsOf(component)].sort());
  },
);

test('the Lease of the scheduler is the only right that it has beside those of kube-scheduler', () => {
  expect([...grantsOf('fluxqueue-scheduler')].sort()).toEqual([
    'create coordination.k8s.io/leases',
    'get coordination.k8s.io/leases',
    'update coordination.k8s.io/leases',
  ]);
});

test('reads and changes Secrets by name only; a policy restricts the Secrets that a component can create', () => {
  const secrets = rules.filter(({ resources }) => resources?.includes('secrets'));
  expect(secrets.map(({ role, resourceNames }) => [role, resourceNames])).toEqual([
    // Tested in test/stack/minicluster-rights.test.ts.
    ['fluxqueue-controller', undefined],
    ['fluxqueue-controller', ['fluxqueue-database']],
    // Tested in secrets.cluster.test.ts.
    ['fluxqueue-webhook', undefined],
    ['fluxqueue-webhook', ['fluxqueue-webhook-tls']],
    ['fluxqueue-reader', undefined],
    ['fluxqueue-reader', ['fluxqueue-reader-tls']],
    ['fluxqueue-reader', ['fluxqueue-database']],
    ['fluxqueue-database', undefined],
    ['fluxqueue-database', ['fluxqueue-database']],
  ]);
  const named = secrets.filter(({ resourceNames }) => resourceNames !== undefined);
  for (const { verbs } of secrets.filter((rule) => !named.includes(rule))) expect(verbs).toEqual(['create']);
  for (const { verbs } of named) expect(verbs).not.toContain('create');
  for (const { resourceNames } of named) expect(names(objects)).toContain(`Secret/${resourceNames?.[0]}`);
});

test('no component can run commands in pods, create pods or delete workloads; the controller creates them as a dry run only', () => {
  // What it may store is tried in test/attacks/corpus-controller.ts.
  const guard = objects.find(({ metadata }) => metadata.name === 'fluxqueue-guard-evictions');
  expect(JSON.stringify(guard)).toContain('request.?dryRun.orValue(false)');
  const dangerous = rules.filter(
    ({ role, resources = [], verbs }) =>
      resources.some((name) => /^(?!dashboards\/).*\/(exec|attach|proxy|portforward|token)$/.test(name)) ||
      (role !== 'fluxqueue-controller' && resources.includes('pods') && verbs.includes('create')) ||
      (resources.some((name) => /^(pods|jobs|statefulsets)$/.test(name)) &&
        verbs.some((verb) => verb.startsWith('delete'))),
  );
  expect(dangerous).toEqual([]);
});

test('lets users with view read every kind of the stack, and users with edit write MiniClusters and ask what if', () => {
  const forUsers = roles.filter(({ metadata }) =>
    Object.keys(metadata.labels ?? {}).some((label) => label.includes('/aggregate-to-')),
  );
  const read = ['get', 'list', 'watch'];
  expect(forUsers.flatMap((role) => role.rules)).toEqual([
    { apiGroups: ['jobs.converged-computing.org'], resources: ['fluxjobs'], verbs: read },
    { apiGroups: ['flux-framework.org'], resources: ['fluxsetups'], verbs: read },
    { apiGroups: ['flux-framework.org'], resources: ['miniclusters'], verbs: read },
    {
      apiGroups: ['queue.converged-computing.org'],
      resources: ['histories', 'usages', 'plans', 'priorities', 'nodereports', 'resourcegraphs', 'traces'],
      verbs: ['get', 'list'],
    },
    { apiGroups: ['queue.converged-computing.org'], resources: ['dashboards/proxy'], verbs: ['get'] },
    {
      apiGroups: ['flux-framework.org'],
      resources: ['miniclusters', 'miniclusters/scale'],
      verbs: [...read, 'create', 'update', 'patch', 'delete', 'deletecollection'],
    },
    { apiGroups: ['queue.converged-computing.org'], resources: ['whatifs'], verbs: ['create'] },
  ]);
});

test('gives nobody the right to prioritize', () => {
  const [role] = roles.filter(({ metadata }) => metadata.name === 'fluxqueue-prioritize');
  expect(role!.rules).toEqual([
    { apiGroups: ['jobs.converged-computing.org'], resources: ['fluxjobs'], verbs: ['prioritize'] },
  ]);
  expect(Object.keys(role!.metadata.labels ?? {}).join()).not.toContain('aggregate');
  const bound = objects.filter(({ roleRef }) => (roleRef as { name?: string })?.name === role!.metadata.name);
  expect(bound).toEqual([]);
});

test('gives every pod its own ServiceAccount, and the token only to containers that call the apiserver', () => {
  const withToken = podTemplates(objects).flatMap(({ owner, spec }) => {
    expect(names(objects)).toContain(`ServiceAccount/${spec.serviceAccountName}`);
    expect(spec.automountServiceAccountToken).toBe(false);
    return [...(spec.initContainers ?? []), ...spec.containers]
      .filter(({ volumeMounts }) => volumeMounts?.some(({ name }) => name === 'api-access'))
      .map(({ name }) => `${owner}/${name}`);
  });
  expect(withToken).toEqual([
    'fluxqueue-database/password',
    'fluxqueue-controller/controller',
    'fluxqueue-webhook/webhook',
    'fluxqueue-scheduler/scheduler',
    'fluxqueue-reader/reader',
  ]);
});

test("the controller's guard applies to its ServiceAccount only, also with an external runtime, and in every namespace", () => {
  const props = { kubernetesVersion: '1.37.1', externalRuntime: { users: ['admin'] } };
  const objects = stackObjects(props).filter(
    ({ metadata }) => metadata.name === 'fluxqueue-guard-controller',
  );
  const specOf = (ending: string) => objects.find(({ kind }) => kind.endsWith(ending))!.spec as object;
  const spec = specOf('Policy') as { matchConditions: object[]; matchConstraints: object };
  expect(spec.matchConditions).toEqual([
    {
      name: 'the-controller',
      expression:
        'request.userInfo.username in ["system:serviceaccount:fluxqueue-system:fluxqueue-controller"]',
    },
  ]);
  expect(spec.matchConstraints).not.toHaveProperty('namespaceSelector');
  expect(specOf('Binding')).not.toHaveProperty('matchResources');
});
