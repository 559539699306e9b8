import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { jobs, namespaced } from '../../runtime/kubernetes/paths';
import type { Job, KubernetesObject } from '../../runtime/kubernetes/types';
import { applyPatch, deleteObject } from '../../runtime/kubernetes/writes';
import { describeCluster } from '../cluster/suite';

const configMaps = namespaced('', 'v1', 'configmaps');

const job = (name: string) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: {
    suspend: true,
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] } },
  },
});

describeCluster('writes to one object', (getCluster) => {
  let client: KubernetesClient;
  beforeAll(() => {
    client = createClient({ kubeconfig: getCluster().kubeconfig });
  });
  afterAll(() => client.close());

  const stored = (name: string) => client.get<Job>(jobs('default', name));
  const release = (uid: string) =>
    ({ type: 'merge', body: { metadata: { uid }, spec: { suspend: false } } }) as const;

  test('a merge patch changes the object with its UID', async () => {
    const { metadata } = await client.create<Job>(jobs('default'), job('mine'));
    const left: (number | undefined)[] = [];
    const outcome = await applyPatch(client, jobs('default', 'mine'), release(metadata.uid), (object) =>
      left.push(object.metadata.generation),
    );
    expect([outcome, left]).toEqual(['done', [metadata.generation! + 1]]);
    expect((await stored('mine')).spec.suspend).toBe(false);
    // A repeated write is also done.
    await expect(applyPatch(client, jobs('default', 'mine'), release(metadata.uid))).resolves.toBe('done');
  });

  test('no write changes another object of the same name', async () => {
    const { metadata } = await client.create<Job>(jobs('default'), job('reborn'));
    const path = jobs('default', 'reborn');
    await deleteObject(client, path, { uid: metadata.uid, propagationPolicy: 'Background' });
    await client.create<Job>(jobs('default'), job('reborn'));
    const before = await stored('reborn');

    const { uid } = metadata;
    const test = { op: 'test', path: '/metadata/uid', value: uid };
    const replace = { op: 'replace', path: '/spec/suspend', value: false };
    expect(await applyPatch(client, path, release(uid))).toBe('gone');
    expect(await applyPatch(client, path, { type: 'json', body: [test, replace] })).toBe('gone');
    expect(await deleteObject(client, path, { uid })).toBe('gone');
    const after = await stored('reborn');
    expect([after.metadata.uid, after.spec]).toEqual([before.metadata.uid, before.spec]);
  });

  test.each(['/apis/batch/v1beta9', '/apis/none.example/v1'])(
    'an object of %s, which is not served, is not reported as gone',
    async (version) => {
      const path = `${version}/namespaces/default/jobs/a`;
      await expect(applyPatch(client, path, release('a'))).rejects.toMatchObject({ status: 404 });
      await expect(deleteObject(client, path, { uid: 'a' })).rejects.toMatchObject({ status: 404 });
    },
  );

  test('a write to an object that does not exist reports gone and creates nothing', async () => {
    const path = jobs('default', 'nothing');
    const uid = '00000000-0000-0000-0000-000000000000';
    expect(await applyPatch(client, path, release(uid))).toBe('gone');
    expect(await applyPatch(client, `${path}/status`, release(uid))).toBe('gone');
    expect(await deleteObject(client, path, { uid })).toBe('gone');
    await expect(stored('nothing')).rejects.toMatchObject({ status: 404 });
  });

  test('a test operation compares every character as the apiserver has it', async () => {
    const characters = Array.from({ length: 0x3000 }, (_, code) => String.fromCodePoint(code)).slice(1);
    const annotations = { all: `${characters.join('')} 😀`, note: 'R&D: a < b && c > d' };
    const path = configMaps('default', 'characters');
    await client.create(configMaps('default'), { metadata: { name: 'characters', annotations } });
    const body = [
      { op: 'test', path: '/metadata/annotations', value: annotations },
      { op: 'add', path: '/data', value: { text: annotations.all } },
    ];
    expect(await applyPatch(client, path, { type: 'json', body })).toBe('done');
    const { metadata, data } = await client.get<KubernetesObject & { data: object }>(path);
    expect([metadata.annotations, data]).toEqual([annotations, { text: annotations.all }]);
  });

  test('a change by another client is a conflict, by resourceVersion or by a test operation', async () => {
    const { metadata } = await client.create<KubernetesObject>(configMaps('default'), {
      metadata: { name: 'contested' },
      data: { owner: 'us' },
    });
    const path = configMaps('default', 'contested');
    const { uid, resourceVersion } = metadata;
    await client.patch(path, { data: { owner: 'them' } }, 'merge', { fieldManager: 'them' });
    const merge = {
      type: 'merge',
      body: { metadata: { uid, resourceVersion }, data: { owner: 'us' } },
    } as const;
    expect(await applyPatch(client, path, merge)).toBe('conflict');
    const operations = [
      { op: 'test', path: '/metadata/uid', value: uid },
      { op: 'test', path: '/data/owner', value: 'us' },
    ];
    expect(await applyPatch(client, path, { type: 'json', body: operations })).toBe('conflict');
  });

  test('a conflict does not read the whole object', async () => {
    const { metadata } = await client.create<KubernetesObject>(configMaps('default'), {
      metadata: { name: 'large' },
      data: { all: 'x'.repeat(500_000) },
    });
    const read = jest.spyOn(client, 'get');
    try {
      const body = [
        { op: 'test', path: '/metadata/uid', value: metadata.uid },
        { op: 'test', path: '/metadata/generation', value: 2 },
      ];
      expect(await applyPatch(client, configMaps('default', 'large'), { type: 'json', body })).toBe(
        'conflict',
      );
      const answers = await Promise.all(read.mock.results.map(({ value }) => value as Promise<unknown>));
      expect(answers.map((answer) => JSON.stringify(answer).length < 5_000)).toEqual([true]);
    } finally {
      read.mockRestore();
    }
  });

  test('a patch to an invalid object is an error', async () => {
    const { metadata } = await client.create<Job>(jobs('default'), job('invalid'));
    const body = { metadata: { uid: metadata.uid }, spec: { parallelism: -1 } };
    await expect(
      applyPatch(client, jobs('default', 'invalid'), { type: 'merge', body }),
    ).rejects.toMatchObject({
      code: 'FLUXQ_KUBERNETES_INVALID',
      message: expect.stringContaining('spec.parallelism'),
    });
  });
});
