// Own cluster: whole stacks are applied to it.
/** The guard of the controller's token on apiservers without mutating policies; test/attacks tries the complete one. */
import {
  APPLYING_LABEL,
  CONTROLLER_SERVICE_ACCOUNT,
  MANAGED_BY,
  MANAGER,
  MINICLUSTER_LABEL,
  NAMESPACE_LABEL,
  STACK_NAMESPACE,
} from '../../../constructs/api/labels';
import { renderMiniCluster } from '../../../constructs/minicluster';
import { createClient, type KubernetesClient } from '../../../runtime/kubernetes/client';
import { manifestToApply, pathOf } from '../../../runtime/miniclusters/manifests';
import { type MiniCluster, miniClusters } from '../../../runtime/miniclusters/resource';
import type { Cluster } from '../../cluster/cluster';
import { describeOwnCluster } from '../../cluster/suite';
import { stackObjects } from '../manifests';

const TEAM = 'team';
const PLATFORM = 'argocd';
const OWNER = { apiVersion: 'flux-framework.org/v1alpha2', kind: 'MiniCluster', controller: true };
const main = { name: 'main', image: 'db' };
const secretKeyRef = { name: 'argocd-secret', key: 'k' };

/** Each gives a pod something that its MiniCluster does not ask for. */
const REACHES: readonly (readonly [string, object])[] = [
  ['the network of the node', { hostNetwork: true }],
  ['the processes of the node', { hostPID: true }],
  ['the root of the node', { volumes: [{ name: 'root', hostPath: { path: '/' } }] }],
  ['a capability', { containers: [{ ...main, securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }] }],
  ['a ServiceAccount', { serviceAccountName: 'argocd-application-controller' }],
  ['the token of its ServiceAccount', { automountServiceAccountToken: true }],
  ['a Secret', { volumes: [{ name: 's', secret: { secretName: 'argocd-secret' } }] }],
  [
    'a token in a volume',
    { volumes: [{ name: 's', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }] },
  ],
  ['a claim', { volumes: [{ name: 's', persistentVolumeClaim: { claimName: 'redis' } }] }],
  [
    'a variable of a Secret',
    { containers: [{ ...main, env: [{ name: 'X', valueFrom: { secretKeyRef } }] }] },
  ],
  [
    'the variables of a Secret',
    { containers: [{ ...main, envFrom: [{ secretRef: { name: 'argocd-secret' } }] }] },
  ],
  ['the nodes of the control plane', { tolerations: [{ operator: 'Exists' }] }],
];

describeOwnCluster('the guard of the controller without mutating policies', (getCluster) => {
  let cluster: Cluster;
  let client: KubernetesClient;
  let uid = '';

  beforeAll(async () => {
    cluster = getCluster();
    const stack = stackObjects({
      kubernetesVersion: '1.35.2',
      externalRuntime: { webhookUrl: 'https://127.0.0.1:9' },
    });
    // Nobody serves the webhook here.
    await cluster.apply(stack.filter(({ kind }) => kind !== 'MutatingWebhookConfiguration'));
    for (const name of [TEAM, PLATFORM]) {
      const metadata = { name, labels: { [NAMESPACE_LABEL]: name === TEAM ? 'true' : 'false' } };
      await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata });
    }
    for (const name of ['x', 'y']) await create(name);
    const kubeconfig = await cluster.kubeconfigForServiceAccount(CONTROLLER_SERVICE_ACCOUNT, STACK_NAMESPACE);
    client = createClient({ kubeconfig });
    uid = (await cluster.get<MiniCluster>(miniClusters(TEAM, 'x'))).metadata.uid;
    await cluster.waitFor('the guard', async () => (await made({})).includes('FLUXQ_'));
  });
  afterAll(() => client?.close());

  async function create(name: string): Promise<void> {
    const { controller: _, ...kind } = OWNER;
    const services = [{ name: 'db', image: 'db', ports: [80] }];
    const object = {
      ...kind,
      metadata: { name, namespace: TEAM },
      spec: { size: 1, services, containers: [{ image: 'flux' }] },
    };
    const isMade = () => cluster.apply(object).then(() => true);
    await cluster.waitFor(`the MiniCluster ${name}`, isMade);
  }

  /** The label of the MiniClusters, as the holder of the token can write it. */
  async function label(name: string, value: 'true' | null): Promise<void> {
    await client.patch(
      miniClusters(TEAM, name),
      { metadata: { labels: { [APPLYING_LABEL]: value } } },
      'merge',
    );
  }

  interface Claims {
    readonly namespace?: string;
    readonly owner?: object;
    readonly labels?: object;
    readonly spec?: object;
  }

  const deployment = (pod: object, { namespace = TEAM, owner = {}, labels, spec }: Claims = {}) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'x-services',
      namespace,
      labels: { [MINICLUSTER_LABEL]: 'x', [MANAGED_BY]: MANAGER, ...labels },
      ownerReferences: [{ ...OWNER, name: 'x', uid, ...owner }],
    },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: 'x' } },
      ...spec,
      template: {
        metadata: { labels: { app: 'x' } },
        spec: { automountServiceAccountToken: false, containers: [main], ...pod },
      },
    },
  });

  /** What becomes of a Deployment that the token creates. */
  function made(pod: object, claims: Claims = {}): Promise<string> {
    const path = `/apis/apps/v1/namespaces/${claims.namespace ?? TEAM}/deployments`;
    return client.create(path, deployment(pod, claims), { dryRun: true }).then(() => 'accepted', String);
  }

  describe('while no MiniCluster of the namespace is being applied', () => {
    test.each([TEAM, PLATFORM])('lets the token create nothing in the namespace %s', async (namespace) => {
      expect(await made({}, { namespace })).toContain('no params found for policy binding');
    });

    test('refuses objects without the label by which that is found', async () => {
      expect(await made({}, { labels: { [MANAGED_BY]: 'helm' } })).toContain(
        'FLUXQ_RESERVED: metadata.labels',
      );
    });
  });

  describe('while a MiniCluster is being applied', () => {
    beforeAll(async () => {
      await label('x', 'true');
      await cluster.waitFor('the label', async () => (await made({})) === 'accepted');
    });

    test('lets the controller write all that this MiniCluster consists of', async () => {
      const x = await cluster.get<MiniCluster>(miniClusters(TEAM, 'x'));
      for (const manifest of renderMiniCluster(x)) {
        const object = manifestToApply(manifest, x, undefined);
        const options = { dryRun: true, fieldManager: 'test' };
        await client.patch(pathOf(manifest, TEAM), object, 'apply', options);
      }
    });

    test.each([
      ['another uid', { uid: 'no-such-uid' }],
      ['another name', { name: 'z' }],
    ])('refuses an owner with %s', async (_, owner) => {
      expect(await made({}, { owner })).toMatch(/FLUXQ_(MINICLUSTER_TURN|RESERVED: metadata)/);
    });

    test('refuses an owner of a version that does not exist', async () => {
      const owner = { apiVersion: 'flux-framework.org/v9' };
      expect(await made({}, { owner })).toContain('FLUXQ_RESERVED: metadata.ownerReferences');
    });

    test.each(REACHES)('refuses a pod with %s, for which the MiniCluster does not ask', async (_, pod) => {
      expect(await made(pod)).toContain('FLUXQ_MINICLUSTER_DIFFERS');
    });

    test('refuses more pods than it asks for', async () => {
      expect(await made({}, { spec: { replicas: 2 } })).toContain(
        'FLUXQ_MINICLUSTER_DIFFERS: spec: has more',
      );
    });

    test('lets the token create nothing in another namespace', async () => {
      expect(await made({}, { namespace: PLATFORM })).toContain('no params found for policy binding');
    });
  });

  describe('while two MiniClusters have the label', () => {
    beforeAll(() => label('y', 'true'));
    afterAll(() => label('y', null));

    test('nothing is created, because every labelled one must be the owner', async () => {
      await cluster.waitFor('the label', async () => (await made({})).includes('FLUXQ_MINICLUSTER_TURN'));
    });
  });

  describe('an object that exists', () => {
    const at = '/apis/apps/v1/namespaces/team/deployments/x-services';
    /** What becomes of it if the token replaces its pods. */
    const changed = (pod: object) =>
      client
        .patch(at, deployment(pod), 'apply', { dryRun: true, fieldManager: 'mine', force: true })
        .then(() => 'accepted', String);

    beforeAll(async () => {
      await cluster.waitFor('the turn of x', async () => (await made({})) === 'accepted');
      await client.create(at.slice(0, at.lastIndexOf('/')), deployment({}));
      await label('x', null);
    });

    test.each(REACHES)('gets no %s by a change', async (_, pod) => {
      expect(await changed(pod)).toContain('FLUXQ_MINICLUSTER_FIXED');
    });

    test('can be changed in what its pods run', async () => {
      const env = [{ name: 'A', value: 'b' }];
      expect(await changed({ containers: [{ ...main, image: 'db:2', args: ['x'], env }] })).toBe('accepted');
    });
  });

  test('the waiting Job of a MiniCluster keeps the nodes on which it can run', async () => {
    const pod = { restartPolicy: 'Never', containers: [main] };
    await cluster.create({
      ...{ apiVersion: 'batch/v1', kind: 'Job' },
      metadata: {
        ...{ name: 'x', namespace: TEAM, labels: { [MINICLUSTER_LABEL]: 'x' } },
        ownerReferences: [{ ...OWNER, name: 'x', uid }],
      },
      spec: { suspend: true, template: { spec: pod } },
    });
    const tolerations = [{ operator: 'Exists' }];
    const patch = (spec: object) =>
      client
        .patch(`/apis/batch/v1/namespaces/${TEAM}/jobs/x`, { spec }, 'merge', { dryRun: true })
        .then(() => 'accepted', String);
    expect(await patch({ template: { spec: { tolerations } } })).toContain('FLUXQ_MINICLUSTER_FIXED');
    expect(await patch({ suspend: false })).toBe('accepted');
  });

  test('a Job is released however many variables it has, whoever owns it', async () => {
    const env = Array.from({ length: 5_000 }, (_, i) => ({
      name: `V${i}`,
      valueFrom: { fieldRef: { fieldPath: 'metadata.name' } },
    }));
    // To compare each with each would take the apiserver longer than it lets a policy take.
    const pod = { restartPolicy: 'Never', containers: [{ ...main, env }] };
    await cluster.create({
      ...{ apiVersion: 'batch/v1', kind: 'Job' },
      metadata: {
        ...{ name: 'variables', namespace: TEAM, labels: { [MINICLUSTER_LABEL]: 'x' } },
        ownerReferences: [{ ...OWNER, name: 'x', uid }],
      },
      spec: { suspend: true, template: { spec: pod } },
    });
    const at = `/apis/batch/v1/namespaces/${TEAM}/jobs/variables`;
    const patch = (spec: object) =>
      client.patch(at, { spec }, 'merge', { dryRun: true }).then(() => 'accepted', String);
    expect(await patch({ suspend: false })).toBe('accepted');
  });
});
