/** Promises that count on the end of what was granted and starts late, or has not ended when it should have. */
import { startableIn } from '../startable-in';
import type { JobOptions } from './job-options';
import { granted, nodesOf, Simulation } from './simulation';

const HOUR = 3_600;
const LATE = 'nodes are reserved for it behind science/slow, which should have started by now';

/** `slow` was granted n0 for an hour, and its pods do not start; `fill` needs all three nodes. */
async function waiting(fill: JobOptions = {}): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(3, 2));
  sim.submit('slow', { cpu: 2, walltime: HOUR });
  await sim.pass();
  sim.change('slow', { phase: 'Ready', startedAt: null });
  sim.submit('fill', { pods: 3, cpu: 2, walltime: 180, ...fill });
  await sim.pass();
  return sim;
}

function start(sim: Simulation, uid: string): void {
  const { allocation, walltime } = sim.row(uid);
  const end = sim.now + walltime;
  sim.change(uid, { phase: 'Running', startedAt: sim.now, allocation: { ...allocation!, end } });
}

const promiseOf = (sim: Simulation) => sim.row('fill').estimatedStart;

test('a start is no promise while it counts on what has not started in time', async () => {
  const sim = await waiting();
  expect(promiseOf(sim)).toBe(1_000 + HOUR);
  // Nothing else would call for a pass.
  expect((await sim.pass()).nextAt).toBe(1_046);
  sim.now = 1_046;
  const { waits, nextAt } = await sim.pass();
  expect([promiseOf(sim), sim.row('fill').message, waits.length]).toEqual([null, LATE, 1]);
  expect(nextAt).toBe(1_000 + HOUR);
  sim.now = 1_300;
  expect((await sim.pass()).waits).toEqual([]);
  start(sim, 'slow');
  await sim.pass();
  expect(promiseOf(sim)).toBe(1_300 + HOUR);
});

test('the name of a workload of another namespace is not told', async () => {
  const sim = await waiting({ namespace: 'arts' });
  sim.now = 1_046;
  await sim.pass();
  expect(sim.row('fill').message).toBe(LATE.replace('science/slow', 'a workload of another namespace'));
});

test('a promise stays that has time for a late start, or needs other units', async () => {
  const sim = await Simulation.of(nodesOf(2, 4));
  sim.submit('long', { cpu: 2, walltime: 2 * HOUR });
  sim.submit('slow', { cpu: 2, walltime: HOUR });
  sim.submit('other', { cpu: 4, walltime: HOUR });
  await sim.pass();
  sim.change('slow', { phase: 'Ready', startedAt: null });
  sim.submit('fill', { pods: 2, cpu: 4, walltime: 180 });
  await sim.pass();
  sim.now = 1_500;
  await sim.pass();
  expect(promiseOf(sim)).toBe(1_000 + 2 * HOUR);
  sim.change('fill', { phase: 'Finished' });
  sim.submit('beside', { cpu: 4, walltime: HOUR });
  await sim.pass();
  expect(sim.row('beside').estimatedStart).toBe(1_000 + HOUR);
});

test('what is promised behind such a start is no promise either', async () => {
  const sim = await waiting();
  sim.queue('default', { policy: 'conservative' });
  sim.submit('next', { pods: 2, cpu: 2, walltime: HOUR });
  sim.submit('last', { pods: 3, cpu: 2, walltime: 60 });
  await sim.pass();
  sim.now = 1_046;
  await sim.pass();
  expect(sim.row('last')).toMatchObject({ estimatedStart: null, message: LATE });
});

test('nobody passes a promise because what it waits for has started late', async () => {
  const sim = await waiting();
  sim.now = 1_458;
  start(sim, 'slow');
  sim.submit('hour', { cpu: 2, walltime: HOUR });
  sim.submit('short', { cpu: 2, walltime: HOUR - 458 });
  expect(granted(await sim.pass())).toEqual(['short']);
  expect(promiseOf(sim)).toBe(1_458 + HOUR);
  expect(await startableIn(sim)).toEqual([]);
  // What starts late itself moves the promise, and lets nobody pass either.
  sim.change('short', { phase: 'Ready', startedAt: null });
  sim.now = 2_058;
  start(sim, 'short');
  sim.submit('late', { cpu: 2, walltime: 2_543 });
  expect(granted(await sim.pass())).toEqual([]);
  sim.submit('in-time', { cpu: 2, walltime: 2_542 });
  expect(granted(await sim.pass())).toEqual(['in-time']);
  expect(promiseOf(sim)).toBe(2_058 + HOUR - 458);
});

test('who was submitted after the late start was promised nothing before', async () => {
  const sim = await waiting();
  sim.change('fill', { phase: 'Finished' });
  sim.now = 1_458;
  start(sim, 'slow');
  sim.now = 1_460;
  sim.submit('fill-2', { pods: 3, cpu: 2, walltime: 180 });
  await sim.pass();
  sim.submit('hour', { cpu: 2, walltime: HOUR - 2 });
  expect(granted(await sim.pass())).toEqual(['hour']);
});

test('no start is promised on nodes of what should have ended long ago', async () => {
  const sim = await Simulation.of(nodesOf(2, 2));
  sim.submit('stuck', { cpu: 2, walltime: 120 });
  sim.submit('long', { cpu: 2, walltime: HOUR });
  await sim.pass();
  sim.submit('fill', { pods: 2, cpu: 2, walltime: 180 });
  await sim.pass();
  // Its pods have the usual time to end.
  sim.now = 1_120;
  expect((await sim.pass()).nextAt).toBe(1_165);
  expect(promiseOf(sim)).toBe(1_000 + HOUR);
  sim.now = 1_165;
  await sim.pass();
  expect(sim.row('fill')).toMatchObject({
    estimatedStart: null,
    message: 'nodes are reserved for it behind science/stuck, which should have ended by now',
  });
  await sim.finish('stuck');
  await sim.pass();
  expect(promiseOf(sim)).toBe(1_000 + HOUR);
});
