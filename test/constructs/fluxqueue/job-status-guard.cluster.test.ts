// Own cluster: a whole stack is applied to it.
/** What the controller's token can write into the status of Jobs. */
import {
  ADMITTED_LABEL,
  CONTROLLER_SERVICE_ACCOUNT,
  NAMESPACE_LABEL,
  STACK_NAMESPACE,
} from '../../../constructs/api/labels';
import { createClient, type KubernetesClient } from '../../../runtime/kubernetes/client';
import { isTrue } from '../../../runtime/kubernetes/conditions';
import { jobs } from '../../../runtime/kubernetes/paths';
import type { Job } from '../../../runtime/kubernetes/types';
import type { KubeObject } from '../../cluster/api';
import type { Cluster } from '../../cluster/cluster';
import { describeOwnCluster } from '../../cluster/suite';
import { stackObjects } from '../manifests';

const TEAM = 'team';
const STARTED = '2026-01-01T00:00:00Z';
const ADMITTED = { [ADMITTED_LABEL]: 'true' };
const REFUSED = 'FLUXQ_RESERVED: status';

/** Of a Job that a user ends, Kubernetes wants to know more. */
const over = (type: string) => ({
  startTime: null,
  conditions: [{ type, status: 'True', lastTransitionTime: STARTED, lastProbeTime: STARTED }],
});

/** Each is refused of a suspended Job of the queue. */
const WRITES: readonly (readonly [string, object])[] = [
  ['its failure', { status: over('FailureTarget') }],
  ['its success', { status: over('SuccessCriteriaMet') }],
  ['its pods', { status: { startTime: null, active: 1 } }],
  ['what it has done', { status: { startTime: null, succeeded: 1 } }],
  ['another start', { status: { startTime: '2026-01-02T00:00:00Z' } }],
  ['less than it says', { status: { startTime: null, ready: null } }],
  ['a label', { metadata: { labels: { app: 'x' } }, status: { startTime: null } }],
  ['an annotation', { metadata: { annotations: { app: 'x' } }, status: { startTime: null } }],
  ['no finalizer', { metadata: { finalizers: null }, status: { startTime: null } }],
];

describeOwnCluster('the guard of the status of Jobs', (getCluster) => {
  let cluster: Cluster;
  let client: KubernetesClient;

  beforeAll(async () => {
    cluster = getCluster();
    const labels = { [NAMESPACE_LABEL]: 'true' };
    await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: TEAM, labels } });
    // With the label of admission, which only the queue can write later.
    await made('of-the-queue', { labels: ADMITTED });
    await made('running', { labels: ADMITTED, suspend: false });
    await made('of-others', {});
    const stack = stackObjects({
      kubernetesVersion: '1.35.2',
      externalRuntime: { webhookUrl: 'https://127.0.0.1:9' },
    });
    // Nobody serves the webhook here.
    await cluster.apply(stack.filter(({ kind }) => kind !== 'MutatingWebhookConfiguration'));
    const kubeconfig = await cluster.kubeconfigForServiceAccount(CONTROLLER_SERVICE_ACCOUNT, STACK_NAMESPACE);
    client = createClient({ kubeconfig });
    await cluster.waitFor('the guard', async () =>
      (await written('of-others', { status: { startTime: null } })).includes('FLUXQ_'),
    );
  });
  afterAll(() => client?.close());

  /** A Job that has run. */
  async function made(name: string, { labels = {}, suspend = true }): Promise<void> {
    const pod = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] };
    await cluster.create({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name, namespace: TEAM, labels, finalizers: ['test/keep'] },
      spec: { suspend, template: { spec: pod } },
    });
    // It removes the start when it sees that a Job is suspended, and not later; one that runs gets its own.
    await cluster.waitFor(`the Job controller to have seen ${name}`, async () => {
      const { status } = await cluster.get<Job>(jobs(TEAM, name));
      return suspend ? isTrue(status?.conditions, 'Suspended') : status?.startTime !== undefined;
    });
    const status = { startTime: STARTED, failed: 1 };
    if (suspend) await cluster.request('PATCH', jobs(TEAM, name, 'status'), { status });
  }

  /** What becomes of a status that the token writes. */
  const written = (name: string, body: object, store = false) =>
    client
      .patch<Job>(jobs(TEAM, name, 'status'), body, 'merge', { dryRun: !store })
      .then(() => 'accepted', String);

  test.each(WRITES)('lets the token write not %s', async (_, body) => {
    expect(await written('of-the-queue', body)).toContain(REFUSED);
  });

  test.each(['running', 'of-others'])('lets it write nothing of a Job that is %s', async (name) => {
    expect(await written(name, { status: { startTime: null } })).toMatch(/FLUXQ_RESERVED: status|startTime/);
  });

  test('asks itself whether the Job is suspended: Kubernetes before 1.32 does not', async () => {
    const guard = await cluster.get<KubeObject>(
      '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/fluxqueue-guard-release-statuses',
    );
    expect(JSON.stringify(guard.spec)).toContain('object.spec.?suspend.orValue(false) && ');
  });

  test('lets it remove the start of a suspended Job', async () => {
    expect(await written('of-the-queue', { status: { startTime: null } }, true)).toBe('accepted');
    const { status } = await cluster.get<Job>(jobs(TEAM, 'of-the-queue'));
    expect(status).toMatchObject({ failed: 1 });
    expect(status).not.toHaveProperty('startTime');
  });
});
