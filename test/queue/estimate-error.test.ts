import type { Submission } from '../../runtime/queue/workload';
import { describePostgres } from '../cluster/suite';
import { useQueue } from './queue-fixture';
import { allocationOf, changed, submission } from './submission';

describePostgres('how far promised starts were from the true ones', (getPostgres) => {
  const fixture = useQueue(getPostgres);
  const now = () => Date.now() / 1000;

  async function waiting(uid: string, over: Partial<Submission> = {}): Promise<void> {
    await fixture.queue.submit(fixture.fence, [submission(uid, over)]);
  }

  /** Promises a start in so many seconds; null: none. */
  async function promised(uid: string, seconds: number | null): Promise<void> {
    const estimatedStart = seconds === null ? null : now() + seconds;
    const message = `by promise ${seconds}`;
    await fixture.queue.wait(fixture.fence, [{ uid, reason: 'Reserved', message, estimatedStart }]);
  }

  async function granted(uid: string): Promise<void> {
    const row = await fixture.row(uid);
    await fixture.queue.allocate(fixture.fence, [{ uid, allocation: allocationOf(row) }]);
  }

  test('counts the first promise against the grant', async () => {
    const { queue } = fixture;
    expect(await queue.estimateError(0)).toBeUndefined();
    for (const [uid, seconds] of [
      ['a', 0],
      ['b', 100],
      ['c', -200],
    ] as const) {
      await waiting(uid);
      await promised(uid, null);
      await promised(uid, seconds);
      await promised(uid, 5_000);
      await granted(uid);
    }
    await waiting('without');
    await promised('without', null);
    await granted('without');
    await waiting('still waiting');
    await promised('still waiting', 50);
    const error = await queue.estimateError(now() - 60);
    expect(error!.jobs).toBe(3);
    expect(error!.p50Seconds).toBeGreaterThan(95);
    expect(error!.p50Seconds).toBeLessThan(105);
    expect(error!.p90Seconds).toBeGreaterThan(175);
    expect(error!.p90Seconds).toBeLessThan(185);
    expect(await queue.estimateError(now() + 60)).toBeUndefined();
  });

  test.each([
    [
      'edited',
      async () =>
        void (await fixture.queue.update(fixture.fence, [changed(await fixture.row('a'), { walltime: 90 })])),
    ],
    [
      'requeued',
      async () => {
        await granted('a');
        const requeue = { uid: 'a', cause: 'failure' as const, message: 'node lost' };
        await fixture.queue.requeue(fixture.fence, [requeue]);
      },
    ],
  ])('forgets the promise of a workload that was %s afterwards', async (_, change) => {
    await waiting('a');
    await promised('a', 1_000);
    await change();
    await promised('a', 10);
    await granted('a');
    const error = await fixture.queue.estimateError(0);
    expect(error!.p50Seconds).toBeLessThan(15);
  });
});
