/** Arrays that never fit the cluster whole start with what fits; gangs say that they can never start. */
import { askOf } from '../../../runtime/jobspec/jobspec';
import { podsPerNode } from '../../../runtime/jobspec/pods-per-node';
import { DEFAULT_UNITS } from '../../../runtime/jobspec/units';
import type { WorkloadRow } from '../../../runtime/queue/workload';
import type { GraphNode, UnitCounts } from '../../../runtime/resources/types';
import { clusterOf } from '../../../runtime/scheduler/pass/cluster';
import { LeastUsages } from '../../../runtime/scheduler/pass/least-usages';
import { RulePlanner } from '../../../runtime/scheduler/pass/rule-planner';
import { DIMENSIONS, heldBy } from '../../../runtime/scheduler/pass/usage';
import type { JobOptions } from './job-options';
import { apart, labels, zones } from './rules';
import { nodesOf, Simulation } from './simulation';

const down = (node: GraphNode): GraphNode => ({ ...node, up: false });

function heldPods({ allocation, jobspec }: WorkloadRow): number {
  return podsPerNode(allocation!, askOf(jobspec)).reduce((sum, { pods }) => sum + pods, 0);
}

/** The number of pods that the workload gets at once, or the reason why it waits. */
async function widthOf(
  nodes: readonly GraphNode[],
  job: JobOptions,
  prepare: (sim: Simulation) => void = () => undefined,
): Promise<number | string> {
  const sim = await Simulation.of(nodes);
  prepare(sim);
  sim.submit('job', job);
  await sim.pass();
  const row = sim.row('job');
  return row.allocation === null ? `${row.reason}` : heldPods(row);
}

describe('more pods than the empty cluster holds', () => {
  const wide = { pods: 20, cpu: 2 };
  const alone = { pods: 20, pod: apart(), labels };
  const fourteen = zones({ a: 14 });

  test.each<[string, readonly GraphNode[], JobOptions, number | string]>([
    ['an array starts with as many as fit', nodesOf(3, 4), { ...wide, array: true }, 6],
    ['a gang can never start', nodesOf(3, 4), wide, 'Unsatisfiable'],
    [
      'an array with a pod per node starts with as many as there are nodes',
      fourteen,
      { ...alone, array: true },
      14,
    ],
    ['a gang with a pod per node can never start', fourteen, alone, 'Unsatisfiable'],
    [
      'an array of whole nodes starts with all of them',
      nodesOf(3, 4),
      { pods: 5, exclusive: true, array: true },
      3,
    ],
    [
      'an array of which no pod fits can never start',
      nodesOf(3, 4),
      { pods: 5, cpu: 8, array: true },
      'Unsatisfiable',
    ],
    ['an array with a thousand pods too many starts', nodesOf(3, 4), { pods: 1_012, array: true }, 12],
    [
      'an array of which more pods would wait than that can never start',
      nodesOf(3, 4),
      { pods: 1_013, array: true },
      'Unsatisfiable',
    ],
    ['an array that fits waits for all of its pods', nodesOf(3, 4), { pods: 12, array: true }, 12],
  ])('%s', async (_, nodes, job, expected) => {
    expect(await widthOf(nodes, job)).toBe(expected);
  });

  test('an array waits for nodes that are down', async () => {
    const nodes = [...nodesOf(2, 4), down({ name: 'n2', units: { core: 4 } })];
    expect(await widthOf(nodes, { pods: 12, array: true })).toBe('Busy');
  });

  test('a node takes no more pods of an array than its kubelet does', async () => {
    const limit = (sim: Simulation) => {
      for (const { name } of nodesOf(2, 8)) sim.amounts.set(name, { pods: 5 });
    };
    expect(await widthOf(nodesOf(2, 8), { pods: 14, array: true }, limit)).toBe(10);
  });
});

test('an array that waited for room starts wider once the cluster has grown', async () => {
  const sim = await Simulation.of(nodesOf(3, 4));
  sim.submit('before', { pods: 12, walltime: 50 });
  await sim.pass();
  sim.submit('array', { pods: 20, array: true });
  await sim.pass();
  expect(sim.row('array')).toMatchObject({ reason: 'Reserved' });
  await sim.finish('before');
  const nodes = nodesOf(4, 4);
  await sim.fluxion.init({ nodes, policy: 'lonode', now: sim.now });
  sim.reservations = [];
  await sim.pass({ nodes });
  const { allocation, jobspec } = sim.row('array');
  expect(podsPerNode(allocation!, askOf(jobspec)).map(({ pods }) => pods)).toEqual([4, 4, 4, 4]);
});

test('a quota is charged the pods that an array has at once, not those that it asked for', async () => {
  const sim = await Simulation.of(nodesOf(3, 4));
  sim.queue('default', { quota: { pods: 16 } });
  sim.submit('array', { pods: 20, array: true });
  await sim.pass();
  const row = sim.row('array');
  expect(row.phase).toBe('Running');
  expect(heldBy(row, row.allocation!, DEFAULT_UNITS)[DIMENSIONS.indexOf('pods')]).toBe(12);
});

test('what is known of all pods of an array is not taken for what is known of a part', async () => {
  const nodes = nodesOf(3, 4);
  const sim = await Simulation.of(nodes);
  const whole = sim.submit('array', { pods: 5, exclusive: true, array: true });
  const { line } = await sim.pass();
  const least = new LeastUsages(clusterOf(nodes), DEFAULT_UNITS);
  expect(least.of(whole).fewestNodes()).toBe(0);
  expect(least.of(line[0]!).fewestNodes()).toBe(3);
});

describe('how wide an array may be', () => {
  const planned = (sim: Simulation) => {
    const plan = jest.spyOn(RulePlanner.prototype, 'fittingEmpty');
    for (const { name } of sim.nodes) sim.amounts.set(name, { pods: 5 });
    return plan;
  };
  afterEach(() => jest.restoreAllMocks());

  test('is counted, not planned, for pods without placement rules', async () => {
    const sim = await Simulation.of(nodesOf(2, 8));
    const plan = planned(sim);
    sim.submit('fits', { pods: 10, array: true });
    sim.submit('wide', { pods: 14, array: true, walltime: 50 });
    const { line } = await sim.pass();
    expect(line.map(({ pods }) => pods)).toEqual([10, 10]);
    expect(plan).not.toHaveBeenCalled();
  });

  test('is planned by placement rules one row after the other, and not after an interruption', async () => {
    const sim = await Simulation.of(zones({ a: 3 }));
    const plan = planned(sim);
    const rules = { pod: apart(), labels, array: true };
    for (const pods of [20, 21, 22]) sim.submit(`wide-${pods}`, { ...rules, pods });
    let rests = 0;
    const rest = async () => {
      rests += 1;
    };
    const { line, more, grants } = await sim.pass({ rest, interrupted: () => plan.mock.calls.length > 1 });
    expect(line.map(({ pods }) => pods)).toEqual([3, 3, 22]);
    expect({ rests, more, grants }).toEqual({ rests: 2, more: true, grants: [] });
    expect((await sim.pass()).line.map(({ pods }) => pods)).toEqual([3, 3, 3]);
  });
});

test('an array of which no pod fitted starts once a node has joined that holds a part of it', async () => {
  const sim = await Simulation.of(nodesOf(3, 4));
  sim.submit('array', { pods: 5, cpu: 8, array: true });
  await sim.pass();
  expect(sim.row('array').reason).toBe('Unsatisfiable');
  const nodes = [...sim.nodes, { name: 'large', units: { core: 16 } }];
  await sim.fluxion.init({ nodes, policy: 'lonode', now: sim.now });
  await sim.pass({ nodes });
  expect(sim.row('array').allocation?.nodes).toMatchObject([{ name: 'large', units: { core: '0-15' } }]);
});

test('an array avoids a node on which its pods did not run, and starts with what fits elsewhere', async () => {
  const sim = await Simulation.of(nodesOf(3, 4));
  sim.submit('array', { pods: 20, array: true });
  sim.change('array', { avoid: { n1: sim.now + 60 } });
  await sim.pass();
  expect(
    sim
      .row('array')
      .allocation?.nodes.map(({ name }) => name)
      .sort(),
  ).toEqual(['n0', 'n2']);
});

describe('beside a pod that nobody ends', () => {
  const beside = async (job: JobOptions, nodes = nodesOf(3, 4)) => {
    const sim = await Simulation.of(nodes);
    const dns = { unmanaged: new Map([['n1', { core: 1 }]]) };
    await sim.occupy('n1', '0');
    sim.submit('array', { array: true, ...job });
    const { line } = await sim.pass(dns);
    return { width: line[0]?.pods, row: sim.row('array') };
  };

  test.each<[string, JobOptions, number]>([
    ['wider than the cluster', { pods: 20 }, 11],
    ['that fits beside it', { pods: 11 }, 11],
    ['of more whole nodes than there are', { pods: 4, exclusive: true }, 2],
  ])('an array %s starts with what fits', async (_, job, expected) => {
    const { row, width } = await beside(job);
    expect([row.phase, width]).toEqual(['Running', expected]);
    expect(heldPods(row)).toBe(expected);
  });

  test.each<[string, JobOptions]>([
    ['a gang', { pods: 12, array: false }],
    ['an array that fits the empty cluster', { pods: 12 }],
  ])('%s waits for its end', async (_, job) => {
    const { row } = await beside(job);
    expect([row.phase, row.message]).toEqual(['Waiting', expect.stringContaining('pods outside the queue')]);
  });

  test('an array of which more than a thousand pods would wait gated does not become narrower', async () => {
    const { row, width } = await beside({ pods: 1_012 });
    expect([row.phase, width]).toEqual(['Waiting', 12]);
  });

  test('an array of which no pod fits waits for its end', async () => {
    const { row } = await beside({ pods: 2, exclusive: true }, nodesOf(3, 4).slice(1, 2));
    expect(row.phase).toBe('Waiting');
  });

  test('an array that waits for nodes that are down does not become narrower', async () => {
    const [first, ...others] = nodesOf(3, 4);
    const { row, width } = await beside({ pods: 12 }, [down(first!), ...others]);
    expect([row.phase, width]).toEqual(['Waiting', 12]);
  });

  test('an array that waits is as wide as the cluster again once the pod has ended', async () => {
    const sim = await Simulation.of(nodesOf(3, 4));
    sim.submit('before', { pods: 11, walltime: 50 });
    await sim.pass();
    sim.submit('array', { pods: 20, array: true });
    const widthWith = async (unmanaged: ReadonlyMap<string, UnitCounts>) =>
      (await sim.pass({ unmanaged })).line[0]?.pods;
    expect(await widthWith(new Map([['n1', { core: 1 }]]))).toBe(11);
    expect(await widthWith(new Map())).toBe(12);
  });
});
