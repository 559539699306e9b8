import type { PassResult } from '../../runtime/scheduler/pass/types';
import type { PlannedStarts } from '../../runtime/scheduler/queue-plan';
import { type PlanBudget, StartEstimates } from '../../runtime/scheduler/start-estimates';
import { SimulatedClock } from '../fuzz/simulated-clock';
import { recordingLogger } from '../kubernetes/recording-logger';

const NOTHING = { grants: [], waits: [], evictions: [], matches: 0 } as unknown as PassResult;
const NEWS = { ...NOTHING, matches: 1 };

/** Estimates whose plans are given; the seconds of the clock are Unix seconds. */
function start(
  plan: (budget: PlanBudget) => Promise<PlannedStarts | undefined>,
  which: 'planned' | 'likely' = 'planned',
) {
  const clock = new SimulatedClock();
  let plans = 0;
  const estimates = new StartEstimates({
    plan: (_, budget) => {
      plans += 1;
      return plan(budget).then(
        (planned) => planned && { planned: new Map(), likely: new Map(), [which]: planned },
      );
    },
    clock,
    now: () => clock.now() / 1000,
    logger: recordingLogger(),
  });
  return { clock, estimates, plans: () => plans };
}

test('plans once for many passes, and not without news', async () => {
  const { clock, estimates, plans } = start(async () => new Map([['a', 1_000]]));
  estimates.passDone(NOTHING);
  await clock.advance(60_000);
  expect(plans()).toBe(0);
  for (let i = 0; i < 100; i++) estimates.passDone(NEWS);
  await clock.advance(5_000);
  expect([plans(), estimates.plannedOf('a'), estimates.plannedOf('b')]).toEqual([1, 1_000, undefined]);
  for (let i = 0; i < 20; i++) {
    estimates.passDone(NEWS);
    await clock.advance(1_000);
  }
  expect(plans()).toBeLessThanOrEqual(3);
});

test.each(['planned', 'likely'] as const)(
  'a small change of a %s start is not shown, a large one is',
  async (which) => {
    let at = 10_000;
    const { clock, estimates } = start(async () => new Map([['a', at]]), which);
    const shownAfter = async (start: number) => {
      at = start;
      estimates.passDone(NEWS);
      await clock.advance(15_000);
      return which === 'planned' ? estimates.plannedOf('a') : estimates.likelyOf('a');
    };
    expect(await shownAfter(10_000)).toBe(10_000);
    expect(await shownAfter(10_900)).toBe(10_000);
    expect(await shownAfter(14_000)).toBe(14_000);
    expect(await shownAfter(5_000)).toBe(5_000);
  },
);

test('plans again when an estimate has passed, and forgets who is not planned any more', async () => {
  const plan = new Map([['a', 30]]);
  const { clock, estimates, plans } = start(async () => new Map(plan));
  estimates.passDone(NEWS);
  await clock.advance(20_000);
  estimates.passDone(NOTHING);
  await clock.advance(20_000);
  expect(plans()).toBe(1);
  plan.clear();
  estimates.passDone(NOTHING);
  await clock.advance(5_000);
  expect([plans(), estimates.plannedOf('a')]).toEqual([2, undefined]);
});

test('keeps what it shows when a plan fails or runs out of time', async () => {
  const answers = [
    async () => new Map([['a', 5_000]]),
    async () => undefined,
    async () => Promise.reject(new Error('no graph')),
  ];
  const { clock, estimates, plans } = start(() => answers.shift()!());
  for (let i = 0; i < 3; i++) {
    estimates.passDone(NEWS);
    await clock.advance(15_000);
  }
  expect([plans(), estimates.plannedOf('a')]).toEqual([3, 5_000]);
});

test('a plan that takes long is over in time, and is repeated less often', async () => {
  const clock = new SimulatedClock();
  let plans = 0;
  const estimates = new StartEstimates({
    plan: async (_, { isOver }) => {
      plans += 1;
      while (!isOver()) await new Promise<void>((resolve) => clock.after(100, resolve));
      return { planned: new Map(), likely: new Map() };
    },
    clock,
    now: () => clock.now() / 1000,
    logger: recordingLogger(),
  });
  for (let i = 0; i < 120; i++) {
    estimates.passDone(NEWS);
    await clock.advance(1_000);
  }
  expect(plans).toBeGreaterThanOrEqual(1);
  expect(plans).toBeLessThanOrEqual(2);
});

test('stops in the middle of a plan', async () => {
  const { clock, estimates, plans } = start(async ({ isOver }) => {
    while (!isOver()) await new Promise<void>((resolve) => clock.after(10, resolve));
    return undefined;
  });
  estimates.passDone(NEWS);
  await clock.advance(2_010);
  const stopped = estimates.stop();
  await clock.advance(50);
  await stopped;
  estimates.passDone(NEWS);
  await clock.advance(100_000);
  expect(plans()).toBe(1);
});
