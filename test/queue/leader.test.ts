import { Client } from 'pg';
import type { FluxqError } from '../../runtime/errors';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { openQueue } from '../../runtime/queue/queue';
import type { QueueSettings } from '../../runtime/queue/settings';
import type { Queue } from '../../runtime/queue/store';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { describePostgres } from '../cluster/suite';
import { waitFor } from '../cluster/wait';
import { submission } from './submission';

const settings = (name: string, over: Partial<QueueSettings> = {}): QueueSettings => ({
  name,
  namespace: null,
  policy: 'easy',
  reservations: 1,
  backfillOrder: 'submission',
  backfillMaxWaitSeconds: 86_400,
  depth: 100,
  defaultWalltimeSeconds: 3600,
  maxWalltimeSeconds: 86_400,
  priority: { min: -10, max: 10 },
  agingPerHour: 0,
  priorityWeights: { age: 0.5, fairShare: 0.5, size: 0, queue: 0, maxAgeSeconds: 86_400 },
  quota: { cores: 4.5 },
  cohort: null,
  borrowing: {},
  lending: {},
  reclaim: false,
  limits: { queue: {}, user: { running: 3 } },
  weight: 1,
  billingWeights: { cores: 1, memoryGiB: 0.25, gpus: 16 },
  preempts: false,
  fairSharing: 'Never',
  preemption: { minRuntimeSeconds: 300, limit: 5 },
  requeue: { limit: 3, backoffSeconds: 10 },
  ...over,
});

describePostgres('the leader', (getPostgres) => {
  let url: string;
  let queue: Queue;

  beforeEach(async () => {
    url = await getPostgres().freshDatabase();
    queue = openQueue({ url, units: DEFAULT_UNITS });
    await queue.migrate();
  });
  afterEach(() => queue.close());

  async function admin(statement: string): Promise<void> {
    const client = new Client({ connectionString: getPostgres().url });
    await client.connect();
    await client.query(statement);
    await client.end();
  }

  test('takes a fence above all known ones, in the database or elsewhere', async () => {
    expect(await queue.acquireFence('a')).toBe(1);
    expect(await queue.acquireFence('b', 1)).toBe(2);
    // The database was restored from an older backup; the Lease has fence 40.
    const fence = await queue.acquireFence('c', 40);
    expect(fence).toBe(41);
    expect(await queue.acquireFence('d', 7)).toBe(42);
    await expect(queue.submit(fence, [])).rejects.toMatchObject({ code: 'FLUXQ_FENCED' });
  });

  test('after a restore from a backup, later leaders write nothing and the next fence is above theirs', async () => {
    await queue.acquireFence('first');
    await queue.close();
    // A backup has no connections.
    const given = new URL(url);
    const [database, copy] = [given.pathname.slice(1), `${given.pathname.slice(1)}_backup`];
    await admin(`CREATE DATABASE ${copy} TEMPLATE ${database}`);
    given.pathname = `/${copy}`;
    queue = openQueue({ url, units: DEFAULT_UNITS });
    await queue.acquireFence('second');
    const last = await queue.acquireFence('third');

    const restored = openQueue({ url: given.href, units: DEFAULT_UNITS });
    await expect(restored.submit(last, [submission('a')])).rejects.toMatchObject({ code: 'FLUXQ_FENCED' });
    const fence = await restored.acquireFence('fourth', last);
    expect(fence).toBe(last + 1);
    await expect(restored.submit(last, [submission('a')])).rejects.toMatchObject({ code: 'FLUXQ_FENCED' });
    expect(await restored.submit(fence, [submission('a')])).toHaveLength(1);
    await restored.close();
    await admin(`DROP DATABASE ${copy}`);
  });

  test('gives twenty concurrent candidates different fences', async () => {
    const fences = await Promise.all(Array.from({ length: 20 }, (_, i) => queue.acquireFence(`c-${i}`)));
    expect(fences.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  });

  test('no leader writes after its successor while all of them write', async () => {
    const queues = Array.from({ length: 4 }, () => openQueue({ url, units: DEFAULT_UNITS }));
    const outcomes = await Promise.all(
      queues.map(async (mine, i) => {
        let refused = 0;
        for (let round = 0; round < 6; round++) {
          const fence = await mine.acquireFence(`leader-${i}`);
          for (let n = 0; n < 5; n++) {
            await mine.submit(fence, [submission(`${i}-${round}-${n}`)]).catch((error: FluxqError) => {
              expect(error.code).toBe('FLUXQ_FENCED');
              refused += 1;
            });
          }
        }
        await mine.close();
        return refused;
      }),
    );
    const client = new Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query<{ fence: number; actor: string; event: string }>(
      'SELECT fence::int, actor, event FROM fluxqueue.events ORDER BY id',
    );
    await client.end();
    const fences = rows.map(({ fence }) => fence);
    expect(fences).toEqual(fences.toSorted((a, b) => a - b));
    const refused = outcomes.reduce((sum, count) => sum + count, 0);
    expect(refused).toBeGreaterThan(0);
    expect(rows.filter(({ event }) => event === 'Submitted')).toHaveLength(4 * 6 * 5 - refused);
    expect(await queue.active()).toHaveLength(4 * 6 * 5 - refused);
  });

  test('stores the queues and logs each change', async () => {
    const fence = await queue.acquireFence('leader-1');
    await queue.setQueues(fence, [settings('default'), settings('lab/gpu', { namespace: 'lab' })]);
    await queue.setQueues(fence, [settings('default'), settings('lab/gpu', { namespace: 'lab' })]);
    await queue.setQueues(fence, [settings('default', { weight: 3 }), settings('bio\0/cpu')]);
    expect(await queue.queues()).toEqual([settings('bio/cpu'), settings('default', { weight: 3 })]);
    const log = await queue.history('');
    expect(log.map(({ actor, event, detail }) => [actor, event, (detail as { name?: string }).name])).toEqual(
      [
        ['leader-1', 'Leader', undefined],
        ['leader-1', 'QueueSet', 'default'],
        ['leader-1', 'QueueSet', 'lab/gpu'],
        expect.arrayContaining(['leader-1']),
        expect.arrayContaining(['leader-1']),
        expect.arrayContaining(['leader-1']),
      ],
    );
    expect(
      log
        .slice(3)
        .map(({ event }) => event)
        .sort(),
    ).toEqual(['QueueGone', 'QueueSet', 'QueueSet']);
    await queue.setQueues(fence, []);
    expect(await queue.queues()).toEqual([]);
  });

  test('applies concurrent settings in their order', async () => {
    const fence = await queue.acquireFence('leader-1');
    await Promise.all(
      Array.from({ length: 30 }, (_, i) => queue.setQueues(fence, [settings('default', { weight: i + 1 })])),
    );
    expect(await queue.queues()).toMatchObject([{ weight: 30 }]);
  });

  test('an old leader cannot set queues', async () => {
    const old = await queue.acquireFence('old');
    const fence = await queue.acquireFence('new');
    await queue.setQueues(fence, [settings('default')]);
    await expect(queue.setQueues(old, [])).rejects.toMatchObject({ code: 'FLUXQ_FENCED', value: old });
    // A refused call does not block the next one.
    await queue.setQueues(fence, [settings('other')]);
    expect((await queue.queues()).map(({ name }) => name)).toEqual(['other']);
  });

  test('a broken idle connection makes the cache stale: the database may have been replaced', async () => {
    const workloadCache = new WorkloadCache(queue, await queue.acquireFence('leader-1'));
    await workloadCache.reload();
    expect(workloadCache.isStale).toBe(false);
    const other = new Client({ connectionString: url });
    await other.connect();
    await other.query(`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'fluxqueue%'`);
    await other.end();
    await waitFor('the cache to be stale', () => workloadCache.isStale);
    await workloadCache.reload();
    expect(workloadCache.isStale).toBe(false);
  });
});
