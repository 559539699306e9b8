/**
 * How far FluxJobs are behind their rows, with the work queue and the reconciler on a simulated clock. A change of a row
 * is shown once a write was sent after it.
 *
 *   load                                    | FluxJobs are behind by at most
 *   --------------------------------------- | ------------------------------
 *   5 and 40 workloads per second           | 10 s, and 23 s in the first 20 s of a burst
 *   what waits                              | 10 s, and 60 s in a burst of its namespace, if it waits in line
 *   10,000 workloads at once                | 30 s
 *   phases that end before they settle      | 10 s
 *   10,000 waiting, and one ends per second | 10 s for the changed ones
 *
 * And how many writes they cost: one for a workload that ends soon, one more for each phase that lasts, and none for one
 * that starts and succeeds in a burst of its namespace.
 */
import type { Phase, WorkloadRow } from '../../runtime/queue/workload';
import { type Life, Scene } from './scene';

async function stream(scene: Scene, perSecond: number, seconds: number): Promise<void> {
  const { clock } = scene;
  for (let i = 0; i < perSecond * seconds; i++) {
    const uid = `w${i}`;
    scene.change(uid, 'Waiting');
    clock.after(300, () => scene.change(uid, 'Ready'));
    clock.after(1_500, () => scene.change(uid, 'Running'));
    clock.after(1_500 + (i % 40) * 1000, () => scene.change(uid, 'Finished'));
    await clock.advance(1000 / perSecond);
  }
  await clock.advance(60_000);
}

test.each([5, 40])('with %i workloads per second, FluxJobs are at most 10 s behind', async (perSecond) => {
  const scene = new Scene();
  await stream(scene, perSecond, 60);
  expect(Math.max(...scene.lags())).toBeLessThan(10);
  expect(Math.max(...scene.reportedLags)).toBeCloseTo(Math.max(...scene.lags()), 0);
});

test.each([5, 40])('%i workloads per second that begin suddenly', async (perSecond) => {
  const scene = new Scene();
  scene.busySince = scene.now;
  await stream(scene, perSecond, 60);
  const lags = scene.lags();
  expect(Math.max(...lags)).toBeLessThan(23);
  expect(Math.max(...lags)).toBeGreaterThan(15);
  // Later they are shown as those of any other stream.
  expect(Math.max(...lags.slice(lags.length / 2))).toBeLessThan(10);
});

test('what waits is shown in a burst, too', async () => {
  const scene = new Scene();
  scene.busySince = scene.now;
  for (let i = 0; i < 40; i++) scene.change(`w${i}`, 'Waiting');
  await scene.clock.advance(30_000);
  expect(Math.max(...scene.lags())).toBeLessThan(10);
});

test.each([false, true])(
  'a workload of an apiserver whose clock is an hour ahead is shown, too (busy: %s)',
  async (busy) => {
    const scene = new Scene();
    scene.busy = busy;
    scene.change('w', 'Waiting', { submittedAt: scene.now + 3_600 });
    await scene.clock.advance(30_000);
    expect(Math.max(...scene.lags())).toBeLessThan(10);
  },
);

test.each<[string, Phase, Partial<WorkloadRow>, string | undefined]>([
  ['a pod that cannot start', 'Ready', {}, 'ImagePullBackOff'],
  ['a pod that does not fit', 'Ready', {}, 'Unschedulable'],
  ['a failure', 'Finished', { result: 'Failed' }, undefined],
  ['a lost node', 'Running', { requeues: 1 }, undefined],
])('%s is shown in a burst, too', async (_, phase, over, reason) => {
  const scene = new Scene();
  scene.busySince = scene.now;
  scene.change('w', 'Waiting');
  scene.clock.after(2_000, () => {
    if (reason !== undefined) scene.waitsFor.set('w', { reason, message: reason });
    scene.change('w', phase, over);
  });
  await scene.clock.advance(30_000);
  expect(Math.max(...scene.lags())).toBeLessThan(10);
});

test('what starts and ends in a burst costs one write, after it', async () => {
  const scene = new Scene();
  scene.busySince = scene.now;
  scene.change('w', 'Waiting');
  scene.clock.after(4_000, () => scene.change('w', 'Ready'));
  scene.clock.after(6_000, () => scene.change('w', 'Running'));
  scene.clock.after(15_000, () => scene.change('w', 'Finished'));
  await scene.clock.advance(19_000);
  expect(scene.said).toEqual([]);
  await scene.clock.advance(30_000);
  expect(scene.said).toEqual(['create Finished']);
});

test('a workload whose phases end before they settle is at most 10 s behind', async () => {
  const scene = new Scene();
  scene.change('w', 'Waiting');
  await scene.clock.advance(20_000);
  scene.change('w', 'Ready');
  await scene.clock.advance(6_500);
  scene.change('w', 'Running');
  await scene.clock.advance(6_500);
  scene.change('w', 'Finished');
  await scene.clock.advance(30_000);
  expect(Math.max(...scene.lags())).toBeLessThan(10);
});

test('after 10,000 workloads at once, FluxJobs are at most 30 s behind', async () => {
  const scene = new Scene();
  for (let i = 0; i < 10_000; i++) scene.change(`w${i}`, 'Waiting');
  await scene.clock.advance(60_000);
  expect(Math.max(...scene.lags())).toBeLessThan(30);

  // The queue is deep and quiet now: what changes is shown soon.
  scene.busy = false;
  for (let i = 0; i < 20; i++) {
    scene.change(`w${i}`, 'Finished');
    scene.change(`w${i + 100}`, 'Running');
    await scene.clock.advance(1_000);
  }
  await scene.clock.advance(10_000);
  expect(Math.max(...scene.lags().slice(10_000))).toBeLessThan(10);
});

test.each<[string, boolean, Life, string[]]>([
  ['ends soon, busy', true, { Waiting: 0, Ready: 300, Running: 2_000, Finished: 4_000 }, ['create Finished']],
  ['ends at once, quiet', false, { Waiting: 0, Ready: 50, Running: 400, Finished: 900 }, ['create Finished']],
  ['runs on, quiet', false, { Waiting: 0, Ready: 50, Running: 900 }, ['create Running']],
  ['runs on, busy', true, { Waiting: 0, Ready: 50, Running: 900 }, ['create Running']],
  [
    'waits, then runs',
    true,
    { Waiting: 0, Ready: 20_000, Running: 21_000, Finished: 60_000 },
    ['create Waiting', 'patch Running', 'patch Finished'],
  ],
])('a workload that %s', async (_, busy, life, writes) => {
  const scene = new Scene();
  scene.busy = busy;
  for (const [phase, at] of Object.entries(life))
    scene.clock.after(at, () => scene.change('w', phase as Phase));
  await scene.clock.advance(90_000);
  expect(scene.said).toEqual(writes);
});

test('no FluxJob is created for a workload that was deleted before it had one', async () => {
  const scene = new Scene();
  scene.change('w', 'Waiting');
  scene.deleted.add('w');
  scene.change('w', 'Finished');
  await scene.clock.advance(30_000);
  expect(scene.said).toEqual([]);
});
