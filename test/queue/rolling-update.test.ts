/**
 * A rolling update, forwards and backwards: the queue of the release before (its own code, bundled) and this one use the
 * same tables.
 *
 *   moment                                   | what must hold
 *   ---------------------------------------- | -------------------------------------------------------------------
 *   the old one leads, the new one migrates  | the old one writes on with its fence, in every statement it has
 *   the new one leads                        | it works on rows of the old one; the old one is fenced out
 *   an old replica restarts meanwhile        | it starts: newer tables are no error
 *   the update is undone                     | the old one leads and works on rows of the new one, in any phase
 *   a new database, then the update undone   | the same
 */
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { describePostgres } from '../cluster/suite';
import { type AnyQueue, useEveryStatement } from './every-statement';
import { allocationOf, submission } from './submission';

/** The contract of the release before, where its names differ. */
interface PreviousQueue extends Omit<Queue, 'requestEviction'> {
  recall(fence: number, recalls: readonly { uid: string; message: string }[]): Promise<WorkloadRow[]>;
}

const { openQueue: openPrevious } = jest.requireActual<{
  openQueue: (options: { url: string }) => PreviousQueue;
}>('./releases/previous.cjs');

describePostgres('a rolling update', (getPostgres) => {
  let url: string;
  let previous: PreviousQueue;
  let next: Queue;

  beforeEach(async () => {
    url = await getPostgres().freshDatabase();
    previous = openPrevious({ url });
    next = openQueue({ url, units: DEFAULT_UNITS });
  });
  afterEach(() => Promise.all([previous.close(), next.close()]));

  /** One row in each phase. */
  async function rows(queue: AnyQueue, fence: number): Promise<void> {
    await queue.submit(
      fence,
      ['waiting', 'ready', 'running'].map((uid) => submission(uid)),
    );
    const granted = (await queue.byUid(['ready', 'running'])).map((row) => ({
      uid: row.uid,
      allocation: allocationOf(row, ['n-1', 'n-2']),
    }));
    await queue.allocate(fence, granted);
    await queue.running(fence, [{ uid: 'running', startedAt: 110 }]);
  }

  test('the old release leads on while the tables are migrated, and the new one takes over its rows', async () => {
    await previous.migrate();
    const old = await previous.acquireFence('old');
    await useEveryStatement(previous, old, 'before');
    await rows(previous, old);
    await next.migrate();
    await useEveryStatement(previous, old, 'during');
    expect(await previous.recall(old, [{ uid: 'ready', message: 'preempted' }])).toHaveLength(1);
    const fence = await next.acquireFence('new', old);
    await expect(previous.submit(old, [submission('late')])).rejects.toMatchObject({ code: 'FLUXQ_FENCED' });
    expect((await next.active()).map(({ uid, phase }) => [uid, phase]).sort()).toEqual([
      ['ready', 'Ready'],
      ['running', 'Running'],
      ['waiting', 'Waiting'],
    ]);
    expect((await next.byUid(['ready']))[0]!.evictionReason).toBe('preempted');
    await next.requeue(fence, [{ uid: 'ready', cause: 'preempted', message: 'preempted' }]);
    await next.finish(fence, [{ uid: 'running', result: 'Succeeded', finishedAt: 2e9 }]);
    await useEveryStatement(next, fence, 'after');
  });

  test('a replica of the old release starts on the new tables', async () => {
    await previous.migrate();
    await next.migrate();
    await previous.migrate();
  });

  test.each([
    ['of the old release', true],
    ['that the new release made', false],
  ])('the update of a database %s can be undone', async (_, isOld) => {
    if (isOld) await previous.migrate();
    await next.migrate();
    const fence = await next.acquireFence('new');
    await useEveryStatement(next, fence, 'new');
    await rows(next, fence);
    await next.requestEviction(fence, [{ uid: 'ready', message: 'preempted', end: 2e9 }]);
    // Back to the release before, as `kubectl rollout undo` does.
    await previous.migrate();
    const old = await previous.acquireFence('old', fence);
    expect((await previous.active()).map(({ uid }) => uid).sort()).toEqual(['ready', 'running', 'waiting']);
    await previous.requeue(old, [{ uid: 'ready', cause: 'preempted', message: 'preempted' }]);
    await previous.finish(old, [{ uid: 'running', result: 'Succeeded', finishedAt: 2e9 }]);
    await useEveryStatement(previous, old, 'old');
    // And forwards again.
    await next.migrate();
    await useEveryStatement(next, await next.acquireFence('new', old), 'again');
  });
});
