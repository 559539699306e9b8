/**
 * The tables stay bounded:
 *
 *   what repeats                                  | what grows
 *   --------------------------------------------- | -----------------------------------------------------------------
 *   a workload waits, its message changes         | nothing: the last event is updated and counts
 *   a workload waits, its reason changes          | one event each, of which the last 200 are kept
 *   it is preempted, edited or shrunk again       | the same
 *   workloads end                                 | they are archived, and removed after the retention of the archive
 *   leaders change, queues change                 | log entries of no workload, removed after the same time
 */
import { describePostgres } from '../cluster/suite';
import { useQueue } from './queue-fixture';
import { allocationOf, changed } from './submission';

describePostgres('the growth of the tables', (getPostgres) => {
  const fixture = useQueue(getPostgres);
  const wait = (
    uid: string,
    reason: 'Busy' | 'QuotaExceeded' | 'Reserved',
    message: string,
    at: number | null = null,
  ) => fixture.queue.wait(fixture.fence, [{ uid, reason, message, estimatedStart: at }]);
  const entries = (uid: string) => fixture.queue.history(uid);

  test('a reason that stays is one event with the last message, its first time and a count', async () => {
    await fixture.rowIn('Waiting', 'a');
    await wait('a', 'Busy', 'needs 1 core');
    const [, first] = await entries('a');
    for (let i = 2; i <= 5; i++) await wait('a', 'Busy', `needs ${i} cores`);
    const events = await entries('a');
    expect(events.map(({ event }) => event)).toEqual(['Submitted', 'Waiting']);
    expect(events[1]).toMatchObject({ at: first!.at, detail: { message: 'needs 5 cores', times: 5 } });
    expect(events[1]!.why).toMatch(/^Busy: needs 5 cores \(5 times, last at \d{4}-/);
    await wait('a', 'QuotaExceeded', 'quota');
    await wait('a', 'Busy', 'again');
    expect(await fixture.events('a')).toEqual(['Submitted', 'Waiting', 'Waiting', 'Waiting']);
  });

  test('every promised start stays in the log', async () => {
    await fixture.rowIn('Waiting', 'a');
    for (const at of [300, 200, null, null]) await wait('a', 'Reserved', 'reserved', at);
    const starts = (await entries('a'))
      .slice(1)
      .map(({ detail }) => (detail as { estimatedStart: number }).estimatedStart);
    expect(starts).toEqual([300, 200, null]);
  });

  test('a workload keeps its first event and the last 200, whatever repeats', async () => {
    const { queue, fence } = fixture;
    await fixture.rowIn('Waiting', 'a');
    await fixture.rowIn('Waiting', 'other');
    for (let i = 0; i < 60; i++) {
      await wait('a', 'Busy', 'full');
      await queue.update(fence, [changed(await fixture.row('a'), { walltime: 60 + i })]);
      await queue.allocate(fence, [
        { uid: 'a', allocation: allocationOf(await fixture.row('a'), ['n-1', 'n-2']) },
      ]);
      await queue.shrink(fence, [{ uid: 'a', allocation: allocationOf(await fixture.row('a'), ['n-1']) }]);
      await queue.requeue(fence, [{ uid: 'a', cause: 'preempted', message: 'preempted' }]);
    }
    const events = await fixture.events('a');
    expect(events[0]).toBe('Submitted');
    expect(events.at(-1)).toBe('Requeued');
    expect(events.length).toBeGreaterThanOrEqual(200);
    expect(events.length).toBeLessThanOrEqual(205);
    expect(await fixture.events('other')).toEqual(['Submitted']);
  });

  test('the archive and the log of leaders are removed after their retention, a batch at a time', async () => {
    const { queue, fence } = fixture;
    for (const uid of ['a', 'b', 'c']) await fixture.rowIn('Finished', uid);
    expect(await queue.archive(fence, 3e9)).toBe(3);
    const now = Date.now() / 1000;
    expect(await queue.purge(fence, now - 60)).toBe(0);
    expect(await queue.purge(fence, now + 60, 2)).toBe(2);
    expect(await queue.purge(fence, now + 60, 2)).toBe(1);
    expect(await fixture.sql(`SELECT uid FROM fluxqueue.archive`)).toEqual([]);
    expect(await fixture.sql(`SELECT event FROM fluxqueue.events WHERE uid = ''`)).toEqual([]);
    // Usage stays in the daily sums.
    expect((await queue.accounting({ from: 0, until: 3e9, by: [] }))[0]!.jobs).toBe(3);
    await expect(queue.purge(fence - 1, now)).rejects.toMatchObject({ code: 'FLUXQ_FENCED' });
  });

  test('every table has a size', async () => {
    const sizes = await fixture.queue.sizes();
    expect(sizes.map(({ table }) => table)).toEqual(
      expect.arrayContaining(['archive', 'events', 'workloads']),
    );
    for (const { bytes } of sizes) expect(bytes).toBeGreaterThan(0);
  });
});
