/** The places of a granted group after its pods are gone: who gets them, and until when they are kept. */
import { GroupWorld, KEY, type Leader } from './group-world';

let world: GroupWorld;
let leader: Leader;
const reconcile = (of = leader) => of.reconciler.reconcile(KEY);

beforeEach(async () => {
  world = await GroupWorld.create();
  leader = world.leader();
});

test('has a place for the only pod of a pod set after that was deleted, and none for one more of another', async () => {
  world.pod('driver', { cpu: '4', owner: 'set' });
  for (const name of ['b', 'c']) world.pod(name, { owner: 'set' });
  await reconcile();
  await world.grant(['node-1', 1, 0], ['node-2', 0, 2]);
  await reconcile();
  world.runAll();
  await reconcile();
  world.delete('driver');
  world.pod('worker', { owner: 'set' });
  world.pod('new', { cpu: '4', owner: 'set' });
  await reconcile(world.leader());
  expect(world.placed).toEqual({ b: 'node-2', c: 'node-2', new: 'node-1' });
});

test('is over if its pods failed before they had containers, and nobody makes them again', async () => {
  for (const name of ['a', 'b', 'c']) world.pod(name, { owner: 'set' });
  await reconcile();
  await world.grant(['node-1', 3]);
  await reconcile();
  world.runAll();
  await reconcile();
  const { uid } = world.row;
  const startTime = new Date(world.now * 1000).toISOString();
  for (const name of ['a', 'b', 'c'])
    world.set(name, { phase: 'Failed', startTime, containerStatuses: [] } as never);
  expect(await reconcile()).toEqual({ after: 10_000 });
  world.now += 10;
  await reconcile();
  expect((await world.queue.byUid([uid]))[0]).toMatchObject({ phase: 'Finished', result: 'Failed' });
});
