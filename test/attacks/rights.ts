/** What RBAC gives to the people of the attacks, and to the scheduler's token, which the stack of the attacks does not have. */
import type { KubeObject } from '../cluster/api';
import { ALPHA, BETA, PLAIN, ROLES, type Role, STRICT } from './attack';

const RBAC = 'rbac.authorization.k8s.io';

function binding(role: Role, namespace: string, clusterRole: string): KubeObject {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata: { name: role.replaceAll(' ', '-'), namespace },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: clusterRole },
    subjects: [{ apiGroup: RBAC, kind: 'User', name: ROLES[role].user }],
  };
}

const WRITES = ['get', 'patch', 'update'];

function onlyTo(name: string, apiGroup: string, resource: string, verbs: readonly string[]): KubeObject {
  const rules = [{ apiGroups: [apiGroup], resources: [resource], verbs }];
  return { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name }, rules };
}

export const RIGHTS: readonly KubeObject[] = [
  ...[ALPHA, STRICT, PLAIN].map((namespace) => binding('editor', namespace, 'edit')),
  { ...binding('editor', BETA, 'edit'), metadata: { name: 'editor', namespace: BETA } },
  binding('neighbour', BETA, 'edit'),
  binding('account', ALPHA, 'edit'),
  binding('colleague', ALPHA, 'edit'),
  {
    ...onlyTo('subresources', '', '', []),
    rules: [
      {
        apiGroups: [''],
        resources: ['pods/resize', 'pods/status', 'pods/ephemeralcontainers'],
        verbs: WRITES,
      },
      { apiGroups: ['batch'], resources: ['jobs/status'], verbs: WRITES },
    ],
  },
  {
    ...binding('colleague', ALPHA, 'subresources'),
    metadata: { name: 'colleague-subresources', namespace: ALPHA },
  },
  onlyTo('pods-only', '', 'pods', ['create', 'get', 'patch']),
  binding('pod creator', ALPHA, 'pods-only'),
  onlyTo('miniclusters-only', 'flux-framework.org', 'miniclusters', ['create']),
  binding('cluster creator', ALPHA, 'miniclusters-only'),
  binding('operator', ALPHA, 'cluster-admin'),
  // As the stack binds it (constructs/fluxqueue/rbac.ts); the scheduler itself is that of the cluster.
  ...['kube-scheduler', 'volume-scheduler'].map((role) => ({
    ...binding('scheduler token', ALPHA, `system:${role}`),
    kind: 'ClusterRoleBinding',
    metadata: { name: `scheduler-token-${role}` },
  })),
];
