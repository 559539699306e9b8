/** Objects and requests from which the attacks are made. */
import { MANAGED_BY, MANAGER, MINICLUSTER_LABEL } from '../../constructs/api/labels';
import { type Act, ALPHA } from './attack';

const GROUPS: Readonly<Record<string, readonly [apiVersion: string, plural: string]>> = {
  ConfigMap: ['v1', 'configmaps'],
  CronJob: ['batch/v1', 'cronjobs'],
  DaemonSet: ['apps/v1', 'daemonsets'],
  Deployment: ['apps/v1', 'deployments'],
  FluxJob: ['jobs.converged-computing.org/v1alpha1', 'fluxjobs'],
  FluxSetup: ['flux-framework.org/v1alpha1', 'fluxsetups'],
  Job: ['batch/v1', 'jobs'],
  MiniCluster: ['flux-framework.org/v1alpha2', 'miniclusters'],
  Pod: ['v1', 'pods'],
  ReplicaSet: ['apps/v1', 'replicasets'],
  ReplicationController: ['v1', 'replicationcontrollers'],
  Secret: ['v1', 'secrets'],
  Service: ['v1', 'services'],
  StatefulSet: ['apps/v1', 'statefulsets'],
};

export function pathTo(kind: string, namespace: string, name?: string, subresource?: string): string {
  const [apiVersion, plural] = GROUPS[kind]!;
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return [`${root}/namespaces/${namespace}/${plural}`, name, subresource]
    .filter((part) => part !== undefined)
    .join('/');
}

export interface Made {
  readonly metadata?: object;
  readonly [field: string]: unknown;
}

export function create(kind: string, name: string, more: Made, namespace = ALPHA): Act {
  const [apiVersion] = GROUPS[kind]!;
  const { metadata, ...rest } = more;
  return {
    verb: 'POST',
    path: pathTo(kind, namespace),
    body: { apiVersion, kind, metadata: { name, namespace, ...metadata }, ...rest },
  };
}

export function patch(
  kind: string,
  name: string,
  body: object,
  namespace = ALPHA,
  subresource?: string,
): Act {
  return { verb: 'PATCH', path: pathTo(kind, namespace, name, subresource), body };
}

/** A server-side apply, which creates the object or takes it over. */
export function apply(kind: string, name: string, more: Made, namespace = ALPHA): Act {
  const { body } = create(kind, name, more, namespace);
  return {
    verb: 'PATCH',
    path: pathTo(kind, namespace, name),
    body: body!,
    type: 'application/apply-patch+yaml',
  };
}

export function remove(kind: string, name: string, namespace = ALPHA): Act {
  return { verb: 'DELETE', path: pathTo(kind, namespace, name) };
}

/** @param uid of the MiniCluster; `$NAME` stands for that of the MiniCluster of this name (world.ts) */
export function ownedBy(name: string, uid = `$${name}`, apiVersion = 'flux-framework.org/v1alpha2'): object {
  return {
    labels: { [MINICLUSTER_LABEL]: name, [MANAGED_BY]: MANAGER },
    ownerReferences: [{ apiVersion, kind: 'MiniCluster', name, uid, controller: true }],
  };
}

export const container = (more: object = {}) => ({ name: 'main', image: 'flux', ...more });

/** The template of a Deployment, StatefulSet or Job. */
export function template(pod: object = {}, metadata: object = {}): object {
  return {
    metadata: { labels: { app: 'x' }, ...metadata },
    spec: { restartPolicy: 'Always', automountServiceAccountToken: false, containers: [container()], ...pod },
  };
}

export function job(pod: object = {}, more: object = {}, metadata: object = {}): object {
  return {
    completions: 1,
    parallelism: 1,
    ...more,
    template: template({ restartPolicy: 'Never', ...pod }, metadata),
  };
}

export function deployment(pod: object = {}, more: object = {}): object {
  return { selector: { matchLabels: { app: 'x' } }, ...more, template: template(pod) };
}

export const ROOT = { volumes: [{ name: 'root', hostPath: { path: '/' } }] };
