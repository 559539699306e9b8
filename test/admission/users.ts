/** Creates objects as any user, by impersonation with the administrator's token. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { LEADER_WORKER_SET } from '../../constructs/api/leader-worker-set';
import { makerKinds, WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import { kindPath } from '../../runtime/kubernetes/kind-fields';
import type { Cluster, KubeObject } from '../cluster/cluster';

export interface Reply {
  readonly status: number;
  readonly body: KubeObject & { readonly message?: string };
  /** The Warning headers, which kubectl prints. */
  readonly warnings: readonly string[];
}

export interface Users {
  /**
   * @param user the impersonated user, in a group to which RBAC allows everything, so that only admission denies; undefined
   *   for the administrator
   */
  send(user: string | undefined, method: string, path: string, body?: unknown): Promise<Reply>;
  create(user: string | undefined, namespace: string, object: KubeObject): Promise<Reply>;
  /** Merge patch. */
  patch(user: string | undefined, namespace: string, object: KubeObject, body: unknown): Promise<Reply>;
  close(): void;
}

/** A user without a role in the queue. */
export const ALICE = 'alice';
export const CONTROLLER = 'system:serviceaccount:fluxqueue-system:fluxqueue-controller';
export const KUEUE = 'system:serviceaccount:kueue-system:kueue-controller-manager';

/** Unlike system:masters, it is not exempt from any rule of admission. */
const GROUP = 'testers';

/** To be applied before the first request of a user. */
export const USER_RIGHTS: KubeObject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: GROUP },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: GROUP }],
};

const PLURAL: Readonly<Record<string, string>> = {
  Job: '/apis/batch/v1/namespaces/%/jobs',
  Pod: '/api/v1/namespaces/%/pods',
  CronJob: '/apis/batch/v1/namespaces/%/cronjobs',
  Deployment: '/apis/apps/v1/namespaces/%/deployments',
  ReplicaSet: '/apis/apps/v1/namespaces/%/replicasets',
  DaemonSet: '/apis/apps/v1/namespaces/%/daemonsets',
  StatefulSet: '/apis/apps/v1/namespaces/%/statefulsets',
  ReplicationController: '/api/v1/namespaces/%/replicationcontrollers',
  ...Object.fromEntries(
    [...WORKLOAD_KINDS, ...makerKinds(), LEADER_WORKER_SET].map((kind) => [kind.kind, kindPath(kind)('%')]),
  ),
  MiniCluster: '/apis/flux-framework.org/v1alpha2/namespaces/%/miniclusters',
};

/** @param group the group of impersonated users; null: they have only the rights that a test gives them by name */
export function usersOf(cluster: Cluster, group: string | null = GROUP): Users {
  const agent = new Agent({ ca: readFileSync(cluster.caFile), keepAlive: true });
  const token = cluster.token('admin');
  const send: Users['send'] = (user, method, path, body) => {
    const payload = body === undefined ? '' : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      'content-length': Buffer.byteLength(payload),
      ...(user === undefined
        ? {}
        : { 'impersonate-user': user, ...(group === null ? {} : { 'impersonate-group': group }) }),
    };
    return new Promise((resolve, reject) => {
      const outgoing = request(new URL(path, cluster.server), { method, agent, headers }, (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            warnings: incoming.headersDistinct.warning ?? [],
            body: JSON.parse(Buffer.concat(chunks).toString('utf8')),
          }),
        );
      });
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  };
  const collection = (namespace: string, { kind }: KubeObject) => PLURAL[kind]!.replace(/%(25)?/, namespace);
  return {
    send,
    create: (user, namespace, object) => send(user, 'POST', collection(namespace, object), object),
    patch: (user, namespace, object, body) =>
      send(user, 'PATCH', `${collection(namespace, object)}/${object.metadata.name}`, body),
    close: () => agent.destroy(),
  };
}

/** The object of a request that must succeed. */
export async function accepted(reply: Promise<Reply>): Promise<KubeObject> {
  const { status, body } = await reply;
  expect(body.message ?? '').toBe('');
  expect(status).toBeLessThan(300);
  return body;
}

/** Expects that a guard denies the request with a message that starts like this. */
export async function denied(reply: Promise<Reply>, start: string): Promise<void> {
  const { status, body } = await reply;
  expect(body.message).toContain(`denied request: ${start}`);
  expect(status).toBe(403);
}
