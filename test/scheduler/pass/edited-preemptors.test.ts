/** A preemptor whose user changes it while its victims leave, one after the other. */
import { granted, nodesOf, Simulation } from './simulation';

const PREEMPTS = { preempts: true, preemption: { minRuntimeSeconds: 0, limit: 20 } };

const uids = ({ evictions }: Awaited<ReturnType<Simulation['pass']>>) => evictions.map(({ uid }) => uid);

/** `low1` and `low2` of four cores each leave for `high`, `low3` and `kept` stay. */
async function preempting(policy: 'fcfs' | 'easy' | 'hybrid' | 'conservative'): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(4, 8));
  sim.queue('default', { ...PREEMPTS, policy, quota: { cores: 16 } });
  const job = { cpu: 4, walltime: 1_800, preemptible: true };
  sim.submit('low1', { ...job, priority: -10 });
  sim.submit('low2', { ...job, priority: -10 });
  sim.submit('low3', { ...job, priority: -5 });
  sim.submit('kept', { ...job, priority: -5, preemptible: false });
  await sim.pass();
  sim.now += 1;
  sim.submit('high', { pods: 8, walltime: 60 });
  expect(uids(await sim.pass()).toSorted()).toEqual(['low1', 'low2']);
  sim.now += 1;
  return sim;
}

describe.each(['fcfs', 'easy', 'hybrid', 'conservative'] as const)('%s', (policy) => {
  test('more leave for more, and who has left does not come back before it', async () => {
    const sim = await preempting(policy);
    sim.edit('high', { pods: 12 });
    expect(uids(await sim.pass())).toEqual(['low3']);
    for (const uid of ['low1', 'low2']) {
      sim.now += 5;
      await sim.requeue(uid);
      expect(granted(await sim.pass({ freed: true }))).toEqual([]);
    }
    sim.now += 5;
    await sim.requeue('low3');
    expect(granted(await sim.pass({ freed: true }))).toEqual(['high']);
  });

  test('where it needs less it starts as soon as that is free', async () => {
    const sim = await preempting(policy);
    sim.edit('high', { pods: 3 });
    expect(uids(await sim.pass())).toEqual([]);
    sim.now += 5;
    await sim.requeue('low1');
    expect(granted(await sim.pass({ freed: true }))).toEqual(['high']);
  });

  test('where it can never start nobody else leaves, and who has left comes back', async () => {
    const sim = await preempting(policy);
    sim.edit('high', { pods: 17 });
    expect(uids(await sim.pass())).toEqual([]);
    sim.now += 5;
    await sim.requeue('low1');
    await sim.requeue('low2');
    expect(granted(await sim.pass({ freed: true })).toSorted()).toEqual(['low1', 'low2']);
  });
});
