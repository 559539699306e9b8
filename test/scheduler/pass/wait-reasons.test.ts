import { granted, nodesOf, Simulation } from './simulation';

test('a start behind pods outside the queue is no estimate', async () => {
  const sim = await Simulation.of(nodesOf(1, 1));
  sim.submit('unmanaged', { walltime: 10 * 365 * 24 * 3600 });
  await sim.pass();
  sim.submit('waits');
  await sim.pass();
  expect(sim.row('waits')).toMatchObject({ reason: 'Busy', estimatedStart: null });
});

describe('a pass writes', () => {
  test('only reasons that changed', async () => {
    const sim = await Simulation.of(nodesOf(1, 1));
    sim.submit('running');
    sim.submit('reserved');
    sim.submit('busy');
    sim.submit('impossible', { pods: 2 });
    sim.submit('held', { held: true });
    expect((await sim.pass()).waits).toHaveLength(4);
    sim.now += 1;
    expect((await sim.pass()).waits).toEqual([]);
  });

  test('ten thousand reasons at the cost of a few match requests if there are few shapes', async () => {
    const sim = await Simulation.of(nodesOf(4, 4));
    sim.submit('running', { pods: 16 });
    await sim.pass();
    for (let i = 0; i < 10_000; i++) {
      sim.submit(`w-${i}`, { cpu: 1 + (i % 4), walltime: 100 + (i % 3) });
    }
    const first = await sim.pass();
    expect(first.waits).toHaveLength(10_000);
    expect(first.matches).toBeLessThanOrEqual(2);
    const second = await sim.pass();
    expect(second.waits).toEqual([]);
    expect(second.matches).toBeLessThanOrEqual(2);
  });
});

describe('Unsatisfiable', () => {
  test('is matched again only when the graph grew', async () => {
    const sim = await Simulation.of(nodesOf(1, 2));
    sim.submit('wide', { pods: 2, cpu: 2 });
    await sim.pass();
    expect(sim.row('wide').reason).toBe('Unsatisfiable');
    const node = { name: 'n1', units: { core: 2 } };
    await sim.fluxion.addNodes([node]);
    const nodes = [...sim.nodes, node];
    expect(await sim.pass({ nodes, graphGrew: false })).toMatchObject({ grants: [], matches: 0 });
    expect(granted(await sim.pass({ nodes, graphGrew: true }))).toEqual(['wide']);
  });

  test('is the reason if no node has a requested resource', async () => {
    const sim = await Simulation.of(nodesOf(1, 2));
    const requests = { 'example.com/fpga': '1' };
    sim.submit('fpga', { pod: { containers: [{ resources: { requests } }] } });
    await sim.pass();
    expect(sim.row('fpga')).toMatchObject({
      reason: 'Unsatisfiable',
      message: 'asks for 1 example.com/fpga, no node of the cluster has any',
    });
  });

  test('covers larger requests without a match', async () => {
    const sim = await Simulation.of(nodesOf(1, 2));
    sim.submit('a', { pods: 2, cpu: 2 });
    sim.submit('b', { pods: 3, cpu: 2, walltime: 5 });
    expect((await sim.pass()).matches).toBe(1);
    expect(sim.row('b')).toMatchObject({
      reason: 'Unsatisfiable',
      message: 'asks for 3 nodes with 2 cores, the cluster has 1',
    });
  });
});
