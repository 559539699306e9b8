import { Reservations } from '../../../runtime/scheduler/pass/reservations';
import { nodesOf, reserved, Simulation } from './simulation';

/** Four nodes of two cores, busy until 1100, 1200, 1300 and 1400; four workloads need two nodes each. */
async function busy(policy: 'easy' | 'hybrid' | 'conservative'): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(4, 2), { policy });
  for (let i = 0; i < 4; i++) sim.submit(`running${i}`, { cpu: 2, walltime: 100 * (i + 1) });
  await sim.pass();
  for (let i = 0; i < 4; i++) sim.submit(`wide${i}`, { pods: 2, cpu: 2, walltime: 50 });
  return sim;
}

test('easy makes one reservation, hybrid as many as configured, conservative one for each workload', async () => {
  expect(reserved(await (await busy('easy')).pass())).toEqual(['wide0']);
  const hybrid = await busy('hybrid');
  hybrid.queue('default', { policy: 'hybrid', reservations: 2 });
  expect(reserved(await hybrid.pass())).toEqual(['wide0', 'wide1']);
  const conservative = await busy('conservative');
  await conservative.pass();
  expect([0, 1, 2, 3].map((i) => conservative.row(`wide${i}`).estimatedStart)).toEqual([
    1200, 1250, 1300, 1350,
  ]);
});

test('the first in line keep their reservations when the policy allows fewer, in whichever order they were made', async () => {
  const sim = await busy('conservative');
  await sim.pass();
  sim.change('wide0', { jobid: 4711 });
  await sim.pass();
  sim.queue('default', { policy: 'hybrid', reservations: 2 });
  expect(reserved(await sim.pass()).sort()).toEqual(['wide0', 'wide1']);
  sim.queue('default', { policy: 'easy' });
  expect(reserved(await sim.pass())).toEqual(['wide0']);
});

test('keeps all reservations without a match while no units become free', async () => {
  const sim = await busy('conservative');
  const first = await sim.pass();
  sim.now += 10;
  const second = await sim.pass();
  expect(second).toMatchObject({ grants: [], waits: [], matches: 0, nextAt: 1200 });
  expect(second.reservations).toEqual(first.reservations);
});

test('moves reservations forward after an early end, and none back', async () => {
  const sim = await busy('conservative');
  await sim.pass();
  sim.now = 1020;
  await sim.finish('running3');
  await sim.pass();
  expect([0, 1, 2, 3].map((i) => sim.row(`wide${i}`).estimatedStart)).toEqual([1100, 1150, 1200, 1250]);
});

test('displaces reservations of lower priority in every queue and plans them again behind', async () => {
  const sim = await busy('easy');
  sim.queue('other', { policy: 'fcfs' });
  sim.submit('other', { pods: 2, cpu: 2, queue: 'other', walltime: 50 });
  await sim.pass();
  expect([sim.row('wide0').estimatedStart, sim.row('other').estimatedStart]).toEqual([1200, 1250]);
  sim.submit('urgent', { pods: 2, cpu: 2, priority: 1, walltime: 50 });
  expect(reserved(await sim.pass())).toEqual(['urgent', 'other']);
  expect(sim.row('urgent').estimatedStart).toBe(1200);
  expect(sim.row('other').estimatedStart).toBe(1250);
  expect(sim.row('wide0')).toMatchObject({ reason: 'Busy', estimatedStart: null });
});

test('displaces no reservation for a workload that starts at once beside them', async () => {
  const sim = await busy('conservative');
  await sim.pass();
  const before = [0, 1, 2, 3].map((i) => sim.row(`wide${i}`).estimatedStart);
  await sim.finish('running0');
  sim.submit('urgent', { cpu: 2, priority: 1, walltime: 10 });
  await sim.pass({ freed: false });
  expect(sim.startOf('urgent')).toBe(sim.now);
  expect([0, 1, 2, 3].map((i) => sim.row(`wide${i}`).estimatedStart)).toEqual(before);
});

test('keeps a reservation when an older workload of the same priority is released', async () => {
  const sim = await Simulation.of(nodesOf(1, 2));
  sim.submit('running', { cpu: 2 });
  await sim.pass();
  sim.submit('older', { cpu: 2, held: true });
  sim.submit('younger', { cpu: 2 });
  await sim.pass();
  sim.change('older', { held: false, reason: 'Submitted' });
  expect(reserved(await sim.pass())).toEqual(['younger']);
  expect(sim.row('younger').estimatedStart).toBe(1100);
});

test.each([
  ['is held', { held: true }],
  ['has a new job id', { jobid: 4711 }],
  ['waits for a dependency', { after: [{ type: 'afterok' as const, name: 'nobody' }] }],
])('a workload that %s loses its reservation to the next one', async (_, over) => {
  const sim = await busy('easy');
  await sim.pass();
  sim.change('wide0', over);
  const after = await sim.pass();
  expect(reserved(after)).toEqual('jobid' in over ? ['wide0'] : ['wide1']);
  const { jobs } = await sim.fluxion.state();
  expect(jobs.filter(({ start }) => start > sim.now)).toHaveLength(1);
});

test('plans a reservation again when one of its nodes is gone', async () => {
  const sim = await busy('easy');
  await sim.pass();
  const nodes = sim.nodes.filter(({ name }) => name !== 'n0');
  await sim.fluxion.removeNodes(['n0']);
  sim.change('running0', { phase: 'Finished', allocation: null });
  await sim.pass({ nodes });
  expect(sim.row('wide0').estimatedStart).toBe(1300);
});

test('plans again in order after an overrun', async () => {
  const sim = await Simulation.of(nodesOf(2, 2), { policy: 'conservative' });
  sim.submit('late', { pods: 2, cpu: 2, walltime: 100 });
  await sim.pass();
  sim.submit('first', { cpu: 2, walltime: 60 });
  sim.submit('second', { pods: 2, cpu: 2, walltime: 60 });
  await sim.pass();
  expect(sim.row('second').estimatedStart).toBe(1160);
  sim.now = 1150;
  expect((await sim.pass()).grants).toEqual([]);
  await sim.finish('late');
  await sim.pass();
  expect(sim.startOf('first')).toBe(1150);
  expect(sim.row('second').estimatedStart).toBe(1210);
});

/**
 * Two nodes, of which one has just become free: `first` waits for the other one, because `low` has a reservation here
 * that came later. `second`, which is equal to `first`, is new and takes the nodes of lower priority.
 */
async function withNewEqual(): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(2, 1), { policy: 'conservative' });
  for (const walltime of [50, 60]) sim.submit(`running${walltime}`, { walltime });
  await sim.pass();
  sim.submit('first', { walltime: 500 });
  sim.submit('low', { walltime: 20, priority: -1 });
  await sim.pass();
  expect(['first', 'low'].map((uid) => sim.row(uid).estimatedStart)).toEqual([1050, 1060]);
  sim.now = 1010;
  await sim.finish('running60');
  sim.submit('second', { walltime: 500 });
  return sim;
}

test('starts the first of equal workloads where a new one takes nodes of lower priority', async () => {
  const sim = await withNewEqual();
  expect(await sim.pass()).toMatchObject({ grants: [{ uid: 'first' }] });
  expect(['second', 'low'].map((uid) => sim.row(uid).estimatedStart)).toEqual([1050, 1510]);
});

test('starts a new workload before an equal one that a limit keeps from starting', async () => {
  const sim = await withNewEqual();
  sim.change('second', { user: 'bob' });
  sim.queue('default', { policy: 'conservative', limits: { queue: {}, user: { running: 1 } } });
  expect(await sim.pass()).toMatchObject({ grants: [{ uid: 'second' }] });
});

test.each(['hybrid', 'conservative'] as const)(
  'what became free is used by all that it is enough for, also where these are more than the depth of the queue, %s',
  async (policy) => {
    const sim = await Simulation.of(nodesOf(1, 8));
    sim.queue('default', { policy, depth: 4 });
    sim.submit('runs', { cpu: 8, walltime: 7_200, runs: 100 });
    await sim.pass();
    for (let i = 0; i < 8; i++) sim.submit(`waits${i}`, { cpu: 1, walltime: 7_200 });
    for (let i = 0; i < 4; i++) await sim.pass();
    expect(sim.reservations).toHaveLength(policy === 'hybrid' ? 8 : 4);
    await sim.run();
    expect([0, 7].map((i) => sim.startOf(`waits${i}`))).toEqual([1_100, 1_100]);
  },
);

test('a start costs no look at reservations that ask for something else', async () => {
  const sim = await Simulation.of(nodesOf(80, 2), { depth: 1_000 });
  sim.queue('default', { policy: 'conservative', limits: { queue: {}, user: { running: 1 } } });
  for (let i = 0; i < 201; i++) sim.submit(`ada${i}`, { cpu: 1, walltime: 3_600, user: 'ada' });
  for (let i = 0; i < 5; i++) await sim.pass();
  expect(sim.reservations).toHaveLength(200);
  for (let i = 0; i < 40; i++) sim.submit(`other${i}`, { cpu: 1, walltime: 600, user: `user${i}` });
  const looks = jest.spyOn(Reservations.prototype, 'rowOf');
  try {
    expect((await sim.pass({ freed: true })).grants).toHaveLength(40);
    expect(looks.mock.calls.length).toBeLessThan(2_000);
  } finally {
    looks.mockRestore();
  }
});
