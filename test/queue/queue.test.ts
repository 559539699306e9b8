import { Client } from 'pg';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { openQueue } from '../../runtime/queue/queue';
import { newRow } from '../../runtime/queue/rows';
import type { Queue } from '../../runtime/queue/store';
import type { Phase, WorkloadRow } from '../../runtime/queue/workload';
import { describePostgres } from '../cluster/suite';
import { useQueue } from './queue-fixture';
import { allocationOf, changed, submission } from './submission';

describePostgres('the queue in Postgres', (getPostgres) => {
  const fixture = useQueue(getPostgres);
  let queue: Queue;
  let fence: number;

  beforeEach(() => {
    ({ queue, fence } = fixture);
  });

  test('returns a submission as a Waiting row with a new job id', async () => {
    const given = submission('a', { priority: 7, walltime: 1.5, submittedAt: 1_700_000_000.123456 });
    const [first] = await queue.submit(fence, [given]);
    const [second] = await queue.submit(fence, [submission('b', { held: true })]);
    expect(first).toEqual({
      ...newRow(given, 1),
      seq: expect.any(Number),
      jobid: expect.any(Number),
    });
    expect(second).toMatchObject({ reason: 'Held', held: true });
    expect(second!.jobid).not.toBe(first!.jobid);
    expect(second!.seq).toBeGreaterThan(first!.seq);
  });

  test('leaves a row alone whose uid is submitted again, in every phase', async () => {
    for (const phase of ['Waiting', 'Ready', 'Running', 'Finished'] as const) {
      const before = await fixture.rowIn(phase);
      expect(await queue.submit(fence, [submission(phase, { priority: 9 })])).toEqual([]);
      expect(await fixture.row(phase)).toEqual(before);
    }
  });

  test('inserts rows in the given order and reads them in the order of the queue', async () => {
    const given = [
      submission('late', { submittedAt: 30 }),
      submission('tie-1', { submittedAt: 20 }),
      submission('tie-2', { submittedAt: 20 }),
      submission('first', { submittedAt: 40, priority: 5 }),
    ];
    const inserted = await queue.submit(fence, given);
    expect(inserted.map(({ uid }) => uid)).toEqual(['late', 'tie-1', 'tie-2', 'first']);
    await fixture.rowIn('Finished');
    expect((await queue.active()).map(({ uid }) => uid)).toEqual(['first', 'tie-1', 'tie-2', 'late']);
  });

  const writes: Readonly<Record<string, (row: WorkloadRow) => Promise<WorkloadRow[]>>> = {
    update: (r) => queue.update(fence, [changed(r, { priority: 3 })]),
    wait: ({ uid }) => queue.wait(fence, [{ uid, reason: 'Busy', message: 'full', estimatedStart: null }]),
    allocate: (r) => queue.allocate(fence, [{ uid: r.uid, allocation: allocationOf(r) }]),
    released: ({ uid }) => queue.released(fence, [uid]),
    running: ({ uid }) => queue.running(fence, [{ uid, startedAt: 111.5 }]),
    shrink: (r) => queue.shrink(fence, [{ uid: r.uid, allocation: allocationOf(r) }]),
    requestEviction: ({ uid }) => queue.requestEviction(fence, [{ uid, message: 'for another', end: 130 }]),
    finish: ({ uid }) => queue.finish(fence, [{ uid, result: 'Succeeded', finishedAt: 222.25 }]),
    returned: ({ uid }) => queue.returned(fence, [uid]),
    requeue: ({ uid }) => queue.requeue(fence, [{ uid, cause: 'failure', message: 'node died' }]),
  };

  /** How each write changes a row, by phase. It leaves rows in other phases alone. */
  const transitions: Readonly<Record<string, Partial<Record<Phase, Partial<WorkloadRow>>>>> = {
    update: { Waiting: { phase: 'Waiting', priority: 3, reason: 'Submitted' } },
    wait: { Waiting: { phase: 'Waiting', reason: 'Busy', message: 'full' } },
    allocate: { Waiting: { phase: 'Ready', reason: null, allocatedAt: expect.any(Number) } },
    released: { Ready: { phase: 'Ready', releasedAt: expect.any(Number) } },
    running: { Ready: { phase: 'Running', startedAt: 111.5, releasedAt: expect.any(Number) } },
    shrink: { Ready: { phase: 'Ready' }, Running: { phase: 'Running' } },
    requestEviction: {
      Ready: { phase: 'Ready', evictionReason: 'for another' },
      Running: { phase: 'Running', evictionReason: 'for another' },
    },
    finish: {
      Waiting: { phase: 'Finished', result: 'Succeeded', finishedAt: 222.25 },
      Ready: { phase: 'Finished', result: 'Succeeded', finishedAt: 222.25 },
      Running: { phase: 'Finished', result: 'Succeeded', finishedAt: 222.25 },
    },
    returned: {
      Finished: {
        phase: 'Waiting',
        reason: 'Submitted',
        result: null,
        finishedAt: null,
        allocation: null,
        startedAt: null,
      },
    },
    requeue: {
      Ready: { phase: 'Waiting', reason: 'Requeued', message: 'node died', allocation: null, requeues: 1 },
      Running: { phase: 'Waiting', reason: 'Requeued', allocation: null, requeues: 1, startedAt: null },
    },
  };

  describe.each(Object.keys(writes))('%s', (name) => {
    test.each(['Waiting', 'Ready', 'Running', 'Finished'] as const)('of a row in phase %s', async (phase) => {
      const before = await fixture.rowIn(phase);
      const eventsBefore = await fixture.events(phase);
      const answer = await writes[name]!(before);
      const expected = transitions[name]?.[phase];
      if (expected === undefined) {
        expect(answer).toEqual([]);
        expect(await fixture.row(phase)).toEqual(before);
        expect(await fixture.events(phase)).toEqual(eventsBefore);
      } else {
        expect(answer).toEqual([expect.objectContaining({ uid: phase, ...expected })]);
        expect(await fixture.row(phase)).toEqual(answer[0]);
        expect(await fixture.events(phase)).toHaveLength(eventsBefore.length + 1);
      }
    });

    test('under an old fence changes nothing, with or without matching rows', async () => {
      const waiting = await fixture.rowIn('Waiting');
      await queue.acquireFence('another');
      const refused = { code: 'FLUXQ_FENCED', retryable: false, value: fence };
      await expect(writes[name]!(waiting)).rejects.toMatchObject(refused);
      await expect(writes[name]!({ ...waiting, uid: 'nobody' })).rejects.toMatchObject(refused);
      expect(await fixture.row('Waiting')).toEqual(waiting);
      expect(await fixture.events('Waiting')).toEqual(['Submitted']);
    });
  });

  test('submit under an old fence inserts nothing', async () => {
    await queue.acquireFence('another');
    await expect(queue.submit(fence, [submission('a')])).rejects.toMatchObject({ code: 'FLUXQ_FENCED' });
    expect(await queue.active()).toEqual([]);
  });

  test('a new leader waits for writes under way', async () => {
    const old = new Client({ connectionString: fixture.url });
    await old.connect();
    await old.query('BEGIN');
    await old.query('SELECT FROM fluxqueue.leader FOR SHARE');
    await old.query(`UPDATE fluxqueue.leader SET holder = holder WHERE false`);
    let acquired = false;
    const next = queue.acquireFence('next').then((number) => {
      acquired = true;
      return number;
    });
    // Once it waits for a lock, it cannot have got the fence.
    while ((await fixture.sql(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)).length === 0);
    expect(acquired).toBe(false);
    await old.query('COMMIT');
    await old.end();
    expect(await next).toBe(fence + 1);
  });

  test('of two writers only the one with the newer fence succeeds', async () => {
    const other = openQueue({ url: fixture.url, units: DEFAULT_UNITS });
    try {
      const newer = await other.acquireFence('other');
      expect(newer).toBeGreaterThan(fence);
      const outcomes = await Promise.allSettled([
        queue.submit(fence, [submission('old')]),
        other.submit(newer, [submission('new')]),
      ]);
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
      expect((await queue.active()).map(({ uid }) => uid)).toEqual(['new']);
    } finally {
      await other.close();
    }
  });

  test('refuses a write without records under an old fence', async () => {
    expect(await queue.submit(fence, [])).toEqual([]);
    await queue.acquireFence('another');
    await expect(queue.wait(fence, [])).rejects.toMatchObject({ code: 'FLUXQ_FENCED' });
  });
});
