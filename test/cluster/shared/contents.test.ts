/** A cluster that suites share is restored between them, whatever they made in it. */
import { describeCluster } from '../suite';
import { contentsOf, restore } from './contents';

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
    await getCluster().create(left);
    await restore(api, before);
    expect((await api.send('GET', `${await api.collection(left)}/left`)).status).toBe(404);
  });
});
