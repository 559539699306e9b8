/** Kueue's baseline scenario with one cohort and a tenth of the workloads, where passes take no time. */
import { BASELINE, BaselineRun, type Scenario } from './baseline-run';
import { jumpingClock } from './jumping-clock';

const { classes } = BASELINE;
const SMALL: Scenario = {
  ...BASELINE,
  cohorts: 1,
  classes: {
    large: { ...classes.large, count: 5 },
    medium: { ...classes.medium, count: 10 },
    small: { ...classes.small, count: 35 },
  },
};

test('leaves no quota idle, starts large workloads first, and ends all near the least time', async () => {
  const result = await (await BaselineRun.of(SMALL, jumpingClock())).run();
  // 132 core-seconds of each queue, on 20 cores.
  const least = 6.6;
  expect(result.workloads).toBe(300);
  expect(result.idleQuotaSeconds).toBe(0);
  expect(result.seconds).toBeLessThan(1.5 * least);
  expect(result.admissionSeconds.large).toBeLessThan(1);
});

test('counts the seconds in which quota is idle', async () => {
  const limits = { queue: { running: 1 }, user: {} };
  const limited = { ...SMALL, queue: { ...SMALL.queue, limits } };
  const { idleQuotaSeconds } = await (await BaselineRun.of(limited, jumpingClock())).run();
  expect(idleQuotaSeconds).toBeGreaterThan(1);
});
