import { type ClientOptions, createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { clusterWide, namespaced } from '../../runtime/kubernetes/paths';
import type { Verb } from '../../runtime/kubernetes/request-sender';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import type { Cluster } from '../cluster/cluster';
import { writeKubeconfig } from '../cluster/credentials';
import { describeCluster } from '../cluster/suite';
import { waitFor } from '../cluster/wait';
import { everything, type FaultProxy, type Match, startFaultProxy } from './fault-proxy';
import { ManualClock } from './manual-clock';

interface ConfigMap extends KubernetesObject {
  readonly data?: Record<string, string>;
}

const configMaps = namespaced('', 'v1', 'configmaps');
const namespaces = clusterWide('', 'v1', 'namespaces');
const named = (name: string, data: Record<string, string> = {}) => ({ metadata: { name }, data });
const method =
  (wanted: string): Match =>
  (request) =>
    request.method === wanted;

describeCluster('Kubernetes client', tests);

function tests(getCluster: () => Cluster): void {
  let proxy: FaultProxy;
  let kubeconfig: string;
  let requests: [Verb, string, number][];
  const clients: KubernetesClient[] = [];

  const connect = (options: ClientOptions = {}): KubernetesClient => {
    const onRequest: ClientOptions['onRequest'] = (verb, resource, status) =>
      requests.push([verb, resource, status]);
    const client = createClient({ kubeconfig, onRequest, random: () => 0, ...options });
    clients.push(client);
    return client;
  };

  beforeEach(async () => {
    proxy = await startFaultProxy(getCluster());
    kubeconfig = proxy.kubeconfig;
    requests = [];
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await proxy.stop();
  });

  test('creates, reads, updates, patches, applies, lists by page and deletes', async () => {
    const client = connect({ userAgent: 'test-agent' });
    const path = configMaps('default', 'round');
    const created = await client.create<ConfigMap>(configMaps('default'), named('round', { a: '1' }));
    expect(created).toMatchObject({ kind: 'ConfigMap', data: { a: '1' } });
    expect(await client.update<ConfigMap>(path, { ...created, data: { a: '2' } })).toMatchObject({
      data: { a: '2' },
    });
    await client.patch(path, { data: { b: 'ä€𝄞' } }, 'merge');
    await client.patch(path, [{ op: 'add', path: '/data/c', value: '3' }], 'json');
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', data: { d: '4' } };
    await client.patch(path, applied, 'apply', { fieldManager: 'test' });
    expect((await client.get<ConfigMap>(path)).data).toEqual({ a: '2', b: 'ä€𝄞', c: '3', d: '4' });

    const first = await client.list<ConfigMap>(configMaps(), { limit: 1 });
    expect(first.items).toHaveLength(1);
    const second = await client.list<ConfigMap>(configMaps(), {
      limit: 1,
      continue: first.metadata.continue!,
    });
    expect(second.items[0]!.metadata.uid).not.toBe(first.items[0]!.metadata.uid);

    const dry = await client.create<ConfigMap>(configMaps('default'), named('dry'), { dryRun: true });
    expect(dry.metadata.uid).toBeDefined();
    await expect(client.get(configMaps('default', 'dry'))).rejects.toMatchObject({ status: 404 });
    await client.delete(path, {
      uid: created.metadata.uid,
      propagationPolicy: 'Background',
      gracePeriodSeconds: 0,
    });
    await expect(client.get(path)).rejects.toMatchObject({
      status: 404,
      reason: 'NotFound',
      retryable: false,
    });
    expect(requests.slice(0, 7)).toEqual([
      ['create', 'configmaps', 201],
      ['update', 'configmaps', 200],
      ['patch', 'configmaps', 200],
      ['patch', 'configmaps', 200],
      ['apply', 'configmaps', 200],
      ['get', 'configmaps', 200],
      ['list', 'configmaps', 200],
    ]);
  });

  test('requests only metadata if asked to', async () => {
    const client = connect();
    const large = named('large', { a: 'x'.repeat(200_000) });
    const answer = await client.create<ConfigMap>(configMaps('default'), large, { metadataOnly: true });
    expect(answer.data).toBeUndefined();
    expect(answer.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    const stored = await client.get<ConfigMap>(configMaps('default', 'large'));
    expect(stored.data?.a).toHaveLength(200_000);
    const read = await client.get<ConfigMap>(configMaps('default', 'large'), { metadataOnly: true });
    expect([read.metadata.uid, read.data]).toEqual([answer.metadata.uid, undefined]);
    const { items } = await client.list<ConfigMap>(configMaps('default'), { metadataOnly: true });
    const listed = items.find(({ metadata }) => metadata.name === 'large');
    expect([listed?.metadata.uid, listed?.data]).toEqual([answer.metadata.uid, undefined]);
    const none = { labelSelector: 'no=such', metadataOnly: true };
    expect((await client.list<ConfigMap>(configMaps('default'), none)).items).toEqual([]);
  });

  test('gives up an answer that is larger than its limit, and goes on', async () => {
    const client = connect();
    for (const name of ['half', 'other-half']) {
      await client.create(configMaps('default'), {
        ...named(name, { a: 'x'.repeat(300_000) }),
        metadata: { name, labels: { size: 'half' } },
      });
    }
    const selected = { labelSelector: 'size=half' };
    await expect(
      client.list(configMaps('default'), { ...selected, mostBytes: 500_000 }),
    ).rejects.toMatchObject({ code: 'FLUXQ_KUBERNETES_TOO_LARGE', retryable: false });
    const { items } = await client.list(configMaps('default'), { ...selected, mostBytes: 1_000_000 });
    expect(items).toHaveLength(2);
    // Once, not again and again.
    expect(requests.filter(([verb]) => verb === 'list').map(([, , status]) => status)).toEqual([0, 200]);
  });

  test('reports errors with code, request, reason and the message of the apiserver', async () => {
    const client = connect();
    await client.create(configMaps('default'), named('twice'));
    await expect(client.create(configMaps('default'), named('twice'))).rejects.toMatchObject({
      code: 'FLUXQ_KUBERNETES_EXISTS',
      reason: 'AlreadyExists',
      retryable: false,
      message:
        'FLUXQ_KUBERNETES_EXISTS: POST /api/v1/namespaces/default/configmaps?fieldManager=fluxqueue&fieldValidation=Ignore: configmaps "twice" already exists',
    });
    await expect(client.create(configMaps('default'), named('Not A Name'))).rejects.toMatchObject({
      code: 'FLUXQ_KUBERNETES_INVALID',
      status: 422,
    });
    const stale = { ...named('twice'), metadata: { name: 'twice', resourceVersion: '1' } };
    await expect(client.update(configMaps('default', 'twice'), stale)).rejects.toMatchObject({
      code: 'FLUXQ_KUBERNETES_CONFLICT',
      retryable: true,
    });
    const stranger = connect({ kubeconfig: getCluster().kubeconfigFor('user') });
    await expect(stranger.get(configMaps('default', 'twice'))).rejects.toMatchObject({
      code: 'FLUXQ_KUBERNETES_FORBIDDEN',
      status: 403,
    });
  });

  test('retries after 429 for every verb, a few times, after the wait that the server requests', async () => {
    const clock = new ManualClock();
    const client = connect({ clock });
    proxy.inject(method('POST'), { kind: 'answer', status: 429, retryAfter: 3 }, 2);
    const created = client.create<ConfigMap>(configMaps('default'), named('patient'));
    for (const seen of [1, 2]) {
      await waitFor('the request', () => proxy.requests.length === seen && clock.next !== undefined);
      expect(clock.next).toBe(3_000);
      await clock.advance(3_000);
    }
    expect((await created).metadata.name).toBe('patient');
    expect(requests.map(([, , status]) => status)).toEqual([429, 429, 201]);

    proxy.inject(method('DELETE'), { kind: 'answer', status: 429, retryAfter: 1 });
    const refused = client.delete(configMaps('default', 'patient'), { retries: 1 });
    await waitFor('the request', () => clock.next !== undefined);
    const rejected = expect(refused).rejects.toMatchObject({
      code: 'FLUXQ_KUBERNETES_OVERLOADED',
      retryAfterSeconds: 1,
      retryable: true,
    });
    await clock.advance(1_000);
    await rejected;
  });

  test('retries after 503 only requests that are repeatable', async () => {
    const client = connect();
    proxy.inject(everything, { kind: 'answer', status: 503 }, 2);
    await expect(client.create(configMaps('default'), named('once'))).rejects.toMatchObject({ status: 503 });
    await expect(client.get(namespaces('default'))).resolves.toBeDefined();
    expect(requests.map(([verb, , status]) => [verb, status])).toEqual([
      ['create', 503],
      ['get', 503],
      ['get', 200],
    ]);
  });

  test('reports a lost answer as a retryable error, although the write may have happened', async () => {
    const client = connect();
    proxy.inject(method('POST'), { kind: 'lose-answer' }, 1);
    await expect(client.create(configMaps('default'), named('in-doubt'))).rejects.toMatchObject({
      code: 'FLUXQ_KUBERNETES_UNREACHABLE',
      retryable: true,
    });
    expect(await client.get(configMaps('default', 'in-doubt'))).toBeDefined();
  });

  test('replaces a connection that was reset while it was idle', async () => {
    const client = connect();
    await client.get(namespaces('default'));
    proxy.inject(everything, { kind: 'reset' }, 1);
    await expect(client.get(namespaces('default'))).resolves.toBeDefined();
    // On a new connection a reset is no stale connection.
    const other = connect();
    proxy.inject(everything, { kind: 'reset' }, 1);
    await expect(other.get(namespaces('default'))).rejects.toMatchObject({
      code: 'FLUXQ_KUBERNETES_UNREACHABLE',
    });
  });

  test('times out when the server is silent, also in the middle of an answer', async () => {
    const client = connect({ timeout: 200 });
    const stop = proxy.inject(everything, { kind: 'silence' });
    await expect(client.get(namespaces('default'))).rejects.toMatchObject({
      code: 'FLUXQ_KUBERNETES_TIMEOUT',
      retryable: true,
    });
    stop();
    proxy.inject(everything, { kind: 'half-answer' }, 1);
    await expect(client.get(namespaces('default'))).rejects.toMatchObject({
      code: 'FLUXQ_KUBERNETES_TIMEOUT',
    });
    await expect(client.get(namespaces('default'))).resolves.toBeDefined();
  });

  test('reports a connection that is refused as a retryable error that names the request', async () => {
    const access = { server: 'https://127.0.0.1:1', caFile: getCluster().caFile, token: 'none' };
    const client = connect({ kubeconfig: writeKubeconfig(getCluster().directory, 'nobody', access) });
    await expect(client.get(namespaces('default'))).rejects.toMatchObject({
      code: 'FLUXQ_KUBERNETES_UNREACHABLE',
      field: 'GET /api/v1/namespaces/default',
      retryable: true,
    });
  });

  test('limits the writes in flight, except for urgent ones', async () => {
    // A namespace gets half of it.
    const client = connect({ maxWrites: 6 });
    await client.create(namespaces(), { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'urgent' } });
    let most = 0;
    proxy.inject(({ path }) => path.includes('/configmaps'), { kind: 'delay', milliseconds: 100 });
    proxy.onRequest = (open) => {
      most = Math.max(most, open.filter(method('POST')).length);
    };
    const order: string[] = [];
    const note = (name: string) => () => order.push(name);
    const burst = Array.from({ length: 12 }, (_, index) =>
      client
        .create(configMaps('default'), named(`burst-${index}`), { metadataOnly: true })
        .then(note('normal')),
    );
    expect(client.waitingWrites).toBe(9);
    const labels = { metadata: { labels: { urgent: 'yes' } } };
    const urgent = client
      .patch(namespaces('urgent'), labels, 'merge', { priority: 'urgent' })
      .then(note('urgent'));
    await Promise.all([...burst, urgent]);
    expect(most).toBe(3);
    expect(order.indexOf('urgent')).toBeLessThan(6);
    expect(client.waitingWrites).toBe(0);
  });

  test('breaks off requests when it is closed, and refuses later ones', async () => {
    const client = connect();
    proxy.inject(everything, { kind: 'silence' });
    const pending = client.get(namespaces('default'));
    await waitFor('the request', () => proxy.requests.length === 1);
    client.close();
    await expect(pending).rejects.toMatchObject({ code: 'FLUXQ_KUBERNETES_CLOSED' });
    await expect(client.get(namespaces('default'))).rejects.toMatchObject({
      code: 'FLUXQ_KUBERNETES_CLOSED',
    });
  });
}
