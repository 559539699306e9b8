/** What the kubelet says of a pod whose containers it does not create, as a real apiserver selects it. */
import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { explainedWait } from '../../runtime/workloads/kubelet-events';
import type { PodWait } from '../../runtime/workloads/pod-wait';
import { describeCluster } from '../cluster/suite';

const wait: PodWait = {
  cause: 'starting',
  reason: 'ContainerCreating',
  message: 'its containers are being created',
  pod: 'train-0',
  uid: 'pod-uid',
  node: 'node-1',
  isBound: true,
};

describeCluster('the Events of a pod', (getCluster) => {
  let client: KubernetesClient;
  beforeAll(() => {
    client = createClient({ kubeconfig: getCluster().kubeconfig });
  });
  afterAll(() => client.close());

  /** As the kubelet does, by the older API. */
  const record = (name: string, fields: object) =>
    client.create('/api/v1/namespaces/default/events', {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace: 'default' },
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'train-0', uid: 'pod-uid' },
      source: { component: 'kubelet', host: 'node-1' },
      type: 'Warning',
      ...fields,
    });

  test('explain why its containers are not created, by the newest warning', async () => {
    expect(await explainedWait(client, 'default', wait)).toBe(wait);
    const [old, last] = ['2026-01-01T00:00:00Z', '2026-01-01T00:09:00Z'];
    await record('a', { reason: 'FailedMount', message: 'old', lastTimestamp: old });
    await record('b', { reason: 'FailedCreatePodSandBox', message: 'no network', lastTimestamp: last });
    await record('c', { reason: 'Pulled', message: 'well', type: 'Normal', lastTimestamp: last });
    const other = { kind: 'Pod', namespace: 'default', name: 'other', uid: 'other' };
    await record('d', { reason: 'Other', message: 'of another', involvedObject: other, lastTimestamp: last });
    expect(await explainedWait(client, 'default', wait)).toEqual({
      ...wait,
      reason: 'FailedCreatePodSandBox',
      message: 'no network',
    });
  });

  test('are not read if their users have written more than all controllers would', async () => {
    const involvedObject = { kind: 'Pod', namespace: 'default', name: 'train-0', uid: 'flooded' };
    const message = 'x'.repeat(500_000);
    for (const name of ['x', 'y', 'z'])
      await record(name, { reason: 'FailedMount', message, involvedObject });
    expect(await explainedWait(client, 'default', { ...wait, uid: 'flooded' })).toEqual({
      ...wait,
      uid: 'flooded',
      message: 'the Events about it have more than 1048576 bytes, so none of them is read',
    });
  });

  test('are not read for a wait that says its cause', async () => {
    const image = { ...wait, reason: 'ImagePullBackOff' };
    expect(await explainedWait(client, 'default', image)).toBe(image);
  });
});
