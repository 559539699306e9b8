import type { MatchResult } from '../../../runtime/fluxion/types';
import { runPass } from '../../../runtime/scheduler/pass/pass';
import type { Matcher } from '../../../runtime/scheduler/pass/types';
import { queueSettings } from './settings';
import { nodesOf, Simulation } from './simulation';

const granted = ({ grants }: { grants: readonly { uid: string }[] }) => grants.map(({ uid }) => uid);

const reserved = ({ reservations }: { reservations: readonly { uid: string }[] }) =>
  reservations.map(({ uid }) => uid);

describe('order', () => {
  test('priority, then submission, then arrival', async () => {
    const sim = await Simulation.of(nodesOf(4, 1));
    sim.submit('young', { submittedAt: 30 });
    sim.submit('old', { submittedAt: 10 });
    sim.submit('tie', { submittedAt: 10 });
    sim.submit('urgent', { submittedAt: 40, priority: 1 });
    expect(granted(await sim.pass())).toEqual(['urgent', 'old', 'tie', 'young']);
  });

  test('what is held, invalid or waits for something else is passed over and blocks nobody', async () => {
    for (const policy of ['fcfs', 'easy'] as const) {
      const sim = await Simulation.of(nodesOf(4, 1), { policy });
      sim.submit('held', { held: true });
      for (const reason of ['Invalid', 'RequeueLimit'] as const) {
        sim.submit(reason);
        sim.change(reason, { reason });
      }
      sim.submit('ready');
      const result = await sim.pass();
      expect(granted(result)).toEqual(['ready']);
      expect(result.waits).toEqual([expect.objectContaining({ uid: 'held', reason: 'Held' })]);
    }
  });
});

test('a start behind pods that have no known end is no estimate', async () => {
  const sim = await Simulation.of(nodesOf(1, 1));
  sim.submit('not-ours', { walltime: 10 * 365 * 24 * 3600 });
  await sim.pass();
  sim.submit('waits');
  await sim.pass();
  expect(sim.row('waits')).toMatchObject({ reason: 'Busy', estimatedStart: null });
});

describe('fcfs', () => {
  test('the head of the line blocks, though others would fit', async () => {
    const sim = await Simulation.of(nodesOf(2, 2), { policy: 'fcfs' });
    sim.submit('running', { cpu: 2 });
    await sim.pass();
    sim.submit('wide', { pods: 2, cpu: 2 });
    sim.submit('small', { cpu: 1, walltime: 1 });
    const result = await sim.pass();
    expect(granted(result)).toEqual([]);
    expect(sim.row('wide')).toMatchObject({
      reason: 'Busy',
      message: 'needs 2 pods with 2 cores each; not free now',
      estimatedStart: null,
    });
    expect(sim.row('small')).toMatchObject({
      reason: 'Busy',
      message: 'waits behind earlier workloads of its queue',
    });
  });

  test('what can never start does not block', async () => {
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

describe('easy', () => {
  /** Two nodes of two cores: `running` has one node until 1100, `wide` wants both. */
  async function blocked(): Promise<Simulation> {
    const sim = await Simulation.of(nodesOf(2, 2));
    sim.submit('running', { cpu: 2, walltime: 100 });
    await sim.pass();
    sim.submit('wide', { pods: 2, cpu: 2, walltime: 50 });
    return sim;
  }

  test('the first that is blocked gets a reservation at its earliest start', async () => {
    const sim = await blocked();
    const result = await sim.pass();
    expect(reserved(result)).toEqual(['wide']);
    expect(sim.row('wide')).toMatchObject({ phase: 'Waiting', reason: 'Reserved', estimatedStart: 1100 });
  });

  test('what ends before the reservation starts is backfilled, what would delay it is not', async () => {
    const sim = await blocked();
    sim.submit('too-long', { cpu: 2, walltime: 101 });
    sim.submit('fits', { cpu: 2, walltime: 100 });
    expect(granted(await sim.pass())).toEqual(['fits']);
    expect(sim.row('too-long')).toMatchObject({ reason: 'Busy', estimatedStart: null });
    expect(sim.row('wide').estimatedStart).toBe(1100);
  });

  test('a wide job is not overtaken for ever by a stream of small ones', async () => {
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

  test('an early end moves the reservation forward', async () => {
    const sim = await blocked();
    await sim.pass();
    sim.now = 1030;
    await sim.finish('running');
    expect(granted(await sim.pass())).toEqual(['wide']);
  });

  test('only one reservation a queue, but one in each', async () => {
    const sim = await blocked();
    sim.submit('wide-2', { pods: 2, cpu: 2 });
    sim.submit('wide-other', { pods: 2, cpu: 2, queue: 'other' });
    const result = await sim.pass();
    expect(reserved(result)).toEqual(['wide', 'wide-other']);
    expect(sim.row('wide-2')).toMatchObject({ reason: 'Busy', estimatedStart: null });
    expect(sim.row('wide-other').estimatedStart).toBe(1150);
  });

  test('a more urgent one takes the reservation over', async () => {
    const sim = await blocked();
    await sim.pass();
    sim.submit('urgent', { pods: 2, cpu: 2, priority: 1 });
    const result = await sim.pass();
    expect(reserved(result)).toEqual(['urgent']);
    expect(sim.row('wide')).toMatchObject({ reason: 'Busy', estimatedStart: null });
  });
});

test.each(['fcfs', 'easy'] as const)(
  '%s: what needs nodes that are down blocks nobody and says so',
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

describe('all or nothing', () => {
  test('a gang gets all its pods or none', async () => {
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
});

describe('what is written', () => {
  test('nothing that was written before', async () => {
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

  test('ten thousand of a few shapes behind a full cluster cost a few questions', async () => {
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

describe('unsatisfiable', () => {
  test('is asked again only when the graph grew', async () => {
    const sim = await Simulation.of(nodesOf(1, 2));
    sim.submit('wide', { pods: 2, cpu: 2 });
    await sim.pass();
    expect(sim.row('wide').reason).toBe('Unsatisfiable');
    await sim.fluxion.addNodes([{ name: 'n1', units: { core: 2 } }]);
    expect(await sim.pass({ graphGrew: false })).toMatchObject({ grants: [], matches: 0 });
    expect(granted(await sim.pass({ graphGrew: true }))).toEqual(['wide']);
  });

  test('a resource that no node has is the cluster’s lack, not the user’s mistake', async () => {
    const sim = await Simulation.of(nodesOf(1, 2));
    const requests = { 'example.com/fpga': '1' };
    sim.submit('fpga', { pod: { containers: [{ resources: { requests } }] } });
    await sim.pass();
    expect(sim.row('fpga')).toMatchObject({
      reason: 'Unsatisfiable',
      message: 'asks for 1 example_com_fpga, no node of the cluster has any',
    });
  });

  test('one larger than an impossible one is not asked', async () => {
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

describe('late workloads', () => {
  test('what runs past its end keeps its units until it is gone', async () => {
    const sim = await Simulation.of(nodesOf(1, 2));
    sim.submit('late', { cpu: 2, walltime: 100 });
    await sim.pass();
    sim.submit('next', { cpu: 2 });
    // Fluxion holds what has overrun for one second more, at every asking.
    for (const now of [1100, 1105, 1300]) {
      sim.now = now;
      expect(granted(await sim.pass())).toEqual([]);
      expect(sim.row('next').estimatedStart).toBe(now + 1);
    }
    await sim.finish('late');
    expect(granted(await sim.pass())).toEqual(['next']);
  });
});

describe('ends early', () => {
  test('at the queue’s depth; if it started something, more may be found at once', async () => {
    const sim = await Simulation.of(nodesOf(5, 1), { depth: 3 });
    for (let i = 0; i < 8; i++) {
      sim.submit(`j${i}`, { walltime: 10 + i });
    }
    const first = await sim.pass();
    expect([granted(first), first.more, first.waits]).toEqual([['j0', 'j1', 'j2'], true, []]);
    const second = await sim.pass();
    expect([granted(second), second.more]).toEqual([['j3', 'j4'], false]);
    expect(sim.row('j5').reason).toBe('Reserved');
    const third = await sim.pass();
    expect([granted(third), third.more, third.matches]).toEqual([[], false, 0]);
  });

  test('when it started nothing, the rest is told to wait behind', async () => {
    const sim = await Simulation.of(nodesOf(1, 4), { depth: 2 });
    sim.submit('running', { cpu: 4 });
    await sim.pass();
    for (let i = 0; i < 4; i++) {
      sim.submit(`j${i}`, { cpu: 4 - i });
    }
    expect(await sim.pass()).toMatchObject({ more: false, matches: 2 });
    expect(['j0', 'j1', 'j2', 'j3'].map((uid) => sim.row(uid).reason)).toEqual([
      'Reserved',
      'Busy',
      'Busy',
      'Busy',
    ]);
    expect(sim.row('j3').message).toBe('waits behind earlier workloads of its queue');
  });

  test('when something more urgent comes', async () => {
    const sim = await Simulation.of(nodesOf(5, 1));
    for (let i = 0; i < 4; i++) {
      sim.submit(`j${i}`);
    }
    let asked = 0;
    const result = await sim.pass({ interrupted: () => ++asked > 2 });
    expect([granted(result), result.more]).toEqual([['j0', 'j1'], true]);
  });
});

describe('when Fluxion fails', () => {
  /** Answers like a Fluxion that can't be made to here. */
  const saying = (answer: () => Promise<MatchResult>): Matcher => ({
    match: answer,
    cancel: async () => undefined,
    satisfiable: async () => ({ satisfiable: true, text: '' }),
    replay: async () => undefined,
    state: async () => ({ bootId: '', jobs: [], nodes: [] }),
  });

  async function passWith(matcher: Matcher) {
    const sim = await Simulation.of(nodesOf(1, 1));
    sim.submit('a');
    return runPass({
      now: 1,
      queues: [{ settings: queueSettings(), rows: [...sim.rows.values()] }],
      matcher,
      reservations: [],
    });
  }

  test('a doubt ends the pass', async () => {
    const lost = new Error('connection lost');
    await expect(passWith(saying(() => Promise.reject(lost)))).rejects.toBe(lost);
  });

  test('a Fluxion without a graph is a doubt', async () => {
    const answer = async () => ({ status: 'NOT_READY', text: 'restarted' }) as const;
    await expect(passWith(saying(answer))).rejects.toMatchObject({
      code: 'FLUXQ_FLUXION_IN_DOUBT',
      retryable: true,
    });
  });

  test('a jobspec it does not understand is told to the user and not asked again', async () => {
    const answer = async () => ({ status: 'INVALID', text: 'count is not a mapping' }) as const;
    const result = await passWith(saying(answer));
    expect(result.waits).toEqual([
      { uid: 'a', reason: 'Invalid', message: 'count is not a mapping', estimatedStart: null },
    ]);
  });

  test('unsatisfiable only because nodes are down is busy, without blocking', async () => {
    const answer = async () => ({ status: 'UNSATISFIABLE', text: 'no' }) as const;
    const result = await passWith(saying(answer));
    expect(result.waits).toEqual([
      {
        uid: 'a',
        reason: 'Busy',
        message: 'needs 1 pod with 1 core; that needs nodes that are down or cordoned',
        estimatedStart: null,
      },
    ]);
  });
});
