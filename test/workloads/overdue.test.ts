/** Reconciles of a Job whose controller does not sync it any more, on tables in memory. */
import { DEADLINE_ANNOTATION, JOBID_ANNOTATION } from '../../constructs/api/labels';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { apiError } from '../../runtime/kubernetes/errors';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import type { WorkloadReconciler } from '../../runtime/workloads/reconciler';
import { QueueModel } from '../fuzz/queue-model';
import { submission } from '../queue/submission';
import { reconcilerOnTables } from './reconciler-on-tables';

const STARTED = 1_800_000_000;
const WALLTIME = 600;
const KEY = { kind: 'Job', namespace: 'science', name: 'job-a' };
const identity = { namespace: 'science', resourceVersion: '1', creationTimestamp: '' };
const startTime = new Date(STARTED * 1000).toISOString();

const JOB: Job = {
  metadata: { ...identity, name: 'job-a', uid: 'a' },
  spec: {
    suspend: false,
    activeDeadlineSeconds: WALLTIME,
    podReplacementPolicy: 'Failed',
    template: { spec: { containers: [] } },
  },
  status: { startTime, active: 1 },
};

describe('a Job whose controller does not act', () => {
  let now: number;
  let job: Job;
  let hasLeft: boolean;
  let workloadCache: WorkloadCache;
  let reconciler: WorkloadReconciler;
  let pods: Pod[];
  let patched: string[];
  /** Whether a policy of the cluster refuses what the queue writes into a Job. */
  let isFrozen: boolean;

  beforeEach(async () => {
    [now, hasLeft, isFrozen, patched, job] = [STARTED, false, false, [], JOB];
    const queue = new QueueModel(() => now);
    workloadCache = new WorkloadCache(queue, await queue.acquireFence('test'));
    const row = await workloadCache.submit(submission('a', { walltime: WALLTIME }));
    const nodes = [{ name: 'node-0', units: { core: '0' } }];
    const allocation = { jobid: row!.jobid, start: STARTED, end: STARTED + WALLTIME, nodes };
    await workloadCache.allocate([{ uid: 'a', allocation }]);
    await workloadCache.released('a');
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'job-a', uid: 'a', controller: true };
    const annotations = { [JOBID_ANNOTATION]: String(row!.jobid) };
    pods = [
      {
        metadata: { ...identity, name: 'job-a-0', uid: 'p', annotations, ownerReferences: [owner] },
        spec: { containers: [], nodeName: 'node-0' },
        status: { phase: 'Running', startTime },
      },
    ];
    const client: Partial<KubernetesClient> = {
      list: async () => ({ items: pods, metadata: {} }) as never,
      patch: async (path) => {
        if (isFrozen && path.includes('/jobs/'))
          throw apiError(403, JSON.stringify({ message: 'change freeze' }), undefined, path);
        patched.push(path);
        return {} as never;
      },
    };
    reconciler = reconcilerOnTables(workloadCache, {
      client,
      objectOf: () => job,
      podsOf: () => pods,
      namespaces: { hasLeft: () => hasLeft, isAwaited: () => false, isExcluded: () => false },
      now: () => now,
    });
  });

  const pod = '/api/v1/namespaces/science/pods/job-a-0';
  /** Follows the Job for this many seconds, whenever it asks for it. */
  const follow = async (seconds: number) => {
    const until = now + seconds;
    while (now < until) {
      const { after = Number.POSITIVE_INFINITY } = (await reconciler.reconcile(KEY)) ?? {};
      now = Math.min(until, now + Math.max(1, after / 1000));
    }
  };

  test('has pods with a deadline of their own 5 minutes after the end of its walltime', async () => {
    await follow(WALLTIME + 299);
    expect(patched).not.toContain(pod);
    await follow(2);
    expect(patched).toContain(pod);
  });

  test('has pods with a deadline of their own, although a change freeze keeps its deadline an hour later', async () => {
    await reconciler.reconcile(KEY);
    const annotations = { [DEADLINE_ANNOTATION]: `${WALLTIME}+3600/none` };
    job = {
      ...JOB,
      metadata: { ...JOB.metadata, annotations },
      spec: { ...JOB.spec, activeDeadlineSeconds: WALLTIME + 3_600 },
    };
    isFrozen = true;
    now += WALLTIME + 299;
    await expect(reconciler.reconcile(KEY)).rejects.toThrow('change freeze');
    expect(patched).not.toContain(pod);
    now += 2;
    await expect(reconciler.reconcile(KEY)).rejects.toThrow('change freeze');
    expect(patched).toContain(pod);
  });

  test('has pods that leave their nodes some time after it was asked to', async () => {
    await reconciler.reconcile(KEY);
    const request = { uid: 'a', cause: 'preempted' as const, message: 'preempted', avoid: {}, end: now + 45 };
    await workloadCache.requestEviction([request]);
    await follow(344);
    expect(patched).not.toContain(pod);
    await follow(2);
    expect(patched).toContain(pod);
  });

  test('has pods that end some time after its walltime, although their grace period goes on', async () => {
    await reconciler.reconcile(KEY);
    const request = { uid: 'a', message: 'node-1 was lost', end: now + WALLTIME + 570 };
    await workloadCache.requestEviction([request]);
    await follow(WALLTIME + 299);
    expect(patched).not.toContain(pod);
    await follow(2);
    expect(patched).toContain(pod);
  });

  test('that is deleted and kept by a finalizer has orphans with a deadline of their own at once', async () => {
    await reconciler.reconcile(KEY);
    job = { ...JOB, metadata: { ...JOB.metadata, deletionTimestamp: startTime } };
    pods = pods.map(({ metadata: { ownerReferences: _, ...metadata }, ...pod }) => ({ ...pod, metadata }));
    await reconciler.reconcile(KEY);
    expect(patched).toContain(pod);
  });

  test('that is deleted and kept by a finalizer has pods that end some time after its walltime', async () => {
    await reconciler.reconcile(KEY);
    job = { ...JOB, metadata: { ...JOB.metadata, deletionTimestamp: startTime } };
    await follow(WALLTIME + 299);
    expect(patched).not.toContain(pod);
    await follow(2);
    expect(patched).toContain(pod);
  });

  test('keeps its pods in a namespace that has left the queue', async () => {
    await reconciler.reconcile(KEY);
    hasLeft = true;
    await follow(WALLTIME + 600);
    expect(patched).not.toContain(pod);
  });
});
