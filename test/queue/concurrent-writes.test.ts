import type { Queue } from '../../runtime/queue/store';
import { describePostgres } from '../cluster/suite';
import { useQueue } from './queue-fixture';
import { allocationOf, submission } from './submission';

describePostgres('concurrent writes and large tables', (getPostgres) => {
  const fixture = useQueue(getPostgres);
  let queue: Queue;
  let fence: number;

  beforeEach(() => {
    ({ queue, fence } = fixture);
  });

  test('many small writes at once share a few statements, and each caller gets its own rows', async () => {
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
    expect((await fixture.sql<{ n: number }>(statements))[0]!.n).toBeLessThan(10);
  });

  test('concurrent writes to one row are applied in their order', async () => {
    const waiting = await fixture.rowIn('Waiting', 'a');
    // Every promised start keeps its event; repeated waits without one share theirs.
    const [, , granted, , ended] = await Promise.all([
      queue.wait(fence, [{ uid: 'a', reason: 'Busy', message: '1', estimatedStart: 100 }]),
      queue.wait(fence, [{ uid: 'a', reason: 'Busy', message: '2', estimatedStart: 200 }]),
      queue.allocate(fence, [{ uid: 'a', allocation: allocationOf(waiting) }]),
      queue.released(fence, ['a']),
      queue.finish(fence, [{ uid: 'a', result: 'Succeeded', finishedAt: 5 }]),
    ]);
    expect([granted.length, ended.length]).toEqual([1, 1]);
    expect(await fixture.events('a')).toEqual([
      'Submitted',
      'Waiting',
      'Waiting',
      'Allocated',
      'Released',
      'Finished',
    ]);
  });

  test('a record that the database refuses fails its own caller only', async () => {
    await fixture.rowIn('Ready', 'good');
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

  test('messages are stored without the characters that Postgres cannot store', async () => {
    await fixture.rowIn('Waiting', 'a');
    const message = 'a\0b \ud83d c \ud83d\ude00';
    const [waiting] = await queue.wait(fence, [
      { uid: 'a', reason: 'Invalid', message, estimatedStart: null },
    ]);
    expect(waiting!.message).toBe('ab  c \ud83d\ude00');
  });

  test('reading active rows does not read Finished rows', async () => {
    await fixture.sql(`
      INSERT INTO fluxqueue.workloads (uid, kind, namespace, name, queue, priority, submitted_at, walltime, pods,
        jobspec, shape, held, phase, result)
      SELECT 'old-' || n, 'Job', 'a', 'b', 'default', 0, now(), 60, 1, '{}', 's', false, 'Finished', 'Succeeded'
      FROM generate_series(1, 20000) n`);
    await fixture.rowIn('Waiting');
    await fixture.sql('VACUUM ANALYZE fluxqueue.workloads');
    const plan = JSON.stringify(
      await fixture.sql(
        `EXPLAIN SELECT uid FROM fluxqueue.workloads WHERE phase <> 'Finished' ORDER BY priority DESC, submitted_at, seq`,
      ),
    );
    expect(plan).toContain('workloads_active');
    expect(plan).not.toContain('Seq Scan');
    expect(await queue.active()).toHaveLength(1);
  });
});
