import type { Pod } from '../../runtime/kubernetes/types';
import { endedByDeletion, failureOf, hasRun, RemovedPods } from '../../runtime/workloads/pod-end';

type Status = NonNullable<Pod['status']>;
type State = NonNullable<NonNullable<Status['containerStatuses']>[number]['state']>;

const AT = '2026-01-01T00:00:10Z';
const EPOCH = '1970-01-01T00:00:00Z';

function failed(status: Status, name = 'train-0'): Pod {
  return {
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: AT },
    spec: { containers: [] },
    status: { phase: 'Failed', ...status },
  };
}
const main = (state: State, restartCount = 0): Status => ({
  containerStatuses: [{ name: 'main', state, restartCount }],
});
const exited = (exitCode: number, reason: string, startedAt = AT): State => ({
  terminated: { exitCode, reason, startedAt, finishedAt: AT },
});
const disrupted = (reason: string): Status => ({
  conditions: [{ type: 'DisruptionTarget', status: 'True', reason, message: 'said Kubernetes' }],
});

test.each<[string, Status]>([
  ['runs', { phase: 'Running' }],
  ['succeeded', { phase: 'Succeeded' }],
  ['failed', main(exited(1, 'Error'))],
  ['ended in its init container', { initContainerStatuses: [{ name: 'load', state: exited(1, 'Error') }] }],
  [
    'works in its init container',
    { phase: 'Pending', initContainerStatuses: [{ name: 'load', state: { running: { startedAt: AT } } }] },
  ],
  ['was restarted before its deadline', main({ waiting: { reason: 'CrashLoopBackOff' } }, 3)],
])('a pod that %s has run', (_, status) => expect(hasRun(failed(status))).toBe(true));

test.each<[string, Status]>([
  [
    'whose image is missing',
    { reason: 'DeadlineExceeded', ...main({ waiting: { reason: 'ImagePullBackOff' } }) },
  ],
  ['whose container could not be started', main(exited(128, 'StartError', EPOCH))],
  ['of which the kubelet knows nothing', {}],
  ['that waits', { phase: 'Pending', ...main({ waiting: { reason: 'ContainerCreating' } }) }],
  [
    'whose init container could not be started',
    { initContainerStatuses: [{ name: 'load', state: exited(128, 'StartError', EPOCH) }] },
  ],
])('a pod %s has not run', (_, status) => expect(hasRun(failed(status))).toBe(false));

test.each<[string, Status, string | undefined]>([
  [
    'ran out of memory',
    main(exited(137, 'OOMKilled')),
    'container main was OOMKilled (exit code 137): it needs more memory than its limit',
  ],
  ['exited', main(exited(3, 'Error')), 'container main exited with code 3'],
  [
    'could not be executed',
    main(exited(128, 'StartError', EPOCH)),
    'container main exited with code 128 (StartError)',
  ],
  [
    'failed in its init container',
    {
      initContainerStatuses: [{ name: 'load', state: exited(2, 'Error') }],
      ...main({ waiting: { reason: 'PodInitializing' } }),
    },
    'container load exited with code 2',
  ],
  [
    'was evicted by its kubelet',
    { reason: 'Evicted', message: 'The node was low on resource: memory.' },
    'Evicted: The node was low on resource: memory.',
  ],
  [
    'was evicted by its kubelet, as the kubelet says it today',
    {
      ...disrupted('TerminationByKubelet'),
      reason: 'Evicted',
      message: 'The node was low on resource: memory.',
    },
    'Evicted: The node was low on resource: memory.',
  ],
  ['was preempted', disrupted('PreemptionByScheduler'), 'kube-scheduler preempted it for a more urgent pod'],
  ['was drained', disrupted('EvictionByEvictionAPI'), 'it was evicted, as by kubectl drain'],
  ['was disrupted by something new', disrupted('Other'), 'said Kubernetes'],
  [
    'never started',
    {
      reason: 'DeadlineExceeded',
      ...main({ waiting: { reason: 'ImagePullBackOff', message: 'no such image' } }),
    },
    'it never ran: ImagePullBackOff: no such image',
  ],
  ['exceeded its deadline', { reason: 'DeadlineExceeded', ...main(exited(0, 'Completed')) }, undefined],
])('says of a pod that %s what ended it', (_, status, cause) => {
  const expected = cause === undefined ? undefined : `pod train-0 failed: ${cause}`;
  expect(failureOf([failed(status)])).toBe(expected);
});

test('says of a pod of a Job that it ran longer than its template allows', () => {
  const pod = failed({ reason: 'DeadlineExceeded', ...main(exited(137, 'Error')) });
  const ownerReferences = [
    { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'job', controller: true },
  ];
  const ofJob = {
    ...pod,
    metadata: { ...pod.metadata, ownerReferences },
    spec: { ...pod.spec, activeDeadlineSeconds: 20 },
  };
  expect(failureOf([ofJob])).toBe(
    'pod train-0 failed: it ran longer than the activeDeadlineSeconds of its template (20 s)',
  );
});

describe('a pod that ended in the second in which it was deleted', () => {
  /** Deleted at second 10, with the grace period that is left. */
  const deleted = (grace: number, status: Status): Pod => {
    const { metadata, ...pod } = failed(status);
    const deletionTimestamp = new Date(Date.parse(AT) + grace * 1000).toISOString();
    return { ...pod, metadata: { ...metadata, deletionTimestamp, deletionGracePeriodSeconds: grace } };
  };

  test.each<[string, Pod]>([
    ['by SIGTERM, as the last delete of its kubelet says', deleted(0, main(exited(143, 'Error')))],
    ['by SIGKILL, as the last delete of its kubelet says', deleted(0, main(exited(137, 'Error')))],
    ['within its grace period', deleted(30, main(exited(1, 'Error')))],
    [
      'within its grace period, as a success',
      deleted(30, { ...main(exited(0, 'Completed')), phase: 'Succeeded' }),
    ],
  ])('was ended by that: %s', (_, pod) => expect(endedByDeletion(pod)).toBe(true));

  test.each<[string, Pod]>([
    ['it failed by itself', deleted(0, main(exited(1, 'Error')))],
    ['it succeeded', deleted(0, { ...main(exited(0, 'Completed')), phase: 'Succeeded' })],
    ['it ran out of memory', deleted(0, main(exited(137, 'OOMKilled')))],
  ])('had ended before: %s', (_, pod) => expect(endedByDeletion(pod)).toBe(false));
});

describe('the end of a Job whose pods are gone', () => {
  const said = 'Job has reached the specified backoff limit';
  const ended = { result: 'Failed', finishedAt: 9, message: said } as const;
  const leaving = (name: string, status: Status): Pod => {
    const { metadata, ...pod } = failed({ phase: 'Running', ...status }, name);
    return { ...pod, metadata: { ...metadata, deletionTimestamp: AT } };
  };

  test.each<[string, Pod[], string]>([
    [
      'was drained',
      [leaving('a', disrupted('EvictionByEvictionAPI'))],
      `pod a failed: it was evicted, as by kubectl drain; ${said}`,
    ],
    [
      'was drained, and the Job deleted its others',
      [leaving('a', disrupted('DeletionByTaintManager')), leaving('b', {})],
      `pod a failed: its node got a taint that it does not tolerate; ${said}`,
    ],
    ['was deleted by its user', [leaving('a', {})], `pod a was deleted; ${said}`],
    ['was there to the end', [failed(main(exited(3, 'Error')))], said],
  ])('has what took one away that %s', (_, pods, message) => {
    const removed = new RemovedPods();
    for (const pod of pods) removed.see(7, [pod]);
    expect(removed.told(7, ended).message).toBe(message);
    expect(removed.told(8, ended).message).toBe(said);
    removed.forget(7);
    expect(removed.told(7, ended).message).toBe(said);
  });

  test('needs nothing else where a pod says it, or where it succeeded', () => {
    const removed = new RemovedPods();
    removed.see(7, [leaving('a', {})]);
    const told = { ...ended, message: 'pod b failed: container main exited with code 3' };
    expect(removed.told(7, told)).toBe(told);
    const succeeded = { result: 'Succeeded', finishedAt: 9 } as const;
    expect(removed.told(7, succeeded)).toBe(succeeded);
  });
});

test('names the pod that failed last', () => {
  const later = failed(
    {
      containerStatuses: [
        {
          name: 'main',
          state: { terminated: { exitCode: 4, startedAt: AT, finishedAt: '2026-01-01T00:01:00Z' } },
        },
      ],
    },
    'train-7',
  );
  expect(failureOf([failed(main(exited(3, 'Error'))), later])).toBe(
    'pod train-7 failed: container main exited with code 4',
  );
  expect(failureOf([{ ...later, status: { phase: 'Succeeded' } }])).toBeUndefined();
});
