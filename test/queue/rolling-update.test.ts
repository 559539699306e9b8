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
import { allocationOf, submission } from './submission';

/** The contract of the release before, where its names differ. */
interface PreviousQueue extends Omit<Queue, 'requestEviction'> {
  recall(fence: number, recalls: readonly { uid: string; message: string }[]): Promise<WorkloadRow[]>;
}

const { openQueue: openPrevious } = jest.requireActual<{
  openQueue: (options: { url: string }) => PreviousQueue;
}>('./releases/previous.cjs');

/** The part of the contract that both have. */
type AnyQueue = Omit<Queue, 'requestEviction'>;

const QUEUE = {
  name: 'default',
  namespace: null,
  policy: 'easy' as const,
  reservations: 1,
  depth: 10,
  defaultWalltimeSeconds: 60,
  maxWalltimeSeconds: 600,
  priority: { min: 0, max: 10 },
  agingPerHour: 0,
  quota: {},
  cohort: null,
  borrowing: {},
  reclaim: false,
  limits: { queue: {}, user: {} },
  weight: 1,
  preempts: false,
  requeue: { limit: 3, backoffSeconds: 5 },
};

/** Takes rows through every phase with every statement; each has to change its row. */
async function useEveryStatement(queue: AnyQueue, fence: number, prefix: string): Promise<void> {
  const [a, b, c] = ['a', 'b', 'c'].map((name) => `${prefix}-${name}`) as [string, string, string];
  await queue.setQueues(fence, [QUEUE]);
  const rows = await queue.submit(
    fence,
    [a, b].map((uid) => submission(uid)),
  );
  expect(rows).toHaveLength(2);
  const wait = { uid: a, reason: 'Busy' as const, message: 'full', estimatedStart: 200 };
  expect(await queue.wait(fence, [wait])).toHaveLength(1);
  const changed = { ...submission(b, { walltime: 90 }), shape: 'other' };
  expect(await queue.update(fence, [changed])).toHaveLength(1);
  const waiting = await queue.byUid([a, b]);
  const grants = waiting.map((row) => ({ uid: row.uid, allocation: allocationOf(row, ['n-1', 'n-2']) }));
  expect(await queue.allocate(fence, grants)).toHaveLength(2);
  await finishGranted(queue, fence, [a, b]);
  const adoption = { ...submission(c), knownJobid: 0, allocation: { start: 1, end: 61, nodes: [] } };
  expect(await queue.adopt(fence, [adoption])).toHaveLength(1);
  expect(await queue.finish(fence, [{ uid: c, result: 'Failed', finishedAt: 2e9 }])).toHaveLength(1);
  expect(await queue.archive(fence, 3e9, 1)).toBe(1);
  expect((await queue.history(b)).length).toBeGreaterThan(5);
  expect((await queue.accounting({ from: 0, until: 3e9, by: ['queue'] })).length).toBeGreaterThan(0);
  expect((await queue.shares()).length).toBeGreaterThan(0);
  expect(await queue.queues()).toEqual([QUEUE]);
}

async function finishGranted(queue: AnyQueue, fence: number, [a, b]: [string, string]): Promise<void> {
  expect(await queue.released(fence, [a, b])).toHaveLength(2);
  expect(await queue.running(fence, [{ uid: a, startedAt: 110 }])).toHaveLength(1);
  const { allocation } = (await queue.byUid([a]))[0]!;
  const fewer = { ...allocation!, nodes: allocation!.nodes.slice(1) };
  expect(await queue.shrink(fence, [{ uid: a, allocation: fewer }])).toHaveLength(1);
  const failure = { uid: b, cause: 'failure' as const, message: 'node lost', notBefore: 3e9 };
  expect(await queue.requeue(fence, [failure])).toHaveLength(1);
  const ends = [a, b].map((uid) => ({ uid, result: 'Succeeded' as const, finishedAt: 2e9 }));
  expect(await queue.finish(fence, ends)).toHaveLength(2);
}

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
