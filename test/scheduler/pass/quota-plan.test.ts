/** Quotas and limits are planned like nodes: a reservation has room in both, and what is promised is kept. */
import type { QueueSettings, Quota } from '../../../runtime/queue/settings';
import { granted, nodesOf, reserved, Simulation } from './simulation';

const settings: readonly [string, Partial<QueueSettings>][] = [
  ['limits.running', { limits: { queue: { running: 2 }, user: {} } }],
  ['limits.perUser.running', { limits: { queue: {}, user: { running: 2 } } }],
  ['quota.nodes', { quota: { nodes: 5 } }],
  ['quota.jobs', { quota: { jobs: 2 } }],
  ['quota.pods', { quota: { pods: 5 } }],
  ['quota.cores', { quota: { cores: 20 } }],
];

describe.each(settings)('%s', (_, over) => {
  test('a stream of small workloads never moves the estimate of a wide one later, which starts by then', async () => {
    const sim = await Simulation.of(nodesOf(6, 4));
    sim.queue('default', over);
    sim.submit('other', { queue: 'other', cpu: 4, pods: 3, walltime: 150 });
    const small = { cpu: 4, walltime: 100, runs: 70 };
    const arrivals = Array.from({ length: 60 }, (_, i) => ({
      at: sim.now + 20 * i,
      submit: () => void sim.submit(`small${i}`, small),
    }));
    const wide = { cpu: 4, pods: 4, walltime: 100 };
    await sim.run([...arrivals, { at: sim.now + 30, submit: () => void sim.submit('wide', wide) }]);
    const estimates = sim.estimates.get('wide')!;
    expect(estimates).toEqual(estimates.toSorted((a, b) => b - a));
    expect(sim.startOf('wide')).toBe(1_150);
  });
});

test('a workload that a limit delays is promised no start before the limit has room', async () => {
  const sim = await Simulation.of(nodesOf(4, 4));
  sim.queue('default', { limits: { queue: { running: 1 }, user: {} } });
  sim.submit('long', { walltime: 500 });
  sim.submit('first');
  await sim.pass();
  expect(sim.row('first')).toMatchObject({
    reason: 'QuotaExceeded',
    message: 'at most 1 workload of its queue runs at a time',
    estimatedStart: 1_500,
  });
});

test('nodes that become free later than the quota decide the start, and the other way round', async () => {
  const sim = await Simulation.of(nodesOf(2, 4), { policy: 'conservative' });
  sim.queue('other', { policy: 'conservative' });
  sim.queue('default', { policy: 'conservative', quota: { cores: 4 } });
  sim.submit('nodes', { queue: 'other', cpu: 4, walltime: 300 });
  sim.submit('quota', { cpu: 4, walltime: 200 });
  sim.submit('more', { queue: 'other', cpu: 2, pods: 2, walltime: 10 });
  await sim.pass();
  sim.submit('late', { cpu: 4, walltime: 50 });
  sim.submit('later', { cpu: 2, walltime: 50 });
  await sim.pass();
  expect(['late', 'later'].map((uid) => sim.row(uid).estimatedStart)).toEqual([1_210, 1_260]);
});

describe('whole nodes', () => {
  test('that come to more than the quota are refused for good, and block nobody', async () => {
    const sim = await Simulation.of(nodesOf(4, 16));
    sim.queue('default', { quota: { cores: 8 } });
    sim.submit('whole', { exclusive: true });
    sim.submit('small', { cpu: 8 });
    await sim.pass();
    expect(sim.row('whole')).toMatchObject({
      reason: 'QuotaExceeded',
      message:
        "can never start: asks for 1 whole node, which holds at least 16 cores, more than its queue's quota of 8 cores",
    });
    expect(sim.row('small').phase).toBe('Running');
  });

  test('are the smallest if the others come to more than the quota', async () => {
    const small = { name: 'small', units: { core: 4 } };
    const sim = await Simulation.of([...nodesOf(2, 16), small]);
    sim.queue('default', { quota: { cores: 8 } });
    sim.submit('whole', { exclusive: true });
    sim.submit('next', { exclusive: true });
    await sim.pass();
    expect(sim.started.map(({ allocation }) => allocation.nodes[0]!.name)).toEqual(['small']);
    expect(sim.row('next').estimatedStart).toBe(1_100);
  });

  test.each(['easy', 'fcfs', 'conservative'] as const)(
    '%s: five of four are unsatisfiable, and block nobody',
    async (policy) => {
      const sim = await Simulation.of(nodesOf(4, 4), { policy });
      sim.submit('five', { exclusive: true, pods: 5 });
      sim.submit('small');
      await sim.pass();
      expect(sim.row('five').reason).toBe('Unsatisfiable');
      expect(sim.row('small').phase).toBe('Running');
    },
  );
});

describe('quota of nodes', () => {
  test('a workload shares the nodes that its queue holds already', async () => {
    const sim = await Simulation.of(nodesOf(4, 4));
    sim.queue('default', { quota: { nodes: 1 } });
    sim.submit('other', { queue: 'other', cpu: 2 });
    sim.submit('filler', { queue: 'other', cpu: 1 });
    sim.submit('a', { cpu: 2 });
    await sim.pass();
    await sim.finish('filler');
    sim.submit('b', { cpu: 1, pods: 2 });
    await sim.pass();
    const nodes = sim
      .running()
      .filter(({ uid }) => uid === 'a' || uid === 'b')
      .flatMap(({ allocation }) => allocation.nodes.map(({ name }) => name));
    expect(new Set(nodes)).toEqual(new Set(['n1']));
  });

  test('a workload that needs more nodes than the quota allows never starts', async () => {
    const sim = await Simulation.of(nodesOf(4, 4));
    sim.queue('default', { quota: { nodes: 2 } });
    sim.submit('wide', { cpu: 3, pods: 3 });
    await sim.pass();
    expect(sim.row('wide').message).toBe(
      "can never start: needs at least 3 nodes, more than its queue's quota of 2 nodes",
    );
  });
});

test('what exceeds quota and borrowing is said in the numbers of the FluxSetup', async () => {
  const sim = await Simulation.of(nodesOf(10, 4));
  sim.queue('a', { cohort: 'lab', quota: { cores: 8 }, borrowing: { cores: 4 } });
  sim.queue('b', { cohort: 'lab', quota: { cores: 20 } });
  sim.submit('large', { queue: 'a', pods: 16 });
  await sim.pass();
  expect(sim.row('large').message).toBe(
    "can never start: asks for 16 cores, more than its queue's quota of 8 cores and 4 cores of borrowing",
  );
});

describe('fcfs', () => {
  test('the head is not passed by a stream of another queue', async () => {
    const sim = await Simulation.of(nodesOf(2, 4));
    sim.queue('strict', { policy: 'fcfs' });
    const small = { queue: 'other', cpu: 4, walltime: 100 };
    const arrivals = Array.from({ length: 60 }, (_, i) => ({
      at: sim.now + 50 * i,
      submit: () => void sim.submit(`small${i}`, small),
    }));
    const head = { queue: 'strict', cpu: 4, pods: 2 };
    await sim.run([...arrivals, { at: sim.now + 60, submit: () => void sim.submit('head', head) }]);
    expect(sim.startOf('head')).toBe(1_150);
  });

  test('an earlier workload that is released becomes the head', async () => {
    const sim = await Simulation.of(nodesOf(1, 4), { policy: 'fcfs' });
    sim.submit('running', { cpu: 4 });
    await sim.pass();
    sim.submit('older', { cpu: 4, held: true });
    sim.submit('younger', { cpu: 4 });
    expect(reserved(await sim.pass())).toEqual(['younger']);
    sim.change('older', { held: false, reason: 'Submitted' });
    expect(reserved(await sim.pass())).toEqual(['older']);
  });

  test('a user who is at a limit does not keep the others from starting', async () => {
    const sim = await Simulation.of(nodesOf(4, 4), { policy: 'fcfs' });
    sim.queue('default', { policy: 'fcfs', limits: { queue: {}, user: { running: 1 } } });
    for (const uid of ['a1', 'a2']) sim.submit(uid, { user: 'ada' });
    sim.submit('b1', { user: 'bob' });
    await sim.pass();
    sim.now += 1;
    await sim.pass();
    expect(sim.running().map(({ uid }) => uid)).toEqual(['a1', 'b1']);
    expect(sim.row('a2').estimatedStart).toBe(1_100);
  });

  test('a promise that is due is kept beside an earlier workload that no longer waits for the limit of its user', async () => {
    const sim = await Simulation.of(nodesOf(4, 4), { policy: 'fcfs' });
    sim.queue('default', { policy: 'fcfs', limits: { queue: {}, user: { running: 1 } } });
    const whole = { exclusive: true, walltime: 1 };
    sim.submit('first', whole);
    sim.submit('second', whole);
    sim.submit('other-queue', { ...whole, walltime: 2, queue: 'b' });
    sim.submit('limited', { ...whole, pods: 2 });
    sim.submit('promised', { ...whole, pods: 3, user: 'bob' });
    await sim.run();
    expect(sim.estimates.get('promised')).toEqual([1_002, 1_002]);
    expect(sim.startOf('limited')).toBe(1_003);
  });

  describe('one workload of each user at a time', () => {
    async function limitedTo(quota: Quota): Promise<Simulation> {
      const sim = await Simulation.of(nodesOf(4, 4));
      sim.queue('default', { policy: 'fcfs', quota, limits: { queue: {}, user: { running: 1 } } });
      return sim;
    }

    const node = { exclusive: true, walltime: 1 };

    test('nothing is promised behind an own workload that waits without a reservation', async () => {
      const sim = await limitedTo({ pods: 3 });
      for (const [i, pods] of [1, 2, 1].entries()) sim.submit(`j${i}`, { ...node, pods });
      sim.submit('last', { ...node, pods: 2, walltime: 2 });
      await sim.pass();
      expect(reserved(await sim.pass())).toEqual(['j1']);
      expect(sim.row('last').message).toBe('at most 1 workload of its user runs at a time');
      await sim.run();
      expect(sim.estimates.get('last')).toEqual([1_003, 1_003]);
    });

    test('a promise to another user is kept from an earlier workload that waits for its limit', async () => {
      const sim = await limitedTo({ pods: 4 });
      for (const uid of ['j0', 'j1', 'j2']) sim.submit(uid, { ...node, user: 'ada' });
      sim.submit('promised', { ...node, pods: 4, user: 'bob' });
      await sim.run();
      expect(sim.estimates.get('promised')).toEqual([1_002, 1_002]);
      expect(sim.startOf('j2')).toBe(1_003);
    });

    test('a promise to another user is kept from an earlier workload that finds no nodes when its user is below the limit', async () => {
      const sim = await limitedTo({});
      const long = { exclusive: true, walltime: 100 };
      sim.submit('a0', { ...long, user: 'ada', runs: 5 });
      sim.submit('z0', { ...long, user: 'zed' });
      sim.submit('others', { ...long, pods: 2, walltime: 200, queue: 'other' });
      sim.submit('a1', { ...long, user: 'ada', pods: 3, held: true });
      sim.submit('z1', { ...long, user: 'zed' });
      const release = () => sim.change('a1', { held: false, reason: 'Submitted' });
      const promise = () => void sim.submit('promised', { ...long, user: 'bob', pods: 2 });
      await sim.run([
        { at: 1_001, submit: release },
        { at: 1_002, submit: promise },
      ]);
      expect(new Set(sim.estimates.get('promised'))).toEqual(new Set([1_200]));
    });

    test('two promises stay when the limit of a user is no longer in the way of the first', async () => {
      const sim = await limitedTo({});
      sim.queue('other', { policy: 'fcfs' });
      const all = { cpu: 4, pods: 4, queue: 'other' };
      sim.submit('all', { ...all, walltime: 1 });
      for (const uid of ['j1', 'j2']) sim.submit(uid, { ...node, user: 'ada' });
      sim.submit('next', { ...all, cpu: 3, walltime: 2 });
      sim.submit('promised', { ...node, user: 'bob', walltime: 2 });
      const wide = { ...all, pods: 3, walltime: 1 };
      await sim.run([{ at: 1_003, submit: () => void sim.submit('wide', wide) }]);
      expect(sim.estimates.get('promised')).toEqual([1_004, 1_004]);
    });
  });
});

test('a promise that an overrun breaks is planned again before equal workloads that came later', async () => {
  const sim = await Simulation.of(nodesOf(4, 4));
  const lab = { cohort: 'lab', borrowing: {} };
  sim.queue('small', { ...lab, quota: { nodes: 1 } });
  sim.queue('default', { ...lab, policy: 'conservative' });
  sim.submit('late', { exclusive: true, walltime: 1, runs: 47, queue: 'small' });
  const job = { exclusive: true, walltime: 55, runs: 1 };
  sim.submit('first', job);
  await sim.run([{ at: sim.now + 1, submit: () => void sim.submit('second', job) }]);
  expect(sim.started.map(({ uid }) => uid)).toEqual(['late', 'first', 'second']);
});

test('who waits for the limit of a user takes no reservation from other users', async () => {
  const sim = await Simulation.of(nodesOf(4, 4));
  sim.queue('default', { limits: { queue: {}, user: { running: 1 } } });
  for (const uid of ['a1', 'a2', 'a3']) sim.submit(uid, { user: 'ada' });
  sim.submit('bob', { user: 'bob', cpu: 4, pods: 4 });
  await sim.pass();
  expect(sim.reservations.map(({ uid }) => uid)).toEqual(['a2', 'bob']);
});

test.each([
  ['quota', { quota: { cores: 4 } }, { quota: { cores: 6 } }],
  ['limit', { limits: { queue: { running: 1 }, user: {} } }, { limits: { queue: { running: 2 }, user: {} } }],
])('a workload starts as soon as its %s grows, though nothing has ended', async (_, before, after) => {
  const sim = await Simulation.of(nodesOf(4, 4));
  sim.queue('default', before);
  sim.submit('runs', { cpu: 4 });
  sim.submit('waits', { cpu: 2 });
  await sim.pass();
  expect(sim.row('waits').estimatedStart).toBe(1_100);
  sim.queue('default', after);
  expect(granted(await sim.pass())).toEqual(['waits']);
});

describe('priority', () => {
  test('a workload of higher priority takes quota that is reserved for a lower one', async () => {
    const sim = await Simulation.of(nodesOf(4, 4));
    sim.queue('default', { quota: { cores: 8 } });
    sim.submit('running', { cpu: 4 });
    await sim.pass();
    sim.submit('low', { cpu: 4, pods: 2, walltime: 50 });
    await sim.pass();
    expect(sim.row('low').estimatedStart).toBe(1_100);
    sim.submit('high', { cpu: 4, priority: 1, walltime: 300 });
    expect(granted(await sim.pass())).toEqual(['high']);
    expect(sim.row('low').estimatedStart).toBe(1_300);
  });
});

describe('a promise that no longer fits is given again when', () => {
  const long = { walltime: 3_000 };

  test.each<[string, Partial<QueueSettings>, Partial<QueueSettings>]>([
    ['the quota is lowered', { quota: { cores: 3 } }, { quota: { cores: 2 } }],
    [
      'fewer may run',
      { limits: { queue: { running: 3 }, user: {} } },
      { limits: { queue: { running: 2 }, user: {} } },
    ],
    [
      'less may be borrowed',
      { cohort: 'lab', quota: { cores: 1 }, borrowing: { cores: 2 } },
      { cohort: 'lab', quota: { cores: 1 }, borrowing: { cores: 1 } },
    ],
  ])('%s', async (_, before, after) => {
    const sim = await Simulation.of(nodesOf(6, 1));
    sim.queue('lender', { cohort: 'lab', quota: { cores: 4 } });
    sim.queue('default', before);
    for (const uid of ['long0', 'long1']) sim.submit(uid, long);
    sim.submit('short', { walltime: 500 });
    await sim.pass();
    sim.submit('waits');
    await sim.pass();
    expect(sim.row('waits').estimatedStart).toBe(1_500);
    sim.queue('default', after);
    sim.now += 1;
    await sim.pass();
    expect(sim.row('waits').estimatedStart).toBe(4_000);
    sim.now = 1_500;
    await sim.finish('short');
    expect(granted(await sim.pass({ freed: true }))).toEqual([]);
  });
});
