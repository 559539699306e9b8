/** How groups of plain pods give up what they were granted, and get it again. */
import { LWS_REVISION_LABEL } from '../../constructs/api/leader-worker-set';
import { GroupWorld, KEY, type Leader, type MemberShape, runRing } from './group-world';

let world: GroupWorld;
let leader: Leader;
const reconcile = (of = leader) => of.reconciler.reconcile(KEY);
const running = (...ring: [owner?: string, shape?: MemberShape]) => runRing(world, leader, ...ring);

beforeEach(async () => {
  world = await GroupWorld.create();
  leader = world.leader();
});

describe('a group that loses its grant', () => {
  test('gives its nodes back if the apiserver refuses to have one of its pods released', async () => {
    for (const name of ['a', 'b', 'c']) world.pod(name, { owner: 'set' });
    world.refused.add('b');
    await reconcile();
    await world.grant(['node-1', 3]);
    expect(await reconcile()).toEqual({ after: 2_000 });
    expect(world.row.allocation).not.toBeNull();
    await world.clock.advance(60_000);
    await reconcile();
    expect(world.row.evictionReason).toContain('the apiserver does not take the release');
    world.pod('d', { owner: 'set' });
    world.pod('e', { owner: 'set' });
    await reconcile();
    expect(world.row).toMatchObject({ phase: 'Waiting', allocation: null });
    expect(world.placed).toEqual({});
  });

  test('is evicted as a whole if controllers make its pods again, and waits in its old place', async () => {
    await running('set');
    const { uid, submittedAt } = world.row;
    world.nodes.delete('node-2');
    await reconcile();
    expect(world.placed).toEqual({});
    // Between the end of the old pods and the first new one nothing of the group is there.
    expect(await reconcile()).toEqual({ after: 250 });
    world.pod('d', { owner: 'set' });
    expect(await reconcile()).toEqual({ after: 5_000 });
    world.pod('e', { owner: 'set' });
    world.pod('f', { owner: 'set' });
    await reconcile();
    expect(world.row).toMatchObject({ uid, submittedAt, phase: 'Waiting', held: false, requeues: 1 });
    expect(world.placed).toEqual({});
  });

  test('waits as incomplete if its controllers do not make all its pods again', async () => {
    await running('set');
    world.nodes.delete('node-2');
    await reconcile();
    world.pod('d', { owner: 'set' });
    await reconcile();
    world.now += 10;
    await reconcile();
    expect(world.row).toMatchObject({ phase: 'Waiting', held: true });
  });

  test('stays whole where a budget keeps one of its pods, and holds its units until all are gone', async () => {
    await running('set');
    world.protectedPods.add('b');
    world.nodes.delete('node-2');
    expect(await reconcile()).toEqual({ after: 5_000 });
    world.pod('d', { owner: 'set' });
    await reconcile();
    expect(world.row.allocation).not.toBeNull();
    expect(world.placed).toEqual({ b: 'node-1' });
  });

  test('gets a deadline where a budget keeps its pods for more than 5 minutes, and ends by it', async () => {
    await running('set');
    world.protectedPods.add('b');
    world.nodes.delete('node-2');
    await reconcile();
    const { uid, allocation } = world.row;
    const startTime = new Date((allocation!.end - 50) * 1000).toISOString();
    world.set('b', { startTime } as never);
    world.now = allocation!.end + 299;
    expect(await reconcile()).toEqual({ after: 1_000 });
    expect(world.get('b')!.spec.activeDeadlineSeconds).toBe(3600 + 3600);
    world.now += 1;
    await reconcile();
    expect(world.get('b')!.spec.activeDeadlineSeconds).toBe(50);
    world.end('b', 'Failed', 'DeadlineExceeded');
    await reconcile();
    expect((await world.queue.byUid([uid]))[0]).toMatchObject({
      phase: 'Finished',
      result: 'TimedOut',
      message: expect.stringContaining('node-2 was lost, and a PodDisruptionBudget kept its pods'),
    });
  });

  test('keeps bare pods where they are: nobody would make them again', async () => {
    await running();
    expect(world.row.jobspec.attributes.user?.immovable).toBe(true);
    world.nodes.delete('node-2');
    await reconcile();
    expect(world.row.phase).toBe('Running');
    expect(Object.keys(world.placed)).toEqual(['a', 'b', 'c']);
  });

  test('waits for other nodes if all its pods were replaced by others that ask for something else', async () => {
    await running('set');
    for (const name of ['a', 'b', 'c']) world.delete(name);
    for (const name of ['d', 'e', 'f']) world.pod(name, { owner: 'set', cpu: '2' });
    await reconcile();
    expect(world.row).toMatchObject({ phase: 'Waiting', requeues: 0 });
    expect(world.placed).toEqual({});
  });

  test('gets its places again if all its pods were replaced by equal ones', async () => {
    await running('set');
    for (const name of ['a', 'b', 'c']) world.delete(name);
    for (const name of ['d', 'e', 'f']) world.pod(name, { owner: 'set' });
    await reconcile();
    expect(world.row.phase).toBe('Running');
    expect(world.placed).toEqual({ d: 'node-1', e: 'node-1', f: 'node-2' });
  });

  test.each([
    ['1', { phase: 'Running' }, { d: 'node-1', e: 'node-1', f: 'node-2' }],
    ['2', { phase: 'Waiting', requeues: 0 }, {}],
  ])(
    'starts together by the next templates of a LeaderWorkerSet, which ask for %s core of a worker',
    async (cpu, row, places) => {
      const made = (names: readonly string[], revision: string, shape: object = {}) => {
        for (const name of names)
          world.pod(name, { owner: 'set', labels: { [LWS_REVISION_LABEL]: revision }, ...shape });
      };
      await running('set', { labels: { [LWS_REVISION_LABEL]: 'old' } });
      world.delete('a');
      made(['d'], 'new');
      await reconcile();
      expect(Object.keys(world.placed)).toEqual(['b', 'c']);
      for (const name of ['b', 'c']) world.delete(name);
      await reconcile();
      expect(world.placed).toEqual({});
      made(['e', 'f'], 'new', { cpu });
      await reconcile();
      expect(world.row).toMatchObject(row);
      expect(world.placed).toEqual(places);
    },
  );
});
