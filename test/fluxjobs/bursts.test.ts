/** What is written of a workload while its namespace starts and ends many others. */
import type { Phase, WorkloadRow } from '../../runtime/queue/workload';
import { type Life, Scene } from './scene';

const SUCCESS: Life = { Waiting: 0, Ready: 4_000, Running: 6_000, Finished: 15_000 };

test.each<[string, Partial<WorkloadRow>, Life, string[]]>([
  ['starts and succeeds', {}, SUCCESS, []],
  ['fails', { result: 'Failed' }, SUCCESS, ['create Finished']],
  ['times out', { result: 'TimedOut' }, SUCCESS, ['create Finished']],
  ['succeeds at the second attempt', { requeues: 1 }, SUCCESS, ['create Finished']],
  ['was preempted', { preemptions: 1 }, SUCCESS, ['create Finished']],
  ['runs on', {}, { Waiting: 0, Ready: 4_000, Running: 6_000 }, ['create Running']],
  [
    'runs for longer than a burst',
    {},
    { Waiting: 0, Ready: 4_000, Running: 6_000, Finished: 40_000 },
    ['create Running', 'patch Finished'],
  ],
  ['waits in line first', {}, { Waiting: 0, Ready: 50_000, Running: 51_000, Finished: 55_000 }, []],
  [
    'waits in line, and then runs on',
    {},
    { Waiting: 0, Ready: 50_000, Running: 51_000, Finished: 75_000 },
    ['create Running', 'patch Finished'],
  ],
  [
    'waits in line for more than a minute',
    {},
    { Waiting: 0, Ready: 65_000, Running: 66_000, Finished: 70_000 },
    ['create Waiting', 'patch Finished'],
  ],
])(
  'in a burst of its namespace, a workload that %s costs as many writes as it tells',
  async (_, over, life, writes) => {
    const scene = new Scene();
    scene.busySince = scene.now;
    scene.bursting = true;
    for (const [phase, at] of Object.entries(life))
      scene.clock.after(at, () => {
        const finishedAt = phase === 'Finished' ? scene.now : null;
        scene.change('w', phase as Phase, phase === 'Finished' ? { finishedAt, ...over } : {});
      });
    await scene.clock.advance(120_000);
    expect(scene.said).toEqual(writes);
    expect(scene.finals).toBe('Finished' in life ? 1 : 0);
    expect(scene.unrecorded).toBe(writes.length === 0 ? 1 : 0);
  },
);

test.each<[string, Partial<WorkloadRow>]>([
  ['can never start', { reason: 'Unsatisfiable' }],
  ['is held', { reason: 'Held' }],
  ['is invalid', { reason: 'Invalid' }],
  ['waits for another', { reason: 'DependencyPending' }],
  ['has a promised start', { reason: 'Reserved' }],
  ['waits for its second attempt', { reason: 'Requeued', requeues: 1 }],
  ['is in line again after a preemption', { reason: 'Busy', preemptions: 1 }],
])('in a burst of its namespace, a workload that %s is shown as always', async (_, over) => {
  const scene = new Scene();
  scene.busySince = scene.now;
  scene.bursting = true;
  scene.change('w', 'Waiting', over);
  await scene.clock.advance(60_000);
  expect(scene.lags()[0]).toBeLessThan(10);
});

test.each(['Submitted', 'Busy', 'QuotaExceeded'] as const)(
  'in a burst of its namespace, what waits in line (%s) is shown after a minute, and soon after the burst',
  async (reason) => {
    const scene = new Scene();
    scene.busySince = scene.now;
    scene.bursting = true;
    for (let i = 0; i < 100; i++) scene.change(`w${i}`, 'Waiting', { reason });
    scene.clock.after(10_000, () => {
      scene.change('late', 'Waiting', { reason });
    });
    await scene.clock.advance(59_000);
    expect(scene.said).toEqual([]);
    await scene.clock.advance(5_000);
    expect(scene.said).toHaveLength(100);
    scene.bursting = false;
    await scene.clock.advance(21_000);
    expect(scene.said).toHaveLength(101);
    // What is kept back on purpose is not late.
    expect(Math.max(...scene.reportedLags)).toBeLessThan(4);
  },
);

test('a workload that starts and succeeds in the burst of another namespace has its FluxJob, and with All in its own, too', async () => {
  for (const [policy, bursting] of [
    ['Notable', false],
    ['All', true],
  ] as const) {
    const scene = new Scene(policy);
    scene.busySince = scene.now;
    scene.bursting = bursting;
    for (const [phase, at] of Object.entries(SUCCESS))
      scene.clock.after(at, () => scene.change('w', phase as Phase, { finishedAt: scene.now }));
    await scene.clock.advance(60_000);
    expect(scene.said).toEqual(['create Finished']);
  }
});
