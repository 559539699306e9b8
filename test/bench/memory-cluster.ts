/**
 * The cluster and the tables of the memory benchmark: every answer is parsed from JSON text, as from an apiserver and from
 * Postgres, and nothing is kept here. So the heap of the process is that of the controller.
 */
import {
  ADMITTED_LABEL,
  JOB_NAME_LABEL,
  JOB_UID_LABEL,
  USER_ANNOTATION,
  WALLTIME,
} from '../../constructs/api/labels';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import { newRow } from '../../runtime/queue/rows';
import type { Queue } from '../../runtime/queue/store';
import type { WaitUpdate, WorkloadRow } from '../../runtime/queue/workload';
import { fluxJob, node } from './queue-cluster';
import { benchSubmission } from './queue-rows';

export interface MemoryCluster {
  /** Jobs that wait. */
  readonly jobs: number;
  /** Pods outside the queue. */
  readonly pods: number;
  /** Pods of DaemonSets. */
  readonly agents: number;
}

const NODES = 100;
/** Jobs of one manifest: their templates differ in the environment, and in the labels that the apiserver adds. */
const JOBS_PER_MANIFEST = 500;
const CREATED = '2026-01-01T00:00:00Z';

const wire = <T>(object: unknown): T => JSON.parse(JSON.stringify(object)) as T;

const managedFields = (manager: string) => [
  {
    manager,
    operation: 'Update',
    apiVersion: 'batch/v1',
    time: CREATED,
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"main"}': {} } } } } },
  },
];

/** The parts of a container that nobody reads: as long as those of usual pods. */
function container(image: string, resources: object, index: number): object {
  const probe = {
    httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' },
    periodSeconds: 10,
    timeoutSeconds: 1,
  };
  return {
    name: 'main',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['/bin/sh', '-c', `exec /opt/program --input /data/input-${index} --threads 16`],
    env: [
      { name: 'TASK', value: `task-${index}` },
      ...Array.from({ length: 12 }, (_, i) => ({
        name: `SETTING_${i}`,
        value: `value-of-setting-${i}`.repeat(2),
      })),
    ],
    livenessProbe: probe,
    readinessProbe: probe,
    resources,
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    volumeMounts: [
      { name: 'data', mountPath: '/data' },
      { name: 'kube-api-access', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true },
    ],
  };
}

const POD_DEFAULTS = {
  dnsPolicy: 'ClusterFirst',
  schedulerName: 'default-scheduler',
  securityContext: {},
  terminationGracePeriodSeconds: 30,
};

/** A pod as the kubelet reports it: with the volume of its token, tolerations and its status. */
export function benchPod(index: number, isAgent: boolean): KubernetesObject {
  const [app, node] = [isAgent ? `agent-${index % 5}` : `service-${index % 50}`, `node-${index % NODES}`];
  const owner = isAgent
    ? { apiVersion: 'apps/v1', kind: 'DaemonSet', name: app }
    : { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${app}-7d4b9c` };
  const name = `${app}-7d4b9c-${index.toString(36).padStart(5, 'x')}`;
  const image = `registry.example/team/${app}:1.${index % 7}`;
  return {
    metadata: {
      name,
      generateName: `${app}-7d4b9c-`,
      namespace: isAgent ? 'kube-system' : `team-${index % 20}`,
      uid: `10000000-0000-4000-8000-${`${index}`.padStart(12, '0')}`,
      resourceVersion: `${1_000_000 + index}`,
      generation: 1,
      creationTimestamp: CREATED,
      labels: {
        'app.kubernetes.io/name': app,
        'app.kubernetes.io/part-of': 'platform',
        'pod-template-hash': '7d4b9c',
      },
      annotations: { 'kubectl.kubernetes.io/default-container': 'main', 'prometheus.io/scrape': 'true' },
      ownerReferences: [
        {
          ...owner,
          uid: `20000000-0000-4000-8000-00000000${1000 + (index % 50)}`,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: managedFields('kubelet'),
    },
    spec: {
      ...POD_DEFAULTS,
      nodeName: node,
      restartPolicy: 'Always',
      serviceAccountName: app,
      priority: 0,
      preemptionPolicy: 'PreemptLowerPriority',
      enableServiceLinks: true,
      containers: [
        container(image, { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '64Mi' } }, index),
      ],
      volumes: [
        { name: 'data', emptyDir: {} },
        {
          name: 'kube-api-access',
          projected: {
            sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3607 } }],
            defaultMode: 420,
          },
        },
      ],
      tolerations: [
        'not-ready',
        'unreachable',
        ...(isAgent ? ['disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'] : []),
      ].map((taint) => ({
        key: `node.kubernetes.io/${taint}`,
        operator: 'Exists',
        effect: 'NoExecute',
        ...(isAgent ? {} : { tolerationSeconds: 300 }),
      })),
    },
    status: {
      phase: 'Running',
      hostIP: '10.0.0.1',
      podIP: `10.1.${index >> 8}.${index & 255}`,
      qosClass: 'Burstable',
      startTime: CREATED,
      conditions: [
        'PodReadyToStartContainers',
        'Initialized',
        'Ready',
        'ContainersReady',
        'PodScheduled',
      ].map((type) => ({ type, status: 'True', lastProbeTime: null, lastTransitionTime: CREATED })),
      containerStatuses: [
        {
          name: 'main',
          image,
          imageID: `registry.example/team/${app}@sha256:${'0'.repeat(64)}`,
          containerID: `containerd://${`${index}`.padStart(64, '0')}`,
          ready: true,
          started: true,
          restartCount: index % 3,
          state: { running: { startedAt: CREATED } },
          lastState: {},
        },
      ],
    },
  } as KubernetesObject;
}

export function benchRow(index: number): WorkloadRow {
  const submission = benchSubmission(
    index,
    { pods: 1 + (index % 4), cores: 16 + (Math.floor(index / JOBS_PER_MANIFEST) % 10), walltime: 3_600 },
    1_760_000_000,
  );
  return { ...newRow(submission, index + 1), jobid: 1_760_000_000_000_000 + index };
}

export function benchJob(index: number): KubernetesObject {
  const { uid, name, namespace, pods, user, walltime, jobspec, submittedAt } = benchRow(index);
  const manifest = Math.floor(index / JOBS_PER_MANIFEST);
  const own = { 'app.kubernetes.io/name': `simulation-${manifest}`, project: `p-${manifest % 20}` };
  const added = { 'controller-uid': uid, 'job-name': name, [JOB_UID_LABEL]: uid, [JOB_NAME_LABEL]: name };
  return {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion: `${2_000_000 + index}`,
      generation: 1,
      creationTimestamp: new Date(submittedAt * 1000).toISOString(),
      labels: { ...own, run: `${index}`, [ADMITTED_LABEL]: 'true' },
      annotations: { [USER_ANNOTATION]: user, [WALLTIME]: `${walltime}` },
      managedFields: [...managedFields('kubectl-create'), ...managedFields('kube-controller-manager')],
    },
    spec: {
      suspend: true,
      parallelism: pods,
      completions: pods,
      completionMode: 'Indexed',
      backoffLimit: 3,
      manualSelector: false,
      podReplacementPolicy: 'Failed',
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
      template: {
        metadata: { creationTimestamp: null, labels: { ...own, run: `${index}`, ...added } },
        spec: {
          ...POD_DEFAULTS,
          restartPolicy: 'Never',
          containers: [
            container(
              `registry.example/team/simulation:${manifest}`,
              { requests: jobspec.attributes.user?.requests ?? {} },
              index,
            ),
          ],
          volumes: [{ name: 'data', hostPath: { path: '/data', type: '' } }],
        },
      },
    },
    status: {
      conditions: [
        {
          type: 'Suspended',
          status: 'True',
          reason: 'JobSuspended',
          message: 'Job suspended',
          lastProbeTime: CREATED,
          lastTransitionTime: CREATED,
        },
      ],
      ready: 0,
      uncountedTerminatedPods: {},
    },
  } as KubernetesObject;
}

/** A pod that leaves its node too little for any Job of the benchmark. */
function hog(index: number): object {
  const { metadata, spec, status } = benchPod(index, false) as KubernetesObject & {
    readonly spec: object;
    readonly status: object;
  };
  const resources = { requests: { cpu: '20', memory: '1Gi' } };
  return {
    metadata: { ...metadata, name: `hog-${index}`, uid: `hog-${index}` },
    spec: { ...spec, containers: [container('hog', resources, index)] },
    status,
  };
}

/** The FluxJob of a waiting Job, as a leader has written it. */
function benchFluxJob(index: number): object {
  const row = { ...benchRow(index), reason: 'Busy', message: WAITS } as const;
  const { metadata, spec, status } = fluxJob(row, index + 1, 1_760_000_000) as KubernetesObject & {
    readonly spec: object;
    readonly status: object;
  };
  const ownerReferences = [
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      name: row.name,
      uid: row.uid,
      controller: true,
      blockOwnerDeletion: false,
    },
  ];
  return {
    metadata: {
      ...metadata,
      creationTimestamp: CREATED,
      generation: 1,
      ownerReferences,
      managedFields: managedFields('fluxqueue'),
    },
    spec,
    status,
  };
}

const WAITS = 'needs 2 pods with 16 cores and 16 GiB of memory each; not free now for its walltime';

type Items = Readonly<Record<string, { readonly count: number; readonly item: (index: number) => object }>>;

function itemsOf({ jobs, pods, agents }: MemoryCluster): Items {
  return {
    nodes: { count: NODES, item: (i) => node(`node-${i}`) },
    pods: {
      count: NODES + pods + agents,
      item: (i) => (i < NODES ? hog(i) : benchPod(i - NODES, i >= NODES + pods)),
    },
    jobs: { count: jobs, item: benchJob },
    fluxjobs: { count: jobs, item: benchFluxJob },
  };
}

/** Lists these objects; watches send nothing, and writes are accepted. */
export function memoryClient(cluster: MemoryCluster, onWrite: (path: string) => void): KubernetesClient {
  const items = itemsOf(cluster);
  const written = async (path: string) => {
    onWrite(path);
    return { metadata: { name: 'written', uid: 'written', resourceVersion: '3000000' } };
  };
  const client = {
    server: 'https://memory',
    namespace: undefined,
    waitingWrites: 0,
    async list(path: string, options: { readonly limit?: number; readonly continue?: string } = {}) {
      const { count, item } = items[path.split('/').at(-1) ?? ''] ?? { count: 0, item: () => ({}) };
      const from = Number(options.continue ?? 0);
      const until = Math.min(count, from + (options.limit ?? count));
      const metadata = { resourceVersion: '1', ...(until < count && { continue: `${until}` }) };
      return wire({ metadata, items: Array.from({ length: until - from }, (_, i) => item(from + i)) });
    },
    watch: (_: string, { signal }: { readonly signal: AbortSignal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve('ended'))),
    create: written,
    update: written,
    patch: written,
    delete: written,
    close: () => undefined,
  };
  return client as unknown as KubernetesClient;
}

const indexOf = (uid: string) => Number(uid.split('-').at(-1));

/** Tables with a row for each Job. */
export function memoryQueue({ jobs }: MemoryCluster): Queue {
  const rowsOf = (uids: readonly string[]) => wire<WorkloadRow[]>(uids.map((uid) => benchRow(indexOf(uid))));
  const queue: Partial<Queue> = {
    disconnects: 0,
    active: async () =>
      wire<WorkloadRow[]>(
        Array.from({ length: jobs }, (_, i) => ({ ...benchRow(i), reason: 'Busy', message: WAITS })),
      ),
    byUid: async (uids) => rowsOf(uids),
    shares: async () => [],
    outcomes: async () => [],
    finished: async () => [],
    sizes: async () => [],
    successions: async () => [],
    setQueues: async () => undefined,
    wait: async (_: number, updates: readonly WaitUpdate[]) =>
      wire<WorkloadRow[]>(updates.map((update) => ({ ...benchRow(indexOf(update.uid)), ...update }))),
    archive: async () => 0,
    purge: async () => 0,
    estimateError: async () => undefined,
    onViewAsked: () => ({ ready: Promise.resolve(), stop: async () => undefined }) as never,
  };
  return queue as Queue;
}
