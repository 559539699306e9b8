import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import type { Requeue, WorkloadRow } from '../../runtime/queue/workload';
import { describePostgres } from '../cluster/suite';
import { allocationOf, changed, noting, submission } from './submission';

const CHECKPOINTED = noting({ checkpointSeconds: 60 });

describePostgres('evictions and requeues', (getPostgres) => {
  let queue: Queue;
  let fence: number;

  beforeEach(async () => {
    queue = openQueue({ url: await getPostgres().freshDatabase(), units: DEFAULT_UNITS });
    await queue.migrate();
    fence = await queue.acquireFence('leader-1');
  });
  afterEach(() => queue.close());

  async function ready(uid: string): Promise<WorkloadRow> {
    const [given] = await queue.byUid([uid]);
    const waiting = given ?? (await queue.submit(fence, [submission(uid)]))[0]!;
    const [row] = await queue.allocate(fence, [{ uid, allocation: allocationOf(waiting) }]);
    return row!;
  }

  async function requeue(uid: string, over: Partial<Requeue> = {}): Promise<WorkloadRow> {
    const [row] = await queue.requeue(fence, [{ uid, cause: 'failure', message: 'node-1 died', ...over }]);
    return row!;
  }

  test('an eviction keeps its first reason until the row is requeued', async () => {
    await ready('a');
    expect(await queue.requestEviction(fence, [{ uid: 'a', message: 'for b', end: 130 }])).toMatchObject([
      { evictionReason: 'for b', phase: 'Ready', allocation: { start: 100, end: 130 } },
    ]);
    expect(await queue.requestEviction(fence, [{ uid: 'a', message: 'for c', end: 130 }])).toEqual([]);
    const again = await requeue('a', { cause: 'preempted', message: 'for b' });
    expect(again).toMatchObject({ evictionReason: null, preemptions: 1, requeues: 0, reason: 'Requeued' });
    expect(again.notBefore).toBeNull();
  });

  test('an eviction ends the allocation when it says, which may be after the walltime', async () => {
    await ready('a');
    expect(await queue.requestEviction(fence, [{ uid: 'a', message: 'for b', end: 700 }])).toMatchObject([
      { allocation: { start: 100, end: 700 } },
    ]);
  });

  test('a row that finishes has no eviction any more', async () => {
    await ready('a');
    await queue.requestEviction(fence, [{ uid: 'a', message: 'for b', end: 130 }]);
    const [over] = await queue.finish(fence, [{ uid: 'a', result: 'Succeeded', finishedAt: 9e8 }]);
    expect(over).toMatchObject({ phase: 'Finished', evictionReason: null });
  });

  test('counts failures as requeues and evictions as preemptions', async () => {
    const counted = [];
    for (const cause of ['failure', 'preempted', 'suspended', 'failure'] as const) {
      await ready('a');
      const { requeues, preemptions } = await requeue('a', { cause });
      counted.push([requeues, preemptions]);
    }
    expect(counted).toEqual([
      [1, 0],
      [1, 1],
      [1, 1],
      [2, 1],
    ]);
  });

  test('counts causes of the cluster apart, until its user changes the workload', async () => {
    for (const cause of ['cluster', 'failure', 'cluster'] as const) {
      await ready('a');
      await requeue('a', { cause });
    }
    const [row] = await queue.byUid(['a']);
    expect(row).toMatchObject({ requeues: 3, clusterRequeues: 2, preemptions: 0 });
    const [edited] = await queue.update(fence, [changed(row!, { walltime: 90 })]);
    expect(edited).toMatchObject({ requeues: 0, clusterRequeues: 0 });
  });

  test('remembers the dependencies that were met at a grant, until its user changes them', async () => {
    const after = [{ type: 'afterok', name: 'prep' }] as const;
    const [waiting] = await queue.submit(fence, [submission('a', { after })]);
    expect(waiting).toMatchObject({ isAfterMet: false });
    expect(await ready('a')).toMatchObject({ isAfterMet: true });
    const again = await requeue('a', { cause: 'suspended' });
    expect(again).toMatchObject({ isAfterMet: true });
    const [urgent] = await queue.update(fence, [changed(again, { priority: 9 })]);
    expect(urgent).toMatchObject({ isAfterMet: true });
    const [other] = await queue.update(fence, [
      changed(urgent!, { after: [{ type: 'afterany', name: 'prep' }] }),
    ]);
    expect(other).toMatchObject({ isAfterMet: false });
    const [back] = await queue.update(fence, [changed(other!, { after })]);
    expect(back).toMatchObject({ isAfterMet: false });
  });

  test('remembers the dependencies of an adopted workload, and of one that returns', async () => {
    const after = [{ type: 'afterok', name: 'prep' }] as const;
    const allocation = { start: 100, end: 160, nodes: [] };
    const given = { ...submission('a', { after }), knownJobid: 7, releasedAt: 100, allocation };
    expect(await queue.adopt(fence, [given])).toMatchObject([{ phase: 'Ready', isAfterMet: true }]);
    await queue.finish(fence, [{ uid: 'a', result: 'Succeeded', finishedAt: 9e8 }]);
    expect(await queue.returned(fence, ['a'])).toMatchObject([{ phase: 'Waiting', isAfterMet: true }]);
  });

  test.each(['cluster', 'failure', 'preempted'] as const)('an eviction keeps the cause %s', async (cause) => {
    await ready('a');
    const request = { uid: 'a', message: 'node-1 died', end: 130, cause };
    expect(await queue.requestEviction(fence, [request])).toMatchObject([{ evictionCause: cause }]);
    await requeue('a');
    await ready('a');
    const [next] = await queue.requestEviction(fence, [{ uid: 'a', message: 'for b', end: 130 }]);
    expect(next).toMatchObject({ evictionCause: 'preempted' });
  });

  test('the backoff ends with the next allocation', async () => {
    await ready('a');
    expect(await requeue('a', { notBefore: 1_900_000_000.5 })).toMatchObject({ notBefore: 1_900_000_000.5 });
    expect(await ready('a')).toMatchObject({ notBefore: null, requeues: 1 });
  });

  test('keeps its reason while it backs off when only its jobspec changes', async () => {
    await ready('a');
    const row = await requeue('a', { notBefore: 1_900_000_000.5 });
    const { jobspec, shape } = submission('x', { pods: 4 });
    const [moved] = await queue.update(fence, [changed(row, { jobspec, shape })]);
    const kept = { reason: 'Requeued', message: 'node-1 died', requeues: 1, notBefore: 1_900_000_000.5 };
    expect(moved).toMatchObject({ ...kept, shape });
    const [edited] = await queue.update(fence, [changed(moved!, { walltime: 90 })]);
    expect(edited).toMatchObject({ reason: 'Submitted', message: null, requeues: 0, notBefore: null });
  });

  describe('a row at its requeue limit', () => {
    let limited: WorkloadRow;
    beforeEach(async () => {
      await ready('a');
      limited = await requeue('a', {
        reason: 'RequeueLimit',
        notBefore: 5,
        message: 'lost its nodes 3 times',
      });
    });

    test('is tried again when a pass finds that its backoff is over', async () => {
      const busy = { uid: 'a', reason: 'Busy', message: 'full', estimatedStart: null } as const;
      expect(await queue.wait(fence, [busy])).toMatchObject([{ reason: 'Busy', requeues: 1 }]);
      const [granted] = await queue.allocate(fence, [{ uid: 'a', allocation: allocationOf(limited) }]);
      expect(granted).toMatchObject({ phase: 'Ready', notBefore: null });
    });

    test('stays there when only its jobspec changes', async () => {
      const { jobspec, shape } = submission('x', { pods: 4 });
      const [row] = await queue.update(fence, [changed(limited, { jobspec, shape })]);
      expect(row).toMatchObject({
        reason: 'RequeueLimit',
        message: 'lost its nodes 3 times',
        requeues: 1,
        notBefore: 5,
        shape,
      });
    });

    test('stays there when it has fewer pods because tasks of it are done, and leaves it when its user wants fewer', async () => {
      const [row] = await queue.update(fence, [changed(limited, { pods: 2, progressed: true })]);
      expect(row).toMatchObject({ reason: 'RequeueLimit', requeues: 1, notBefore: 5, pods: 2 });
      const [edited] = await queue.update(fence, [changed(row!, { pods: 3 })]);
      expect(edited).toMatchObject({ reason: 'Submitted', requeues: 0, notBefore: null });
    });

    test.each([
      { held: true },
      { walltime: 90 },
      { priority: 3 },
      { queue: 'other' },
      { preemptible: true },
      { jobspec: CHECKPOINTED },
    ])('leaves it when its user changes %j', async (change) => {
      const [row] = await queue.update(fence, [changed(limited, change)]);
      expect(row).toMatchObject({
        reason: 'held' in change ? 'Held' : 'Submitted',
        message: null,
        requeues: 0,
        notBefore: null,
      });
    });
  });

  test.each([
    [{ gangSize: 2 }, { gangSize: 3 }, 'its user', true],
    [{ gangSize: 2 }, { array: true }, 'its user', true],
    [{ array: true }, { gangSize: 2 }, 'its user', true],
    // As an earlier version queued it.
    [{}, { gangSize: 2 }, 'nobody', false],
    [{ gangSize: 2 }, { gangSize: 2, labels: ['zone'] }, 'the cluster', false],
    [{ array: true }, {}, 'its tasks', false],
  ])('a gang size that is noted as %j and then as %j was changed by %s', async (from, to, _, byUser) => {
    await queue.submit(fence, [submission('a', { pods: 2, jobspec: noting(from) })]);
    await ready('a');
    const row = await requeue('a', { notBefore: 1_900_000_000 });
    const [edited] = await queue.update(fence, [changed(row, { jobspec: noting(to) })]);
    expect(edited).toMatchObject(
      byUser ? { reason: 'Submitted', requeues: 0 } : { reason: 'Requeued', requeues: 1 },
    );
    const [, , , { why } = { why: '' }] = await queue.history('a');
    expect(why).toMatch(byUser ? /^was changed while it waited$/ : /^asks for something else now/);
  });

  test('the history tells a hold and its end apart from other changes, as of a Job that is suspended and resumed', async () => {
    await ready('a');
    const row = await requeue('a', { cause: 'suspended', message: 'its spec.suspend was set to true' });
    const [held] = await queue.update(fence, [changed(row, { held: true })]);
    await queue.update(fence, [changed(held!, { held: false })]);
    expect((await queue.history('a')).slice(-3).map(({ event, why }) => `${event}: ${why}`)).toEqual([
      'Requeued: its spec.suspend was set to true',
      'Updated: is held by its user',
      'Updated: is held no more',
    ]);
  });

  test('the history says why a row changed, and who did it unless it was not seen', async () => {
    await ready('a');
    await queue.requestEviction(fence, [{ uid: 'a', message: 'for b', end: 130 }]);
    const row = await requeue('a', { cause: 'preempted', message: 'evicted for b' });
    await queue.update(fence, [changed(row, { priority: 3 })]);
    const [urgent] = await queue.active();
    await queue.update(fence, [changed(urgent!, { shape: 'of other nodes' })]);
    const [moved] = await queue.active();
    await queue.update(fence, [{ ...changed(moved!, { pods: 1, shape: 'of one pod' }), progressed: true }]);
    await queue.wait(fence, [{ uid: 'a', reason: 'Busy', message: 'no room', estimatedStart: null }]);
    await queue.finish(fence, [{ uid: 'a', result: 'Cancelled', finishedAt: 9e8 }]);
    expect((await queue.history('a')).map(({ actor, event, why }) => `${actor}: ${event}: ${why}`)).toEqual([
      'ada: Submitted: was admitted and added to the queue',
      'leader-1: Allocated: enough units were free for it',
      'leader-1: EvictionRequested: for b',
      'leader-1: Requeued: evicted for b',
      ': Updated: was changed while it waited',
      ': Updated: asks for something else now: tasks of it are done, or its template, its pods or the nodes have changed',
      'leader-1: Updated: asks for something else now: tasks of it are done, or its template, its pods or the nodes have changed',
      'leader-1: Waiting: Busy: no room',
      'leader-1: Finished: it was deleted',
    ]);
  });

  test('text that Postgres cannot store fails no write', async () => {
    const user = 'system:\0weird\ud83d';
    const [row] = await queue.submit(fence, [
      submission('a', { user, after: [{ type: 'afterok', name: 'x\0' }] }),
    ]);
    expect(row).toMatchObject({ user: 'system:weird', after: [{ type: 'afterok', name: 'x' }] });
    await queue.allocate(fence, [{ uid: 'a', allocation: allocationOf(row!) }]);
    expect(await queue.requestEviction(fence, [{ uid: 'a', message: 'for\0 b', end: 130 }])).toMatchObject([
      { evictionReason: 'for b' },
    ]);
    expect(await requeue('a', { message: 'gone \udc00' })).toMatchObject({ message: 'gone ' });
  });
});
