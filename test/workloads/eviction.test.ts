/** The steps of an eviction, the backoff and limit of requeues, and the Events for the user. */

import type { KubernetesClient } from '../../runtime/kubernetes/client';
import type { EventNote } from '../../runtime/kubernetes/events';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import type { SubmissionUpdate } from '../../runtime/queue/workload';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { dueEnd } from '../../runtime/scheduler/pass/planned-end';
import { Eviction, type EvictionReason } from '../../runtime/workloads/eviction';
import { adapters } from '../../runtime/workloads/index';
import { QueueModel } from '../fuzz/queue-model';
import { allocationOf, changed, submission } from '../queue/submission';

const adapter = adapters.get('Job')!;
const NOW = 1_000;

/** @param left seconds until its walltime is over @default - it was over long ago */
async function setUp({ left, graceSeconds }: { left?: number; graceSeconds?: number | undefined } = {}) {
  const queue = new QueueModel(() => NOW);
  const workloadCache = new WorkloadCache(queue, await queue.acquireFence('test'));
  await workloadCache.reload();
  const { jobspec } = submission('a');
  const user = { ...jobspec.attributes.user, ...(graceSeconds !== undefined && { graceSeconds }) };
  const withGrace = { ...jobspec, attributes: { ...jobspec.attributes, user } };
  await workloadCache.submit(submission('a', { jobspec: withGrace }));
  const events: EventNote[] = [];
  const freed: number[] = [];
  const causes: string[] = [];
  const patches: unknown[] = [];
  const decisions: unknown[][] = [];
  let change: SubmissionUpdate | undefined;
  const eviction = new Eviction({
    client: {
      patch: async (_path: string, body: object) => patches.push(body),
    } as unknown as KubernetesClient,
    workloadCache,
    submissionBuilder: { changeOf: () => change, asksForGrant: () => true },
    nodes: { exists: () => true, isReady: () => true },
    requeueOf: () => ({ limit: 2, backoffSeconds: 10 }),
    onFreed: (jobid) => freed.push(jobid),
    onRequeued: (cause) => causes.push(cause),
    ...{ avoidSeconds: 300, onQueueChanged: () => undefined },
    recordEvent: (_object, _adapter, event) => events.push(event),
    logger: { debug: (...line: unknown[]) => decisions.push(line) } as never,
    now: () => NOW,
  });
  const row = () => workloadCache.byUid('a')!;
  const grant = async () => {
    const allocation = { ...allocationOf(row()), ...(left !== undefined && { end: NOW + left }) };
    await workloadCache.allocate([{ uid: 'a', allocation }]);
    await workloadCache.released('a');
  };
  const evict = (reason: EvictionReason, object: Job, pods: readonly Pod[] = []) =>
    eviction.evict({ object, adapter, row: row(), pods }, reason);
  const userChanges = (fields: Partial<SubmissionUpdate>) => {
    change = changed(row(), fields);
  };
  const reasonFor = (object: Job) => eviction.reasonFor({ object, adapter, row: row(), pods: [] });
  return {
    queue,
    reasonFor,
    workloadCache,
    eviction,
    events,
    freed,
    causes,
    patches,
    decisions,
    row,
    grant,
    evict,
    userChanges,
  };
}

function job(suspend: boolean, generation = 5): Job {
  return {
    metadata: {
      name: 'job-a',
      namespace: 'science',
      uid: 'a',
      resourceVersion: '1',
      creationTimestamp: '2027-01-01T00:00:00Z',
      generation,
    },
    spec: { suspend, template: { spec: { containers: [] } } },
  };
}

const LOST: EvictionReason = { cause: 'failure', message: 'node node-1 was lost' };
const pod: Pod = { metadata: job(false).metadata, spec: { containers: [], nodeName: 'node-1' } };

describe('an eviction', () => {
  test('suspends the Job, waits for its pods to terminate and then requeues the workload', async () => {
    const { grant, evict, row, patches, events, freed, causes } = await setUp();
    await grant();
    const { jobid } = row();
    await evict(LOST, job(false));
    expect(patches).toEqual([expect.objectContaining({ spec: { suspend: true } })]);
    await evict(LOST, job(true), [pod]);
    expect(row().phase).toBe('Ready');
    await evict(LOST, job(true));
    expect(row()).toMatchObject({ phase: 'Waiting', reason: 'Requeued', requeues: 1, notBefore: NOW + 10 });
    expect(freed).toEqual([jobid]);
    expect(causes).toEqual(['failure']);
    expect(events).toEqual([
      {
        type: 'Warning',
        reason: 'Requeued',
        message: 'node node-1 was lost; requeued, retrying in 10s',
      },
    ]);
  });

  test('waits for pods that the Job counts and the watch does not show yet', async () => {
    const { grant, evict, row } = await setUp();
    await grant();
    const counting = (status: Job['status']): Job => ({ ...job(true), status: status! });
    await evict(LOST, counting({ active: 1 }));
    await evict(LOST, counting({ active: 0, terminating: 2 }), [{ ...pod, status: { phase: 'Failed' } }]);
    expect(row().phase).toBe('Ready');
    await evict(LOST, counting({ active: 0 }));
    expect(row().phase).toBe('Waiting');
  });

  test('waits for pods that the watch shows with a gate: the queue may have removed it', async () => {
    const { grant, evict, row } = await setUp();
    await grant();
    const gated: Pod = {
      metadata: { ...pod.metadata, uid: 'pod-1' },
      spec: { containers: [], schedulingGates: [{ name: 'fluxqueue' }] },
    };
    await evict(LOST, job(true), [gated]);
    expect(row().phase).toBe('Ready');
    const deletionTimestamp = '2027-01-01T00:01:00Z';
    await evict(LOST, job(true), [{ ...gated, metadata: { ...gated.metadata, deletionTimestamp } }]);
    expect(row().phase).toBe('Waiting');
  });

  test('begins when its user wants no pods of a released Job', async () => {
    const { grant, evict, row, reasonFor, patches } = await setUp();
    await grant();
    const { spec, metadata } = job(false);
    const none: Job = { metadata, spec: { ...spec, parallelism: 0 } };
    const reason = reasonFor(none);
    expect(reason).toEqual({ cause: 'suspended', message: 'its user wants no pods of it' });
    expect(reasonFor({ ...none, spec: { ...none.spec, parallelism: 1 } })).toBeUndefined();
    await evict(reason!, none);
    expect(patches).toEqual([expect.objectContaining({ spec: { suspend: true } })]);
    await evict(reason!, { ...none, spec: { ...none.spec, suspend: true } });
    expect(row()).toMatchObject({ phase: 'Waiting', requeues: 0, notBefore: null });
  });

  test.each([
    ['a number of pods that is none', { Worker: { replicas: -1, template: { spec: {} } } }],
    ['a template that is none', { Worker: { replicas: 1, template: null } }],
  ])('begins when an object is suspended that has got %s', async (_, sets) => {
    const { grant, eviction, row } = await setUp();
    await grant();
    const { metadata } = job(true);
    const object = { metadata, spec: { runPolicy: { suspend: true }, mpiReplicaSpecs: sets } };
    const ofKind = adapters.get('MPIJob')!;
    expect(eviction.reasonFor({ object, adapter: ofKind, row: row(), pods: [] })).toEqual({
      cause: 'suspended',
      message: 'its spec.suspend was set to true',
    });
  });

  test('keeps the failure that began it until the workload is requeued', async () => {
    const { grant, evict, row, patches, reasonFor } = await setUp();
    await grant();
    await evict({ cause: 'suspended', message: 'its spec.suspend was set to true' }, job(true), [pod]);
    expect(row()).toMatchObject({ evictionReason: null, evictionCause: null, avoid: {} });
    await evict({ ...LOST, avoid: ['node-1'] }, job(false));
    // It is committed before the Job is suspended: another leader continues from the row alone.
    expect(patches).toHaveLength(1);
    expect(row()).toMatchObject({
      evictionReason: LOST.message,
      evictionCause: 'failure',
      avoid: { 'node-1': NOW + 300 },
    });
    expect(reasonFor(job(true))).toEqual(LOST);
    await evict(LOST, job(true));
    expect(row()).toMatchObject({
      phase: 'Waiting',
      requeues: 1,
      evictionReason: null,
      evictionCause: null,
      avoid: { 'node-1': NOW + 300 },
    });
  });

  test.each([
    ['at the end of its walltime', 20, undefined, 20],
    ['beyond it, because it has not started', -50, undefined, 45],
    ['with a long grace period', 5_000, 600, 615],
    ['with a long grace period, shortly before its walltime is over', 50, 600, 615],
    ['with a long grace period, in this', -100, 600, 570 - 100],
  ])('plans with the nodes of a workload that is evicted %s', async (_, left, graceSeconds, until) => {
    const { grant, evict, row } = await setUp({ left, graceSeconds });
    await grant();
    await evict(LOST, job(false));
    expect(dueEnd(row())).toBe(NOW + until);
  });

  test('suspends nothing while the reason is not committed', async () => {
    const { grant, evict, row, patches, queue } = await setUp();
    await grant();
    queue.requestEviction = async () => {
      throw new Error('the database is down');
    };
    await expect(evict(LOST, job(false))).rejects.toThrow('the database is down');
    expect(patches).toEqual([]);
    expect(row().evictionReason).toBeNull();
  });

  test('ignores the object as it was before its release', async () => {
    const { grant, evict, row, eviction } = await setUp();
    await grant();
    eviction.recordRelease(job(false, 7), row());
    // The generation that was released, and one from a change by the user just before the release.
    for (const generation of [5, 6]) await evict(LOST, job(true, generation));
    expect(row().phase).toBe('Ready');
    await evict(LOST, job(true, 8));
    expect(row().phase).toBe('Waiting');
  });

  test('doubles the backoff with each failure, up to the limit, and then tries it once an hour', async () => {
    const { grant, evict, row, events } = await setUp();
    const waits: (number | null)[] = [];
    for (let i = 0; i < 2; i++) {
      await grant();
      await evict(LOST, job(true));
      waits.push(row().notBefore);
    }
    expect(waits).toEqual([NOW + 10, NOW + 20]);
    await grant();
    await evict(LOST, job(true));
    expect(row()).toMatchObject({
      reason: 'RequeueLimit',
      notBefore: NOW + 3600,
      message: 'node node-1 was lost; retried once an hour after 2 requeues, edit the workload to retry now',
    });
    expect(events.map(({ reason }) => reason)).toEqual(['Requeued', 'Requeued', 'RequeueLimit']);
  });

  test('never stops to retry for a cause of the cluster, and backs off five minutes at most', async () => {
    const { grant, evict, row, events } = await setUp();
    const waits: number[] = [];
    for (let i = 0; i < 12; i++) {
      await grant();
      await evict({ ...LOST, cause: 'cluster' }, job(true));
      waits.push(row().notBefore! - NOW);
    }
    expect(waits.slice(0, 5)).toEqual([10, 20, 40, 80, 160]);
    expect(new Set(waits.slice(5))).toEqual(new Set([300]));
    expect(new Set(events.map(({ reason }) => reason))).toEqual(new Set(['Requeued']));
    // Its own failures count from 0.
    await grant();
    await evict(LOST, job(true));
    expect(row()).toMatchObject({
      reason: 'Requeued',
      notBefore: NOW + 10,
      requeues: 13,
      clusterRequeues: 12,
    });
  });

  test.each([
    ['for as long as it had its nodes without a start', 450, { notBefore: NOW + 450 }],
    ['for ten minutes after a whole day', 86_400, { notBefore: NOW + 600 }],
    ['for its backoff after a shorter time', 300, { notBefore: NOW + 10 }],
    ['for its backoff, if the clock of the database is ahead', -600, { notBefore: NOW + 10 }],
  ])('backs off %s', async (_, seconds, terms) => {
    const { eviction, grant, row } = await setUp();
    await grant();
    const held = { ...row(), allocatedAt: NOW - seconds };
    expect(eviction.requeueTerms(held, { ...LOST, cause: 'cluster' })).toMatchObject(terms);
    // What ran has been of use.
    const ran = { ...held, startedAt: NOW - 5 };
    expect(eviction.requeueTerms(ran, { ...LOST, cause: 'cluster' })).toMatchObject({ notBefore: NOW + 10 });
  });

  test.each([
    ['keeps its place at once after a run that was longer than its backoff', 11, null],
    ['backs off after a shorter run', 10, NOW + 10],
  ])('%s, when the cluster takes its nodes', async (_, seconds, notBefore) => {
    const { workloadCache, grant, evict, row } = await setUp();
    await grant();
    await workloadCache.running('a', NOW - seconds);
    await evict({ ...LOST, cause: 'cluster' }, job(true));
    expect(row()).toMatchObject({ reason: 'Requeued', clusterRequeues: 1, notBefore });
  });

  test('neither counts a preemption or a suspension nor backs off after it', async () => {
    const { grant, evict, row, events } = await setUp();
    const causes: readonly EvictionReason[] = [
      { cause: 'preempted', message: 'preempted by science/b, which is more urgent' },
      { cause: 'suspended', message: 'its spec.suspend was set to true' },
    ];
    for (const reason of causes) {
      await grant();
      await evict(reason, job(true));
      expect(row()).toMatchObject({ reason: 'Requeued', requeues: 0, notBefore: null });
    }
    expect(row().preemptions).toBe(1);
    expect(events.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
      'Warning Preempted',
      'Normal Requeued',
    ]);
  });

  test('requeues it with what its user changed meanwhile, so that no pass grants it for what it asked for before', async () => {
    const { grant, evict, row, events, workloadCache, userChanges } = await setUp();
    await grant();
    userChanges({ held: true });
    const seen: unknown[] = [];
    workloadCache.onChange(({ phase, held, reason }) => seen.push({ phase, held, reason }));
    await evict({ cause: 'suspended', message: 'its spec.suspend was set to true' }, job(true));
    expect(seen).toEqual([{ phase: 'Waiting', held: true, reason: 'Held' }]);
    expect(events).toEqual([
      { type: 'Normal', reason: 'Requeued', message: 'its spec.suspend was set to true; requeued' },
    ]);
    await expect(workloadCache.allocate([{ uid: 'a', allocation: allocationOf(row()) }])).resolves.toEqual(
      [],
    );
  });

  test('logs each step with the workload, its queue and its job id', async () => {
    const { grant, evict, row, decisions } = await setUp();
    await grant();
    const { jobid } = row();
    await evict(LOST, job(false));
    await evict(LOST, job(true), [pod]);
    await evict(LOST, job(true));
    expect(decisions.map(([, decision]) => decision)).toEqual([
      'evicting: suspending the object',
      'evicting: waiting for the pods to terminate',
      'requeued',
    ]);
    for (const [fields] of decisions)
      expect(fields).toEqual({
        workload: 'Job/science/job-a',
        queue: 'default',
        jobid,
        cause: 'failure',
        reason: 'node node-1 was lost',
      });
  });
});
