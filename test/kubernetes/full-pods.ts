/** Pods that have together every field that the runtime reads of pods, and what they need to be created. */
import type { KubeObject } from '../cluster/api';

export const NAMESPACE = 'pods';

export const SURROUNDINGS: readonly KubeObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
  {
    apiVersion: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    metadata: { name: 'sandboxed' },
    handler: 'sandboxed',
    overhead: { podFixed: { cpu: '250m', memory: '120Mi' } },
    scheduling: { nodeSelector: { sandbox: 'yes' } },
  },
];

const matchExpressions = [
  { key: 'zone', operator: 'In', values: ['a', 'b'] },
  { key: 'gpu', operator: 'Exists' },
];
const labelSelector = {
  matchLabels: { app: 'solver', 'example.com/part': '' },
  matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['web'] }],
};
const terms = [
  {
    topologyKey: 'kubernetes.io/hostname',
    labelSelector,
    namespaces: ['a', 'b'],
    namespaceSelector: {},
    matchLabelKeys: ['pod-template-hash'],
    mismatchLabelKeys: ['tenant'],
  },
];
const podAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution: terms,
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 7, podAffinityTerm: terms[0] }],
};

const affinity = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [
        { matchExpressions },
        { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] },
        {},
      ],
    },
    preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 3, preference: { matchExpressions } }],
  },
  podAffinity,
  podAntiAffinity: podAffinity,
};

const dataSource = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'snapshot' };
const claimSpec = {
  accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
  storageClassName: '',
  volumeMode: 'Filesystem',
  volumeName: 'pv-1',
  volumeAttributesClassName: 'fast',
  selector: labelSelector,
  resources: { requests: { storage: '1Gi' }, limits: { storage: '2Gi' } },
  dataSource,
  dataSourceRef: dataSource,
};

const volumes = [
  { name: 'config', configMap: { name: 'config' } },
  { name: 'claim', persistentVolumeClaim: { claimName: 'data', readOnly: true } },
  { name: 'claim-2', persistentVolumeClaim: { claimName: 'data-2' } },
  {
    name: 'scratch',
    ephemeral: {
      volumeClaimTemplate: { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } }, spec: claimSpec },
    },
  },
  {
    name: 'disk',
    iscsi: {
      targetPortal: '10.0.0.1:3260',
      portals: ['10.0.0.2:3260'],
      iqn: 'iqn.2001-04.com.example:storage',
      lun: 0,
      iscsiInterface: 'iface',
      initiatorName: 'iqn.2001-04.com.example:me',
      fsType: 'ext4',
      readOnly: true,
      chapAuthDiscovery: true,
      chapAuthSession: true,
      secretRef: { name: 'chap' },
    },
  },
  {
    name: 'block',
    rbd: {
      monitors: ['10.0.0.3:6789'],
      image: 'image',
      fsType: 'xfs',
      pool: 'pool',
      user: 'user',
      keyring: '/etc/keyring',
      readOnly: true,
      secretRef: { name: 'ceph' },
    },
  },
];

const resources = { requests: { cpu: '0.5', memory: '1Gi' }, limits: { memory: '1024Mi' } };
const env = [{ name: 'NOISE', value: 'x'.repeat(500) }];

const full: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'full',
    namespace: NAMESPACE,
    labels: { app: 'solver', empty: '' },
    annotations: { 'fluxqueue/note': 'ä€𝄞', 'batch.kubernetes.io/job-completion-index': '3', other: 'x' },
    finalizers: ['example.com/keep'],
    // The garbage collector does not know this kind, so it deletes nothing.
    ownerReferences: [
      {
        apiVersion: 'example.com/v1',
        kind: 'Thing',
        name: 'thing',
        uid: '00000000-0000-0000-0000-000000000001',
        controller: true,
        blockOwnerDeletion: false,
      },
    ],
  },
  spec: {
    runtimeClassName: 'sandboxed',
    priorityClassName: 'system-cluster-critical',
    nodeSelector: { disk: 'ssd' },
    affinity,
    tolerations: [
      { key: 'a', operator: 'Equal', value: 'b', effect: 'NoExecute', tolerationSeconds: 0 },
      { key: 'c', operator: 'Exists' },
    ],
    topologySpreadConstraints: [
      {
        maxSkew: 2,
        topologyKey: 'zone',
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector,
        minDomains: 3,
        nodeAffinityPolicy: 'Ignore',
        nodeTaintsPolicy: 'Honor',
        matchLabelKeys: ['pod-template-hash'],
      },
    ],
    resourceClaims: [
      { name: 'gpu', resourceClaimName: 'gpu' },
      { name: 'nic', resourceClaimTemplateName: 'nic' },
    ],
    restartPolicy: 'Never',
    activeDeadlineSeconds: 3600,
    terminationGracePeriodSeconds: 600,
    nodeName: 'no-such-node',
    resources: { requests: { cpu: '4' }, limits: { cpu: '4' } },
    initContainers: [{ name: 'sidecar', image: 'proxy:1', restartPolicy: 'Always', resources }],
    containers: [
      {
        name: 'main',
        image: 'solver:1',
        env,
        ports: [
          { containerPort: 80, name: 'web' },
          { containerPort: 81, hostPort: 8081, hostIP: '127.0.0.1', protocol: 'UDP' },
        ],
        resources: { ...resources, claims: [{ name: 'gpu', request: 'one' }, { name: 'nic' }] },
      },
      { name: 'second', image: 'b' },
      { name: 'third', image: 'c', env },
    ],
    volumes,
  },
};

const gated: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'gated', namespace: NAMESPACE },
  spec: {
    schedulerName: 'fluxqueue',
    schedulingGates: [{ name: 'fluxqueue/admission' }, { name: 'example.com/other' }],
    hostNetwork: true,
    containers: [{ name: 'main', image: 'a', env, ports: [{ containerPort: 82 }] }],
  },
};

const plain: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'plain', namespace: NAMESPACE },
  spec: { containers: [{ name: 'main', image: 'a' }] },
};

export const PODS: readonly KubeObject[] = [full, gated, plain];

const running = { running: { startedAt: '2026-01-02T03:04:05Z' } };
const terminated = {
  exitCode: 137,
  signal: 9,
  reason: 'OOMKilled',
  message: 'out of memory',
  finishedAt: '2026-01-02T03:04:06Z',
  containerID: 'containerd://1',
};
const ofContainer = (name: string, state: object, restartCount = 0) => ({
  name,
  state,
  ready: false,
  restartCount,
  image: 'a',
  imageID: 'b',
  ...(restartCount > 0 && { lastState: { terminated } }),
});

/** What a kubelet reports of the pod `full`. */
export const STATUS = {
  phase: 'Running',
  reason: 'Evicted',
  message: 'the node is low on memory',
  startTime: '2026-01-02T03:04:05Z',
  conditions: [
    { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-02T03:04:05Z' },
    { type: 'Ready', status: 'False', reason: 'ContainersNotReady', message: 'containers: main' },
    { type: 'Initialized', status: 'True' },
  ],
  initContainerStatuses: [ofContainer('sidecar', running, 4)],
  containerStatuses: [
    ofContainer('main', { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } }),
    // Without startedAt, which JSON has as null.
    ofContainer('second', { terminated }),
    { ...ofContainer('third', { running: {} }), ready: true },
  ],
  resourceClaimStatuses: [{ name: 'nic', resourceClaimName: 'full-nic-x' }],
};
