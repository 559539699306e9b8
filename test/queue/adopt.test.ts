import { Client } from 'pg';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { ADOPT } from '../../runtime/queue/adopt';
import { openQueue } from '../../runtime/queue/queue';
import { newRow } from '../../runtime/queue/rows';
import { storable } from '../../runtime/queue/storable';
import type { Queue } from '../../runtime/queue/store';
import type { Adoption, Submission } from '../../runtime/queue/workload';
import { describePostgres } from '../cluster/suite';
import { type Explained, rowsTouched } from './plan';
import { allocationOf, changed, submission } from './submission';

const HELD = { start: 100, end: 160, nodes: [{ name: 'node-7', units: { core: '0-1', memory: '3' } }] };

const adoption = (uid: string, knownJobid: number, over: Partial<Submission> = {}): Adoption => ({
  ...submission(uid, over),
  knownJobid,
  releasedAt: HELD.start,
  allocation: HELD,
});

/** Later than the clock of any database. */
const FUTURE = 4_000_000_000_000_000;

describePostgres('adoption of workloads that are missing in the database', (getPostgres) => {
  let url: string;
  let client: Client;
  let queue: Queue;
  let fence: number;

  beforeEach(async () => {
    url = await getPostgres().freshDatabase();
    client = new Client({ connectionString: url });
    await client.connect();
    queue = openQueue({ url, units: DEFAULT_UNITS });
    await queue.migrate();
    fence = await queue.acquireFence('leader-1');
  });
  afterEach(async () => {
    await client.end();
    await queue.close();
  });

  const submitted = async (uid: string, over: Partial<Submission> = {}) =>
    (await queue.submit(fence, [submission(uid, over)]))[0]!;
  const events = async (uid: string) => (await queue.history(uid)).map(({ event }) => event);
  /** log_cnt changes with each setval, even if the value stays. */
  const sequence = async () => (await client.query('SELECT last_value, log_cnt FROM fluxqueue.jobid')).rows;

  test('inserts a row that is Ready and released, with the job id of its grant', async () => {
    const [row, ...more] = await queue.adopt(fence, [adoption('a', FUTURE, { priority: 3, held: true })]);
    expect(more).toEqual([]);
    expect(row).toEqual({
      ...newRow(submission('a', { priority: 3, held: true }), 1),
      jobid: FUTURE,
      phase: 'Ready',
      reason: null,
      allocation: { ...HELD, jobid: FUTURE },
      isAfterMet: true,
      allocatedAt: HELD.start,
      releasedAt: HELD.start,
    });
    expect(await queue.byUid(['a'])).toEqual([row]);
    expect(await queue.history('a')).toMatchObject([
      {
        actor: 'leader-1',
        event: 'Adopted',
        why: 'runs on an allocation that was missing in the database',
        detail: { ...HELD, jobid: FUTURE },
      },
    ]);
    expect(await queue.released(fence, ['a'])).toEqual([]);
    expect(await queue.running(fence, [{ uid: 'a', startedAt: 105 }])).toHaveLength(1);
  });

  test('a waiting row keeps its place and requests what it was released with', async () => {
    const before = await submitted('a', { walltime: 60, pods: 1 });
    await queue.allocate(fence, [{ uid: 'a', allocation: allocationOf(before) }]);
    await queue.requeue(fence, [{ uid: 'a', cause: 'failure', message: 'node-1 died', notBefore: 9e9 }]);
    await queue.wait(fence, [{ uid: 'a', reason: 'Reserved', message: 'soon', estimatedStart: 9e9 }]);
    const later = { walltime: 90, pods: 4, priority: 5, queue: 'other', preemptible: true };
    const [row] = await queue.adopt(fence, [adoption('a', FUTURE, { ...later, submittedAt: 1 })]);
    expect(row).toMatchObject({
      ...submission('a', { ...later, submittedAt: before.submittedAt }),
      seq: before.seq,
      requeues: 1,
      jobid: FUTURE,
      phase: 'Ready',
      reason: null,
      message: null,
      estimatedStart: null,
      notBefore: null,
      allocation: { ...HELD, jobid: FUTURE },
      releasedAt: expect.any(Number),
    });
    // An older allocation cannot be committed any more.
    expect(await queue.allocate(fence, [{ uid: 'a', allocation: allocationOf(before) }])).toEqual([]);
    expect((await events('a')).at(-1)).toBe('Adopted');
  });

  test('leaves all other rows alone', async () => {
    for (const uid of ['Ready', 'Running', 'Finished', 'Archived']) {
      const row = await submitted(uid);
      await queue.allocate(fence, [{ uid, allocation: allocationOf(row) }]);
    }
    await queue.running(fence, [{ uid: 'Running', startedAt: 105 }]);
    const finishedAt = 120;
    await queue.finish(fence, [{ uid: 'Archived', result: 'Succeeded', finishedAt }]);
    expect(await queue.archive(fence, finishedAt + 1)).toBe(1);
    await queue.finish(fence, [{ uid: 'Finished', result: 'Succeeded', finishedAt }]);
    const uids = ['Ready', 'Running', 'Finished', 'Archived'];
    const before = await queue.byUid(uids);
    expect(before).toHaveLength(3);
    expect(
      await queue.adopt(
        fence,
        uids.map((uid) => adoption(uid, 40)),
      ),
    ).toEqual([]);
    expect(await queue.byUid(uids)).toEqual(before);
    for (const uid of uids) expect(await events(uid)).not.toContain('Adopted');
  });

  test('changes nothing under an old fence, not even the sequence of job ids', async () => {
    await submitted('a');
    const newer = await queue.acquireFence('leader-2');
    const before = await sequence();
    await expect(queue.adopt(fence, [adoption('a', 40), adoption('b', 41)])).rejects.toMatchObject({
      code: 'FLUXQ_FENCED',
      retryable: false,
    });
    expect(await sequence()).toEqual(before);
    expect((await queue.active()).map(({ uid, phase }) => [uid, phase])).toEqual([['a', 'Waiting']]);
    expect(await queue.adopt(newer, [adoption('a', 40)])).toHaveLength(1);
  });

  test('a granted row takes a later grant that its workload carries, and keeps its place', async () => {
    for (const uid of ['Ready', 'Running'])
      await queue.allocate(fence, [{ uid, allocation: allocationOf(await submitted(uid)) }]);
    await queue.running(fence, [{ uid: 'Running', startedAt: 105 }]);
    await queue.requestEviction(fence, [{ uid: 'Running', message: 'for another', end: 2e9 }]);
    const before = await queue.byUid(['Ready', 'Running']);
    const later = before.map(({ uid, jobid }) => adoption(uid, jobid + 5_000_000));
    const adopted = await queue.adopt(fence, later);
    expect(adopted).toHaveLength(2);
    for (const [i, row] of adopted.entries())
      expect(row).toMatchObject({
        seq: before[i]!.seq,
        phase: 'Ready',
        startedAt: null,
        evictionReason: null,
        releasedAt: expect.any(Number),
        allocation: { ...HELD, jobid: row.jobid },
      });
    expect(adopted.map(({ jobid }) => jobid)).toEqual(later.map(({ knownJobid }) => knownJobid));
  });

  test('a job id that another row has, or that two workloads carry, names one grant only', async () => {
    const { jobid } = await submitted('other');
    const adopted = await queue.adopt(fence, [
      adoption('a', jobid),
      adoption('b', FUTURE),
      adoption('c', FUTURE),
    ]);
    expect(adopted.map((row) => row.jobid)).toEqual([FUTURE + 1, FUTURE, FUTURE + 2]);
  });

  test.each([
    ['no id', 3, [0]],
    ['lower ids', 3, [2, 1]],
    ['higher ids', 0, [FUTURE + 17, FUTURE + 900, FUTURE + 20]],
    ['a higher id', 3, [FUTURE]],
  ])('new job ids continue above all others if workloads carry %s', async (_, given, carried) => {
    const known: number[] = [];
    for (let i = 0; i < given; i++) known.push((await submitted(`before-${i}`)).jobid);
    const adopted = await queue.adopt(
      fence,
      carried.map((jobid, i) => adoption(`a-${i}`, jobid)),
    );
    const { jobid } = await submitted('later');
    expect(jobid).toBeGreaterThan(Math.max(...known, ...adopted.map((row) => row.jobid)));
  });

  test('usage counts from its start, which is before the adoption', async () => {
    const [row] = await queue.adopt(fence, [adoption('a', 40)]);
    const from = row!.allocatedAt!;
    await queue.running(fence, [{ uid: 'a', startedAt: from }]);
    await queue.finish(fence, [{ uid: 'a', result: 'Succeeded', finishedAt: from + 3600 }]);
    const all = { from: from - 1e6, until: from + 1e6, by: ['user'] as const };
    expect(await queue.accounting(all)).toEqual([
      { user: 'ada', jobs: 1, pods: 1, cpuHours: 2, memoryGiBHours: 1, gpuHours: 0 },
    ]);
    expect(await queue.accounting({ ...all, until: from })).toMatchObject([]);
    expect(await queue.shares()).toMatchObject([{ user: 'ada', asOf: from + 3600 }]);
    expect((await queue.shares())[0]!.coreSeconds).toBeCloseTo(7200, -2);
  });

  test('an adopted row can be shrunk, requeued, updated and allocated', async () => {
    const [row] = await queue.adopt(fence, [adoption('a', 40)]);
    expect(await queue.shrink(fence, [{ uid: 'a', allocation: allocationOf(row!) }])).toHaveLength(1);
    const [again] = await queue.requeue(fence, [{ uid: 'a', cause: 'failure', message: 'node-7 died' }]);
    expect(again).toMatchObject({ phase: 'Waiting', requeues: 1, seq: row!.seq, allocation: null });
    const [other] = await queue.update(fence, [changed(again!, { walltime: 90 })]);
    expect(await queue.allocate(fence, [{ uid: 'a', allocation: allocationOf(other!) }])).toHaveLength(1);
    expect(await events('a')).toEqual(['Adopted', 'Reallocated', 'Requeued', 'Updated', 'Allocated']);
  });

  test('adopts many rows in the given order at linear cost', async () => {
    const uids = Array.from({ length: 5_000 }, (_, i) => `w-${i}`);
    await queue.submit(
      fence,
      uids.slice(0, 2_000).map((uid) => submission(uid)),
    );
    const records = uids.toReversed().map((uid, i) => adoption(uid, 10_000 - i));
    await client.query('BEGIN');
    const explain = `EXPLAIN (ANALYZE, FORMAT JSON) ${ADOPT}`;
    const { rows } = await client.query<Explained>(explain, [fence, storable(records)]);
    expect(rowsTouched(rows[0]!) / records.length).toBeLessThan(50);
    await client.query('ROLLBACK');
    const adopted = await queue.adopt(fence, records);
    expect(adopted.map(({ uid }) => uid)).toEqual(uids.toReversed());
    expect(new Set(adopted.map(({ jobid }) => jobid)).size).toBe(5_000);
    // Waiting rows keep their places, new rows have theirs in the given order.
    const [waited, added] = [adopted.slice(3_000), adopted.slice(0, 3_000)];
    expect(waited.map(({ seq }) => seq)).toEqual(Array.from({ length: 2_000 }, (_, i) => 2_000 - i));
    expect(added.every(({ seq }, i) => seq > (added[i - 1]?.seq ?? 2_000))).toBe(true);
  });
});
