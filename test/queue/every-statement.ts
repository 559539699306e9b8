/** Uses every statement of the queue once, as any release and any role of the database. */
import type { LeaderViews } from '../../runtime/queue/leader-view';
import type { Queue } from '../../runtime/queue/store';
import { allocationOf, submission } from './submission';

/** The part of the contract that every release has. */
export type AnyQueue = Omit<
  Queue,
  'requestEviction' | 'estimateError' | 'notable' | 'usualParts' | keyof LeaderViews
>;

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
  priorityWeights: { age: 0.5, fairShare: 0.5, size: 0, queue: 0, maxAgeSeconds: 86_400 },
  backfillOrder: 'submission' as const,
  backfillMaxWaitSeconds: 86_400,
  quota: {},
  cohort: null,
  borrowing: {},
  lending: {},
  reclaim: false,
  limits: { queue: {}, user: {} },
  weight: 1,
  billingWeights: { cores: 1, memoryGiB: 0.25, gpus: 16 },
  preempts: false,
  fairSharing: 'Never' as const,
  preemption: { minRuntimeSeconds: 300, limit: 5 },
  requeue: { limit: 3, backoffSeconds: 5 },
};

/** Takes rows through every phase with every statement; each has to change its row. */
export async function useEveryStatement(queue: AnyQueue, fence: number, prefix: string): Promise<void> {
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
  const adoption = {
    ...submission(c),
    knownJobid: 0,
    releasedAt: 1,
    allocation: { start: 1, end: 61, nodes: [] },
  };
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
