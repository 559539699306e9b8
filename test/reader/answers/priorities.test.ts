/** The order of what waits, factor by factor, on a simulated cluster whose two nodes have four cores each. */
import { isOwn } from '../../../runtime/reader/answers/usages';
import type { Priority } from '../../../runtime/reader/kinds';
import { SimulatedReader } from './simulated-reader';

describe('priorities', () => {
  let world: SimulatedReader;
  beforeEach(async () => {
    world = new SimulatedReader({ queue: { priorityWeights: { size: 2 } } });
    await world.controller.start();
  });
  afterEach(() => world.close());

  test('name what waits in the order of a pass, with the points of each factor', async () => {
    const { controller } = world;
    controller.submit('running', { pods: 2 });
    await controller.seconds(5);
    controller.submit('older', { pods: 1 });
    await controller.seconds(2);
    controller.submit('wider', { pods: 2 });
    await controller.seconds(2);
    const { kind, jobs } = await world.ask<Priority>('priorities');
    expect([kind, jobs.map(({ name }) => name)]).toEqual(['Priority', ['wider', 'older']]);
    const [wider, older] = jobs;
    expect(wider!.factors).toMatchObject({ own: 0, queue: 0, fairShare: 0, size: 2 });
    expect(older!.factors.size).toBe(1);
    expect(older!.factors.age).toBeGreaterThan(wider!.factors.age);
    for (const { points, factors } of jobs)
      expect(points).toBeCloseTo(Object.values(factors).reduce((sum, one) => sum + one, 0));
  });

  test('of a namespace are those of its workloads', async () => {
    const { controller } = world;
    controller.submit('running', { pods: 2 });
    await controller.seconds(5);
    controller.submit('waiting', { pods: 2 });
    await controller.seconds(2);
    const asked = async (over: { readonly namespace?: string }) =>
      (await world.ask<Priority>('priorities', over)).jobs.map(({ name }) => name);
    expect(await asked({})).toEqual(['waiting']);
    expect(await asked({ namespace: 'science' })).toEqual(['waiting']);
    expect(await asked({ namespace: 'elsewhere' })).toEqual([]);
  });
});

test('in an answer for a namespace a user sees own workloads and those of the namespace, of no other user', () => {
  const reader = { username: 'ada', groups: [], extra: {} };
  const users = ['ada', 'bob', 'namespace:science', 'namespace:secret'];
  expect(users.filter((user) => isOwn(user, { reader, namespace: 'science' }))).toEqual([
    'ada',
    'namespace:science',
  ]);
  expect(users.filter((user) => isOwn(user, { reader }))).toEqual(users);
});
