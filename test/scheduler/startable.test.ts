import { nodesOf, Simulation } from './pass/simulation';
import { startableIn } from './startable-in';

const uids = async (sim: Simulation) => (await startableIn(sim)).map(({ uid }) => uid);

/** Waits as a pass that has forgotten a change would leave it. */
const waits = (sim: Simulation, uid: string) =>
  sim.change(uid, { reason: 'Busy', message: 'asks for 1 core' });

test('finds what waits although nodes have room for it, and not what does not fit', async () => {
  const sim = await Simulation.of(nodesOf(1, 4));
  sim.submit('runs', { cpu: 2 });
  await sim.pass();
  for (const [uid, cpu] of [
    ['fits', 2],
    ['wide', 3],
  ] as const) {
    sim.submit(uid, { cpu });
    waits(sim, uid);
  }
  expect(await uids(sim)).toEqual(['fits']);
  await sim.pass();
  expect(await uids(sim)).toEqual([]);
});

test('finds no room on a node that takes no further pod', async () => {
  const sim = await Simulation.of(nodesOf(1, 4));
  for (const { name } of sim.nodes) sim.amounts.set(name, { pods: 2 });
  for (const uid of ['one', 'two', 'three']) sim.submit(uid);
  await sim.pass();
  expect(sim.row('three').reason).toBe('Reserved');
  expect(await uids(sim)).toEqual([]);
});

test('counts what is reserved and what quota is left', async () => {
  const sim = await Simulation.of(nodesOf(1, 4));
  sim.queue('default', { quota: { cores: 3 } });
  sim.submit('runs', { cpu: 2, walltime: 100 });
  await sim.pass();
  sim.submit('head', { cpu: 3 });
  await sim.pass();
  sim.submit('late', { cpu: 1, walltime: 200 });
  sim.submit('brief', { cpu: 1, walltime: 50 });
  sim.submit('beyond', { cpu: 2, walltime: 50 });
  for (const uid of ['late', 'brief', 'beyond']) waits(sim, uid);
  expect(await uids(sim)).toEqual(['brief']);
});

test('does not judge who waits for something else than room, or behind the head of a fcfs queue', async () => {
  const sim = await Simulation.of(nodesOf(1, 4), { policy: 'fcfs' });
  for (const uid of ['held', 'head', 'behind']) sim.submit(uid, { cpu: uid === 'head' ? 8 : 1 });
  waits(sim, 'head');
  waits(sim, 'behind');
  sim.change('held', { reason: 'Requeued' });
  expect(await uids(sim)).toEqual([]);
});

test('says nothing when its time is used up', async () => {
  const sim = await Simulation.of(nodesOf(1, 4));
  sim.submit('fits');
  waits(sim, 'fits');
  expect(await startableIn(sim, { isOver: () => true })).toEqual([]);
});
