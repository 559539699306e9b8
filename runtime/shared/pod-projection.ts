/**
 * The part of a pod that is kept in memory: what the runtime reads, about a tenth. Environments, commands, mounts and
 * probes are most of a pod, and a cluster has ten times more pods outside the queue than in it. Of what is left most is the
 * same in many pods, so it is interned: nobody may change it.
 */
import { COMPLETION_INDEX_ANNOTATION } from '../../constructs/api/labels';
import type { InternPool } from '../intern';
import type { ObjectMeta, Pod, PodSpec } from '../kubernetes/types';
import { MIRROR_ANNOTATION } from './agents';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Container = Pod['spec']['containers'][number];
type Status = NonNullable<Pod['status']>;
type ContainerStatus = NonNullable<Status['containerStatuses']>[number];

const OWNER = ['apiVersion', 'kind', 'name', 'uid', 'controller'] as const;
const SPEC = [
  'resources',
  'overhead',
  'nodeSelector',
  'affinity',
  'tolerations',
  'topologySpreadConstraints',
  'resourceClaims',
  'runtimeClassName',
  'schedulingGates',
  'schedulerName',
  'priority',
  'priorityClassName',
  'restartPolicy',
  'activeDeadlineSeconds',
  'terminationGracePeriodSeconds',
] as const;
const CONTAINER = ['name', 'image', 'restartPolicy', 'resources'] as const;
const PORT = ['hostPort', 'hostIP', 'protocol'] as const;
const VOLUME = ['name', 'persistentVolumeClaim', 'ephemeral', 'iscsi', 'rbd'] as const;
const STATUS = ['reason', 'message', 'startTime', 'resourceClaimStatuses'] as const;
const CONDITION = ['type', 'status', 'reason', 'message'] as const;
const LAST_END = ['exitCode', 'reason'] as const;
const CONDITIONS: ReadonlySet<string> = new Set(['PodScheduled', 'Ready', 'DisruptionTarget']);

/** @param before the same pod as it was kept before */
export function projectPod({ metadata, spec, status }: Pod, pool: InternPool, before?: Pod): Pod {
  return {
    metadata: {
      ...keptMetadata(metadata, pool),
      ...(isEnded(status) && firstDeletion(before)),
      ...mapped('annotations', keptAnnotations(metadata.annotations, pool)),
    },
    spec: keptPodSpec(spec, pool),
    ...mapped('status', status && statusOf(status, pool)),
  };
}

function isEnded(status: Pod['status']): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/**
 * When somebody first asked the pod to end. The last delete of its kubelet, without a grace period, moves that to its end, as if it had
 * ended before.
 */
function firstDeletion(
  before: Pod | undefined,
): Pick<ObjectMeta, 'deletionTimestamp' | 'deletionGracePeriodSeconds'> {
  const { deletionTimestamp, deletionGracePeriodSeconds } = before?.metadata ?? {};
  return {
    ...mapped('deletionTimestamp', deletionTimestamp),
    ...mapped(
      'deletionGracePeriodSeconds',
      deletionTimestamp === undefined ? undefined : deletionGracePeriodSeconds,
    ),
  };
}

/** What the runtime reads of the metadata of a pod or a Job, without annotations. What only this object has is not interned. */
export function keptMetadata(metadata: ObjectMeta, pool: InternPool): ObjectMeta {
  const { name, uid, resourceVersion, creationTimestamp, namespace, labels, ownerReferences } = metadata;
  const { generation, deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  const owners = ownerReferences?.map((owner) => pick(owner, OWNER));
  return {
    name,
    uid,
    resourceVersion,
    creationTimestamp,
    ...mapped('namespace', pool.text(namespace)),
    ...mapped('generation', generation),
    ...mapped('deletionTimestamp', deletionTimestamp),
    ...mapped('deletionGracePeriodSeconds', deletionGracePeriodSeconds),
    ...mapped('labels', labels && pool.object(labels, () => pool.record(labels))),
    ...mapped('ownerReferences', owners && pool.object(owners)),
  };
}

/**
 * What the runtime reads of the spec of a pod or of a pod template; without a node, the same object for equal ones.
 * @param more fields that it reads of templates only
 */
export function keptPodSpec(
  spec: PodSpec,
  pool: InternPool,
  more: Pick<PodSpec, 'serviceAccountName'> = {},
): PodSpec {
  const { hostNetwork = false } = spec;
  const kept = {
    ...pick(spec, SPEC),
    ...more,
    containers: spec.containers.map((each) => containerOf(each, hostNetwork)),
    ...mapped(
      'initContainers',
      spec.initContainers?.map((each) => containerOf(each, hostNetwork)),
    ),
    // All of them: messages name volumes by their place.
    ...mapped(
      'volumes',
      spec.volumes?.map((volume) => pick(volume, VOLUME)),
    ),
  };
  // The pods of a DaemonSet differ in their affinity to a node, and are equal in everything else.
  const common = pool.object<PodSpec>(kept, () => pool.fields(kept));
  return spec.nodeName === undefined ? common : { ...common, nodeName: pool.text(spec.nodeName) };
}

/** With the ports that it takes of its node. Of the host network these are all: the apiserver sets them in pods, but not in templates. */
function containerOf(container: Container, hostNetwork: boolean): Container {
  const ports = container.ports?.flatMap((port) => {
    const hostPort = port.hostPort || (hostNetwork ? port.containerPort : 0);
    return hostPort ? [{ ...pick(port, PORT), hostPort }] : [];
  });
  return { ...pick(container, CONTAINER), ...mapped('ports', ports?.length ? ports : undefined) };
}

function statusOf(status: Status, pool: InternPool): Status {
  const conditions = status.conditions?.filter(({ type }) => CONDITIONS.has(type));
  const statusesOf = (statuses: readonly ContainerStatus[] | undefined) =>
    statuses?.map((container) => containerStatusOf(container, pool));
  return {
    ...pick(status, STATUS),
    ...mapped('phase', pool.text(status.phase)),
    ...mapped('conditions', conditions && pool.object(conditions.map((each) => pick(each, CONDITION)))),
    ...mapped('initContainerStatuses', statusesOf(status.initContainerStatuses)),
    ...mapped('containerStatuses', statusesOf(status.containerStatuses)),
  };
}

function containerStatusOf(status: ContainerStatus, pool: InternPool): ContainerStatus {
  const { name, ready, restartCount, state, lastState } = status;
  return {
    name: pool.text(name),
    ...mapped('ready', ready),
    ...mapped('restartCount', restartCount),
    ...mapped('state', state),
    ...mapped('lastState', lastState?.terminated && { terminated: pick(lastState.terminated, LAST_END) }),
  };
}

/** Those of the queue, the index in the Job, and the mark of a static pod. */
function keptAnnotations(
  annotations: ObjectMeta['annotations'],
  pool: InternPool,
): Record<string, string> | undefined {
  if (annotations === undefined) return undefined;
  const kept = Object.entries(annotations).filter(
    ([key]) =>
      key.startsWith('fluxqueue/') || key === COMPLETION_INDEX_ANNOTATION || key === MIRROR_ANNOTATION,
  );
  // Also if it has others alone: a patch that makes them would replace those.
  return pool.record(Object.fromEntries(kept));
}

export function pick<T extends object, K extends keyof T>(object: T, keys: readonly K[]): Pick<T, K> {
  const picked: Partial<Mutable<T>> = {};
  for (const key of keys) if (object[key] !== undefined) picked[key] = object[key];
  return picked as Pick<T, K>;
}

/** A property that is there only if it has a value. */
export function mapped<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: V });
}
