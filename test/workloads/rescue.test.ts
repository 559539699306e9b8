/** Lone pods that cannot run on their node: what their successors take over, and what becomes of bare pods. */
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { ApiError } from '../../runtime/kubernetes/errors';
import type { EventNote } from '../../runtime/kubernetes/events';
import type { Pod } from '../../runtime/kubernetes/types';
import type { NewSubmission, Predecessor } from '../../runtime/queue/workload';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import type { WorkloadAdapter } from '../../runtime/workloads/adapter';
import { Eviction, type EvictionReason } from '../../runtime/workloads/eviction';
import { podAdapter } from '../../runtime/workloads/pod';
import { Rescue } from '../../runtime/workloads/rescue';
import { QueueModel } from '../fuzz/queue-model';
import { allocationOf, submission } from '../queue/submission';

const adapter = podAdapter as unknown as WorkloadAdapter;
const REFUSED: EvictionReason = {
  cause: 'failure',
  message: 'pod p-a did not run on node-1: 0/2 nodes',
  avoid: ['node-1'],
};

async function setUp({ limit = 2, answer }: { limit?: number; answer?: ApiError } = {}) {
  const awaited = new Set<string>();
  let now = 1_000;
  const queue = new QueueModel(() => now);
  const workloadCache = new WorkloadCache(queue, await queue.acquireFence('test'));
  await workloadCache.reload();
  const events: EventNote[] = [];
  const created: unknown[][] = [];
  const freed: number[] = [];
  const client = {
    create: async (...call: unknown[]) => {
      created.push(call);
      if (answer !== undefined) throw answer;
    },
  } as unknown as KubernetesClient;
  const lost = new Set<string>();
  const nodes = { exists: (name: string) => !lost.has(name), isReady: () => true };
  const isAwaited = ({ uid }: { readonly uid: string }) => awaited.has(uid);
  const common = { client, nodes, isAwaited, logger: { debug: () => undefined } as never, now: () => now };
  const eviction = new Eviction({
    ...common,
    workloadCache,
    submissionBuilder: { changeOf: () => undefined, asksForGrant: () => true },
    requeueOf: () => ({ limit, backoffSeconds: 10 }),
    avoidSeconds: 300,
    onFreed: (jobid) => freed.push(jobid),
    onRequeued: () => undefined,
    onQueueChanged: () => undefined,
    recordEvent: (_object, _adapter, event) => events.push(event),
  });
  const rescue = new Rescue({ ...common, workloadCache, eviction });
  /** The rescue of a leader that takes over now. */
  async function nextLeader(): Promise<Rescue> {
    const next = new WorkloadCache(queue, await queue.acquireFence('next'));
    const successor = new Rescue({ ...common, workloadCache: next, eviction });
    await successor.load();
    return successor;
  }
  const row = (uid: string) => workloadCache.byUid(uid)!;
  /** Queues the pod, grants it node-1 and lets it fail there. */
  async function fail(object: Pod) {
    const { uid } = object.metadata;
    await rescue.succeed(object, (predecessor) =>
      workloadCache.submit({
        ...submission(uid, { kind: 'Pod', submittedAt: now }),
        ...placeOf(predecessor),
      }),
    );
    await workloadCache.allocate([{ uid, allocation: allocationOf(row(uid)) }]);
    await workloadCache.released(uid);
    return rescue.rescue({ object, adapter, row: row(uid), pods: [object] }, REFUSED);
  }
  const wait = (seconds: number) => {
    now += seconds;
  };
  return { rescue, nextLeader, queue, row, fail, wait, lost, awaited, events, created, freed };
}

/** What the pod would take over; it takes nothing, because it is not queued. */
async function offerTo(object: Pod, rescue: Rescue): Promise<Predecessor | undefined> {
  let offered: Predecessor | undefined;
  await rescue.succeed(object, async (predecessor) => {
    offered = predecessor;
    return undefined;
  });
  return offered;
}

function placeOf(predecessor: Predecessor | undefined): Partial<NewSubmission> {
  if (predecessor === undefined) return {};
  const { uid, asked: _, ...place } = predecessor;
  return { ...place, predecessor: uid };
}

function pod(uid: string, owner?: string): Pod {
  const ownerReferences = [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: owner ?? '', controller: true },
  ];
  return {
    metadata: {
      name: `p-${uid}`,
      namespace: 'science',
      uid,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(owner !== undefined && { ownerReferences }),
    },
    spec: { containers: [] },
  };
}

test('a pod of a controller is evicted, and its reason and its node are committed', async () => {
  const { fail, created, row } = await setUp();
  expect(await fail(pod('a', 'web'))).toBeUndefined();
  expect(row('a')).toMatchObject({
    evictionReason: REFUSED.message,
    evictionCause: 'failure',
    avoid: { 'node-1': 1_300 },
  });
  expect(created).toEqual([
    [
      '/api/v1/namespaces/science/pods/p-a/eviction',
      expect.objectContaining({ kind: 'Eviction', deleteOptions: { preconditions: { uid: 'a' } } }),
    ],
  ]);
});

test('its successor takes over its place, its backoff, its count and the nodes to avoid, once', async () => {
  const { fail, rescue, row, wait } = await setUp();
  await fail(pod('a', 'web'));
  wait(5);
  expect(await offerTo(pod('x', 'other'), rescue)).toBeUndefined();
  expect(await offerTo(pod('y'), rescue)).toBeUndefined();
  expect(await offerTo(pod('b', 'web'), rescue)).toEqual({
    uid: 'a',
    asked: { queue: 'default', priority: 0, resources: row('a').jobspec.resources, user: 'ada' },
    submittedAt: 1_000,
    seq: row('a').seq,
    requeues: 1,
    clusterRequeues: 0,
    notBefore: 1_010,
    reason: 'Requeued',
    message: `${REFUSED.message}; requeued, retrying in 10s`,
    avoid: { 'node-1': 1_300 },
    metAfter: [],
  });
  await rescue.succeed(pod('b', 'web'), async () => 'its row');
  expect(await offerTo(pod('c', 'web'), rescue)).toBeUndefined();
});

test('its successor takes over under the next leader too, once', async () => {
  const { fail, nextLeader, wait } = await setUp();
  await fail(pod('a', 'web'));
  wait(5);
  const next = await nextLeader();
  expect(await offerTo(pod('b', 'web'), next)).toMatchObject({ uid: 'a', submittedAt: 1_000, requeues: 1 });
  wait(600);
  expect(await offerTo(pod('b', 'web'), next)).toBeUndefined();
});

test('the place of a pod that has a successor is taken', async () => {
  const { fail, nextLeader, queue } = await setUp();
  await fail(pod('a', 'web'));
  await fail(pod('b', 'web'));
  expect(await queue.successions()).toMatchObject([{ controller: 'web', predecessor: { uid: 'b' } }]);
  expect(await offerTo(pod('c', 'web'), await nextLeader())).toMatchObject({ uid: 'b', requeues: 2 });
});

test('successors that are queued at the same time take over from different pods, the longest waiting first', async () => {
  const { fail, rescue, wait } = await setUp();
  await fail(pod('a', 'web'));
  wait(1);
  // As its replacement would: it is evicted before it has taken over.
  await rescue.succeed(pod('lost', 'web'), async () => {
    await fail(pod('b', 'web'));
    return undefined;
  });
  const taken: (string | undefined)[] = [];
  const queue = (uid: string) =>
    rescue.succeed(pod(uid, 'web'), async (predecessor) => {
      await Promise.resolve();
      taken.push(predecessor?.uid);
      return 'its row';
    });
  await Promise.all(['c', 'd', 'e'].map(queue));
  expect(taken).toEqual(['a', 'b', undefined]);
});

test('the place is written before the pod is evicted', async () => {
  const answer = new ApiError({
    status: 500,
    reason: 'Unknown',
    message: 'no',
    retryAfterSeconds: undefined,
  });
  const { fail, nextLeader } = await setUp({ answer });
  await expect(fail(pod('a', 'web'))).rejects.toThrow(answer);
  expect(await offerTo(pod('b', 'web'), await nextLeader())).toMatchObject({ uid: 'a' });
});

test('a pod whose eviction is refused keeps its grant as it was, because it may run after all', async () => {
  const answer = new ApiError({
    status: 429,
    reason: 'TooManyRequests',
    message: 'a budget',
    retryAfterSeconds: 1,
  });
  const { fail, rescue, row } = await setUp({ answer });
  expect(await fail(pod('a', 'web'))).toEqual({ after: 5_000 });
  expect(row('a')).toMatchObject({ phase: 'Ready', evictionReason: null, evictionCause: null, avoid: {} });
  expect(row('a').allocation!.end).toBe(allocationOf(row('a')).end);
  expect(await offerTo(pod('b', 'web'), rescue)).toBeUndefined();
});

test('a controller that creates no pod any more leaves nothing to take over', async () => {
  const { fail, rescue, wait } = await setUp();
  await fail(pod('a', 'web'));
  wait(601);
  expect(await offerTo(pod('b', 'web'), rescue)).toBeUndefined();
});

test('counts to the requeue limit of the queue over all successors, and then tries them once an hour', async () => {
  const { fail, rescue, created } = await setUp();
  for (const uid of ['a', 'b', 'c']) await fail(pod(uid, 'web'));
  expect(created).toHaveLength(3);
  expect(await offerTo(pod('d', 'web'), rescue)).toMatchObject({
    uid: 'c',
    requeues: 3,
    reason: 'RequeueLimit',
    notBefore: 1_000 + 3600,
    message: `${REFUSED.message}; retried once an hour after 2 requeues, edit the workload to retry now`,
  });
});

test('a bare pod is evicted before its grant ends, and says what its user can do', async () => {
  const { fail, row, created, events } = await setUp();
  await fail(pod('a'));
  expect(created).toMatchObject([['/api/v1/namespaces/science/pods/p-a/eviction', {}]]);
  expect(row('a')).toMatchObject({ phase: 'Ready', evictionReason: REFUSED.message });
  expect(row('a').allocation).not.toBeNull();
  expect(events).toEqual([
    {
      type: 'Warning',
      reason: 'RequeueLimit',
      message: `${REFUSED.message}; evicted, because Kubernetes cannot move a pod, and no controller creates it again: submit it again`,
    },
  ]);
});

test('a bare pod keeps its grant for ten minutes through a fault of the cluster, unless its node is gone', async () => {
  const { fail, rescue, row, wait, lost } = await setUp();
  await fail(pod('a', 'web'));
  const granted = { ...row('a'), releasedAt: 1_000 };
  const workload = (object: Pod) => ({ object, adapter, row: granted, pods: [object] });
  const fault = { ...REFUSED, cause: 'cluster' as const };
  expect(rescue.kept(workload(pod('a')), fault)).toEqual({ after: 60_000 });
  expect(rescue.kept(workload(pod('a')), REFUSED)).toBeUndefined();
  // Its controller makes it again elsewhere.
  expect(rescue.kept(workload(pod('a', 'web')), fault)).toBeUndefined();
  lost.add('node-1');
  expect(rescue.kept(workload(pod('a')), fault)).toBeUndefined();
  lost.clear();
  wait(600);
  expect(rescue.kept(workload(pod('a')), fault)).toBeUndefined();
});

test('a bare pod that its kubelet has keeps its grant, unless it has not started and others wait for its nodes', async () => {
  const { fail, rescue, row, wait, awaited } = await setUp();
  await fail(pod('a', 'web'));
  const bound: Pod = { ...pod('a'), spec: { containers: [], nodeName: 'node-1' } };
  const kept = (cause: 'failure' | 'cluster') => {
    const workload = { object: bound, adapter, row: { ...row('a'), releasedAt: 1_000 }, pods: [bound] };
    return rescue.kept(workload, { ...REFUSED, cause });
  };
  expect(kept('failure')).toEqual({ after: 60_000 });
  awaited.add('a');
  expect(kept('failure')).toBeUndefined();
  expect(kept('cluster')).toEqual({ after: 60_000 });
  wait(600);
  expect(kept('cluster')).toBeUndefined();
});

test('a group of bare pods keeps its grant while one of them runs, and is evicted whole once none does', async () => {
  const { fail, rescue, row, created } = await setUp();
  await fail(pod('a'));
  created.length = 0;
  const waiting = pod('b');
  const running: Pod = {
    ...pod('c'),
    spec: { containers: [], nodeName: 'node-1' },
    status: { phase: 'Running' },
  };
  const groupOf = (pods: readonly Pod[]) => {
    const group = { ...adapter, membersOf: () => pods };
    return { object: pod('a'), adapter: group, row: row('a'), pods };
  };
  expect(rescue.kept(groupOf([waiting, running]), REFUSED)).toEqual({ after: 60_000 });
  const ended = groupOf([waiting, { ...running, status: { phase: 'Succeeded' } }, pod('d')]);
  expect(rescue.kept(ended, REFUSED)).toBeUndefined();
  await rescue.rescue(ended, REFUSED);
  expect(created.map(([path]) => path)).toEqual(
    ['p-b', 'p-d'].map((name) => `/api/v1/namespaces/science/pods/${name}/eviction`),
  );
  expect(row('a').allocation).not.toBeNull();
});

test.each([
  [429, { after: 5_000 }],
  [404, undefined],
  [409, undefined],
])('an eviction that is answered with %d', async (status, result) => {
  const answer = new ApiError({
    status,
    reason: 'Unknown',
    message: 'refused',
    retryAfterSeconds: undefined,
  });
  const { fail } = await setUp({ answer });
  expect(await fail(pod('a', 'web'))).toEqual(result);
});
