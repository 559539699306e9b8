/**
 * The objects of the memory benchmark, as large as usual ones of an apiserver: with managed fields, environments, probes and
 * volumes.
 */
import {
  ADMITTED_LABEL,
  JOB_NAME_LABEL,
  JOB_UID_LABEL,
  USER_ANNOTATION,
  WALLTIME,
} from '../../constructs/api/labels';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import { newRow } from '../../runtime/queue/rows';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { fluxJob } from './queue-cluster';
import { benchSubmission } from './queue-rows';

export const NODES = 100;
/** Jobs of one manifest: their templates differ in the environment, and in the labels that the apiserver adds. */
const JOBS_PER_MANIFEST = 500;
const CREATED = '2026-01-01T00:00:00Z';
/** A few objects in each second. */
const secondOf = (index: number) =>
  new Date((1_760_000_000 + Math.floor(index / 10)) * 1000).toISOString().replace('.000Z', 'Z');

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

/** What a pod is made by, and where it runs. */
interface Origin {
  readonly index: number;
  readonly isAgent: boolean;
  readonly app: string;
  readonly image: string;
  readonly node: string;
}

/** A pod as the kubelet reports it: with the volume of its token, tolerations and its status. */
export function benchPod(index: number, isAgent: boolean): KubernetesObject {
  const app = isAgent ? `agent-${index % 5}` : `service-${index % 50}`;
  const image = `registry.example/team/${app}:1.${index % 7}`;
  const origin = { index, isAgent, app, image, node: `node-${index % NODES}` };
  const pod = { metadata: podMetadata(origin), spec: podSpec(origin), status: podStatus(origin) };
  return pod as KubernetesObject;
}

function podMetadata({ index, isAgent, app }: Origin): object {
  const name = `${app}-7d4b9c-${index.toString(36).padStart(5, 'x')}`;
  const owner = {
    apiVersion: 'apps/v1',
    kind: isAgent ? 'DaemonSet' : 'ReplicaSet',
    name: isAgent ? app : `${app}-7d4b9c`,
    uid: `20000000-0000-4000-8000-00000000${1000 + (index % 50)}`,
    controller: true,
    blockOwnerDeletion: true,
  };
  return {
    name,
    generateName: `${app}-7d4b9c-`,
    namespace: isAgent ? 'kube-system' : `team-${index % 20}`,
    uid: `10000000-0000-4000-8000-${`${index}`.padStart(12, '0')}`,
    resourceVersion: `${1_000_000 + index}`,
    generation: 1,
    creationTimestamp: secondOf(index),
    labels: {
      ...(index % 5 === 0 ? { 'statefulset.kubernetes.io/pod-name': name } : {}),
      'app.kubernetes.io/name': app,
      'app.kubernetes.io/part-of': 'platform',
      'pod-template-hash': '7d4b9c',
    },
    annotations: { 'kubectl.kubernetes.io/default-container': 'main', 'prometheus.io/scrape': 'true' },
    ownerReferences: [owner],
    managedFields: managedFields('kubelet'),
  };
}

const AGENT_TAINTS = ['disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'];

function podSpec({ index, isAgent, app, image, node }: Origin): object {
  const resources = { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '64Mi' } };
  const token = { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } };
  return {
    ...POD_DEFAULTS,
    nodeName: node,
    ...(isAgent ? { affinity: onlyOn(node) } : {}),
    restartPolicy: 'Always',
    serviceAccountName: app,
    priority: 0,
    preemptionPolicy: 'PreemptLowerPriority',
    enableServiceLinks: true,
    containers: [container(image, resources, index)],
    volumes: [
      { name: 'data', emptyDir: {} },
      { name: 'kube-api-access', projected: { sources: [token], defaultMode: 420 } },
    ],
    tolerations: ['not-ready', 'unreachable', ...(isAgent ? AGENT_TAINTS : [])].map((taint) => ({
      key: `node.kubernetes.io/${taint}`,
      operator: 'Exists',
      effect: 'NoExecute',
      ...(isAgent ? {} : { tolerationSeconds: 300 }),
    })),
  };
}

function podStatus({ index, app, image }: Origin): object {
  const types = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];
  const main = {
    name: 'main',
    image,
    imageID: `registry.example/team/${app}@sha256:${'0'.repeat(64)}`,
    containerID: `containerd://${`${index}`.padStart(64, '0')}`,
    ready: true,
    started: true,
    restartCount: index % 3,
    state: { running: { startedAt: secondOf(index + 30) } },
    lastState: {},
  };
  return {
    phase: 'Running',
    hostIP: '10.0.0.1',
    podIP: `10.1.${index >> 8}.${index & 255}`,
    qosClass: 'Burstable',
    startTime: secondOf(index + 10),
    conditions: types.map((type) => ({
      type,
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: secondOf(index + 20),
    })),
    containerStatuses: [main],
  };
}

/** As the controller of DaemonSets writes it. */
function onlyOn(node: string): object {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  return {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
    },
  };
}

export function benchRow(index: number): WorkloadRow {
  const submission = benchSubmission(
    index,
    {
      pods: 1 + (index % 4),
      cores: 16 + (Math.floor(index / JOBS_PER_MANIFEST) % 10),
      walltime: 3_600 + 60 * (index % 97),
    },
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
export function hog(index: number): object {
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
export function benchFluxJob(index: number): object {
  const row = { ...benchRow(index), reason: 'Busy', message: WAITS } as const;
  const { metadata, spec, status } = fluxJob(
    row,
    index + 1,
    1_760_000_000 + Math.floor(index / 10),
  ) as KubernetesObject & {
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

export const WAITS = 'needs 2 pods with 16 cores and 16 GiB of memory each; not free now for its walltime';
