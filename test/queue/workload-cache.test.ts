import { FluxqError } from '../../runtime/errors';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { describePostgres } from '../cluster/suite';
import { TcpProxy } from '../crash-matrix/tcp-proxy';
import { type Fault, FaultInjector } from '../stack/fault-injector';
import { allocationOf, changed, submission } from './submission';

/** Whether Postgres can answer these messages: the last one asks for an answer. */
function asksForAnAnswer(sent: Buffer): boolean {
  let last = '';
  let end = 0;
  while (end + 5 <= sent.length) {
    last = String.fromCharCode(sent[end]!);
    end += 1 + sent.readInt32BE(end + 1);
  }
  // Query and Sync.
  return end === sent.length && (last === 'Q' || last === 'S');
}

describePostgres('the workload cache', (getPostgres) => {
  let queue: Queue;
  let fence: number;
  let notified: string[];
  let staleCalls: number;
  let databaseUrl: string;

  beforeEach(async () => {
    databaseUrl = await getPostgres().freshDatabase();
    queue = openQueue({ url: databaseUrl, units: DEFAULT_UNITS });
    await queue.migrate();
    fence = await queue.acquireFence('test');
    notified = [];
    staleCalls = 0;
  });
  afterEach(() => queue.close());

  async function workloadCacheOver(port: Queue): Promise<WorkloadCache> {
    const workloadCache = new WorkloadCache(port, fence, {
      onStale: () => {
        staleCalls += 1;
      },
    });
    await workloadCache.reload();
    workloadCache.onChange(({ uid, phase }: WorkloadRow) => notified.push(`${uid} ${phase}`));
    return workloadCache;
  }

  describe('after a commit that arrives after its connection broke', () => {
    let proxy: TcpProxy;
    let slow: Queue;
    let cache: WorkloadCache;

    beforeEach(async () => {
      const url = new URL(databaseUrl);
      proxy = await TcpProxy.before(Number(url.port));
      url.port = String(proxy.port);
      // Connections break when the test says so, and new ones take as long as the machine needs.
      const never = 600_000;
      slow = openQueue({ url: url.href, doubtMs: never, connectTimeoutMs: never, units: DEFAULT_UNITS });
      cache = await workloadCacheOver(slow);
    });
    afterEach(async () => {
      await slow.close();
      await proxy.close();
    });

    /** The write is sent, and its connection breaks before anything arrives. */
    async function isLost(write: () => Promise<unknown>): Promise<void> {
      proxy.silence();
      const broken = proxy.breakAfter(asksForAnAnswer);
      await expect(write()).rejects.toMatchObject({ code: 'FLUXQ_DATABASE_DOWN' });
      await broken;
    }

    const grant = (uid: string) => allocationOf(cache.byUid(uid)!, ['node-1', 'node-2']);
    const ready = (uid: string) => cache.allocate([{ uid, allocation: grant(uid) }]);
    const fewer = (uid: string) => ({
      ...cache.byUid(uid)!.allocation!,
      nodes: grantedNodes(cache, uid).slice(1),
    });
    /** How the row comes to be what the write needs, and the write. */
    const CASES: Readonly<
      Record<string, readonly [(() => Promise<unknown>) | undefined, () => Promise<unknown>]>
    > = {
      submit: [undefined, () => cache.submit(submission('a'))],
      update: [
        () => cache.submit(submission('a')),
        () => cache.update({ ...submission('a', { walltime: 90 }), shape: 'other' }),
      ],
      allocate: [() => cache.submit(submission('a')), () => ready('a')],
      released: [() => cache.submit(submission('a')).then(() => ready('a')), () => cache.released('a')],
      running: [() => cache.submit(submission('a')).then(() => ready('a')), () => cache.running('a', 110)],
      shrink: [
        () => cache.submit(submission('a')).then(() => ready('a')),
        () => cache.shrink('a', fewer('a')),
      ],
      requestEviction: [
        () => cache.submit(submission('a')).then(() => ready('a')),
        () => cache.requestEviction([{ uid: 'a', message: 'preempted', end: 2e9 }]),
      ],
      requeue: [
        () => cache.submit(submission('a')).then(() => ready('a')),
        () => cache.requeue({ uid: 'a', cause: 'failure', message: 'node lost' }),
      ],
      finish: [() => cache.submit(submission('a')), () => cache.finish('a', 'Succeeded', 120)],
    };

    test.each(Object.entries(CASES))(
      'the retry of %s makes the cache stale, and a reload equal',
      async (_, [before, write]) => {
        await before?.();
        await isLost(write);
        await cache.reload();
        await proxy.deliver();
        // The tables have changed behind the cache.
        const stored = (await queue.byUid(['a']))[0];
        const active = stored?.phase === 'Finished' ? undefined : stored;
        expect(cache.byUid('a')).not.toEqual(active);
        expect(cache.isStale).toBe(false);
        await write();
        expect(cache.isStale).toBe(true);
        await cache.reload();
        expect(cache.byUid('a')).toEqual(active);
        expect(cache.isStale).toBe(false);
      },
    );

    test('another write to the row, which takes effect under another grant, makes the cache stale', async () => {
      await cache.submit(submission('a'));
      await isLost(() => ready('a'));
      await cache.reload();
      await proxy.deliver();
      expect(cache.byUid('a')!.phase).toBe('Waiting');
      expect((await cache.finish('a', 'Cancelled', 120))!.allocation).not.toBeNull();
      expect(cache.isStale).toBe(true);
    });
  });

  test('listeners are told what a row was before', async () => {
    const workloadCache = await workloadCacheOver(queue);
    const phases: (readonly [string | undefined, string])[] = [];
    workloadCache.onChange((row, before) => phases.push([before?.phase, row.phase]));
    const row = await workloadCache.submit(submission('a'));
    await workloadCache.wait([{ uid: 'a', reason: 'Busy', message: 'full', estimatedStart: null }]);
    await workloadCache.allocate([{ uid: 'a', allocation: allocationOf(row!) }]);
    await workloadCache.finish('a', 'Failed', 10);
    expect(phases).toEqual([
      [undefined, 'Waiting'],
      ['Waiting', 'Waiting'],
      ['Waiting', 'Ready'],
      ['Ready', 'Finished'],
    ]);
  });

  test('a write that the tables rightly leave out does not make it stale', async () => {
    const workloadCache = await workloadCacheOver(queue);
    await workloadCache.submit(submission('held', { held: true }));
    await workloadCache.submit(submission('done'));
    await workloadCache.finish('done', 'Failed', 10);
    expect(
      await workloadCache.wait([{ uid: 'held', reason: 'Busy', message: 'full', estimatedStart: null }]),
    ).toEqual([]);
    expect(await workloadCache.submit(submission('held'))).toBeUndefined();
    expect(await workloadCache.submit(submission('done'))).toBeUndefined();
    expect(await workloadCache.running('done', 10)).toBeUndefined();
    expect(workloadCache.isStale).toBe(false);
  });

  const lostAnswer = (call: string): Fault => ({ call, nth: 1, when: 'after', crash: false });

  test('a reload notifies of a row that finished although the answer was lost', async () => {
    const faults = new FaultInjector(lostAnswer('queue.finish'));
    const workloadCache = await workloadCacheOver(faults.around('queue', queue));
    await workloadCache.submit(submission('a'));
    await expect(workloadCache.finish('a', 'Succeeded', 10)).rejects.toMatchObject({
      code: 'FLUXQ_DATABASE_DOWN',
    });
    expect(workloadCache.isStale).toBe(true);
    expect(staleCalls).toBe(1);
    expect(workloadCache.byUid('a')!.phase).toBe('Waiting');
    await workloadCache.reload();
    expect(workloadCache.isStale).toBe(false);
    expect(workloadCache.byUid('a')).toBeUndefined();
    expect(notified).toEqual(['a Waiting', 'a Finished']);
    expect(workloadCache.count('Waiting')).toBe(0);
  });

  test('rows that are committed during a reload are newer than those which it reads', async () => {
    const stale = await workloadCacheOver(queue);
    await stale.submit(submission('a'));
    await stale.submit(submission('b'));
    // A read that returns the rows from before the commits.
    const slow: Queue = Object.create(queue, {
      active: {
        value: async () => {
          const rows = await queue.active();
          await workloadCache.finish('a', 'Succeeded', 10);
          await workloadCache.submit(submission('c'));
          return rows;
        },
      },
    });
    const workloadCache = new WorkloadCache(slow, fence);
    await workloadCache.reload();
    expect([...workloadCache.active()].map(({ uid }) => uid).sort()).toEqual(['b', 'c']);
    expect(workloadCache.byName('Job', 'science', 'job-a')).toEqual([]);
    expect(workloadCache.count('Waiting')).toBe(2);
  });

  test('a refused allocation that the cache allows makes it stale', async () => {
    const workloadCache = await workloadCacheOver(queue);
    const row = (await workloadCache.submit(submission('a')))!;
    const allocation = allocationOf(row);
    await queue.allocate(fence, [{ uid: 'a', allocation }]);
    expect(await workloadCache.allocate([{ uid: 'a', allocation }])).toEqual([]);
    expect(workloadCache.isStale).toBe(true);
    await workloadCache.reload();
    expect(workloadCache.byUid('a')!.phase).toBe('Ready');
  });

  test('an allocation that is refused after an update of the row does not make it stale', async () => {
    const workloadCache = await workloadCacheOver(queue);
    const row = (await workloadCache.submit(submission('a')))!;
    await workloadCache.update({ ...submission('a', { walltime: 90 }), shape: 'other' });
    expect(await workloadCache.allocate([{ uid: 'a', allocation: allocationOf(row) }])).toEqual([]);
    expect(workloadCache.isStale).toBe(false);
  });

  describe('a requeue with what its user changed', () => {
    const suspended = {
      uid: 'a',
      cause: 'suspended',
      message: 'its spec.suspend was set to true; requeued',
    } as const;

    async function granted(port: Queue) {
      const workloadCache = await workloadCacheOver(port);
      const row = (await workloadCache.submit(submission('a')))!;
      await workloadCache.allocate([{ uid: 'a', allocation: allocationOf(row) }]);
      notified = [];
      return { workloadCache, change: changed(row, { held: true }) };
    }

    test('is one change for those who see the rows, and no pass can grant what it asked for before', async () => {
      const { workloadCache, change } = await granted(queue);
      const { jobid } = workloadCache.byUid('a')!;
      const requeued = workloadCache.requeue(suspended, change);
      const allocation = allocationOf({ jobid });
      await expect(queue.allocate(fence, [{ uid: 'a', allocation }])).resolves.toEqual([]);
      await expect(requeued).resolves.toMatchObject({ phase: 'Waiting', reason: 'Held', held: true });
      expect(notified).toEqual(['a Waiting']);
      expect(workloadCache.byUid('a')).toEqual((await queue.byUid(['a']))[0]);
    });

    test('makes the cache stale if only the second write fails', async () => {
      const refused = new FluxqError('FLUXQ_DATABASE_REFUSED', 'no', { remedy: 'none' });
      const port: Queue = Object.create(queue, { update: { value: () => Promise.reject(refused) } });
      const { workloadCache, change } = await granted(port);
      await expect(workloadCache.requeue(suspended, change)).rejects.toBe(refused);
      expect(workloadCache.isStale).toBe(true);
      await workloadCache.reload();
      expect(workloadCache.byUid('a')).toMatchObject({ phase: 'Waiting', held: false });
    });
  });
});

function grantedNodes(cache: WorkloadCache, uid: string) {
  return cache.byUid(uid)!.allocation!.nodes;
}
