/** A cluster that suites share is restored between them, whatever they made in it. */
import type { ApiClient, KubeObject } from '../api';
import { describeCluster } from '../suite';
import { contentsOf, restore } from './contents';
import { expectNothingElse, storedKeys } from './stored';

interface Kind {
  readonly kind: string;
  readonly name: string;
  readonly verbs: readonly string[];
}

/** Creates an object, of each kind and version that asks for no more than a name, and returns their kinds. */
async function makeOneOfEach(api: ApiClient): Promise<readonly string[]> {
  const { groups } = await api.get<{ groups: { versions: { groupVersion: string }[] }[] }>('/apis');
  const versions = [
    'v1',
    ...groups.flatMap((group) => group.versions.map(({ groupVersion }) => groupVersion)),
  ];
  const made: string[] = [];
  for (const [index, apiVersion] of versions.entries()) {
    const path = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
    const { resources } = await api.get<{ resources: readonly Kind[] }>(path);
    const kinds = resources.filter(({ name, verbs }) => !name.includes('/') && verbs.includes('create'));
    for (const { kind } of kinds) {
      const object: KubeObject = {
        apiVersion,
        kind,
        metadata: { name: `left-${index}`, namespace: 'default' },
      };
      const { status } = await api.send('POST', await api.collection(object), object);
      if (status === 201) made.push(kind);
    }
  }
  return [...new Set(made)];
}

describeCluster('a shared cluster', (getCluster) => {
  // The group of FluxSetups prefers another version, in which they do not exist.
  test.each([
    ['flux-framework.org/v1alpha1', 'FluxSetup'],
    ['v1', 'ConfigMap'],
    ['rbac.authorization.k8s.io/v1', 'Role'],
  ])('is rid of what a suite left of %s %s', async (apiVersion, kind) => {
    const { api } = getCluster();
    const left = { apiVersion, kind, metadata: { name: 'left', namespace: 'default' } };
    const before = await contentsOf(api);
    const stored = await storedKeys(getCluster().address);
    await getCluster().create(left);
    await expect(expectNothingElse(getCluster().address, stored)).rejects.toThrow('/default/left');
    await restore(api, before);
    expect((await api.send('GET', `${await api.collection(left)}/left`)).status).toBe(404);
    await expectNothingElse(getCluster().address, stored);
  });

  test('is rid of objects of every kind that can be made by name alone, as etcd shows', async () => {
    const { api, address } = getCluster();
    const before = await contentsOf(api);
    const stored = await storedKeys(address);
    expect(await makeOneOfEach(api)).toEqual(expect.arrayContaining(['Node', 'PriorityClass', 'FluxSetup']));
    const left = [...(await storedKeys(address))].filter((key) => !stored.has(key));
    expect(left.length).toBeGreaterThan(20);
    await restore(api, before);
    await expectNothingElse(address, stored);
  });
});
