import { other } from './rules';
import { granted, nodesOf, Simulation } from './simulation';

/** Two full nodes; `n` workloads of one shape wait, the first with a reservation. */
async function refused(n: number): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(2, 2));
  sim.submit('a', { cpu: 2 });
  sim.submit('b', { cpu: 2 });
  await sim.pass();
  for (let i = 0; i < n; i++) sim.submit(`w${i}`, { cpu: 2 });
  await sim.pass();
  return sim;
}

test('repeats no refused request in the next pass, and none that is as large', async () => {
  const sim = await refused(5);
  sim.submit('new', { cpu: 2, walltime: 200 });
  sim.now += 1;
  expect(await sim.pass()).toMatchObject({ matches: 0, waits: [{ uid: 'new', reason: 'Busy' }] });
  sim.submit('smaller', { cpu: 1 });
  expect((await sim.pass()).matches).toBe(1);
});

test('repeats refused requests once units become free', async () => {
  const sim = await refused(3);
  await sim.finish('a');
  await sim.pass();
  expect(sim.startOf('w0')).toBe(sim.now);
});

test('repeats refused requests when a reservation is dropped', async () => {
  const sim = await Simulation.of(nodesOf(2, 2));
  sim.submit('a', { cpu: 2, walltime: 100 });
  await sim.pass();
  sim.submit('wide', { pods: 2, cpu: 2 });
  sim.submit('long', { cpu: 2, walltime: 1000 });
  await sim.pass();
  expect(sim.row('long').reason).toBe('Busy');
  sim.change('wide', { held: true });
  await sim.pass();
  expect(sim.startOf('long')).toBe(sim.now);
});

test('repeats refused requests once a pod ends that kept others from its node by their number only', async () => {
  const sim = await Simulation.of(nodesOf(2, 200));
  for (const { name } of sim.nodes) sim.amounts.set(name, { pods: 3 });
  sim.others = sim.nodes.flatMap(({ name }) => [1, 2, 3].map(() => other(name)));
  sim.submit('a');
  await sim.pass();
  expect(sim.row('a').reason).toBe('Busy');
  sim.submit('equal');
  expect((await sim.pass()).matches).toBe(0);
  sim.others = sim.others.slice(0, -1);
  expect(granted(await sim.pass())).toEqual(['a']);
});

test('starts with an empty cache when nodes are added', async () => {
  const sim = await refused(2);
  await sim.fluxion.addNodes([{ name: 'n9', units: { core: 2 } }]);
  await sim.pass({ nodes: [...sim.nodes, { name: 'n9', units: { core: 2 } }] });
  expect(sim.startOf('w0')).toBe(sim.now);
});
