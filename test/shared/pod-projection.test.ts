import { InternPool } from '../../runtime/intern';
import type { Pod } from '../../runtime/kubernetes/types';
import { keptPodSpec, projectPod } from '../../runtime/shared/pod-projection';
import { metadata } from './fake-informer';

const pool = new InternPool();
const resources = { requests: { cpu: '100m' } };
const FULL = {
  metadata: metadata('agent-x', {
    namespace: 'kube-system',
    labels: { app: 'agent' },
    annotations: {
      'fluxqueue/jobid': '7',
      'kubernetes.io/config.mirror': 'hash',
      'kubectl.kubernetes.io/last-applied-configuration': 'x'.repeat(1000),
    },
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        name: 'agent',
        uid: 'd',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
    finalizers: ['example.com/keep'],
  }),
  spec: {
    nodeName: 'node-1',
    serviceAccountName: 'agent',
    affinity: { nodeAffinity: {} },
    containers: [
      {
        name: 'main',
        image: 'agent:1',
        command: ['run'],
        env: [{ name: 'A', value: 'x'.repeat(1000) }],
        ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 81, protocol: 'UDP' }],
        resources,
        volumeMounts: [{ name: 'token', mountPath: '/token' }],
      },
    ],
    initContainers: [{ name: 'init', restartPolicy: 'Always', resources, args: ['a'] }],
    volumes: [
      { name: 'token', projected: {} },
      { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
    ],
  },
  status: {
    phase: 'Running',
    podIP: '10.0.0.1',
    resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'agent-gpu' }],
    conditions: [
      { type: 'Initialized', status: 'True' },
      { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no', lastProbeTime: null },
    ],
    containerStatuses: [{ name: 'main', imageID: 'sha', state: { running: { startedAt: 'now' } } }],
  },
} as unknown as Pod;

test('keeps what the runtime reads of a pod, and nothing else', () => {
  expect(projectPod(FULL, pool)).toEqual({
    metadata: metadata('agent-x', {
      namespace: 'kube-system',
      labels: { app: 'agent' },
      annotations: { 'fluxqueue/jobid': '7', 'kubernetes.io/config.mirror': 'hash' },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'd', controller: true },
      ],
    }),
    spec: {
      nodeName: 'node-1',
      affinity: { nodeAffinity: {} },
      containers: [{ name: 'main', image: 'agent:1', resources, ports: [{ hostPort: 81, protocol: 'UDP' }] }],
      initContainers: [{ name: 'init', restartPolicy: 'Always', resources }],
      volumes: [{ name: 'token' }, { name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    },
    status: {
      phase: 'Running',
      resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'agent-gpu' }],
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no' }],
      containerStatuses: [{ name: 'main', state: { running: { startedAt: 'now' } } }],
    },
  });
});

test('keeps the ports that a template of the host network takes of its node: only those of pods are set', () => {
  const sidecar = { name: 'sidecar', restartPolicy: 'Always', ports: [{ containerPort: 80 }] };
  const ports = [
    { containerPort: 81, protocol: 'UDP' },
    { containerPort: 82, hostPort: 82 },
  ];
  const spec = { hostNetwork: true, initContainers: [sidecar], containers: [{ name: 'main', ports }] };
  expect(keptPodSpec(spec, pool)).toEqual({
    initContainers: [{ name: 'sidecar', restartPolicy: 'Always', ports: [{ hostPort: 80 }] }],
    containers: [{ name: 'main', ports: [{ hostPort: 81, protocol: 'UDP' }, { hostPort: 82 }] }],
  });
});

test('keeps a pod without status as it is', () => {
  const { status: _, ...pod } = FULL;
  expect(projectPod(pod, pool)).not.toHaveProperty('status');
});

test('pods of a DaemonSet share all but their node', () => {
  const on = (name: string): Pod => {
    const matchFields = [{ key: 'metadata.name', operator: 'In' as const, values: [name] }];
    const required = {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
    };
    return { ...FULL, spec: { ...FULL.spec, nodeName: name, affinity: { nodeAffinity: required } } };
  };
  const [a, b] = [on('node-a'), on('node-b')].map((pod) => projectPod(pod, pool));
  expect([a, b].map((pod) => pod!.spec.nodeName)).toEqual(['node-a', 'node-b']);
  expect(a!.spec.affinity).not.toEqual(b!.spec.affinity);
  expect(a!.spec.containers).toBe(b!.spec.containers);
  expect(a!.metadata.labels).toBe(b!.metadata.labels);
});

describe('a pod that has ended', () => {
  const AT = (second: number) => `2026-01-01T00:00:${second}Z`;
  const pod = (
    phase: 'Running' | 'Succeeded',
    deleted?: { readonly at: number; readonly grace: number },
  ): Pod => ({
    metadata: metadata('p', {
      ...(deleted && { deletionTimestamp: AT(deleted.at), deletionGracePeriodSeconds: deleted.grace }),
    }),
    spec: { containers: [] },
    status: { phase },
  });
  const deletionOf = (...versions: readonly Pod[]) => {
    const kept = versions.reduce<Pod | undefined>((before, now) => projectPod(now, pool, before), undefined);
    const { deletionTimestamp, deletionGracePeriodSeconds } = kept!.metadata;
    return [deletionTimestamp, deletionGracePeriodSeconds];
  };

  test('was deleted when somebody first asked it to end, not when its kubelet let it go', () => {
    const asked = { at: 40, grace: 30 };
    const letGo = pod('Succeeded', { at: 15, grace: 0 });
    expect(deletionOf(pod('Running'), pod('Running', asked), letGo)).toEqual([AT(40), 30]);
    expect(deletionOf(pod('Running', asked), letGo, letGo)).toEqual([AT(40), 30]);
  });

  test('was deleted when somebody asked for it afterwards', () => {
    const removed = { at: 50, grace: 0 };
    expect(deletionOf(pod('Running'), pod('Succeeded'), pod('Succeeded', removed))).toEqual([AT(50), 0]);
  });

  test('may run as long as it was told last', () => {
    expect(deletionOf(pod('Running', { at: 40, grace: 30 }), pod('Running', { at: 20, grace: 10 }))).toEqual([
      AT(20),
      10,
    ]);
  });
});
