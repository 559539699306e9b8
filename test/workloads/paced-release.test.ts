/** Reconciles of granted Jobs whose objects are large, on tables in memory. */
import { parseConfig } from '../../runtime/config';
import { InternPool } from '../../runtime/intern';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import type { Job } from '../../runtime/kubernetes/types';
import { createLogger } from '../../runtime/observability/log';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { projectJob, type WatchedJob } from '../../runtime/shared/job-projection';
import { formatKey, type WorkloadKey } from '../../runtime/shared/workload-key';
import { adapters } from '../../runtime/workloads/index';
import { WorkloadReconciler } from '../../runtime/workloads/reconciler';
import type { WorkloadReconcilerOptions } from '../../runtime/workloads/reconciler-options';
import { QueueModel } from '../fuzz/queue-model';
import { ManualClock } from '../kubernetes/manual-clock';
import { submission } from '../queue/submission';

const NOW = 1_800_000_000;
/** Milliseconds that the apiserver takes to answer a release. */
const RELEASE_MS = 700;

describe('granted Jobs', () => {
  let clock: ManualClock;
  let released: string[];
  let enqueued: string[];
  let reconciler: WorkloadReconciler;
  let workloadCache: WorkloadCache;
  let size: number;

  const keyOf = (uid: string): WorkloadKey => ({ kind: 'Job', namespace: 'science', name: `job-${uid}` });
  const job = ({ name }: WorkloadKey): WatchedJob => projectJob(object(name), new InternPool());
  const object = (name: string): Job => ({
    metadata: {
      name,
      namespace: 'science',
      uid: name.slice(4),
      resourceVersion: '1',
      creationTimestamp: '',
      annotations: { note: 'x'.repeat(size) },
    },
    spec: { suspend: true, parallelism: 1, completions: 1, template: { spec: { containers: [] } } },
  });

  beforeEach(async () => {
    const queue = new QueueModel(() => NOW);
    workloadCache = new WorkloadCache(queue, await queue.acquireFence('test'));
    for (const uid of ['a', 'b']) {
      const row = await workloadCache.submit(submission(uid));
      const nodes = [{ name: 'node-0', units: { core: '0' } }];
      const allocation = { jobid: row!.jobid, start: NOW, end: NOW + 600, nodes };
      await workloadCache.allocate([{ uid, allocation }]);
    }
    clock = new ManualClock();
    released = [];
    enqueued = [];
    const client: Partial<KubernetesClient> = {
      patch: async (path) => {
        clock.freeze(RELEASE_MS);
        released.push(path.split('/').at(-1)!);
        return { metadata: {} } as never;
      },
    };
    const options: Partial<WorkloadReconcilerOptions> = {
      client: client as KubernetesClient,
      workloadCache,
      adapters,
      submissionBuilder: { asksForGrant: () => true, learn: () => undefined } as never,
      objectOf: job,
      podsOf: () => [],
      namespaces: { hasLeft: () => false, isAwaited: () => false, isExcluded: () => false },
      nodes: { exists: () => true, isReady: () => true },
      limits: parseConfig({}).grants,
      schedulerRuns: () => true,
      isWithdrawn: () => false,
      isUnlisted: () => false,
      onWait: () => undefined,
      onLingering: () => undefined,
      onUnrecordedGrant: () => undefined,
      enqueue: (key) => enqueued.push(formatKey(key)),
      logger: createLogger('test', 'silent'),
      clock,
      now: () => NOW,
    };
    reconciler = new WorkloadReconciler(options as WorkloadReconcilerOptions);
  });

  test('are released one after the other if they are large', async () => {
    size = 200_000;
    await reconciler.reconcile(keyOf('a'));
    await reconciler.reconcile(keyOf('b'));
    expect(released).toEqual(['job-a']);
    expect(workloadCache.byUid('b')).toMatchObject({ phase: 'Ready', releasedAt: null });
    await clock.advance(3 * RELEASE_MS);
    expect(enqueued).toEqual(['Job/science/job-b']);
    await reconciler.reconcile(keyOf('b'));
    expect(released).toEqual(['job-a', 'job-b']);
  });

  test('are all released at once if they are not', async () => {
    size = 2_000;
    await reconciler.reconcile(keyOf('a'));
    await reconciler.reconcile(keyOf('b'));
    expect(released).toEqual(['job-a', 'job-b']);
  });

  test('leave no timer behind when the term ends', async () => {
    size = 200_000;
    await reconciler.reconcile(keyOf('a'));
    reconciler.stop();
    expect(clock.next).toBeUndefined();
  });
});
