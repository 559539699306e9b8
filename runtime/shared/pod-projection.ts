/**
 * The part of a pod that is kept in memory: what the runtime reads, about a tenth. Environments, commands, mounts and
 * probes are most of a pod, and a cluster has ten times more pods outside the queue than in it.
 */
import { COMPLETION_INDEX_ANNOTATION } from '../../constructs/api/labels';
import type { Pod } from '../kubernetes/types';
import { MIRROR_ANNOTATION } from './agents';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Container = Pod['spec']['containers'][number];
type Status = NonNullable<Pod['status']>;
type ContainerStatus = NonNullable<Status['containerStatuses']>[number];

const METADATA = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'labels',
] as const;
const OWNER = ['apiVersion', 'kind', 'name', 'uid', 'controller'] as const;
const SPEC = [
  'resources',
  'overhead',
  'nodeName',
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
] as const;
const CONTAINER = ['name', 'image', 'restartPolicy', 'resources'] as const;
const PORT = ['hostPort', 'hostIP', 'protocol'] as const;
const VOLUME = ['name', 'persistentVolumeClaim', 'ephemeral', 'iscsi', 'rbd'] as const;
const STATUS = ['phase', 'reason', 'message', 'startTime', 'resourceClaimStatuses'] as const;
const CONDITION = ['type', 'status', 'reason', 'message'] as const;
const CONTAINER_STATUS = ['name', 'ready', 'restartCount', 'state'] as const;
const CONDITIONS: ReadonlySet<string> = new Set(['PodScheduled', 'Ready']);

export function projectPod({ metadata, spec, status }: Pod): Pod {
  return {
    metadata: {
      ...pick(metadata, METADATA),
      ...mapped('annotations', keptAnnotations(metadata.annotations)),
      ...mapped(
        'ownerReferences',
        metadata.ownerReferences?.map((owner) => pick(owner, OWNER)),
      ),
    },
    spec: {
      ...pick(spec, SPEC),
      containers: spec.containers.map(containerOf),
      ...mapped('initContainers', spec.initContainers?.map(containerOf)),
      // All of them: messages name volumes by their place.
      ...mapped(
        'volumes',
        spec.volumes?.map((volume) => pick(volume, VOLUME)),
      ),
    },
    ...mapped('status', status && statusOf(status)),
  };
}

function containerOf(container: Container): Container {
  const ports = container.ports?.filter(({ hostPort }) => hostPort !== undefined && hostPort !== 0);
  return {
    ...pick(container, CONTAINER),
    ...mapped('ports', ports?.length ? ports.map((port) => pick(port, PORT)) : undefined),
  };
}

function statusOf(status: Status): Status {
  const conditions = status.conditions?.filter(({ type }) => CONDITIONS.has(type));
  return {
    ...pick(status, STATUS),
    ...mapped(
      'conditions',
      conditions?.map((condition) => pick(condition, CONDITION)),
    ),
    ...mapped('initContainerStatuses', status.initContainerStatuses?.map(containerStatusOf)),
    ...mapped('containerStatuses', status.containerStatuses?.map(containerStatusOf)),
  };
}

function containerStatusOf(status: ContainerStatus): ContainerStatus {
  return pick(status, CONTAINER_STATUS);
}

/** Those of the queue, the index in the Job, and the mark of a static pod. */
function keptAnnotations(annotations: Pod['metadata']['annotations']): Record<string, string> | undefined {
  const kept = Object.entries(annotations ?? {}).filter(
    ([key]) =>
      key.startsWith('fluxqueue/') || key === COMPLETION_INDEX_ANNOTATION || key === MIRROR_ANNOTATION,
  );
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function pick<T extends object, K extends keyof T>(object: T, keys: readonly K[]): Pick<T, K> {
  const picked: Partial<Mutable<T>> = {};
  for (const key of keys) if (object[key] !== undefined) picked[key] = object[key];
  return picked as Pick<T, K>;
}

/** A property that is there only if it has a value. */
function mapped<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: V });
}
