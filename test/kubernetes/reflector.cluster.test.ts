// Own cluster: the apiserver is restarted.
import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { namespaced } from '../../runtime/kubernetes/paths';
import { Reflector, type ReflectorOptions, type WatchEnd } from '../../runtime/kubernetes/reflector';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import type { Cluster } from '../cluster/cluster';
import { describeOwnCluster } from '../cluster/suite';
import { waitFor } from '../cluster/wait';
import { type FaultProxy, isWatch, type Match, startFaultProxy } from './fault-proxy';
import { recordingLogger } from './recording-logger';

interface ConfigMap extends KubernetesObject {
  readonly data: Record<string, string>;
}

const configMaps = namespaced('', 'v1', 'configmaps');
/** Asks for one object by name after a broken connection. */
const isCheck: Match = ({ path }) => path.includes('metadata.name');
const isList: Match = (request) => request.method === 'GET' && !isWatch(request) && !isCheck(request);
/** Milliseconds: a machine that is busy, too, opens a watch within them. */
const IDLE_MS = 2_000;
const watches = (proxy: FaultProxy) => proxy.requests.filter(isWatch).length;
const lists = (proxy: FaultProxy) => proxy.requests.filter(isList).length;

describeOwnCluster('reflector', tests, { scheduler: false });

function tests(getCluster: () => Cluster): void {
  /** Writes directly to the apiserver. */
  let admin: KubernetesClient;
  let client: KubernetesClient;
  let proxy: FaultProxy;
  let namespace = '';
  let count = 0;
  let reflector: Reflector<ConfigMap, string>;
  let logger: ReturnType<typeof recordingLogger>;
  let changes: string[];
  let ends: WatchEnd[];

  beforeAll(() => {
    admin = createClient({ kubeconfig: getCluster().kubeconfig });
  });
  afterAll(() => admin.close());

  beforeEach(async () => {
    count += 1;
    namespace = `reflector-${count}`;
    await getCluster().create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    proxy = await startFaultProxy(getCluster());
    client = createClient({ kubeconfig: proxy.kubeconfig, timeout: 2_000 });
    logger = recordingLogger();
    changes = [];
    ends = [];
  });
  afterEach(async () => {
    reflector.stop();
    client.close();
    await proxy.stop();
  });

  async function follow(options: Partial<ReflectorOptions<ConfigMap, string>> = {}): Promise<void> {
    reflector = new Reflector<ConfigMap, string>({
      client,
      path: configMaps(namespace),
      // Without kube-root-ca.crt, which every namespace has.
      labelSelector: 'test',
      project: ({ data }) => data.value!,
      onChange: (key, now, before) => changes.push(`${key.split('/')[1]}: ${before ?? '-'} > ${now ?? '-'}`),
      onWatchEnd: (end) => ends.push(end),
      logger,
      backoff: { first: 20, most: 200 },
      ...options,
    });
    reflector.start();
    await reflector.synced;
  }

  const labels = { test: 'yes' };
  const put = (name: string, value: string) =>
    admin.create(configMaps(namespace), { metadata: { name, labels }, data: { value } });
  const set = (name: string, value: string) =>
    admin.patch(configMaps(namespace, name), { data: { value } }, 'merge');
  const remove = (name: string) => admin.delete(configMaps(namespace, name));
  const sees = (name: string, value: string | undefined) =>
    waitFor(`${name} = ${value}`, () => reflector.get(`${namespace}/${name}`) === value);
  const warnings = () => logger.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields);
  const watching = () => waitFor('an open watch', () => proxy.openWatches > 0);

  test('lists in pages, then reports new, changed and deleted objects', async () => {
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => put(name, '1')));
    await follow({ pageSize: 2, indexes: { value: (value) => [value] } });
    expect([lists(proxy), reflector.size]).toEqual([3, 5]);
    expect(changes.sort()).toEqual(['a', 'b', 'c', 'd', 'e'].map((name) => `${name}: - > 1`));
    expect(reflector.byIndex('value', '1')).toHaveLength(5);
    changes.length = 0;
    await put('f', '1');
    await set('a', '2');
    await remove('b');
    await sees('b', undefined);
    expect(changes).toEqual(['f: - > 1', 'a: 1 > 2', 'b: 1 > -']);
    expect(reflector.byIndex('value', '2')).toEqual(['2']);
    expect(reflector.list().sort()).toEqual(['1', '1', '1', '1', '2']);
    expect(warnings()).toEqual([]);
  });

  test('resumes after connection resets without listing again', async () => {
    await put('a', '1');
    await follow();
    for (const value of ['2', '3', '4']) {
      await watching();
      proxy.resetConnections();
      await set('a', value);
      await sees('a', value);
    }
    expect(lists(proxy)).toBe(1);
    expect(ends).toEqual(['failed', 'failed', 'failed']);
    expect(changes).toEqual(['a: - > 1', 'a: 1 > 2', 'a: 2 > 3', 'a: 3 > 4']);
  });

  test('resumes a watch that ended in the middle of an event', async () => {
    await put('a', '1');
    await follow();
    await watching();
    proxy.cut(isWatch);
    await set('a', 'x'.repeat(100_000));
    await sees('a', 'x'.repeat(100_000));
    expect(ends).toEqual(['failed']);
    expect(lists(proxy)).toBe(1);
  });

  test('opens a silent watch again and reports the changes that it missed', async () => {
    await put('a', '1');
    await put('b', '1');
    await follow({ idle: IDLE_MS });
    await watching();
    proxy.mute(isWatch);
    await set('a', '2');
    await remove('b');
    await sees('a', '2');
    await sees('b', undefined);
    expect(ends[0]).toBe('silent');
    expect(lists(proxy)).toBe(1);
  });

  test('opens a quiet watch again without a warning', async () => {
    await put('a', '1');
    await follow({ idle: IDLE_MS });
    await waitFor('three watches', () => watches(proxy) >= 3);
    expect(new Set(ends)).toEqual(new Set(['silent']));
    expect(logger.lines.filter(({ level }) => level !== 'debug')).toEqual([]);
    await set('a', '2');
    await sees('a', '2');
    expect(lists(proxy)).toBe(1);
  });

  test('notices that the connection delivers nothing any more', async () => {
    await put('a', '1');
    await follow({ idle: IDLE_MS });
    await watching();
    proxy.stall();
    await set('a', '2');
    await waitFor('a failed attempt', () => ends.includes('failed'));
    expect(warnings()[0]?.error).toContain('FLUXQ_KUBERNETES_TIMEOUT');
    proxy.resume();
    await sees('a', '2');
  });

  test('lists again when its watch expires, and reports deletions in the gap', async () => {
    // The newest one stays: were it gone, everything would be listed for that.
    for (const name of ['b', 'c', 'a']) await put(name, '1');
    await follow();
    await watching();
    const lift = proxy.inject(isWatch, { kind: 'reset' });
    proxy.resetConnections();
    await set('a', '2');
    await remove('b');
    await remove('c');
    await put('c', '9');
    await put('d', '1');
    proxy.inject(isWatch, { kind: 'expire' }, 1);
    changes.length = 0;
    lift();
    await sees('d', '1');
    expect(ends).toContain('expired');
    expect(lists(proxy)).toBe(2);
    // c was replaced by another object of the same name, so it is reported as deleted and then as new.
    expect(changes.sort()).toEqual(['a: 1 > 2', 'b: 1 > -', 'c: - > 9', 'c: 1 > -', 'd: - > 1']);
  });

  test('lists again when a watch is refused with 410', async () => {
    await put('a', '1');
    await put('newest', '1');
    await follow();
    await watching();
    proxy.inject(isWatch, { kind: 'answer', status: 410, reason: 'Expired' }, 1);
    proxy.resetConnections();
    await remove('a');
    await sees('a', undefined);
    expect(lists(proxy)).toBe(2);
  });

  test('lists in one page when the next page has expired', async () => {
    for (const name of ['a', 'b', 'c']) await put(name, '1');
    proxy.inject(
      ({ path }) => path.includes('continue='),
      { kind: 'answer', status: 410, reason: 'Expired' },
      1,
    );
    await follow({ pageSize: 1 });
    expect(reflector.size).toBe(3);
    expect(changes.sort()).toEqual(['a: - > 1', 'b: - > 1', 'c: - > 1']);
    expect(proxy.requests.filter(isList).map(({ path }) => /limit|continue/.test(path))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('retries with backoff while lists and watches are answered with 429 and 500', async () => {
    await put('a', '1');
    proxy.inject(isList, { kind: 'answer', status: 500 }, 2);
    proxy.inject(isList, { kind: 'answer', status: 429, retryAfter: 0 }, 1);
    await follow();
    expect(lists(proxy)).toBe(4);
    expect(warnings().map(({ failures }) => failures)).toEqual([1, 2]);
    await watching();
    proxy.inject(isWatch, { kind: 'answer', status: 429, retryAfter: 0 }, 2);
    proxy.inject(isWatch, { kind: 'answer', status: 500 }, 2);
    proxy.resetConnections();
    await set('a', '2');
    await sees('a', '2');
    expect(
      warnings()
        .slice(2)
        .map(({ failures }) => failures),
    ).toEqual([3, 4, 5, 6, 7]);
    expect(lists(proxy)).toBe(4);
  });

  test('uses backoff for a server that ends every watch at once', async () => {
    await follow();
    await watching();
    proxy.inject(isWatch, { kind: 'answer', status: 200 });
    proxy.end(isWatch);
    await waitFor('three failures', () => warnings().some(({ failures }) => failures === 3));
    expect(watches(proxy)).toBeLessThan(6);
  });

  test('resumes after a restart of the apiserver', async () => {
    await put('a', '1');
    await put('b', '1');
    await follow();
    await watching();
    await getCluster().restartApiserver();
    await waitFor('a write', () => set('a', '2'));
    await remove('b');
    await sees('a', '2');
    await sees('b', undefined);
    expect(reflector.size).toBe(1);
  });

  test('has the time of the last message of the server', async () => {
    await put('a', '1');
    await follow();
    const synced = reflector.lastSync!;
    await set('a', '2');
    await sees('a', '2');
    expect(reflector.lastSync).toBeGreaterThan(synced);
  });

  test('reports nothing after it was stopped', async () => {
    await put('a', '1');
    await follow();
    await watching();
    reflector.stop();
    await waitFor('the end of the watch', () => proxy.openWatches === 0);
    await set('a', '2');
    expect(changes).toEqual(['a: - > 1']);
    expect(reflector.get(`${namespace}/a`)).toBe('1');
  });

  test('logs an exception of onChange and reports later changes', async () => {
    await put('a', '1');
    let thrown = 0;
    await follow({
      onChange: (key, now) => {
        changes.push(`${key} ${now}`);
        if (now === 'bad') {
          thrown += 1;
          throw new Error('consumer broke');
        }
      },
    });
    await watching();
    await set('a', 'bad');
    await waitFor('the exception', () => thrown === 1);
    await set('a', 'good');
    await sees('a', 'good');
    expect(warnings()).toContainEqual(expect.objectContaining({ err: new Error('consumer broke') }));
  });
}
