/** What the apiserver serves, by its discovery documents, which everybody may read. */
import type { KubernetesClient } from './client';

interface Groups {
  readonly groups: readonly {
    readonly name: string;
    readonly versions: readonly { readonly groupVersion: string }[];
  }[];
}

interface GroupVersion {
  readonly resources: readonly { readonly name: string }[];
}

/**
 * Whether it serves objects of a resource, such as `jobsets`, of an API group in any version. A 404 says nothing: something before the
 * apiserver may answer it.
 * @throws if the apiserver does not say it
 */
export async function isServed(
  client: Pick<KubernetesClient, 'get'>,
  { group, plural }: { readonly group: string; readonly plural: string },
): Promise<boolean> {
  const { groups } = await client.get<Groups>('/apis');
  const versions = groups.find(({ name }) => name === group)?.versions ?? [];
  for (const { groupVersion } of versions) {
    const { resources } = await client.get<GroupVersion>(`/apis/${groupVersion}`);
    if (resources.some(({ name }) => name === plural)) return true;
  }
  return false;
}
