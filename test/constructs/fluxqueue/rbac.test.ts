import type { k8s } from 'cdk8s-plus-28';
import { names, podTemplates, stackObjects } from '../manifests';

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

test('Secrets are read and changed by name only; who may create one is kept to its own by a policy', () => {
  const secrets = rules.filter(({ resources }) => resources?.includes('secrets'));
  expect(secrets.map(({ role, resourceNames }) => [role, resourceNames])).toEqual([
    // What it may create, a policy says: test/stack/minicluster-rights.test.ts.
    ['fluxqueue-controller', undefined],
    // And these: test/constructs/stack.cluster.test.ts.
    ['fluxqueue-webhook', undefined],
    ['fluxqueue-webhook', ['fluxqueue-webhook-tls']],
    ['fluxqueue-database', undefined],
    ['fluxqueue-database', ['fluxqueue-database']],
  ]);
  const named = secrets.filter(({ resourceNames }) => resourceNames !== undefined);
  for (const { verbs } of secrets.filter((rule) => !named.includes(rule))) expect(verbs).toEqual(['create']);
  for (const { verbs } of named) expect(verbs).not.toContain('create');
  for (const { resourceNames } of named) expect(names(objects)).toContain(`Secret/${resourceNames?.[0]}`);
});

test('nobody may run commands in pods, make pods by hand or delete workloads', () => {
  const dangerous = rules.filter(
    ({ resources = [], verbs }) =>
      resources.some((name) => /\/(exec|attach|proxy|portforward|token)$/.test(name)) ||
      (resources.some((name) => name === 'pods') && verbs.includes('create')) ||
      (resources.some((name) => /^(pods|jobs|statefulsets)$/.test(name)) &&
        verbs.some((verb) => verb.startsWith('delete'))),
  );
  expect(dangerous).toEqual([]);
});

test('users who may view see all of ours; those who may edit write MiniClusters and nothing else', () => {
  const forUsers = roles.filter(({ metadata }) =>
    Object.keys(metadata.labels ?? {}).some((label) => label.includes('/aggregate-to-')),
  );
  const read = ['get', 'list', 'watch'];
  expect(forUsers.flatMap((role) => role.rules)).toEqual([
    { apiGroups: ['jobs.converged-computing.org'], resources: ['fluxjobs'], verbs: read },
    { apiGroups: ['flux-framework.org'], resources: ['fluxsetups'], verbs: read },
    { apiGroups: ['flux-framework.org'], resources: ['miniclusters'], verbs: read },
    {
      apiGroups: ['flux-framework.org'],
      resources: ['miniclusters', 'miniclusters/scale'],
      verbs: [...read, 'create', 'update', 'patch', 'delete', 'deletecollection'],
    },
  ]);
});

test('every pod has a ServiceAccount of its own, and only the containers that call the apiserver have its token', () => {
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
  ]);
});

test("the controller's guard binds its ServiceAccount only, whoever else runs the runtime, and in every namespace", () => {
  const props = { kubernetesVersion: '1.37.1', externalRuntime: { users: ['admin'] } };
  const guard = stackObjects(props).find(
    ({ kind, metadata }) =>
      kind === 'ValidatingAdmissionPolicy' && metadata.name === 'fluxqueue-guard-controller',
  );
  const spec = guard!.spec as { matchConditions: object[]; matchConstraints: object };
  expect(spec.matchConditions).toEqual([
    {
      name: 'the-controller',
      expression:
        'request.userInfo.username in ["system:serviceaccount:fluxqueue-system:fluxqueue-controller"]',
    },
  ]);
  expect(spec.matchConstraints).not.toHaveProperty('namespaceSelector');
});
