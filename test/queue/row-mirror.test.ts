/** A standby's copy of the rows, against the tables: whatever happened since its last refresh, the next one is exact. */

import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { openQueue } from '../../runtime/queue/queue';
import { RowMirror, type VersionedRows } from '../../runtime/queue/row-mirror';
import type { Queue } from '../../runtime/queue/store';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { describePostgres } from '../cluster/suite';
import { useQueue } from './queue-fixture';
import { allocationOf, submission } from './submission';

describePostgres('the copy of a standby', (getPostgres) => {
  const fixture = useQueue(getPostgres);
  let queue: Queue & VersionedRows;
  /** Uids of the rows that were read completely. */
  let read: string[];
  let mirror: RowMirror;

  beforeEach(() => {
    queue = openQueue({ url: fixture.url, units: DEFAULT_UNITS });
    read = [];
    mirror = new RowMirror({
      versions: () => queue.versions(),
      versioned: (uids) => {
        read.push(...uids);
        return queue.versioned(uids);
      },
    });
  });
  afterEach(() => queue.close());

  /** Refreshes, and says which rows had to be read. */
  async function refreshed(): Promise<string[]> {
    read = [];
    expect(await mirror.refresh()).toEqual(await queue.active());
    return read.sort();
  }

  test('hands its rows over, and keeps no copy', async () => {
    await fixture.rowIn('Waiting');
    await refreshed();
    expect(await mirror.handOver()).toEqual(await queue.active());
    expect(await refreshed()).toEqual(['Waiting']);
  });

  // What may happen between two refreshes: statements, and the uids that have to be read again.
  const CHANGES: readonly (readonly [string, () => Promise<unknown>, readonly string[]])[] = [
    ['nothing', async () => undefined, []],
    ['a submission', () => queue.submit(fixture.fence, [submission('new')]), ['new']],
    ['a grant', () => grant('Waiting'), ['Waiting']],
    ['a start', () => queue.running(fixture.fence, [{ uid: 'Ready', startedAt: 110 }]), ['Ready']],
    ['an end', () => finish('Running'), []],
    ['an end and an archiving', () => finish('Running').then(() => queue.archive(fixture.fence, 1e12)), []],
    ['a requeue', () => requeue('Running'), ['Running']],
    ['two changes of one row', () => grant('Waiting').then(() => requeue('Waiting')), ['Waiting']],
    [
      'a rolled back change',
      () => fixture.sql('BEGIN; UPDATE fluxqueue.workloads SET priority = 7; ROLLBACK'),
      [],
    ],
    [
      'a change by hand',
      () => fixture.sql("UPDATE fluxqueue.workloads SET held = true WHERE uid = 'Waiting'"),
      ['Waiting'],
    ],
    ['a vacuum', () => fixture.sql('VACUUM fluxqueue.workloads'), []],
    // A row that moves is read again.
    [
      'a full vacuum',
      () => finish('Running').then(() => fixture.sql('VACUUM FULL fluxqueue.workloads')),
      ['Ready'],
    ],
    ['another database of the same rows', copyRows, ['Ready', 'Running', 'Waiting']],
  ];

  const finish = (uid: string) =>
    queue.finish(fixture.fence, [{ uid, result: 'Succeeded', finishedAt: 130 }]);
  const requeue = (uid: string) =>
    queue.requeue(fixture.fence, [{ uid, cause: 'suspended', message: 'again' }]);
  async function grant(uid: string): Promise<void> {
    const [row] = await queue.byUid([uid]);
    await queue.allocate(fixture.fence, [{ uid, allocation: allocationOf(row!, ['node-3']) }]);
  }
  /** As a backup that is restored: equal rows in other places. */
  async function copyRows(): Promise<void> {
    await fixture.sql(`BEGIN; CREATE TEMP TABLE backup ON COMMIT DROP AS TABLE fluxqueue.workloads;
      DELETE FROM fluxqueue.workloads; INSERT INTO fluxqueue.workloads OVERRIDING SYSTEM VALUE TABLE backup; COMMIT`);
  }

  test.each(CHANGES)(
    'is equal to the tables after %s, and reads only what changed',
    async (_, change, expected) => {
      for (const phase of ['Waiting', 'Ready', 'Running', 'Finished'] as const) await fixture.rowIn(phase);
      expect(await refreshed()).toEqual(['Ready', 'Running', 'Waiting']);
      expect(await refreshed()).toEqual([]);
      await change();
      expect(await refreshed()).toEqual(expected);
    },
  );

  test('a row that ends between its version and its contents is left out', async () => {
    await fixture.rowIn('Running');
    const late = new RowMirror({
      versions: () => queue.versions(),
      versioned: async (uids) => {
        await finish('Running');
        return queue.versioned(uids);
      },
    });
    expect(await late.refresh()).toEqual([]);
  });

  test('calls at the same time follow each other, and a failed one leaves the copy as it was', async () => {
    await fixture.rowIn('Waiting');
    let calls = 0;
    const flaky = new RowMirror({
      versions: async () => {
        calls += 1;
        if (calls === 2) throw new Error('database down');
        return queue.versions();
      },
      versioned: (uids) => queue.versioned(uids),
    });
    const results = await Promise.allSettled([flaky.refresh(), flaky.refresh(), flaky.refresh()]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await flaky.refresh()).toEqual(await queue.active());
  });

  test('a workload cache reads from it once, and from the tables when it is stale', async () => {
    await fixture.rowIn('Waiting');
    await mirror.refresh();
    let reads = 0;
    const firstRead = () => {
      reads += 1;
      return mirror.refresh();
    };
    const cache = new WorkloadCache(queue, fixture.fence, { firstRead });
    await fixture.rowIn('Running');
    await cache.reload();
    expect([...cache.active()]).toEqual(await queue.active());
    await grant('Waiting');
    await cache.reload();
    expect([...cache.active()]).toEqual(await queue.active());
    expect(reads).toBe(1);
  });

  test('a workload cache that cannot read from it is stale, and reads the tables next', async () => {
    const row = await fixture.rowIn('Waiting');
    const firstRead = async () => {
      throw new Error('database down');
    };
    const cache = new WorkloadCache(queue, fixture.fence, { firstRead });
    await expect(cache.reload()).rejects.toThrow('database down');
    expect(cache.isStale).toBe(true);
    await cache.reload();
    expect([...cache.active()]).toEqual([row]);
  });

  test('a write of the leader before is in the copy once the fence is taken, and a later one is refused', async () => {
    await fixture.rowIn('Waiting');
    await mirror.refresh();
    const { fence } = fixture;
    const [row] = await queue.byUid(['Waiting']);
    const grants = [{ uid: 'Waiting', allocation: allocationOf(row!, ['node-1']) }];
    // The write and the take-over race; whoever is first, the copy has what was committed.
    const [write] = await Promise.allSettled([
      fixture.queue.allocate(fence, grants),
      queue.acquireFence('next').then(async () => {
        const copy = await mirror.refresh();
        await new Promise((resolve) => setTimeout(resolve, 100));
        expect(copy).toEqual(await queue.active());
      }),
    ]);
    const committed = write.status === 'fulfilled' ? 'Ready' : 'Waiting';
    expect(await mirror.refresh()).toMatchObject([{ phase: committed }]);
    await expect(fixture.queue.allocate(fence, grants)).rejects.toMatchObject({ code: 'FLUXQ_FENCED' });
  });
});
