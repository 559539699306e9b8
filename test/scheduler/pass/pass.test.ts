import type { MatchResult } from '../../../runtime/fluxion/types';
import { runPass } from '../../../runtime/scheduler/pass/pass';
import type { Matcher } from '../../../runtime/scheduler/pass/types';
import { queueSettings } from './settings';
import { granted, nodesOf, Simulation } from './simulation';

describe('order', () => {
  test('places by priority, then by submission, then by arrival', async () => {
    const sim = await Simulation.of(nodesOf(4, 1));
    sim.submit('young', { submittedAt: 30 });
    sim.submit('old', { submittedAt: 10 });
    sim.submit('tie', { submittedAt: 10 });
    sim.submit('urgent', { submittedAt: 40, priority: 1 });
    expect(granted(await sim.pass())).toEqual(['urgent', 'old', 'tie', 'young']);
  });

  test('passes over workloads that are held or invalid', async () => {
    for (const policy of ['fcfs', 'easy'] as const) {
      const sim = await Simulation.of(nodesOf(4, 1), { policy });
      sim.submit('held', { held: true });
      sim.submit('invalid');
      sim.change('invalid', { reason: 'Invalid' });
      sim.submit('ready');
      const result = await sim.pass();
      expect(granted(result)).toEqual(['ready']);
      expect(result.waits).toEqual([expect.objectContaining({ uid: 'held', reason: 'Held' })]);
    }
  });
});

describe('a pass ends early', () => {
  test('at the depth of the queue, and the next one continues at once if it started something', async () => {
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

  test('at the depth of the queue, and the rest waits behind if it started nothing', async () => {
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

  test('when it is interrupted', async () => {
    const sim = await Simulation.of(nodesOf(5, 1));
    for (let i = 0; i < 4; i++) {
      sim.submit(`j${i}`);
    }
    let asked = 0;
    const result = await sim.pass({ interrupted: () => ++asked > 2 });
    expect([granted(result), result.more]).toEqual([['j0', 'j1'], true]);
  });
});

test('reports its steps as they start', async () => {
  const steps: string[] = [];
  const sim = await Simulation.of(nodesOf(1, 1));
  sim.submit('a');
  await sim.pass({ onStep: (step) => steps.push(step) });
  expect(steps).toEqual(['order', 'match']);
});

describe('Fluxion answers', () => {
  /** A Fluxion that gives this answer to every match. */
  const answering = (answer: () => Promise<MatchResult>): Matcher => ({
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

  test('an error ends the pass', async () => {
    const lost = new Error('connection lost');
    const passed = passWith(answering(() => Promise.reject(lost)));
    await expect(passed).rejects.toMatchObject({ message: 'connection lost', cause: lost });
  });

  test('NOT_READY ends the pass with an error that can be retried', async () => {
    const answer = async () => ({ status: 'NOT_READY', text: 'restarted' }) as const;
    await expect(passWith(answering(answer))).rejects.toMatchObject({
      cause: { code: 'FLUXQ_FLUXION_IN_DOUBT', retryable: true },
    });
  });

  test('INVALID becomes the reason to wait', async () => {
    const answer = async () => ({ status: 'INVALID', text: 'count is not a mapping' }) as const;
    const result = await passWith(answering(answer));
    expect(result.waits).toEqual([
      { uid: 'a', reason: 'Invalid', message: 'count is not a mapping', estimatedStart: null },
    ]);
  });

  test('UNSATISFIABLE while nodes are down becomes Busy', async () => {
    const answer = async () => ({ status: 'UNSATISFIABLE', text: 'no' }) as const;
    const result = await passWith(answering(answer));
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
