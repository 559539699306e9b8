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

  test('explain why an image is not pulled, where its status says no more than that', async () => {
    const image = { ...wait, reason: 'ImagePullBackOff', message: 'ImagePullBackOff: x:9', uid: 'image' };
    expect(await explainedWait(client, 'default', image)).toBe(image);
    const involvedObject = { kind: 'Pod', namespace: 'default', name: 'train-0', uid: 'image' };
    const failed = 'Failed to pull image "x:9": x:9: not found';
    const at = (minute: number) => ({ lastTimestamp: `2026-01-01T00:0${minute}:00Z`, involvedObject });
    await record('pull', { reason: 'Failed', message: failed, ...at(1) });
    await record('retry', { reason: 'Failed', message: 'Error: ImagePullBackOff', ...at(2) });
    for (const told of [undefined, 'Back-off pulling image "x:9"'])
      expect(await explainedWait(client, 'default', { ...image, told })).toEqual({ ...image, told: failed });
  });

  test('are not read for a wait that says its cause', async () => {
    const image = { ...wait, reason: 'ErrImagePull', told: 'x:9: not found' };
    expect(await explainedWait(client, 'default', image)).toBe(image);
  });
});
