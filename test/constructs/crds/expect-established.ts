import type { Cluster } from '../../cluster/cluster';

/** Asserts that the apiserver accepts the names and the schema of a custom resource definition. */
export async function expectEstablished(cluster: Cluster, name: string): Promise<void> {
  const { status } = await cluster.get<{ status: { conditions: { type: string; status: string }[] } }>(
    `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`,
  );
  const conditions = Object.fromEntries(status.conditions.map((each) => [each.type, each.status]));
  expect(conditions).toMatchObject({ NamesAccepted: 'True', Established: 'True' });
  expect(conditions.NonStructuralSchema ?? 'False').toBe('False');
}
