import { granted, nodesOf, reserved, Simulation } from './simulation';

describe('fcfs', () => {
  test('a workload that cannot start now blocks smaller ones behind it', async () => {
    const sim = await Simulation.of(nodesOf(2, 2), { policy: 'fcfs' });
    sim.submit('running', { cpu: 2 });
    await sim.pass();
    sim.submit('wide', { pods: 2, cpu: 2 });
    sim.submit('small', { cpu: 1, walltime: 1 });
    const result = await sim.pass();
    expect(granted(result)).toEqual([]);
    expect(sim.row('wide')).toMatchObject({
      reason: 'Reserved',
      message: 'nodes are reserved for it',
      estimatedStart: 1100,
    });
    expect(sim.row('small')).toMatchObject({
      reason: 'Busy',
      message: 'waits behind earlier workloads of its queue',
    });
  });

  test('what can never start is told so behind the head, too, by its quota and by the nodes', async () => {
    const sim = await Simulation.of(nodesOf(2, 2));
    sim.queue('default', { policy: 'fcfs', quota: { cores: 3 } });
    sim.submit('running', { cpu: 2 });
    await sim.pass();
    sim.submit('head', { cpu: 2 });
    sim.submit('large', { pods: 2, cpu: 2 });
    sim.submit('single', { cpu: 3 });
    sim.submit('small', { cpu: 1, walltime: 1 });
    await sim.pass();
    expect(sim.row('head').reason).toBe('QuotaExceeded');
    expect(sim.row('large')).toMatchObject({
      reason: 'QuotaExceeded',
      message: "can never start: asks for 4 cores, more than its queue's quota of 3 cores",
    });
    expect(sim.row('single')).toMatchObject({
      reason: 'Unsatisfiable',
      message: 'asks for 1 node with 3 cores, the cluster has none; the largest has 2 cores',
    });
    expect(sim.row('small')).toMatchObject({ reason: 'Busy' });
  });

  test('a workload that can never start blocks nothing', async () => {
    const sim = await Simulation.of(nodesOf(2, 2), { policy: 'fcfs' });
    sim.submit('impossible', { pods: 3, cpu: 2 });
    sim.submit('small');
    expect(granted(await sim.pass())).toEqual(['small']);
    expect(sim.row('impossible')).toMatchObject({
      reason: 'Unsatisfiable',
      message: 'asks for 3 nodes with 2 cores, the cluster has 2',
    });
  });
});

test('a workload that can never start says so at once, also behind a smaller one that is refused', async () => {
  const sim = await Simulation.of(nodesOf(1, 2));
  sim.submit('running', { cpu: 2, walltime: 100 });
  await sim.pass();
  sim.submit('next', { cpu: 2, walltime: 100 });
  sim.submit('small', { cpu: 1, walltime: 200 });
  sim.submit('impossible', { cpu: 9, walltime: 300 });
  await sim.pass();
  expect(sim.row('small')).toMatchObject({ reason: 'Busy' });
  expect(sim.row('impossible')).toMatchObject({
    reason: 'Unsatisfiable',
    message: 'asks for 1 node with 9 cores, the cluster has none; the largest has 2 cores',
  });
});

describe('easy', () => {
  /** Two nodes of two cores: `running` has one node until 1100, `wide` wants both. */
  async function blocked(): Promise<Simulation> {
    const sim = await Simulation.of(nodesOf(2, 2));
    sim.submit('running', { cpu: 2, walltime: 100 });
    await sim.pass();
    sim.submit('wide', { pods: 2, cpu: 2, walltime: 50 });
    return sim;
  }

  test('reserves the earliest start for the first blocked workload', async () => {
    const sim = await blocked();
    const result = await sim.pass();
    expect(reserved(result)).toEqual(['wide']);
    expect(sim.row('wide')).toMatchObject({ phase: 'Waiting', reason: 'Reserved', estimatedStart: 1100 });
  });

  test('backfills a workload that ends before the reservation starts, and none that would delay it', async () => {
    const sim = await blocked();
    sim.submit('too-long', { cpu: 2, walltime: 101 });
    sim.submit('fits', { cpu: 2, walltime: 100 });
    expect(granted(await sim.pass())).toEqual(['fits']);
    expect(sim.row('too-long')).toMatchObject({ reason: 'Busy', estimatedStart: null });
    expect(sim.row('wide').estimatedStart).toBe(1100);
  });

  test('starts a wide workload in time despite a stream of small ones', async () => {
    const sim = await blocked();
    const stream = Array.from({ length: 200 }, (_, i) => ({
      at: 1000 + i * 10,
      submit: () => void sim.submit(`small-${i}`, { cpu: 1, walltime: 60 }),
    }));
    await sim.run(stream);
    expect(sim.startOf('wide')).toBe(1100);
    expect(sim.doubleGrants()).toEqual([]);
    expect(sim.started).toHaveLength(202);
  });

  test('starts a reserved workload earlier when another ends early', async () => {
    const sim = await blocked();
    await sim.pass();
    sim.now = 1030;
    await sim.finish('running');
    expect(granted(await sim.pass())).toEqual(['wide']);
  });

  test('makes one reservation for all queues', async () => {
    const sim = await blocked();
    sim.submit('wide-2', { pods: 2, cpu: 2 });
    sim.submit('wide-other', { pods: 2, cpu: 2, queue: 'other' });
    const result = await sim.pass();
    expect(reserved(result)).toEqual(['wide']);
    expect(sim.row('wide-2')).toMatchObject({ reason: 'Busy', estimatedStart: null });
    expect(sim.row('wide-other')).toMatchObject({ reason: 'Busy', estimatedStart: null });
  });

  test('gives the reservation to a workload of higher priority', async () => {
    const sim = await blocked();
    await sim.pass();
    sim.submit('urgent', { pods: 2, cpu: 2, priority: 1 });
    const result = await sim.pass();
    expect(reserved(result)).toEqual(['urgent']);
    expect(sim.row('wide')).toMatchObject({ reason: 'Busy', estimatedStart: null });
  });
});

test.each(['fcfs', 'easy'] as const)(
  '%s: a workload that needs nodes which are down blocks nothing and says why it waits',
  async (policy) => {
    for (const exclusive of [true, false]) {
      const sim = await Simulation.of(nodesOf(3, 2), { policy });
      await sim.fluxion.setStatus(['n0'], false);
      sim.submit('all', { pods: 3, cpu: 2, exclusive });
      sim.submit('small', { cpu: 2 });
      const nodes = sim.nodes.map((node) => ({ ...node, up: node.name !== 'n0' }));
      const result = await sim.pass({ nodes });
      expect([granted(result), result.reservations]).toEqual([['small'], []]);
      expect(sim.row('all')).toMatchObject({
        reason: 'Busy',
        message: expect.stringContaining('down or cordoned'),
      });
      await sim.fluxion.setStatus(['n0'], true);
      await sim.finish('small');
      expect(granted(await sim.pass())).toEqual(['all']);
    }
  },
);

test('a gang gets units for all of its pods or for none', async () => {
  const sim = await Simulation.of(nodesOf(2, 2), { policy: 'fcfs' });
  sim.submit('gang', { pods: 5, cpu: 1 });
  sim.submit('fits', { pods: 4, cpu: 1 });
  const result = await sim.pass();
  expect(granted(result)).toEqual(['fits']);
  expect(result.grants[0]!.allocation.nodes).toEqual([
    { name: 'n0', units: { core: '0-1' } },
    { name: 'n1', units: { core: '0-1' } },
  ]);
});

test('a workload that runs past its end keeps its units until it has ended', async () => {
  const sim = await Simulation.of(nodesOf(1, 2));
  sim.submit('late', { cpu: 2, walltime: 100 });
  await sim.pass();
  sim.submit('next', { cpu: 2 });
  for (const now of [1100, 1105, 1300]) {
    sim.now = now;
    expect(granted(await sim.pass())).toEqual([]);
    expect(sim.row('next')).toMatchObject({ reason: 'Reserved', estimatedStart: null });
  }
  await sim.finish('late');
  expect(granted(await sim.pass())).toEqual(['next']);
});
