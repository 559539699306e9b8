// Own cluster: the apiserver is restarted.
import { InternPool } from '../../runtime/intern';
import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { isStatus } from '../../runtime/kubernetes/errors';
import { pods } from '../../runtime/kubernetes/paths';
import { POD } from '../../runtime/kubernetes/pod-messages';
import type { Pod } from '../../runtime/kubernetes/types';
import { projectPod } from '../../runtime/shared/pod-projection';
import type { Cluster } from '../cluster/cluster';
import { describeOwnCluster } from '../cluster/suite';
import { waitFor } from '../cluster/wait';
import { changesOf, eventsOf } from './encodings';
import { NAMESPACE, PODS, STATUS, SURROUNDINGS } from './full-pods';
import { unusedFields } from './unused-fields';

const projected = (pod: Pod) => projectPod(pod, new InternPool());
/** In JSON, and in protobuf. */
const ENCODINGS = [{}, { protobuf: POD }];
const path = (name?: string) => pods(NAMESPACE, name);

describeOwnCluster('pods in JSON and in protobuf', tests, { scheduler: false });

function tests(getCluster: () => Cluster): void {
  let client: KubernetesClient;

  beforeAll(async () => {
    client = createClient({ kubeconfig: getCluster().kubeconfig });
    await getCluster().create(SURROUNDINGS);
    await getCluster().create(PODS);
    await client.patch(`${path('full')}/status`, { status: STATUS }, 'merge');
    // A finalizer keeps it.
    await client.delete(path('full'));
  });
  afterAll(() => client.close());

  /** In each encoding a list of the same version: Kubernetes may write something between two requests. */
  const listsOfOneMoment = (options: { limit?: number } = {}) =>
    waitFor('lists of one version', async () => {
      const lists = await Promise.all(
        ENCODINGS.map((each) => client.list<Pod>(path(), { ...each, ...options })),
      );
      const versions = new Set(lists.map(({ metadata }) => metadata.resourceVersion));
      return versions.size === 1 && lists;
    });

  test('lists are equal', async () => {
    const [json, protobuf] = await listsOfOneMoment();
    expect(json!.items).toHaveLength(PODS.length);
    expect(protobuf!.metadata).toEqual(json!.metadata);
    expect(protobuf!.items.map(projected)).toEqual(json!.items.map(projected));
  });

  test('every field that is read in protobuf is in one of these pods under its name in JSON', async () => {
    const { items } = await client.list<Pod>(path());
    // Only with an alpha feature.
    expect(unusedFields(POD, items)).toEqual(['namespace']);
  });

  test('pages are equal', async () => {
    const [json, protobuf] = (await listsOfOneMoment({ limit: 2 })).map(({ metadata }) => metadata);
    expect(protobuf).toMatchObject({ resourceVersion: json!.resourceVersion, remainingItemCount: 1 });
    const token = protobuf!.continue!;
    const { items } = await client.list<Pod>(path(), { protobuf: POD, limit: 2, continue: token });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['plain']);
  });

  test('watches are equal', async () => {
    const { metadata } = await client.list<Pod>(path(), { protobuf: POD });
    const watches = ENCODINGS.map((each) => eventsOf<Pod>(client, path(), { ...each, ...metadata }));
    await client.create(path(), { ...PODS[2], metadata: { name: 'new' } });
    await client.patch(path('new'), { metadata: { labels: { a: 'b' } } }, 'merge');
    await client.patch(path('full'), { metadata: { labels: { a: 'b' } } }, 'merge');
    await client.delete(path('new'), { gracePeriodSeconds: 0 });
    const [json, protobuf] = await Promise.all(watches);
    expect(changesOf(protobuf!, projected)).toEqual(changesOf(json!, projected));
    const types = new Set(protobuf!.map(({ type }) => type));
    expect([...types].sort()).toEqual(['ADDED', 'BOOKMARK', 'DELETED', 'MODIFIED']);
    const bookmark = protobuf!.find(({ type }) => type === 'BOOKMARK')!;
    expect(bookmark.object.metadata.resourceVersion).toMatch(/^\d+$/);
  });

  test.each(ENCODINGS)('refusals are equal: %p', async (encoding) => {
    const user = createClient({ kubeconfig: getCluster().kubeconfigFor('user') });
    const forbidden = {
      status: 403,
      reason: 'Forbidden',
      message: expect.stringContaining('cannot list resource "pods"'),
    };
    await expect(user.list(path(), encoding)).rejects.toMatchObject(forbidden);
    user.close();
    await expect(client.list(path(), { ...encoding, limit: 1, continue: 'nonsense' })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('continue'),
    });
  });

  test('a watch from a version that is too old ends with 410', async () => {
    const { metadata } = await client.list<Pod>(path());
    await getCluster().restartApiserver();
    for (const value of ['1', '2'])
      await client.patch(path('plain'), { metadata: { labels: { value } } }, 'merge');
    await getCluster().restartApiserver();
    for (const encoding of ENCODINGS) {
      const expired = await waitFor('410', () =>
        eventsOf(client, path(), { ...encoding, ...metadata }).then(
          () => undefined,
          (error: unknown) => (isStatus(error, 410) ? error : undefined),
        ),
      );
      expect(expired).toMatchObject({ reason: 'Expired', message: expect.stringContaining('too old') });
    }
  });
}
