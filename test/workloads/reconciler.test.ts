/** Single reconciles of one workload, each with a view of the cluster that is stale, partial or contradictory. */
import { ASSIGNMENT_ANNOTATION, JOBID_ANNOTATION } from '../../constructs/api/labels';
import { parseConfig } from '../../runtime/config';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import type { EventNote } from '../../runtime/kubernetes/events';
import { jobs, pods as podPath } from '../../runtime/kubernetes/paths';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { createLogger } from '../../runtime/observability/log';
import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { adapters } from '../../runtime/workloads/index';
import { WorkloadReconciler } from '../../runtime/workloads/reconciler';
import type { Cluster } from '../cluster/cluster';
import { startPostgres } from '../cluster/postgres';
import { describeCluster } from '../cluster/suite';
import { ManualClock } from '../kubernetes/manual-clock';
import { defaultSubmissions } from './default-submissions';

describeCluster('the workload reconciler', (getCluster) => {
  let cluster: Cluster;
  let admin: KubernetesClient;
  let postgres: Awaited<ReturnType<typeof startPostgres>>;
  let queue: Queue;
  let workloadCache: WorkloadCache;
  let now: number;
  let seen: Job | undefined;
  let pods: Pod[];
  let nodes: Set<string>;
  let events: EventNote[];
  let freed: number[];

  beforeAll(async () => {
    cluster = getCluster();
    postgres = await startPostgres();
    admin = createClient({ kubeconfig: cluster.kubeconfig });
    queue = openQueue({ url: postgres.url, units: DEFAULT_UNITS });
    await queue.migrate();
  });
  afterAll(async () => {
    admin.close();
    await queue.close();
    await postgres.stop();
  });
  beforeEach(async () => {
    workloadCache = new WorkloadCache(queue, await queue.acquireFence('test'));
    await workloadCache.reload();
    now = Date.now() / 1000;
    [pods, events, freed] = [[], [], []];
    nodes = new Set(['node-0', 'node-1']);
  });
  const config = parseConfig({});
  const clock = new ManualClock();
  const logger = createLogger('test', 'silent');

  function reconciler(client = admin): WorkloadReconciler {
    return new WorkloadReconciler({
      client,
      workloadCache,
      adapters,
      submissionBuilder: defaultSubmissions(workloadCache, (_object, _adapter, message) =>
        events.push({ type: 'Warning', reason: 'Invalid', message }),
      ),
      objectOf: () => seen,
      podsOf: () => pods,
      namespaces: { hasLeft: () => false, isAwaited: () => false, isExcluded: () => false },
      scope: config.namespaces,
      nodes: { exists: (name) => nodes.has(name), isReady: (name) => nodes.has(name) },
      schedulerRuns: () => true,
      requeueOf: () => ({ limit: 1, backoffSeconds: 5 }),
      limits: config.grants,
      ...{ isWithdrawn: () => false, isAwaited: () => false },
      ...{ onWait: () => undefined, onLingering: () => undefined },
      onFreed: (jobid) => freed.push(jobid),
      onRequeued: () => undefined,
      ...{ onShrunk: () => undefined, onReduced: () => undefined, isUnlisted: () => false },
      onQueueChanged: () => undefined,
      onUnrecordedGrant: () => undefined,
      enqueue: () => undefined,
      recordEvent: (_object, _adapter, event) => events.push(event),
      isBusy: () => false,
      logger,
      clock,
      now: () => now,
    });
  }

  async function createSuspended(name: string, metadata: object = {}): Promise<Job> {
    return admin.create<Job>(jobs('default'), {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name, ...metadata },
      spec: {
        suspend: true,
        completions: 20,
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] } },
      },
    });
  }

  const keyOf = ({ metadata }: Job) => ({ kind: 'Job', namespace: 'default', name: metadata.name });
  const rowOf = (job: Job) => workloadCache.byUid(job.metadata.uid);
  const current = (job: Job) => admin.get<Job>(jobs('default', job.metadata.name));

  async function grant(job: Job, node: string): Promise<WorkloadRow> {
    const { uid, jobid } = rowOf(job)!;
    const allocation = {
      jobid,
      start: Math.floor(now),
      end: Math.floor(now) + 3600,
      nodes: [{ name: node, units: { core: '0', memory: '0' } }],
    };
    return (await workloadCache.allocate([{ uid, allocation }]))[0]!;
  }

  /** A Job in phase Ready, which the watch still shows as it was suspended. */
  async function granted(name: string): Promise<Job> {
    const created = await createSuspended(name);
    const isSeen = ({ status }: Job) => status?.conditions !== undefined;
    await cluster.waitFor('the Job controller to see it', async () => isSeen(await current(created)));
    const job = await current(created);
    seen = job;
    await reconciler().reconcile(keyOf(job));
    await grant(job, 'node-0');
    return job;
  }

  /** The Job once its controller has reset the start time, and counts no pods any more. */
  function untilSuspended(job: Job): Promise<Job> {
    return cluster.waitFor('the Job controller to suspend the Job', async () => {
      const now = await current(job);
      const { startTime, active = 0, terminating = 0 } = now.status ?? {};
      return startTime === undefined && active + terminating === 0 && now;
    });
  }

  test('does not evict a Job that the watch shows as it was before its release', async () => {
    const job = await granted('old-view');
    const subject = reconciler();
    await subject.reconcile(keyOf(job));
    expect((await current(job)).spec.suspend).toBe(false);
    // The watch still shows the Job suspended, and a node is lost.
    nodes.delete('node-0');
    await subject.reconcile(keyOf(job));
    expect(rowOf(job)!.phase).toBe('Ready');
    // Now the watch shows the released Job: it is evicted and requeued.
    seen = await current(job);
    await subject.reconcile(keyOf(job));
    expect((await current(job)).spec.suspend).toBe(true);
    expect(rowOf(job)!.phase).toBe('Ready');
    seen = await untilSuspended(job);
    await subject.reconcile(keyOf(job));
    expect(rowOf(job)).toMatchObject({ phase: 'Waiting', requeues: 1, allocation: null });
    expect(events).toEqual([
      {
        type: 'Warning',
        reason: 'Requeued',
        message: 'node node-0 was lost; requeued, retrying in 5s',
      },
    ]);
    expect(freed).toHaveLength(1);
  });

  test('applies a hold that the user set while the Job ran once the Job is requeued', async () => {
    const job = await granted('held-late');
    const subject = reconciler();
    await subject.reconcile(keyOf(job));
    const hold = { metadata: { labels: { 'fluxqueue/hold': 'true' } }, spec: { suspend: true } };
    await admin.patch(jobs('default', 'held-late'), hold, 'merge');
    seen = await untilSuspended(job);
    expect(await subject.reconcile(keyOf(job))).toEqual({ after: 1 });
    await subject.reconcile(keyOf(job));
    expect(rowOf(job)).toMatchObject({ phase: 'Waiting', requeues: 0, held: true, reason: 'Held' });
  });

  test.each([
    ['parallelism', { parallelism: 14 }, { pods: 14 }],
    ['nodeSelector', { template: { spec: { nodeSelector: { zone: 'a' } } } }, { pods: 1 }],
    ['activeDeadlineSeconds', { activeDeadlineSeconds: 7200 }, { walltime: 7200 }],
  ])('does not release a Job whose user changes its %s after the grant', async (field, spec, expected) => {
    const job = await granted(`edited-${field.toLowerCase()}`);
    await admin.patch(jobs('default', job.metadata.name), { spec }, 'merge');
    await reconciler().reconcile(keyOf(job));
    seen = await current(job);
    expect(seen.spec.suspend).toBe(true);
    expect(await reconciler().reconcile(keyOf(job))).toEqual({ after: 1 });
    await reconciler().reconcile(keyOf(job));
    expect(rowOf(job)).toMatchObject({ phase: 'Waiting', requeues: 0, allocation: null, ...expected });
    expect(freed).toHaveLength(1);
  });

  test('waits with the release until the Job controller has reset the start time', async () => {
    const job = await granted('held-on');
    seen = { ...job, status: { startTime: '2026-01-01T00:00:00Z' } };
    await reconciler().reconcile(keyOf(job));
    expect(rowOf(job)).toMatchObject({ phase: 'Ready', releasedAt: null });
    expect((await current(job)).spec.suspend).toBe(true);
    seen = job;
    await reconciler().reconcile(keyOf(job));
    expect(rowOf(job)!.releasedAt).not.toBeNull();
  });

  test('suspends a Job that a former leader released onto other nodes than granted', async () => {
    const job = await granted('elsewhere');
    await admin.patch(
      jobs('default', 'elsewhere'),
      {
        spec: {
          suspend: false,
          template: { metadata: { annotations: { [ASSIGNMENT_ANNOTATION]: '0/1:node-1' } } },
        },
      },
      'merge',
    );
    seen = await current(job);
    await reconciler().reconcile(keyOf(job));
    expect(rowOf(job)).toMatchObject({ phase: 'Ready', releasedAt: null });
    expect((await current(job)).spec.suspend).toBe(true);
  });

  test('suspends a Job that was released without a grant', async () => {
    const job = await createSuspended('too-early');
    seen = job;
    await reconciler().reconcile(keyOf(job));
    await admin.patch(jobs('default', 'too-early'), { spec: { suspend: false } }, 'merge');
    seen = await current(job);
    await reconciler().reconcile(keyOf(job));
    expect((await current(job)).spec.suspend).toBe(true);
    expect(rowOf(job)!.phase).toBe('Waiting');
  });

  test('does not patch again after a crash between the release patch and its commit', async () => {
    const job = await granted('committed-late');
    const { type, body } = adapters.get('Job')!.releasePatch(job, rowOf(job)!);
    await admin.patch(jobs('default', 'committed-late'), body, type);
    seen = await current(job);
    await reconciler().reconcile(keyOf(job));
    expect(rowOf(job)!.releasedAt).not.toBeNull();
    expect((await current(job)).metadata.generation).toBe(seen.metadata.generation);
  });

  test('retries a rejected release for a minute and then frees the units', async () => {
    const job = await granted('refused');
    const stranger = createClient({ kubeconfig: cluster.kubeconfigFor('user') });
    try {
      const subject = reconciler(stranger);
      expect(await subject.reconcile(keyOf(job))).toEqual({ after: expect.any(Number) });
      expect(rowOf(job)!.phase).toBe('Ready');
      clock.freeze(61_000);
      expect(await subject.reconcile(keyOf(job))).toBeUndefined();
      expect(rowOf(job)).toMatchObject({
        phase: 'Waiting',
        reason: 'Requeued',
        clusterRequeues: 1,
        message: expect.stringMatching(
          /^the apiserver does not take the release: .*cannot patch resource "jobs"/,
        ),
      });
      expect(freed).toHaveLength(1);
    } finally {
      stranger.close();
    }
  });

  test('cancels a Job that is deleted before its release', async () => {
    const job = await granted('deleted');
    seen = { ...job, metadata: { ...job.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    await reconciler().reconcile(keyOf(job));
    expect(rowOf(job)).toBeUndefined();
    const [row] = await queue.byUid([job.metadata.uid]);
    expect(row).toMatchObject({ phase: 'Finished', result: 'Cancelled' });
    expect((await current(job)).spec.suspend).toBe(true);
  });

  test('cancels a deleted Job that waits, although a pod of it is left on a lost node', async () => {
    const job = await granted('requeued');
    const { uid } = job.metadata;
    await workloadCache.requeue({ uid, cause: 'failure', message: 'node-0 was lost' });
    nodes.delete('node-0');
    const metadata = { name: 'requeued-0', uid: 'orphan', resourceVersion: '1', creationTimestamp: '' };
    pods = [{ metadata, spec: { nodeName: 'node-0', containers: [] }, status: { phase: 'Running' } }];
    seen = undefined;
    await reconciler().reconcile(keyOf(job));
    expect(await queue.byUid([uid])).toMatchObject([{ phase: 'Finished', result: 'Cancelled' }]);
  });

  test('cancels a deleted Job only when no pod of it is left, also of those that the watch does not show yet', async () => {
    const job = await granted('lagging');
    await reconciler().reconcile(keyOf(job));
    const listPods = () => admin.list<Pod>(podPath('default'), { labelSelector: 'job-name=lagging' });
    await cluster.waitFor('its pod', async () => (await listPods()).items.length === 1);
    seen = undefined;
    const term = reconciler();
    for (let i = 0; i < 3; i++) {
      expect(await term.reconcile(keyOf(job))).toEqual({ after: 1_000 });
      await clock.advance(1_000);
    }
    expect(rowOf(job)).toMatchObject({ phase: 'Ready' });
    await admin.delete(jobs('default', 'lagging'), { propagationPolicy: 'Background' });
    await cluster.waitFor('its pod to be gone', async () => (await listPods()).items.length === 0);
    await term.reconcile(keyOf(job));
    expect(rowOf(job)).toBeUndefined();
    expect(freed).toEqual([expect.any(Number)]);
  });

  test('records the start of a Job that ran and finished between two reconciles', async () => {
    const job = await granted('unseen');
    await reconciler().reconcile(keyOf(job));
    const start = new Date(Math.ceil(now + 2) * 1000);
    const time = (ms: number) => new Date(start.getTime() + ms).toISOString();
    pods = [
      {
        metadata: {
          ...job.metadata,
          name: 'unseen-0',
          uid: 'pod',
          annotations: { [JOBID_ANNOTATION]: String(rowOf(job)!.jobid) },
        },
        spec: { containers: [], nodeName: 'node-0' },
        status: {
          phase: 'Succeeded',
          startTime: time(0),
          containerStatuses: [
            { name: 'main', state: { terminated: { exitCode: 0, finishedAt: time(5000) } } },
          ],
        },
      },
    ];
    seen = { ...(await current(job)), spec: { ...(await current(job)).spec, completions: 1 } };
    await reconciler().reconcile(keyOf(job));
    expect((await queue.byUid([job.metadata.uid]))[0]).toMatchObject({
      phase: 'Finished',
      result: 'Succeeded',
      startedAt: start.getTime() / 1000,
      finishedAt: start.getTime() / 1000 + 5,
    });
  });

  test('queues a Job with invalid settings with the reason, and says it once', async () => {
    const job = await createSuspended('old', { annotations: { 'fluxqueue/walltime': 'soon' } });
    seen = job;
    await reconciler().reconcile(keyOf(job));
    await reconciler().reconcile(keyOf(job));
    expect(rowOf(job)!.jobspec.attributes.user!.invalid).toMatch(/^FLUXQ_SETTING_INVALID/);
    const message = expect.stringContaining('metadata.annotations["fluxqueue/walltime"]');
    expect(events).toEqual([expect.objectContaining({ type: 'Warning', reason: 'Invalid', message })]);
  });
});
