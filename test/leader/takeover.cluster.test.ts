/** The replacement of a holder that died without releasing the Lease, or that released it. */
import { systemTime } from '../../runtime/clock';
import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { leases } from '../../runtime/kubernetes/paths';
import { FENCE_ANNOTATION, LAST_FENCE_ANNOTATION } from '../../runtime/leader/lease';
import { leaseWatch } from '../../runtime/leader/lease-watch';
import { createLogger } from '../../runtime/observability/log';
import type { Cluster } from '../cluster/cluster';
import { describeCluster } from '../cluster/suite';
import { waitFor } from '../cluster/wait';
import { ManualClock } from '../kubernetes/manual-clock';
import { leads, Replicas } from './replicas';

const FREE = { spec: { holderIdentity: '', leaseDurationSeconds: 1 } };
const POD = '3f0c0a52-7d0f-4f0e-9d6f-5b9a2c1d8e77';

describeCluster('a holder that died', tests);

function tests(getCluster: () => Cluster): void {
  let admin: KubernetesClient;
  let count = 0;
  let replicas: Replicas;

  beforeAll(() => {
    admin = createClient({ kubeconfig: getCluster().kubeconfig });
  });
  afterAll(() => admin.close());
  beforeEach(() => {
    count += 1;
    replicas = new Replicas(getCluster(), admin, `dead-leader-${count}`);
  });
  afterEach(() => replicas.stop());

  /** Creates a Lease that is far from its expiry. The clocks of the candidates stand still. */
  async function hold(holderIdentity: string): Promise<void> {
    const now = new Date().toISOString().replace('Z', '000Z');
    await admin.create(leases('default'), {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: replicas.name, namespace: 'default', annotations: { [FENCE_ANNOTATION]: '7' } },
      spec: { holderIdentity, leaseDurationSeconds: 600, renewTime: now, leaseTransitions: 3 },
    });
  }
  const candidate = (podUid?: string) =>
    replicas.start(undefined, {
      clock: new ManualClock(),
      fence: async (atLeast) => atLeast + 1,
      ...(podUid === undefined ? {} : { podUid }),
    });

  test('is replaced at once by the next process of its pod, with a higher fence', async () => {
    await hold(`controller-0_${POD}_an-earlier-process`);
    const a = await candidate(POD);
    await leads(a);
    expect(a.acquired).toEqual([8]);
    expect(a.elector.identity).toMatch(new RegExp(`_${POD}_[-0-9a-f]{36}$`));
    expect(await replicas.stored()).toMatchObject({
      metadata: { annotations: { [FENCE_ANNOTATION]: '8', [LAST_FENCE_ANNOTATION]: '8' } },
      spec: { holderIdentity: a.elector.identity, leaseTransitions: 4 },
    });
  });

  test.each([
    ['of another pod with the same name', `controller-0_${POD.replace('3', '4')}_process`, POD],
    ['of a pod whose UID has the same end', `controller-0_1${POD}_process`, POD],
    ['on the same host, if the pod is not known', `controller-0_${POD}_process`, undefined],
    ['with the UID as its name', POD, POD],
  ])('is not replaced before its Lease expires if it is %s', async (_, holder, podUid) => {
    await hold(holder);
    const a = await candidate(podUid);
    await waitFor('the candidate to read the Lease', () => a.elector.holder === holder);
    expect([a.elector.leading, a.acquired]).toEqual([false, []]);
    expect((await replicas.stored()).spec?.holderIdentity).toBe(holder);
  });

  test('is replaced by one process, and that process by its successor', async () => {
    const a = await candidate(POD);
    await leads(a);
    const b = await candidate(POD);
    await leads(b);
    expect([a.acquired, b.acquired]).toEqual([[1], [2]]);
    expect((await replicas.stored()).spec?.holderIdentity).toBe(b.elector.identity);
  });

  test.each([
    ['released', () => admin.patch(leases('default', replicas.name), FREE, 'merge')],
    ['deleted', () => admin.delete(leases('default', replicas.name))],
  ])('is replaced without a poll when its Lease is %s', async (_, end) => {
    await hold('controller-0_of-another-pod_process');
    const a = await candidate(POD);
    await waitFor('the candidate to read the Lease', () => a.elector.holder !== undefined);
    const watch = leaseWatch({
      client: admin,
      namespace: 'default',
      name: replicas.name,
      onChange: () => a.elector.look(),
      logger: createLogger('test', 'silent'),
      time: systemTime,
    });
    watch.start();
    await watch.synced;
    // The candidate also sees a renewal at once, because the expiry counts from it.
    await admin.patch(leases('default', replicas.name), { spec: { holderIdentity: 'renewed' } }, 'merge');
    await waitFor('the candidate to see the renewal', () => a.elector.holder === 'renewed');
    expect(a.elector.leading).toBe(false);
    await end();
    await leads(a);
    watch.stop();
  });
}
