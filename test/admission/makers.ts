/** Objects of all kinds whose pods have some metadata and some spec, and rights to write them. */
import type { KubeObject } from '../cluster/api';
import { CONTAINER, type Fields, job, pod } from './corpus-objects';

export const rule = (apiGroups: string[], resources: string[], verbs: string[]) => ({
  apiGroups,
  resources,
  verbs,
});

/** Verbs of those who write objects. */
export const WRITE = ['create', 'update', 'patch'];
/** To write the kinds of {@link MAKERS}. */
export const WRITE_WORKLOADS = [
  rule(['batch'], ['jobs', 'cronjobs'], WRITE),
  rule(['apps'], ['deployments', 'replicasets', 'statefulsets'], WRITE),
  rule([''], ['pods', 'replicationcontrollers'], WRITE),
];

/** A ClusterRole and its binding to users. */
export function rights(name: string, rules: object[], users: string[], namespace?: string): KubeObject[] {
  const rbac = 'rbac.authorization.k8s.io';
  const metadata = namespace === undefined ? { name } : { name, namespace };
  return [
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name }, rules } as KubeObject,
    {
      apiVersion: `${rbac}/v1`,
      kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
      subjects: users.map((user) => ({ kind: 'User', apiGroup: rbac, name: user })),
    },
  ];
}

const template = (metadata: Fields = {}, spec: Fields = {}) => ({
  metadata: { ...metadata, labels: { app: 'x', ...(metadata.labels as object | undefined) } },
  spec: { containers: [CONTAINER], ...spec },
});
const app = (kind: string) => (metadata?: Fields, spec?: Fields) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { generateName: 'app-' },
  spec: {
    selector: { matchLabels: { app: 'x' } },
    serviceName: kind === 'StatefulSet' ? 'x' : undefined,
    template: template(metadata, spec),
  },
});
/** An object whose pods have this metadata of a workload and this pod spec. */
export const MAKERS: Readonly<Record<string, (metadata?: Fields, spec?: Fields) => KubeObject>> = {
  Job: (metadata = {}, spec = {}) => {
    const made = job({}, metadata) as KubeObject & { spec: { template: { spec: Fields } } };
    Object.assign(made.spec.template.spec, spec);
    return made;
  },
  Pod: (metadata = {}, spec = {}) => pod(spec, metadata),
  Deployment: app('Deployment'),
  ReplicaSet: app('ReplicaSet'),
  StatefulSet: app('StatefulSet'),
  ReplicationController: (metadata, spec) => ({
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { generateName: 'app-' },
    spec: { selector: { app: 'x' }, template: template(metadata, spec) },
  }),
  CronJob: (metadata = {}, spec = {}) => ({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { generateName: 'cron-' },
    spec: {
      schedule: '0 0 1 1 *',
      jobTemplate: {
        metadata,
        spec: { template: template({}, { restartPolicy: 'Never', ...spec }) },
      },
    },
  }),
};

export const daemonSet = app('DaemonSet');
