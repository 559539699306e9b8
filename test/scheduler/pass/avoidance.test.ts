import { ENDLESS_SECONDS } from '../../../runtime/resources/endless';
import { apart, labels, zones } from './rules';
import { granted, nodesOf, Simulation } from './simulation';

const nodeOf = (sim: Simulation, uid: string) => sim.row(uid).allocation?.nodes.map(({ name }) => name);

test('does not grant a node that the workload avoids, until its time is over', async () => {
  const sim = await Simulation.of(nodesOf(2, 1));
  sim.submit('other');
  await sim.pass();
  const [taken] = nodeOf(sim, 'other')!;
  const free = taken === 'n0' ? 'n1' : 'n0';
  sim.submit('again');
  sim.change('again', { avoid: { [free]: sim.now + 60 } });
  const waits = await sim.pass();
  expect(waits.grants).toEqual([]);
  expect(waits.nextAt).toBeLessThanOrEqual(sim.now + 60);
  sim.now += 60;
  expect((await sim.pass()).grants).toMatchObject([
    { uid: 'again', allocation: { nodes: [{ name: free }] } },
  ]);
});

test('starts the workload on another node at once', async () => {
  const sim = await Simulation.of(nodesOf(3, 1));
  sim.submit('again');
  sim.change('again', { avoid: { n0: sim.now + 60, n2: sim.now + 60 } });
  await sim.pass();
  expect(nodeOf(sim, 'again')).toEqual(['n1']);
});

test('grants avoided nodes to other workloads', async () => {
  const sim = await Simulation.of(nodesOf(1, 2));
  sim.submit('again');
  sim.change('again', { avoid: { n0: sim.now + 60 } });
  sim.submit('other');
  await sim.pass();
  expect(nodeOf(sim, 'other')).toEqual(['n0']);
});

test('uses an avoided node again if the workload does not fit the cluster without it', async () => {
  const sim = await Simulation.of(nodesOf(2, 1));
  sim.submit('wide', { pods: 2 });
  sim.change('wide', { avoid: { n1: sim.now + 60 } });
  await sim.pass();
  expect(nodeOf(sim, 'wide')?.sort()).toEqual(['n0', 'n1']);
});

test('uses an avoided node again if all others are down', async () => {
  const [first, second] = nodesOf(2, 1);
  const sim = await Simulation.of([first!, { ...second!, up: false }]);
  sim.submit('again');
  sim.change('again', { avoid: { [first!.name]: sim.now + 60 } });
  await sim.pass();
  expect(nodeOf(sim, 'again')).toEqual([first!.name]);
});

test('a workload that avoids a node keeps its placement rules', async () => {
  const sim = await Simulation.of(zones({ a: 3 }));
  sim.submit('job', { pods: 2, pod: apart(), labels });
  sim.change('job', { avoid: { a0: sim.now + 300 } });
  await sim.pass();
  const { allocation } = sim.row('job');
  expect(allocation?.nodes.map(({ name, units }) => `${name} ${units.core}`)).toEqual(['a1 0', 'a2 0']);
});

test('what one that avoids a free node waits for keeps no equal workload from that node', async () => {
  const sim = await Simulation.of(nodesOf(2, 8));
  sim.submit('service', { kind: 'Pod', cpu: 8, walltime: ENDLESS_SECONDS });
  await sim.pass();
  const [taken] = nodeOf(sim, 'service')!;
  const free = taken === 'n0' ? 'n1' : 'n0';
  sim.submit('again', { cpu: 8, walltime: 100 });
  sim.change('again', { avoid: { [free]: sim.now + 600 } });
  await sim.pass();
  expect(sim.row('again').message).toContain('only when services leave their nodes (science/service)');
  sim.submit('equal', { cpu: 8, walltime: 100 });
  expect(granted(await sim.pass())).toEqual(['equal']);
  await sim.finish('equal');
  sim.now += 600;
  expect(granted(await sim.pass())).toEqual(['again']);
});
