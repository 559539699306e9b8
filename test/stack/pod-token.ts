import type { KubernetesClient } from '../../runtime/kubernetes/client';
import type { Pod } from '../../runtime/kubernetes/types';

/**
 * A token of the pod's default ServiceAccount that is bound to the pod, as the kubelet mounts it.
 * @param audience @default - the apiserver
 */
export async function podToken(
  client: KubernetesClient,
  { metadata: { name, namespace, uid } }: Pod,
  audience?: string,
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`;
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name, uid };
  const spec = { expirationSeconds: 600, boundObjectRef, ...(audience && { audiences: [audience] }) };
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
  return (await client.create<{ status: { token: string } }>(path, body)).status.token;
}
