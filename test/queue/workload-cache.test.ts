import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { Ledger } from '../../runtime/queue/workload-cache';
import { describePostgres } from '../cluster/suite';
import { type Fault, Trap } from '../stack/fault-injector';
import { allocationOf, submission } from './submission';

describePostgres('the ledger', (getPostgres) => {
  let queue: Queue;
  let fence: number;
  let told: string[];
  let doubts: number;

  beforeEach(async () => {
    queue = openQueue({ url: await getPostgres().freshDatabase() });
    await queue.migrate();
    fence = await queue.acquireFence('test');
    told = [];
    doubts = 0;
  });
  afterEach(() => queue.close());

  async function ledgerOver(port: Queue): Promise<Ledger> {
    const ledger = new Ledger(port, fence, {
      onDoubt: () => {
        doubts += 1;
      },
    });
    await ledger.reload();
    ledger.onChange(({ uid, phase }: WorkloadRow) => told.push(`${uid} ${phase}`));
    return ledger;
  }

  const lostAnswer = (call: string): Fault => ({ call, nth: 1, when: 'after', crash: false });

  test('an end whose answer was lost is found, and told, when it is read again', async () => {
    const trap = new Trap(lostAnswer('queue.finish'));
    const ledger = await ledgerOver(trap.around('queue', queue));
    await ledger.submit(submission('a'));
    await expect(ledger.finish('a', 'Succeeded', 10)).rejects.toMatchObject({ code: 'FLUXQ_DATABASE_DOWN' });
    expect(ledger.isDoubtful).toBe(true);
    expect(doubts).toBe(1);
    expect(ledger.byUid('a')!.phase).toBe('Waiting');
    await ledger.reload();
    expect(ledger.isDoubtful).toBe(false);
    expect(ledger.byUid('a')).toBeUndefined();
    expect(told).toEqual(['a Waiting', 'a Finished']);
    expect(ledger.count('Waiting')).toBe(0);
  });

  test('what is committed while it is read again is newer than what was read', async () => {
    const stale = await ledgerOver(queue);
    await stale.submit(submission('a'));
    await stale.submit(submission('b'));
    // A read that answers as things were before the commits that overtake it.
    const slow: Queue = Object.create(queue, {
      active: {
        value: async () => {
          const rows = await queue.active();
          await ledger.finish('a', 'Succeeded', 10);
          await ledger.submit(submission('c'));
          return rows;
        },
      },
    });
    const ledger = new Ledger(slow, fence);
    await ledger.reload();
    expect([...ledger.active()].map(({ uid }) => uid).sort()).toEqual(['b', 'c']);
    expect(ledger.byName('Job', 'science', 'job-a')).toBeUndefined();
    expect(ledger.count('Waiting')).toBe(2);
  });

  test('a grant that is refused although nothing speaks against it: the mirror is wrong', async () => {
    const ledger = await ledgerOver(queue);
    const row = (await ledger.submit(submission('a')))!;
    const allocation = allocationOf(row);
    await queue.allocate(fence, [{ uid: 'a', allocation }]);
    expect(await ledger.allocate([{ uid: 'a', allocation }])).toEqual([]);
    expect(ledger.isDoubtful).toBe(true);
    await ledger.reload();
    expect(ledger.byUid('a')!.phase).toBe('Ready');
  });

  test('a grant that its user overtook is no doubt', async () => {
    const ledger = await ledgerOver(queue);
    const row = (await ledger.submit(submission('a')))!;
    await ledger.update({ ...submission('a', { walltime: 90 }), shape: 'other' });
    expect(await ledger.allocate([{ uid: 'a', allocation: allocationOf(row) }])).toEqual([]);
    expect(ledger.isDoubtful).toBe(false);
  });
});
