/** Short constructors of manifests. Each pod has the label `app` with the name of its workload, and runs for ever. */
import type { KubeObject } from '../cluster/api';

type Fields = Readonly<Record<string, unknown>>;
type Texts = Readonly<Record<string, string>>;

interface Template {
  /** Requests of the container; extended resources and huge pages are limits too. @default - 1 core */
  readonly requests?: Texts;
  /** How long a pod runs, as `300ms` or `10m`. @default '1h' */
  readonly runs?: string;
  /** Labels of the pods. @default - app */
  readonly podLabels?: Texts;
  /** Annotations of the pods. @default - the run time */
  readonly podAnnotations?: Texts;
  /** More of the container. */
  readonly container?: Fields;
  /** More of the pod's spec. */
  readonly pod?: Fields;
}

export interface Shape extends Template {
  /** Pods at once. @default 1 */
  readonly pods?: number;
  /** Labels and annotations of the workload. */
  readonly labels?: Texts;
  readonly annotations?: Texts;
  /** More of the workload's spec. */
  readonly spec?: Fields;
}

/** An indexed Job. */
export function job(name: string, shape: Shape = {}): KubeObject {
  const { pods = 1, spec } = shape;
  const template = podTemplate(name, { restartPolicy: 'Never' }, shape);
  const gang = { parallelism: pods, completions: pods, completionMode: 'Indexed' };
  return object('batch/v1', 'Job', name, shape, { ...gang, ...spec, template });
}

export function deployment(name: string, shape: Shape = {}): KubeObject {
  return object('apps/v1', 'Deployment', name, shape, replicated(name, shape));
}

export function replicaSet(name: string, shape: Shape = {}): KubeObject {
  return object('apps/v1', 'ReplicaSet', name, shape, replicated(name, shape));
}

export function statefulSet(name: string, shape: Shape = {}): KubeObject {
  return object('apps/v1', 'StatefulSet', name, shape, { serviceName: name, ...replicated(name, shape) });
}

export function daemonSet(name: string, shape: Shape = {}): KubeObject {
  const { replicas: _, ...spec } = replicated(name, shape);
  return object('apps/v1', 'DaemonSet', name, shape, spec);
}

export function cronJob(name: string, schedule: string, shape: Shape = {}): KubeObject {
  return object('batch/v1', 'CronJob', name, shape, {
    schedule,
    jobTemplate: { spec: job(name, shape).spec },
  });
}

/** A bare pod, which runs once. */
export function pod(name: string, shape: Shape = {}): KubeObject {
  const { metadata, spec } = podTemplate(name, { restartPolicy: 'Never' }, shape);
  const { labels, annotations } = metadata;
  const all = { ...shape, labels: { ...labels, ...shape.labels } };
  const made = object(
    'v1',
    'Pod',
    name,
    { ...all, annotations: { ...annotations, ...shape.annotations } },
    {},
  );
  return { ...made, spec: { ...spec, ...shape.spec } };
}

/** A claim; bound to the volume with this name, if one is given. */
export function claim(name: string, storageClass: string, volume?: string): KubeObject {
  return object(
    'v1',
    'PersistentVolumeClaim',
    name,
    {},
    {
      storageClassName: storageClass,
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      ...(volume === undefined ? {} : { volumeName: volume }),
    },
  );
}

/** A local volume that only nodes with this label can use. */
export function localVolume(name: string, storageClass: string, key: string, value: string): KubeObject {
  return object(
    'v1',
    'PersistentVolume',
    name,
    {},
    {
      storageClassName: storageClass,
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Delete',
      local: { path: '/data' },
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: [value] }] }] },
      },
    },
  );
}

/** A claim that is bound to a volume which every node can use. */
export function sharedVolume(namespace: string, claimName: string): KubeObject[] {
  const name = `${namespace}-${claimName}`;
  const shared = { accessModes: ['ReadWriteMany'], storageClassName: name };
  const volume = { ...shared, capacity: { storage: '1Gi' }, nfs: { server: 'nfs', path: '/' } };
  const request = { ...shared, resources: { requests: { storage: '1Gi' } } };
  return [
    object('v1', 'PersistentVolume', name, {}, volume),
    object('v1', 'PersistentVolumeClaim', claimName, {}, request),
  ];
}

/** A storage class whose volumes are made by hand. */
export function storageClass(
  name: string,
  volumeBindingMode: 'Immediate' | 'WaitForFirstConsumer',
  more: Fields = {},
): KubeObject {
  const made = object('storage.k8s.io/v1', 'StorageClass', name, {}, {});
  const { spec: _, ...rest } = made;
  return { ...rest, provisioner: 'kubernetes.io/no-provisioner', volumeBindingMode, ...more } as KubeObject;
}

/** Pod fields: a volume `data` with the claim, mounted nowhere, because simulated nodes mount nothing. */
export const withClaim = (name: string): Fields => ({
  volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name } }],
});

/** Pod fields: no two pods with the label `app` on one node (or in one zone). */
export const apart = (app: string, topologyKey = 'kubernetes.io/hostname'): Fields => ({
  affinity: { podAntiAffinity: required(app, topologyKey) },
});

/** Pod fields: only where a pod with the label `app` runs. */
export const together = (app: string, topologyKey = 'kubernetes.io/hostname'): Fields => ({
  affinity: { podAffinity: required(app, topologyKey) },
});

/** Pod fields: spread evenly. */
export const spread = (app: string, topologyKey: string, more: Fields = {}): Fields => ({
  topologySpreadConstraints: [
    {
      topologyKey,
      maxSkew: 1,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app } },
      ...more,
    },
  ],
});

function required(app: string, topologyKey: string): Fields {
  const term = { topologyKey, labelSelector: { matchLabels: { app } } };
  return { requiredDuringSchedulingIgnoredDuringExecution: [term] };
}

function replicated(name: string, shape: Shape): Fields & { replicas: number } {
  const { pods = 1, spec } = shape;
  const selector = { matchLabels: { app: name } };
  return { replicas: pods, selector, ...spec, template: podTemplate(name, {}, shape) };
}

function podTemplate(name: string, policy: Fields, shape: Template) {
  const { requests = { cpu: '1' }, runs = '1h', podLabels, podAnnotations, container, pod } = shape;
  const limits = Object.entries(requests).filter(
    ([key]) => key.includes('/') || key.startsWith('hugepages-'),
  );
  return {
    metadata: {
      labels: { app: name, ...podLabels },
      // Only pods that run once end by themselves.
      annotations: {
        ...('restartPolicy' in policy ? { 'fluxqueue.test/duration': runs } : {}),
        ...podAnnotations,
      },
    },
    spec: {
      ...policy,
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'main',
          image: 'none',
          resources: { requests, limits: Object.fromEntries(limits) },
          ...container,
        },
      ],
      ...pod,
    },
  };
}

function object(
  apiVersion: string,
  kind: string,
  name: string,
  { labels, annotations }: Pick<Shape, 'labels' | 'annotations'>,
  spec: Fields,
): KubeObject {
  return {
    apiVersion,
    kind,
    metadata: { name, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec,
  };
}
