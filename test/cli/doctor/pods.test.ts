import { deploymentFindings, podFindings } from '../../../runtime/cli/doctor/pods';
import type { Pod } from '../../../runtime/kubernetes/types';
import { ago, metadata, NOW, stackPod } from './objects';

const deployment = (name: string, replicas: number, availableReplicas: number) => ({
  metadata: metadata(name),
  spec: { replicas, template: { spec: { containers: [] } } },
  status: {
    availableReplicas,
    conditions: [{ type: 'Available', status: 'False' as const, lastTransitionTime: ago(600) }],
  },
});

test('a Deployment with all its pods is no finding', () => {
  expect(deploymentFindings(deployment('fluxqueue-controller', 2, 2), NOW)).toEqual([]);
});

test('a Deployment without a pod says since when, and what that means', () => {
  expect(deploymentFindings(deployment('fluxqueue-webhook', 2, 0), NOW)).toEqual([
    {
      level: 'error',
      message:
        'none of 2 pods of fluxqueue-webhook is available since 10 min: opted-in namespaces refuse new Jobs and pods',
      remedy:
        'look at its pods below, and at: kubectl -n fluxqueue-system describe deployment/fluxqueue-webhook',
    },
  ]);
});

test('a Deployment with some of its pods is a warning', () => {
  expect(deploymentFindings(deployment('fluxqueue-controller', 2, 1), NOW)).toMatchObject([
    { level: 'warning', message: '1 of 2 pods of fluxqueue-controller are available since 10 min' },
  ]);
});

test('a StatefulSet that is scaled to 0 gets its own command', () => {
  expect(deploymentFindings(deployment('fluxqueue-database', 0, 0), NOW)).toMatchObject([
    { level: 'error', remedy: expect.stringContaining('scale statefulset/fluxqueue-database --replicas 1') },
  ]);
});

test.each([
  ['OrderedReady', true],
  ['Parallel', false],
] as const)(
  'the pod of a StatefulSet with %s has to be deleted after a wrong update: %s',
  (policy, expected) => {
    const { spec, ...rest } = deployment('fluxqueue-database', 1, 0);
    const findings = deploymentFindings({ ...rest, spec: { ...spec, podManagementPolicy: policy } }, NOW);
    expect(findings.map(({ remedy }) => remedy?.includes('delete pod fluxqueue-database-0'))).toEqual([
      expected,
    ]);
  },
);

const NOT_READY = [{ type: 'Ready', status: 'False' as const, lastTransitionTime: ago(180) }];

function waitingPod(reason: string, message?: string): Pod {
  const state = { waiting: { reason, ...(message !== undefined && { message }) } };
  return stackPod('controller-1', 'controller', {
    phase: 'Pending',
    conditions: NOT_READY,
    containerStatuses: [{ name: 'controller', ready: false, state }],
  });
}

test.each<[string, Pod, string, string]>([
  [
    'an image that cannot be pulled',
    waitingPod('ImagePullBackOff', 'not found'),
    'pod controller-1 cannot get the image of container controller: ImagePullBackOff: not found',
    'pods.imagePullSecrets',
  ],
  [
    'a container that ends again and again',
    waitingPod('CrashLoopBackOff'),
    'container controller of pod controller-1 does not start: CrashLoopBackOff',
    'logs controller-1 -c controller --previous',
  ],
  [
    'a Secret that does not exist',
    waitingPod('CreateContainerConfigError', 'secret "db" not found'),
    'container controller of pod controller-1 does not start: CreateContainerConfigError: secret "db" not found',
    'describe pod controller-1',
  ],
  [
    'a pod without a node',
    stackPod('webhook-1', 'webhook', {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' }],
    }),
    'pod webhook-1 has no node since 60 min: 0/3 nodes are available',
    'free or add a node',
  ],
])('%s is an error with its remedy', (_, pod, message, remedy) => {
  expect(podFindings(pod, NOW)).toEqual([
    { level: 'error', message, remedy: expect.stringContaining(remedy) },
  ]);
});

test('a controller that is not Ready says what its probe means', () => {
  const [finding, ...more] = podFindings(
    stackPod('controller-1', 'controller', { conditions: NOT_READY }),
    NOW,
  );
  expect(more).toEqual([]);
  expect(finding).toMatchObject({ level: 'warning' });
  expect(finding!.message).toMatch(/^pod controller-1 is not Ready since 3 min: it waits for the database/);
});

const restarted = (seconds: number, reason: string) =>
  stackPod('controller-1', 'controller', {
    containerStatuses: [
      {
        name: 'controller',
        ready: true,
        restartCount: 4,
        lastState: { terminated: { exitCode: 137, reason, finishedAt: ago(seconds) } },
      } as never,
    ],
  });

test('a container that restarted lately is a warning, with the cause', () => {
  expect(podFindings(restarted(300, 'OOMKilled'), NOW)).toMatchObject([
    {
      level: 'warning',
      message:
        'container controller of pod controller-1 restarted 5 min ago (it used more memory than its limit), 4 times in all',
      remedy: expect.stringContaining('raise its limit'),
    },
  ]);
  expect(podFindings(restarted(300, 'Error'), NOW)[0]!.message).toContain('(exit code 137)');
});

test('a restart of long ago, and a pod that is being deleted, are no findings', () => {
  expect(podFindings(restarted(4000, 'Error'), NOW)).toEqual([]);
  const leaving = waitingPod('ImagePullBackOff');
  expect(
    podFindings({ ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: ago(1) } }, NOW),
  ).toEqual([]);
});
