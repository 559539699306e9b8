/** How often and how soon a workload is tried again, and what its user hears. */

import type { KubernetesClient } from '../../runtime/kubernetes/client';
import type { EventNote } from '../../runtime/kubernetes/events';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { Eviction, type EvictionReason } from '../../runtime/workloads/eviction';
import { adapters } from '../../runtime/workloads/index';
import { QueueModel } from '../fuzz/queue-model';
import { allocationOf, submission } from '../queue/submission';

const adapter = adapters.get('Job')!;
const NOW = 1_000;

async function setUp() {
  const queue = new QueueModel(() => NOW);
  const workloadCache = new WorkloadCache(queue, await queue.acquireFence('test'));
  await workloadCache.reload();
  await workloadCache.submit(submission('a'));
  const told: EventNote[] = [];
  const freed: number[] = [];
  const patches: unknown[] = [];
  const eviction = new Eviction({
    client: {
      patch: async (_path: string, body: object) => patches.push(body),
    } as unknown as KubernetesClient,
    workloadCache,
    nodeExists: () => true,
    requeueOf: () => ({ limit: 2, backoffSeconds: 10 }),
    onFreed: (jobid) => freed.push(jobid),
    onQueueChanged: () => undefined,
    recordEvent: (_object, _adapter, event) => told.push(event),
    now: () => NOW,
  });
  const row = () => workloadCache.byUid('a')!;
  const grant = async () => {
    await workloadCache.allocate([{ uid: 'a', allocation: allocationOf(row()) }]);
    await workloadCache.released('a');
  };
  const step = (why: EvictionReason, object: Job, pods: readonly Pod[] = []) =>
    eviction.step(object, adapter, row(), pods, why);
  return { workloadCache, eviction, told, freed, patches, row, grant, step };
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

const LOST: EvictionReason = { cause: 'failure', what: 'lost node-1' };
const pod: Pod = { metadata: job(false).metadata, spec: { containers: [], nodeName: 'node-1' } };

describe('taking back', () => {
  test('first it is suspended, then its pods go, then it waits in its place', async () => {
    const { grant, step, row, patches, told, freed } = await setUp();
    await grant();
    const { jobid } = row();
    await step(LOST, job(false));
    expect(patches).toEqual([expect.objectContaining({ spec: { suspend: true } })]);
    await step(LOST, job(true), [pod]);
    expect(row().phase).toBe('Ready');
    await step(LOST, job(true));
    expect(row()).toMatchObject({ phase: 'Waiting', reason: 'Requeued', requeues: 1, notBefore: NOW + 10 });
    expect(freed).toEqual([jobid]);
    expect(told).toEqual([
      {
        type: 'Warning',
        reason: 'Requeued',
        message: 'lost node-1, waits again in its place, for 10 s at least',
      },
    ]);
  });

  test('a failure stays what it is taken back for, until it waits again', async () => {
    const { grant, step, row, eviction } = await setUp();
    await grant();
    const granted = row();
    expect(eviction.whyBegun(granted)).toBeUndefined();
    await step({ cause: 'suspended', what: 'was suspended' }, job(true), [pod]);
    expect(eviction.whyBegun(granted)).toBeUndefined();
    await step(LOST, job(false));
    expect(eviction.whyBegun(granted)).toEqual(LOST);
    await step(LOST, job(true));
    expect(row().phase).toBe('Waiting');
    expect(eviction.whyBegun(granted)).toBeUndefined();
  });

  test('not by what was seen before its release', async () => {
    const { grant, step, row, eviction } = await setUp();
    await grant();
    eviction.releases(job(false, 7), row());
    // As it was when we released it, and as its user had changed it just before the release arrived.
    for (const generation of [5, 6]) await step(LOST, job(true, generation));
    expect(row().phase).toBe('Ready');
    await step(LOST, job(true, 8));
    expect(row().phase).toBe('Waiting');
  });

  test('failures wait twice as long each time, and at the limit for their user', async () => {
    const { grant, step, row, told } = await setUp();
    const waits: (number | null)[] = [];
    for (let i = 0; i < 2; i++) {
      await grant();
      await step(LOST, job(true));
      waits.push(row().notBefore);
    }
    expect(waits).toEqual([NOW + 10, NOW + 20]);
    await grant();
    await step(LOST, job(true));
    expect(row()).toMatchObject({
      reason: 'RequeueLimit',
      notBefore: null,
      message:
        'lost node-1, and was requeued 2 times already; waits until its user changes something about it',
    });
    expect(told.map(({ reason }) => reason)).toEqual(['Requeued', 'Requeued', 'RequeueLimit']);
  });

  test('what is preempted or suspended does not count, and waits for nothing', async () => {
    const { grant, step, row, told } = await setUp();
    const causes: readonly EvictionReason[] = [
      { cause: 'preempted', what: 'preempted by science/b, which is more urgent' },
      { cause: 'suspended', what: 'was suspended' },
    ];
    for (const why of causes) {
      await grant();
      await step(why, job(true));
      expect(row()).toMatchObject({ reason: 'Requeued', requeues: 0, notBefore: null });
    }
    expect(row().preemptions).toBe(1);
    expect(told.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
      'Warning Preempted',
      'Normal Requeued',
    ]);
  });
});
