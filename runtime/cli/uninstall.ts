/**
 * Takes the stack out of a cluster so that nothing it held is left behind: first what waits is listed or released, then
 * admission and the runtime go. What holds data goes only by its own option.
 */
import {
  ADMITTED_LABEL,
  ENDED_ANNOTATION,
  HOLD,
  PART_OF,
  STACK,
  SUSPEND_ANNOTATION,
} from '../../constructs/api/labels';
import { type FieldPath, JOB_SUSPEND, WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import { pause, systemClock } from '../clock';
import { FluxqError } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import { ifFound, isStatus } from '../kubernetes/errors';
import { fieldAt } from '../kubernetes/fields';
import { kindPath } from '../kubernetes/kind-fields';
import { clusterWide, jobs, type NamespacedPath, pods, resourcePath } from '../kubernetes/paths';
import type { Job, KubernetesObject, Pod } from '../kubernetes/types';
import { jobHandOver, kindHandOver } from '../workloads/hand-over';
import { isGated, podHandOver } from '../workloads/pod';
import { refuseOutsideController } from './outside-controller';

export interface UninstallOptions {
  readonly client: KubernetesClient;
  /** Namespace of the stack. */
  readonly namespace: string;
  /** Starts what waits; what its user holds stays suspended. */
  readonly release: boolean;
  /** Deletes the database, its volume, the CRDs with all their objects, and the namespace, too. */
  readonly deleteData: boolean;
  readonly print: (line: string) => void;
}

const REGISTRATION = 'admissionregistration.k8s.io';
const RBAC = 'rbac.authorization.k8s.io';
const OF_THE_STACK = `${PART_OF}=${STACK}`;

type Kind = readonly [group: string, resource: string];

/** While its server is gone, it keeps every namespace from being deleted. */
const READ_API: readonly Kind[] = [['apiregistration.k8s.io', 'apiservices']];
const ADMISSION: readonly Kind[] = [
  [REGISTRATION, 'mutatingwebhookconfigurations'],
  [REGISTRATION, 'mutatingadmissionpolicybindings'],
  [REGISTRATION, 'mutatingadmissionpolicies'],
  [REGISTRATION, 'validatingadmissionpolicybindings'],
  [REGISTRATION, 'validatingadmissionpolicies'],
];
const RUNTIME: readonly Kind[] = [
  ['apps', 'deployments'],
  ['policy', 'poddisruptionbudgets'],
  ['batch', 'cronjobs'],
  ['batch', 'jobs'],
  // Its alerts say that nobody leads.
  ['monitoring.coreos.com', 'prometheusrules'],
  ['monitoring.coreos.com', 'podmonitors'],
];
const RIGHTS: readonly Kind[] = [
  [RBAC, 'rolebindings'],
  [RBAC, 'roles'],
  ['networking.k8s.io', 'networkpolicies'],
  ['', 'configmaps'],
  ['', 'serviceaccounts'],
];
const CLUSTER_RIGHTS: readonly Kind[] = [
  [RBAC, 'clusterrolebindings'],
  [RBAC, 'clusterroles'],
  ['scheduling.k8s.io', 'priorityclasses'],
  ['flowcontrol.apiserver.k8s.io', 'flowschemas'],
];
const DATA: readonly Kind[] = [
  ['apps', 'statefulsets'],
  ['', 'services'],
  ['', 'secrets'],
];

/**
 * @throws FluxqError FLUXQ_NAMESPACE_UNKNOWN where the stack is in another namespace, FLUXQ_WORKLOADS_WAIT where something waits that `release` would start,
 * FLUXQ_CONTROLLER_RUNS where a controller leads that does not go with the stack
 */
export async function uninstall(options: UninstallOptions): Promise<void> {
  const { client, namespace, release, deleteData, print } = options;
  await refuseOtherNamespace(client, namespace);
  const waiting = release ? [] : await waitingWorkloads(client);
  if (waiting.length > 0) throw waits(waiting);
  await refuseOutsideController(client, namespace);
  // Admission ends first: without its webhook, enabled namespaces could create nothing. Then the runtime, which would requeue
  // what is released. What came meanwhile is released in any case.
  await deleteAll(options, READ_API);
  await deleteAll(options, ADMISSION);
  await deleteAll(options, RUNTIME, namespace);
  await untilGone(client, resourcePath({ group: 'apps', resource: 'deployments', namespace }));
  // One that stood by may lead now.
  await refuseOutsideController(client, namespace);
  for (const workload of await waitingWorkloads(client)) {
    await releaseWorkload(client, workload);
    const { held, object } = workload;
    print(`released ${held.kind} ${object.metadata.namespace}/${object.metadata.name}`);
  }
  await deleteAll(options, CLUSTER_RIGHTS);
  // Those who read how the apiserver names users.
  await deleteAll(options, [[RBAC, 'rolebindings']], 'kube-system');
  await deleteAll(options, deleteData ? [...DATA, ...RIGHTS] : RIGHTS, namespace);
  if (!deleteData) {
    print(
      `kept: the CRDs, and in ${namespace} the database with its Secret and volume (--delete-data deletes them)`,
    );
    return;
  }
  await deleteAll(options, [['apiextensions.k8s.io', 'customresourcedefinitions']]);
  await remove(options, 'namespaces', clusterWide('', 'v1', 'namespaces')(namespace));
}

/**
 * Without it the runtime of the stack would go on without its rights, and suspend again what is released.
 * @throws FluxqError FLUXQ_NAMESPACE_UNKNOWN where the stack is in another namespace
 */
async function refuseOtherNamespace(client: KubernetesClient, namespace: string): Promise<void> {
  const path = clusterWide(RBAC, 'v1', 'clusterrolebindings')();
  const { items } = await client.list<Binding>(path, { labelSelector: OF_THE_STACK });
  const found = [
    ...new Set(items.flatMap(({ subjects = [] }) => subjects.flatMap((each) => each.namespace ?? []))),
  ];
  if (found.length === 0 || found.includes(namespace)) return;
  throw new FluxqError('FLUXQ_NAMESPACE_UNKNOWN', `the stack is in namespace ${found.sort().join(', ')}`, {
    field: '--namespace',
    value: namespace,
    remedy: `give --namespace ${found[0]}`,
  });
}

interface Binding extends KubernetesObject {
  readonly subjects?: readonly { readonly namespace?: string }[];
}

/** How a workload is read, and started without the queue. */
interface Held {
  readonly kind: string;
  readonly path: NamespacedPath;
  readonly isHeld: (object: KubernetesObject) => boolean;
  readonly handOver: (object: KubernetesObject) => readonly object[];
}

const HELD: readonly Held[] = [
  {
    kind: 'Job',
    path: jobs,
    isHeld: (job) => isHeldByQueue(job, JOB_SUSPEND),
    handOver: (job) => jobHandOver(job as Job, true),
  },
  ...WORKLOAD_KINDS.map((kind) => ({
    kind: kind.kind,
    path: kindPath(kind),
    isHeld: (object: KubernetesObject) =>
      isHeldByQueue(object, kind.suspend) && object.metadata.annotations?.[ENDED_ANNOTATION] === undefined,
    handOver: (object: KubernetesObject) => kindHandOver(kind, object, true),
  })),
  {
    kind: 'Pod',
    path: pods,
    isHeld: (pod) => isGated(pod as Pod),
    handOver: (pod) => podHandOver(pod as Pod),
  },
];

interface Waiting {
  readonly held: Held;
  readonly object: KubernetesObject;
}

/** What the queue holds back. A Job that its user suspended or holds is not held by the queue. */
async function waitingWorkloads(client: KubernetesClient): Promise<readonly Waiting[]> {
  const labelSelector = `${ADMITTED_LABEL}=true`;
  const lists = HELD.map(async (held) => {
    const objects = await ifFound(client.list<KubernetesObject>(held.path(), { labelSelector }));
    return (objects?.items ?? []).filter(held.isHeld).map((object) => ({ held, object }));
  });
  return (await Promise.all(lists)).flat();
}

function isHeldByQueue(object: KubernetesObject, suspend: FieldPath): boolean {
  const { labels, annotations } = object.metadata;
  const hold = annotations?.[HOLD] ?? labels?.[HOLD];
  const wished = annotations?.[SUSPEND_ANNOTATION] === 'true' && hold !== 'false';
  return fieldAt(object, suspend) === true && hold !== 'true' && !wished;
}

/** The apiserver applies a policy for a moment after its deletion: it puts the suspension back, or refuses to ungate. */
async function releaseWorkload(client: KubernetesClient, workload: Waiting): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    try {
      if (await isReleased(client, workload)) return;
    } catch (error) {
      // Its user was faster, and may have made another one of its name.
      if (isStatus(error, 404) || isStatus(error, 409)) return;
      // 422: it has changed since it was read.
      if (!isStatus(error, 403) && !isStatus(error, 422)) throw error;
    }
    await pause(systemClock, POLL_MS);
  }
  throw waits([workload]);
}

async function isReleased(client: KubernetesClient, { held, object }: Waiting): Promise<boolean> {
  const { name, namespace, uid } = object.metadata;
  const path = held.path(namespace, name);
  // As it is now: its user, or its controller, may have changed it since it was listed.
  const now = await client.get<KubernetesObject>(path);
  if (now.metadata.uid !== uid) return true;
  const released = await client.patch<KubernetesObject>(path, held.handOver(now), 'json');
  return !held.isHeld(released);
}

async function deleteAll(
  options: UninstallOptions,
  kinds: readonly Kind[],
  namespace?: string,
): Promise<void> {
  for (const [group, resource] of kinds) {
    const place = namespace === undefined ? {} : { namespace };
    for (const { metadata } of await objectsOf(options.client, resourcePath({ group, resource, ...place })))
      await remove(options, resource, resourcePath({ group, resource, name: metadata.name, ...place }));
  }
}

/** A Deployment that is deleted in the foreground goes after its pods. */
async function untilGone(client: KubernetesClient, path: string): Promise<void> {
  while ((await objectsOf(client, path)).length > 0) await pause(systemClock, POLL_MS);
}

async function objectsOf(client: KubernetesClient, path: string): Promise<readonly KubernetesObject[]> {
  try {
    return (await client.list<KubernetesObject>(path, { labelSelector: OF_THE_STACK })).items;
  } catch (error) {
    // An apiserver without MutatingAdmissionPolicy.
    if (isStatus(error, 404)) return [];
    throw error;
  }
}

async function remove({ client, print }: UninstallOptions, resource: string, path: string): Promise<void> {
  try {
    await client.delete(path, { propagationPolicy: 'Foreground' });
    print(`deleted ${resource} ${decodeURIComponent(path.slice(path.lastIndexOf('/') + 1))}`);
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
  }
}

const POLL_MS = 500;
const MAX_TRIES = 120;
const SHOWN = 10;

function waits(waiting: readonly Waiting[]): FluxqError {
  const names = waiting.map(
    ({ held: { kind }, object }) => `${kind} ${object.metadata.namespace}/${object.metadata.name}`,
  );
  const more = names.length > SHOWN ? `, and ${names.length - SHOWN} more` : '';
  return new FluxqError(
    'FLUXQ_WORKLOADS_WAIT',
    `${names.length} workloads wait in the queue and would wait for ever: ${names.slice(0, SHOWN).join(', ')}${more}`,
    { remedy: 'wait for them or delete them, or start them with --release' },
  );
}
