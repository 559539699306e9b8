/** A user of the cluster, and what users may do. */
import type { Cluster } from '../cluster/cluster';
import type { StaticUser } from '../cluster/credentials';

export const ADA = { name: 'ada', token: 'token-of-ada', groups: [] };

/** Gives the user a role that Kubernetes has for users in one namespace. */
export async function giveRole(
  cluster: Cluster,
  { name }: Pick<StaticUser, 'name'>,
  role: 'edit' | 'view',
  namespace: string,
): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io';
  await cluster.apply({
    apiVersion: `${apiGroup}/v1`,
    kind: 'RoleBinding',
    metadata: { name, namespace },
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup, kind: 'User', name }],
  });
}
