import type { QueueSettings } from '../../../runtime/queue/settings';
import { apart, labels, zones } from './rules';
import { PREEMPTS } from './settings';
import { nodesOf, Simulation } from './simulation';

async function full(
  over: { preemptible?: boolean; kind?: string; priority?: number } = {},
): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(4, 2));
  sim.queue('default', PREEMPTS);
  for (let i = 0; i < 4; i++) {
    sim.submit(`low${i}`, { cpu: 2, walltime: 5000, preemptible: true, ...over });
    sim.now += 1;
    await sim.pass();
  }
  return sim;
}

test('evicts the youngest alone if that suffices, and starts the preemptor when it is gone', async () => {
  const sim = await full();
  sim.submit('urgent', { cpu: 2, priority: 10 });
  const { evictions } = await sim.pass();
  expect(evictions).toEqual([
    {
      uid: 'low3',
      message: 'preempted by science/urgent, which has a higher priority',
      end: sim.now + 45,
    },
  ]);
  expect(sim.row('urgent')).toMatchObject({ reason: 'Reserved', estimatedStart: sim.now + 45 });
  sim.now += 5;
  sim.submit('sneaky', { cpu: 2, walltime: 10 });
  expect(await sim.pass({ freed: true })).toMatchObject({ grants: [], evictions: [] });
  await sim.requeue('low3');
  await sim.pass();
  expect(sim.startOf('urgent')).toBe(sim.now);
  expect(sim.row('low3')).toMatchObject({ phase: 'Waiting', preemptions: 1 });
  expect(sim.doubleGrants()).toEqual([]);
});

test.each([
  ['the one that saves its state most often', 600, ['low0']],
  ['the youngest, where a checkpoint is rarer than it is old', 5_000, ['low3']],
])('evicts %s', async (_, checkpointSeconds, evicted) => {
  const sim = await full();
  sim.now += 1_000;
  const { jobspec } = sim.row('low0')!;
  const user = { ...jobspec.attributes.user, checkpointSeconds };
  sim.change('low0', { jobspec: { ...jobspec, attributes: { ...jobspec.attributes, user } } });
  sim.submit('urgent', { cpu: 2, priority: 10 });
  expect((await sim.pass()).evictions.map(({ uid }) => uid)).toEqual(evicted);
});

test.each([
  ['nobody for what is at its requeue limit: it would fail again', { requeues: 6 }, []],
  ['for what failed less often', { requeues: 5 }, ['low3']],
  ['for what failed for causes of the cluster', { requeues: 6, clusterRequeues: 1 }, ['low3']],
])('evicts %s', async (_, counts, evicted) => {
  const sim = await full();
  sim.submit('urgent', { cpu: 2, priority: 10 });
  sim.change('urgent', counts);
  expect((await sim.pass()).evictions.map(({ uid }) => uid)).toEqual(evicted);
});

test('does not start the preemptor before the start of its victim, which a clock that was ahead has written', async () => {
  const sim = await full();
  sim.now -= 100;
  await sim.restart();
  sim.submit('urgent', { cpu: 2, priority: 10, walltime: 3 });
  const { grants, evictions } = await sim.pass();
  expect({ grants, evicted: evictions.map(({ uid }) => uid) }).toEqual({ grants: [], evicted: ['low3'] });
  expect(sim.doubleGrants()).toEqual([]);
});

test('evicts as few workloads as suffice, wherever they are', async () => {
  const sim = await Simulation.of(nodesOf(4, 4));
  sim.queue('default', PREEMPTS);
  sim.submit('wide', { pods: 2, cpu: 4, walltime: 5000, preemptible: true });
  await sim.pass();
  for (let i = 0; i < 8; i++) {
    sim.now += 1;
    sim.submit(`small${i}`, { cpu: 1, walltime: 5000, preemptible: true });
    await sim.pass();
  }
  sim.submit('urgent', { pods: 2, cpu: 4, priority: 1 });
  expect((await sim.pass()).evictions.map(({ uid }) => uid)).toEqual(['wide']);
});

test.each([
  ['not preemptible', { preemptible: false }],
  ['a bare pod', { kind: 'Pod' }],
  ['of the same priority', { priority: 10 }],
])('does not evict a workload that is %s', async (_, over) => {
  const sim = await full(over);
  sim.submit('urgent', { cpu: 2, priority: 10 });
  expect((await sim.pass()).evictions).toEqual([]);
});

test('evicts nothing for a queue that does not preempt, for a start that is near, or if it would not suffice', async () => {
  const sim = await full();
  sim.queue('default', { ...PREEMPTS, preempts: false });
  sim.submit('urgent', { cpu: 2, priority: 10 });
  expect((await sim.pass()).evictions).toEqual([]);
  sim.queue('default', PREEMPTS);
  sim.now = 1000 + 5000 - 40;
  await sim.finish('urgent');
  sim.submit('soon', { cpu: 2, priority: 10 });
  expect((await sim.pass()).evictions).toEqual([]);
  sim.submit('impossible', { cpu: 2, pods: 5, priority: 20 });
  expect((await sim.pass()).evictions).toEqual([]);
});

test('evicts nothing for a workload that was preempted itself, and counts priorities within the range of the queue', async () => {
  const sim = await full();
  sim.submit('again', { cpu: 2, priority: 10 });
  sim.change('again', { preemptions: 1 });
  expect((await sim.pass()).evictions).toEqual([]);
  await sim.finish('again');
  sim.queue('default', { ...PREEMPTS, priority: { min: 0, max: 0 } });
  sim.submit('loud', { cpu: 2, priority: 10 });
  expect((await sim.pass({ freed: true })).evictions).toEqual([]);
});

test('evicts the workload of the lowest priority, however long it runs', async () => {
  const sim = await Simulation.of(nodesOf(2, 2));
  sim.queue('default', PREEMPTS);
  sim.submit('zero', { cpu: 2, walltime: 5000, preemptible: true });
  sim.now += 1;
  await sim.pass();
  sim.now += 1;
  sim.submit('nine', { cpu: 2, walltime: 5000, preemptible: true, priority: 9 });
  await sim.pass();
  sim.submit('ten', { cpu: 2, priority: 10 });
  expect((await sim.pass()).evictions.map(({ uid }) => uid)).toEqual(['zero']);
});

test('evicts many workloads of a low priority before one of a higher priority', async () => {
  const sim = await Simulation.of(nodesOf(2, 4));
  sim.queue('default', PREEMPTS);
  sim.submit('five', { cpu: 4, walltime: 5000, preemptible: true, priority: 5 });
  await sim.pass();
  for (let i = 0; i < 4; i++) {
    sim.submit(`zero${i}`, { cpu: 1, walltime: 5000, preemptible: true });
    await sim.pass();
  }
  sim.submit('ten', { cpu: 4, priority: 10 });
  const { evictions } = await sim.pass();
  expect(evictions.map(({ uid }) => uid).sort()).toEqual(['zero0', 'zero1', 'zero2', 'zero3']);
});

test('preempts nothing that has run for less than the minimum of its queue, and looks again when it has', async () => {
  const sim = await Simulation.of(nodesOf(1, 2));
  sim.queue('urgent', { preempts: true });
  sim.queue('default', { preemption: { minRuntimeSeconds: 60, limit: 1 } });
  sim.submit('low', { cpu: 2, walltime: 5000, preemptible: true });
  await sim.pass();
  const started = sim.now;
  sim.now += 20;
  sim.submit('high', { cpu: 2, priority: 1, queue: 'urgent', walltime: 30 });
  expect(await sim.pass()).toMatchObject({ evictions: [], nextAt: started + 60 });
  sim.now = started + 59;
  expect((await sim.pass()).evictions).toEqual([]);
  sim.now += 1;
  expect((await sim.pass()).evictions).toMatchObject([{ uid: 'low' }]);
  await sim.requeue('low');
  await sim.pass();
  expect(sim.startOf('high')).toBe(sim.now);
});

test('preempts one workload at most as often as its queue allows, and then waits for its end', async () => {
  const sim = await Simulation.of(nodesOf(1, 2));
  sim.queue('default', { preempts: true, preemption: { minRuntimeSeconds: 0, limit: 3 } });
  sim.submit('low', { cpu: 2, walltime: 800, preemptible: true });
  await sim.pass();
  const arrivals = Array.from({ length: 20 }, (_, i) => {
    const at = sim.now + 100 * (i + 1);
    return { at, submit: () => void sim.submit(`high${i}`, { cpu: 2, walltime: 40, priority: 10 }) };
  });
  await sim.run(arrivals, async () => {
    for (const { uid, evictionReason } of sim.rows.values())
      if (evictionReason !== null) await sim.requeue(uid);
  });
  expect(sim.row('low')).toMatchObject({ phase: 'Finished', preemptions: 3 });
  expect(sim.doubleGrants()).toEqual([]);
});

test('evicts nothing for a workload that could not start then, because of what its rules say of nodes', async () => {
  const sim = await Simulation.of(zones({ a: 2 }, 2));
  sim.queue('default', PREEMPTS);
  sim.submit('kept', { cpu: 2, walltime: 5000 });
  sim.submit('low', { cpu: 2, walltime: 5000, preemptible: true });
  await sim.pass();
  // By counting, two of its pods fit the two cores of one node.
  sim.submit('picky', { cpu: 1, pods: 2, priority: 10, pod: apart(), labels });
  expect((await sim.pass()).evictions).toEqual([]);
  expect(sim.row('picky').reason).toBe('Reserved');
  sim.submit('plain', { cpu: 1, pods: 2, priority: 9 });
  await sim.finish('picky');
  expect((await sim.pass()).evictions).toMatchObject([{ uid: 'low' }]);
});

test('evicts nothing for a workload whose whole nodes would exceed its quota', async () => {
  const sim = await full();
  sim.queue('small', { ...PREEMPTS, quota: { cores: 1 } });
  sim.submit('whole', { cpu: 1, exclusive: true, priority: 10, queue: 'small' });
  expect((await sim.pass()).evictions).toEqual([]);
  sim.queue('small', { ...PREEMPTS, quota: { cores: 2 } });
  expect((await sim.pass({ freed: true })).evictions).toMatchObject([{ uid: 'low3' }]);
});

describe('inside a full quota', () => {
  async function team(over: Partial<QueueSettings> = {}): Promise<Simulation> {
    const sim = await Simulation.of(nodesOf(8, 4));
    sim.queue('team', { ...PREEMPTS, quota: { cores: 4 }, ...over });
    for (const uid of ['low0', 'low1'])
      sim.submit(uid, {
        queue: 'team',
        cpu: 2,
        walltime: 600_000,
        priority: -10,
        preemptible: true,
        leaves: 5,
      });
    await sim.pass();
    return sim;
  }

  test('preempts lower priorities of its queue, although half of the cluster is idle', async () => {
    const sim = await team();
    sim.submit('urgent', { queue: 'team', cpu: 2, priority: 100 });
    await sim.run();
    expect(sim.evicted).toHaveLength(1);
    expect(sim.startOf('urgent')).toBe(1000 + 5);
  });

  test('preempts where the limit of running workloads is what is full', async () => {
    const sim = await team({ quota: {}, limits: { queue: { running: 2 }, user: {} } });
    sim.submit('urgent', { queue: 'team', cpu: 2, priority: 100 });
    await sim.run();
    expect([sim.evicted.length, sim.startOf('urgent')]).toEqual([1, 1005]);
  });

  test('spares other queues, whose quota it cannot use, and workloads that may not be preempted', async () => {
    const sim = await team();
    for (const uid of ['low0', 'low1']) sim.change(uid, { preemptible: false });
    sim.submit('other', { cpu: 2, walltime: 5000, priority: -10, preemptible: true });
    await sim.pass();
    sim.submit('urgent', { queue: 'team', cpu: 2, priority: 100 });
    expect((await sim.pass()).evictions).toEqual([]);
  });

  test.each([
    ['has been preempted itself', { preemptions: 1 }],
    ['is at its requeue limit', { requeues: 6 }],
  ])('preempts nobody for an equal workload that came before and %s', async (_, over) => {
    const sim = await team({ quota: { cores: 6 } });
    sim.submit('ends', { queue: 'team', cpu: 2, walltime: 300 });
    await sim.pass();
    const equal = { queue: 'team', cpu: 2, walltime: 600, priority: 100 };
    sim.submit('first', equal);
    sim.change('first', over);
    await sim.pass();
    sim.now += 1;
    sim.submit('second', equal);
    expect((await sim.pass()).evictions).toMatchObject([
      { uid: 'low1', message: expect.stringContaining('science/second') },
    ]);
    expect(sim.row('first').estimatedStart).toBe(1_300);
  });

  test('looks again when those that run too short may be preempted', async () => {
    const sim = await team({ preemption: { minRuntimeSeconds: 60, limit: 1 } });
    sim.submit('urgent', { queue: 'team', cpu: 2, priority: 100 });
    expect(await sim.pass()).toMatchObject({ evictions: [], nextAt: 1060 });
    sim.now = 1060;
    expect((await sim.pass()).evictions).toHaveLength(1);
  });
});

test('evicts two small workloads of minutes before a large one of days', async () => {
  const sim = await Simulation.of(nodesOf(2, 64));
  sim.queue('default', PREEMPTS);
  sim.submit('large', { cpu: 64, walltime: 10 * 86_400, preemptible: true });
  await sim.pass();
  sim.now += 6 * 86_400;
  for (const uid of ['small0', 'small1', 'other'])
    sim.submit(uid, { cpu: 1, walltime: 86_400, preemptible: uid !== 'other' });
  await sim.pass();
  sim.now += 360;
  sim.submit('urgent', { cpu: 63, priority: 1 });
  const { evictions } = await sim.pass();
  expect(evictions.map(({ uid }) => uid).sort()).toEqual(['small0', 'small1']);
});
