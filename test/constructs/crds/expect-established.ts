import type { Cluster } from '../../cluster/cluster';

interface Definition {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/**
 * Asserts that the apiserver accepts the names and the schema of a custom resource definition. It serves the resource
 * a moment before it writes the condition Established, and refuses names without ever writing it.
 */
export async function expectEstablished(cluster: Cluster, name: string): Promise<void> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
  const conditions = await cluster.waitFor(`the conditions of ${name}`, async () => {
    const { status } = await cluster.get<Definition>(path);
    const found = Object.fromEntries((status?.conditions ?? []).map((each) => [each.type, each.status]));
    return (found.Established === 'True' || found.NamesAccepted === 'False') && found;
  });
  expect(conditions).toMatchObject({ NamesAccepted: 'True', Established: 'True' });
  expect(conditions.NonStructuralSchema ?? 'False').toBe('False');
}
