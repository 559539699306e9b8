/** What a workload that waits is told of evictions. */
import { nodesOf, Simulation } from './simulation';

async function lent(): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(8, 4));
  for (const queue of ['owner', 'other'])
    sim.queue(queue, { cohort: 'lab', quota: { cores: 8 }, reclaim: true });
  sim.submit('mine', { queue: 'other', cpu: 4, walltime: 5000 });
  sim.submit('theirs', { queue: 'other', cpu: 4, walltime: 5000, namespace: 'physics' });
  for (const uid of ['b1', 'b2']) sim.submit(uid, { queue: 'other', cpu: 4, walltime: 5000 });
  await sim.pass();
  return sim;
}

test('a workload is told who has to leave for it, by name in its own namespace only, until they have left', async () => {
  const sim = await lent();
  sim.now += 100;
  sim.submit('own', { queue: 'owner', cpu: 4, pods: 2, walltime: 600 });
  const { evictions } = await sim.pass();
  expect(evictions).toHaveLength(2);
  const { message, estimatedStart } = sim.row('own');
  expect(message).toMatch(/; science\/mine and 1 of another namespace have to leave for it$/);
  expect(estimatedStart).toBeGreaterThan(sim.now);
  await sim.requeue('mine');
  await sim.pass({ freed: true });
  expect(sim.row('own').message).toMatch(/; 1 of another namespace has to leave for it$/);
  await sim.requeue('theirs');
  await sim.pass({ freed: true });
  expect(sim.row('own')).toMatchObject({ phase: 'Running' });
});

test('who has to leave from other namespaces is counted', async () => {
  const sim = await lent();
  sim.submit('own', { queue: 'owner', cpu: 4, pods: 2, walltime: 600, namespace: 'biology' });
  await sim.pass();
  expect(sim.row('own').message).toMatch(/; 2 of other namespaces have to leave for it$/);
});

test('a workload is told from when on others may be evicted for it, which have not run for long enough yet', async () => {
  const sim = await Simulation.of(nodesOf(1, 2));
  sim.queue('urgent', { preempts: true });
  sim.queue('default', { preemption: { minRuntimeSeconds: 60, limit: 1 } });
  sim.submit('low', { cpu: 2, walltime: 5000, preemptible: true });
  await sim.pass();
  const time = new Date((sim.now + 60) * 1000).toISOString().replace('.000Z', 'Z');
  sim.now += 20;
  sim.submit('high', { cpu: 2, priority: 1, queue: 'urgent', walltime: 30 });
  await sim.pass();
  expect(sim.row('high').message).toContain(`; others may be evicted for it from ${time} on`);
  sim.now += 40;
  await sim.pass();
  expect(sim.row('high').message).toMatch(/; science\/low has to leave for it$/);
});
