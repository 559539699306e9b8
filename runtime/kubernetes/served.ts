/** What the apiserver serves, by its discovery documents, which everybody may read. */
import type { KubernetesClient } from './client';
import { ifFound } from './errors';

interface Group {
  readonly versions: readonly { readonly groupVersion: string }[];
}

interface GroupVersion {
  readonly resources: readonly { readonly name: string }[];
}

/** Whether it serves objects of a resource, such as `jobsets`, of an API group in any version. */
export async function isServed(
  client: Pick<KubernetesClient, 'get'>,
  { group, plural }: { readonly group: string; readonly plural: string },
): Promise<boolean> {
  const found = await ifFound(client.get<Group>(`/apis/${group}`));
  for (const { groupVersion } of found?.versions ?? []) {
    const served = await ifFound(client.get<GroupVersion>(`/apis/${groupVersion}`));
    if (served?.resources.some(({ name }) => name === plural)) return true;
  }
  return false;
}
