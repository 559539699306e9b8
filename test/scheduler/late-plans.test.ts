/** The plan behind what has not ended, or not started, when it should have. */
import { planQueue } from '../../runtime/scheduler/queue-plan';
import { nodesOf, Simulation } from './pass/simulation';
import { inputOf, planned } from './planned-in';

test('what should have ended by now is played to end when that is predicted, and what waits for it has no start', async () => {
  const sim = await Simulation.of(nodesOf(3, 1), { policy: 'easy' });
  sim.submit('stuck', { pods: 1, walltime: 10, runs: 1_000 });
  sim.submit('running', { pods: 1, walltime: 100 });
  await sim.pass();
  // Its end is predicted for 90 s after its walltime.
  sim.now += 60;
  sim.submit('wide', { pods: 3, walltime: 50 });
  sim.submit('two', { pods: 2, walltime: 30 });
  const plan = await planQueue(inputOf(sim, await sim.pass(), { reservations: [] }));
  expect([...plan!.allocations].map(([uid, { start }]) => [uid, start - sim.now])).toEqual([
    ['two', 40 + 50],
  ]);
});

test('what is late with its start is played to start now, and what waits for it has no promise', async () => {
  const sim = await Simulation.of(nodesOf(3, 1), { policy: 'easy' });
  sim.submit('slow', { pods: 1, walltime: 1_000 });
  await sim.pass();
  sim.change('slow', { phase: 'Ready', startedAt: null });
  sim.submit('wide', { pods: 3, walltime: 50 });
  sim.submit('behind', { pods: 3, walltime: 50 });
  expect(await planned(sim, await sim.pass())).toEqual({ behind: 1_050 });
  sim.now += 60;
  // It would have to be gone when it would have without the late start, in the plan as in the queue.
  sim.submit('passes', { pods: 1, walltime: 941 });
  expect(await planned(sim, await sim.pass())).toEqual({ wide: 1_000, behind: 1_050, passes: 1_100 });
});

test('what has not started within its walltime leaves for those that wait, when it has had its time', async () => {
  const sim = await Simulation.of(nodesOf(3, 1), { policy: 'easy' });
  sim.submit('slow', { pods: 1, walltime: 10 });
  sim.submit('running', { pods: 1, walltime: 80 });
  await sim.pass();
  sim.change('slow', { phase: 'Ready', startedAt: null });
  sim.now += 20;
  sim.submit('wide', { pods: 3, walltime: 50 });
  sim.submit('two', { pods: 2, walltime: 300 });
  const plan = await planQueue(inputOf(sim, await sim.pass(), { reservations: [] }));
  const starts = [...plan!.allocations].map(([uid, { start }]) => [uid, start - sim.now]);
  expect(starts).toEqual([['two', 60 + 45 - 20 + 50]]);
});
