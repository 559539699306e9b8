import { Client } from 'pg';
import { openQueue } from '../../runtime/queue/queue';
import { newRow } from '../../runtime/queue/rows';
import type { Queue } from '../../runtime/queue/store';
import type { Phase, WorkloadRow } from '../../runtime/queue/workload';
import { describePostgres } from '../cluster/suite';
import { allocationOf, changed, submission } from './submission';

describePostgres('the queue in Postgres', (getPostgres) => {
  let url: string;
  let queue: Queue;
  let fence: number;

  beforeEach(async () => {
    url = await getPostgres().freshDatabase();
    queue = openQueue({ url });
    await queue.migrate();
    fence = await queue.acquireFence('test');
  });

  afterEach(() => queue.close());

  async function sql<T>(text: string): Promise<T[]> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  async function row(uid: string): Promise<WorkloadRow> {
    const [found] = await queue.byUid([uid]);
    return found!;
  }

  /** A row in this phase, by the way every row takes. */
  async function rowIn(phase: Phase, uid: string = phase): Promise<WorkloadRow> {
    const [waiting] = await queue.submit(fence, [submission(uid)]);
    if (phase === 'Ready' || phase === 'Running') {
      await queue.allocate(fence, [{ uid, allocation: allocationOf(waiting!, ['node-1', 'node-2']) }]);
    }
    if (phase === 'Running') {
      await queue.running(fence, [{ uid, startedAt: 110 }]);
    }
    if (phase === 'Finished') {
      await queue.finish(fence, [{ uid, result: 'Failed', finishedAt: 120 }]);
    }
    return row(uid);
  }

  const events = async (uid: string) => (await queue.history(uid)).map(({ event }) => event);

  test('a submission comes back whole, in Waiting, with a job id of its own', async () => {
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

  test('a second submission of a uid is left alone, whatever its phase', async () => {
    for (const phase of ['Waiting', 'Ready', 'Running', 'Finished'] as const) {
      const before = await rowIn(phase);
      expect(await queue.submit(fence, [submission(phase, { priority: 9 })])).toEqual([]);
      expect(await row(phase)).toEqual(before);
    }
  });

  test('rows arrive in the order they are given in and are read in the order of the queue', async () => {
    const given = [
      submission('late', { submittedAt: 30 }),
      submission('tie-1', { submittedAt: 20 }),
      submission('tie-2', { submittedAt: 20 }),
      submission('first', { submittedAt: 40, priority: 5 }),
    ];
    const inserted = await queue.submit(fence, given);
    expect(inserted.map(({ uid }) => uid)).toEqual(['late', 'tie-1', 'tie-2', 'first']);
    await rowIn('Finished');
    expect((await queue.active()).map(({ uid }) => uid)).toEqual(['first', 'tie-1', 'tie-2', 'late']);
  });

  const writes: Readonly<Record<string, (row: WorkloadRow) => Promise<WorkloadRow[]>>> = {
    update: (r) => queue.update(fence, [changed(r, { priority: 3 })]),
    wait: ({ uid }) => queue.wait(fence, [{ uid, reason: 'Busy', message: 'full', estimatedStart: null }]),
    allocate: (r) => queue.allocate(fence, [{ uid: r.uid, allocation: allocationOf(r) }]),
    released: ({ uid }) => queue.released(fence, [uid]),
    running: ({ uid }) => queue.running(fence, [{ uid, startedAt: 111.5 }]),
    shrink: (r) => queue.shrink(fence, [{ uid: r.uid, allocation: allocationOf(r) }]),
    recall: ({ uid }) => queue.recall(fence, [{ uid, message: 'for another' }]),
    finish: ({ uid }) => queue.finish(fence, [{ uid, result: 'Succeeded', finishedAt: 222.25 }]),
    requeue: ({ uid }) => queue.requeue(fence, [{ uid, cause: 'failure', message: 'node died' }]),
  };

  /** What each write makes of a row, by the phase it is in; what is not here it leaves alone. */
  const transitions: Readonly<Record<string, Partial<Record<Phase, Partial<WorkloadRow>>>>> = {
    update: { Waiting: { phase: 'Waiting', priority: 3, reason: 'Submitted' } },
    wait: { Waiting: { phase: 'Waiting', reason: 'Busy', message: 'full' } },
    allocate: { Waiting: { phase: 'Ready', reason: null, allocatedAt: expect.any(Number) } },
    released: { Ready: { phase: 'Ready', releasedAt: expect.any(Number) } },
    running: { Ready: { phase: 'Running', startedAt: 111.5, releasedAt: expect.any(Number) } },
    shrink: { Ready: { phase: 'Ready' }, Running: { phase: 'Running' } },
    recall: {
      Ready: { phase: 'Ready', recall: 'for another' },
      Running: { phase: 'Running', recall: 'for another' },
    },
    finish: {
      Waiting: { phase: 'Finished', result: 'Succeeded', finishedAt: 222.25 },
      Ready: { phase: 'Finished', result: 'Succeeded', finishedAt: 222.25 },
      Running: { phase: 'Finished', result: 'Succeeded', finishedAt: 222.25 },
    },
    requeue: {
      Ready: { phase: 'Waiting', reason: 'Requeued', message: 'node died', allocation: null, requeues: 1 },
      Running: { phase: 'Waiting', reason: 'Requeued', allocation: null, requeues: 1, startedAt: null },
    },
  };

  describe.each(Object.keys(writes))('%s', (name) => {
    test.each(['Waiting', 'Ready', 'Running', 'Finished'] as const)('of a row that is %s', async (phase) => {
      const before = await rowIn(phase);
      const eventsBefore = await events(phase);
      const answer = await writes[name]!(before);
      const expected = transitions[name]?.[phase];
      if (expected === undefined) {
        expect(answer).toEqual([]);
        expect(await row(phase)).toEqual(before);
        expect(await events(phase)).toEqual(eventsBefore);
      } else {
        expect(answer).toEqual([expect.objectContaining({ uid: phase, ...expected })]);
        expect(await row(phase)).toEqual(answer[0]);
        expect(await events(phase)).toHaveLength(eventsBefore.length + 1);
      }
    });

    test('under an old fence changes nothing, matching rows or not', async () => {
      const waiting = await rowIn('Waiting');
      await queue.acquireFence('another');
      const refused = { code: 'FLUXQ_FENCED', retryable: false, value: fence };
      await expect(writes[name]!(waiting)).rejects.toMatchObject(refused);
      await expect(writes[name]!({ ...waiting, uid: 'nobody' })).rejects.toMatchObject(refused);
      expect(await row('Waiting')).toEqual(waiting);
      expect(await events('Waiting')).toEqual(['Submitted']);
    });
  });

  test('submit under an old fence inserts nothing', async () => {
    await queue.acquireFence('another');
    await expect(queue.submit(fence, [submission('a')])).rejects.toMatchObject({ code: 'FLUXQ_FENCED' });
    expect(await queue.active()).toEqual([]);
  });

  test('a new leader waits for the write that is under way, and what it reads contains it', async () => {
    const old = new Client({ connectionString: url });
    await old.connect();
    await old.query('BEGIN');
    await old.query('SELECT FROM fluxqueue.leader FOR SHARE');
    await old.query(`UPDATE fluxqueue.leader SET holder = holder WHERE false`);
    let acquired = false;
    const next = queue.acquireFence('next').then((number) => {
      acquired = true;
      return number;
    });
    // It shows up as waiting for a lock; then it can't have been granted.
    while ((await sql(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)).length === 0);
    expect(acquired).toBe(false);
    await old.query('COMMIT');
    await old.end();
    expect(await next).toBe(fence + 1);
  });

  test('of two writers only the newer gets through', async () => {
    const other = openQueue({ url });
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

  test('no call at all is still refused under an old fence', async () => {
    expect(await queue.submit(fence, [])).toEqual([]);
    await queue.acquireFence('another');
    await expect(queue.wait(fence, [])).rejects.toMatchObject({ code: 'FLUXQ_FENCED' });
  });

  test('an update that changes nothing writes nothing; one of the shape gets a new job id', async () => {
    const before = await rowIn('Waiting');
    expect(await queue.update(fence, [changed(before, {})])).toEqual([]);
    const [held] = await queue.update(fence, [changed(before, { held: true })]);
    expect(held).toMatchObject({ held: true, reason: 'Held', jobid: before.jobid });
    const { jobspec, shape, pods } = submission('x', { pods: 4 });
    const [wider] = await queue.update(fence, [changed(before, { jobspec, shape, pods })]);
    expect(wider).toMatchObject({ held: false, reason: 'Submitted', pods: 4, jobspec });
    expect(wider!.jobid).toBeGreaterThan(before.jobid);
    // A pass that had the old row in its snapshot comes too late with its allocation.
    expect(await queue.allocate(fence, [{ uid: 'Waiting', allocation: allocationOf(before) }])).toEqual([]);
    expect(await queue.allocate(fence, [{ uid: 'Waiting', allocation: allocationOf(wider!) }])).toHaveLength(
      1,
    );
  });

  test('what its user has held meanwhile is neither granted nor called busy', async () => {
    const before = await rowIn('Waiting');
    await queue.update(fence, [changed(before, { held: true })]);
    expect(await queue.allocate(fence, [{ uid: 'Waiting', allocation: allocationOf(before) }])).toEqual([]);
    expect(
      await queue.wait(fence, [{ uid: 'Waiting', reason: 'Busy', message: '', estimatedStart: null }]),
    ).toEqual([]);
    const held = {
      uid: 'Waiting',
      reason: 'Held',
      message: 'waits for its user',
      estimatedStart: null,
    } as const;
    expect(await queue.wait(fence, [held])).toHaveLength(1);
  });

  test('a requeued row keeps its place, gets a new job id, and its old allocation is void', async () => {
    const before = await rowIn('Ready');
    const [again] = await queue.requeue(fence, [{ uid: 'Ready', cause: 'failure', message: 'node-1 died' }]);
    expect(again).toMatchObject({ seq: before.seq, submittedAt: before.submittedAt, requeues: 1 });
    expect(again!.jobid).toBeGreaterThan(before.jobid);
    expect(await queue.allocate(fence, [{ uid: 'Ready', allocation: allocationOf(before) }])).toEqual([]);
  });

  test('released twice counts once', async () => {
    await rowIn('Ready');
    expect(await queue.released(fence, ['Ready'])).toHaveLength(1);
    expect(await queue.released(fence, ['Ready'])).toEqual([]);
    expect(await events('Ready')).toEqual(['Submitted', 'Allocated', 'Released']);
  });

  test('shrink takes a new allocation of the same job only, and the freed nodes are accounted', async () => {
    const before = await rowIn('Running');
    const less = allocationOf(before, ['node-2']);
    expect(await queue.shrink(fence, [{ uid: 'Running', allocation: { ...less, jobid: 99_999 } }])).toEqual(
      [],
    );
    expect(await queue.shrink(fence, [{ uid: 'Running', allocation: less }])).toMatchObject([
      { allocation: less },
    ]);
    expect(await queue.shrink(fence, [{ uid: 'Running', allocation: less }])).toEqual([]);
    await queue.finish(fence, [{ uid: 'Running', result: 'Succeeded', finishedAt: Date.now() / 1000 + 60 }]);
    expect(
      await sql(`SELECT jobid::int, queue, nodes->0->>'name' AS node FROM fluxqueue.usage ORDER BY id`),
    ).toEqual([
      { jobid: before.jobid, queue: 'default', node: 'node-1' },
      { jobid: before.jobid, queue: 'default', node: 'node-2' },
    ]);
  });

  test('the event log tells the whole life, in order, with what mattered', async () => {
    await rowIn('Running', 'a');
    await queue.requeue(fence, [{ uid: 'a', cause: 'failure', message: 'node-2 died' }]);
    await queue.wait(fence, [
      { uid: 'a', reason: 'Reserved', message: 'soon', estimatedStart: 1_800_000_000 },
    ]);
    await queue.finish(fence, [{ uid: 'a', result: 'Cancelled', finishedAt: 500 }]);
    const history = await queue.history('a');
    expect(history.map(({ event }) => event)).toEqual([
      'Submitted',
      'Allocated',
      'Running',
      'Requeued',
      'Waiting',
      'Finished',
    ]);
    expect(history[1]!.detail).toEqual({
      jobid: expect.any(Number),
      start: 100,
      end: 160,
      nodes: [
        { name: 'node-1', units: { core: '0' } },
        { name: 'node-2', units: { core: '0' } },
      ],
    });
    expect(history[3]!.detail).toEqual({ message: 'node-2 died', requeues: 1, preemptions: 0 });
    expect(history[4]!.detail).toEqual({
      reason: 'Reserved',
      message: 'soon',
      estimatedStart: 1_800_000_000,
    });
    expect(history.map(({ at }) => at)).toEqual(history.map(({ at }) => at).sort((x, y) => x - y));
    expect(Math.abs(history[0]!.at - Date.now() / 1000)).toBeLessThan(3600);
    expect(await queue.history('nobody')).toEqual([]);
  });

  test('many small writes at once are a few statements, and each caller gets its own rows', async () => {
    const uids = Array.from({ length: 200 }, (_, i) => `w-${i}`);
    await queue.submit(
      fence,
      uids.map((uid) => submission(uid)),
    );
    const statements = `SELECT count(DISTINCT xmin::text)::int AS n FROM fluxqueue.workloads`;
    const answers = await Promise.all(
      uids.map((uid, i) =>
        queue.wait(fence, [{ uid, reason: 'Busy', message: `${i}`, estimatedStart: null }]),
      ),
    );
    expect(answers.map(([r]) => r?.message)).toEqual(uids.map((_, i) => `${i}`));
    expect((await sql<{ n: number }>(statements))[0]!.n).toBeLessThan(10);
  });

  test('writes to one row that come together are done in their order', async () => {
    const waiting = await rowIn('Waiting', 'a');
    const [, , granted, , ended] = await Promise.all([
      queue.wait(fence, [{ uid: 'a', reason: 'Busy', message: '1', estimatedStart: null }]),
      queue.wait(fence, [{ uid: 'a', reason: 'Busy', message: '2', estimatedStart: null }]),
      queue.allocate(fence, [{ uid: 'a', allocation: allocationOf(waiting) }]),
      queue.released(fence, ['a']),
      queue.finish(fence, [{ uid: 'a', result: 'Succeeded', finishedAt: 5 }]),
    ]);
    expect([granted.length, ended.length]).toEqual([1, 1]);
    expect(await events('a')).toEqual([
      'Submitted',
      'Waiting',
      'Waiting',
      'Allocated',
      'Released',
      'Finished',
    ]);
  });

  test('a record the database refuses fails its own caller only', async () => {
    await rowIn('Ready', 'good');
    const [bad, good] = await Promise.allSettled([
      queue.submit(fence, [submission('bad', { walltime: 5, jobspec: submission('x').jobspec, pods: -1 })]),
      queue.submit(fence, [submission('fine')]),
      queue.submit(fence, [submission('fine-too')]),
    ]);
    expect(bad).toMatchObject({
      status: 'rejected',
      reason: { code: 'FLUXQ_DATABASE_REFUSED', retryable: false },
    });
    expect(good).toMatchObject({ status: 'fulfilled' });
    expect((await queue.active()).map(({ uid }) => uid)).toEqual(['good', 'fine', 'fine-too']);
  });

  test('messages that Postgres could not store are stored without what it can not', async () => {
    await rowIn('Waiting', 'a');
    const message = 'a\0b \ud83d c \ud83d\ude00';
    const [waiting] = await queue.wait(fence, [
      { uid: 'a', reason: 'Invalid', message, estimatedStart: null },
    ]);
    expect(waiting!.message).toBe('ab  c \ud83d\ude00');
  });

  test('reading what is active does not read what has finished', async () => {
    await sql(`
      INSERT INTO fluxqueue.workloads (uid, kind, namespace, name, queue, priority, submitted_at, walltime, pods,
        jobspec, shape, held, phase, result)
      SELECT 'old-' || n, 'Job', 'a', 'b', 'default', 0, now(), 60, 1, '{}', 's', false, 'Finished', 'Succeeded'
      FROM generate_series(1, 20000) n`);
    await rowIn('Waiting');
    await sql('VACUUM ANALYZE fluxqueue.workloads');
    const plan = JSON.stringify(
      await sql(
        `EXPLAIN SELECT uid FROM fluxqueue.workloads WHERE phase <> 'Finished' ORDER BY priority DESC, submitted_at, seq`,
      ),
    );
    expect(plan).toContain('workloads_active');
    expect(plan).not.toContain('Seq Scan');
    expect(await queue.active()).toHaveLength(1);
  });
});
