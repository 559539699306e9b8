/** Which priority level the apiserver gives to a request. */
import type { ApiClient } from '../../cluster/api';
import type { Cluster, KubeObject } from '../../cluster/cluster';

const GROUP = '/apis/flowcontrol.apiserver.k8s.io/v1';

/** The names of the FlowSchema and of the level that a request of this client has. */
export async function placeOf(cluster: Cluster, client: ApiClient, path: string): Promise<string> {
  const { headers } = await client.send('GET', path);
  const nameOf = async (kind: string, header: string) => {
    const { items } = await cluster.get<{ items: KubeObject[] }>(`${GROUP}/${kind}`);
    return items.find(({ metadata }) => metadata.uid === headers[header])?.metadata.name ?? 'none';
  };
  const schema = await nameOf('flowschemas', 'x-kubernetes-pf-flowschema-uid');
  return `${schema} ${await nameOf('prioritylevelconfigurations', 'x-kubernetes-pf-prioritylevel-uid')}`;
}
