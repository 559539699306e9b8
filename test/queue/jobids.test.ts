/** A job id never names two grants, even if the database loses the ids that it has given. */
import { describePostgres } from '../cluster/suite';
import { useQueue } from './queue-fixture';
import { changed, submission } from './submission';

describePostgres('job ids', (getPostgres) => {
  const fixture = useQueue(getPostgres);
  const submitted = async (...uids: string[]) =>
    (
      await fixture.queue.submit(
        fixture.fence,
        uids.map((uid) => submission(uid)),
      )
    ).map(({ jobid }) => jobid);

  test('are never given again after the database was restored from a backup', async () => {
    const [before] = await fixture.sql<{ last_value: string }>('SELECT last_value FROM fluxqueue.jobid');
    const lost = await submitted('a', 'b', 'c');
    const row = await fixture.row('a');
    const [updated] = await fixture.queue.update(fixture.fence, [changed(row, { walltime: 90 })]);
    // A backup has the tables and the sequence as they were.
    await fixture.sql('DELETE FROM fluxqueue.workloads');
    await fixture.sql(`SELECT setval('fluxqueue.jobid', ${before!.last_value})`);
    const highest = Math.max(...lost, updated!.jobid);
    for (const jobid of await submitted('a', 'b', 'c')) expect(jobid).toBeGreaterThan(highest);
    await fixture.rowIn('Ready');
    const requeue = { uid: 'Ready', cause: 'failure', message: 'node-1 died' } as const;
    const [requeued] = await fixture.queue.requeue(fixture.fence, [requeue]);
    expect(requeued!.jobid).toBeGreaterThan(highest);
  });

  test('increase while the clock stands still or goes back', async () => {
    const year = 31_536_000_000_000;
    const [ahead] = await fixture.sql<{ setval: string }>(
      `SELECT setval('fluxqueue.jobid', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + ${year})`,
    );
    const first = Number(ahead!.setval) + 1;
    expect(await submitted('a', 'b', 'c')).toEqual([first, first + 1, first + 2]);
  });

  test('are exact in JSON and below the ids of pods outside the queue', async () => {
    const [jobid] = await submitted('a');
    expect(Math.abs(jobid! / 1e6 - Date.now() / 1000)).toBeLessThan(60);
    expect(jobid).toBeLessThan(2 ** 52);
  });
});
