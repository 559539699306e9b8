import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import { runtimesBy } from '../../runtime/queue/usual-runtimes';
import type { Result } from '../../runtime/queue/workload';
import { ENDLESS_SECONDS } from '../../runtime/resources/endless';
import { describePostgres } from '../cluster/suite';
import { allocationOf, submission } from './submission';

const T = 1_800_000_000;

describePostgres('usual runtimes', (getPostgres) => {
  let queue: Queue;
  let fence: number;
  let count = 0;
  beforeEach(async () => {
    queue = openQueue({ url: await getPostgres().freshDatabase(), units: DEFAULT_UNITS });
    await queue.migrate();
    fence = await queue.acquireFence('leader');
  });
  afterEach(() => queue.close());

  /** One that ends so many seconds after its start; undefined: it ends without one. */
  async function ended(
    user: string,
    seconds: number | undefined,
    { result = 'Succeeded' as Result, walltime = 100 } = {},
  ): Promise<void> {
    const uid = `w${++count}`;
    const at = T + 1_000 * count;
    await queue.submit(fence, [submission(uid, { user, walltime })]);
    if (seconds !== undefined) {
      const [row] = await queue.byUid([uid]);
      await queue.allocate(fence, [{ uid, allocation: allocationOf(row!, ['n-1']) }]);
      await queue.running(fence, [{ uid, startedAt: at }]);
    }
    await queue.finish(fence, [{ uid, result, finishedAt: at + (seconds ?? 0) }]);
  }

  test('are the mean part of the walltime of the last two of a user that ended by themselves', async () => {
    for (const seconds of [90, 20, 40]) await ended('ada', seconds);
    await ended('eve', 50, { walltime: 500 });
    await ended('eve', 300, { result: 'TimedOut', walltime: 250 });
    await ended('ada', 1, { result: 'Cancelled' });
    await ended('ada', undefined, { result: 'Failed' });
    await ended('ada', 7, { walltime: ENDLESS_SECONDS });
    await ended('new', undefined);
    const runtimeOf = runtimesBy(await queue.usualParts())!;
    const shown = ['ada', 'eve', 'new'].map((user) => runtimeOf({ user, walltime: 1_000 }));
    expect(shown).toEqual([expect.closeTo(300), expect.closeTo(550), undefined]);
  });

  test('are not known before anything has ended', async () => {
    expect(runtimesBy(await queue.usualParts())).toBeUndefined();
  });
});
