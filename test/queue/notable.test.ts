/** The statement that leaves out fleeting workloads says the same as the function of the controller. */
import { FLEETING_SECONDS, isFleeting } from '../../runtime/fluxjobs/fleeting';
import type { Result } from '../../runtime/queue/workload';
import { describePostgres } from '../cluster/suite';
import { useQueue } from './queue-fixture';
import { allocationOf, submission } from './submission';

describePostgres('the notable workloads', (getPostgres) => {
  const fixture = useQueue(getPostgres);
  const submittedAt = submission('a').submittedAt;

  async function finished(uid: string, result: Result, seconds: number): Promise<void> {
    const { queue, fence } = fixture;
    await queue.submit(fence, [submission(uid)]);
    await queue.finish(fence, [{ uid, result, finishedAt: submittedAt + seconds }]);
  }

  async function evicted(uid: string, cause: 'failure' | 'preempted' | 'suspended'): Promise<void> {
    const { queue, fence } = fixture;
    const [waiting] = await queue.submit(fence, [submission(uid)]);
    await queue.allocate(fence, [{ uid, allocation: allocationOf(waiting!) }]);
    await queue.requeue(fence, [{ uid, cause, message: 'its node died' }]);
    await queue.finish(fence, [{ uid, result: 'Succeeded', finishedAt: submittedAt + 2 }]);
  }

  test('are all but the successes at the first attempt within 30 s, as for the controller', async () => {
    await finished('quick', 'Succeeded', 2);
    await finished('before-its-clock', 'Succeeded', -1);
    await finished('just-quick', 'Succeeded', FLEETING_SECONDS - 0.5);
    await finished('slow', 'Succeeded', FLEETING_SECONDS);
    for (const result of ['Failed', 'Cancelled', 'TimedOut'] as const) await finished(result, result, 2);
    for (const cause of ['failure', 'preempted', 'suspended'] as const) await evicted(cause, cause);
    for (const phase of ['Waiting', 'Ready', 'Running'] as const) await fixture.rowIn(phase);
    const all = await fixture.queue.byUid([
      ...['quick', 'before-its-clock', 'just-quick', 'slow', 'Failed', 'Cancelled', 'TimedOut'],
      ...['failure', 'preempted', 'suspended', 'Waiting', 'Ready', 'Running'],
    ]);
    const uids = all.map(({ uid }) => uid);
    const notable = (await fixture.queue.notable(uids, FLEETING_SECONDS)).map(({ uid }) => uid);
    expect(notable.sort()).toEqual(
      all
        .filter((row) => !isFleeting(row))
        .map(({ uid }) => uid)
        .sort(),
    );
    expect(uids.filter((uid) => !notable.includes(uid)).sort()).toEqual([
      'before-its-clock',
      'just-quick',
      'quick',
      'suspended',
    ]);
  });

  test('are only those that are asked for', async () => {
    await finished('slow', 'Succeeded', FLEETING_SECONDS);
    await finished('slower', 'Succeeded', 2 * FLEETING_SECONDS);
    expect(await fixture.queue.notable(['slow', 'unknown'], FLEETING_SECONDS)).toMatchObject([
      { uid: 'slow', phase: 'Finished' },
    ]);
  });
});
