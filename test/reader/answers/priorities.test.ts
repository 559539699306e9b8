/** The order of what waits, factor by factor, on a simulated cluster whose two nodes have four cores each. */
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

  test('of a namespace are those of the user who asks, and of the namespace itself', async () => {
    const { controller } = world;
    controller.submit('running', { pods: 2 });
    await controller.seconds(5);
    controller.submit('of-ada', { pods: 2, user: 'ada' });
    controller.submit('of-bob', { pods: 2, user: 'bob' });
    controller.submit('of-nobody', { pods: 2 });
    await controller.seconds(2);
    const asked = async (username: string, namespace?: string) => {
      const reader = { username, groups: [], extra: {} };
      const request = { reader, ...(namespace !== undefined && { namespace }) };
      return (await world.ask<Priority>('priorities', request)).jobs.map(({ name }) => name).sort();
    };
    expect(await asked('ada', 'science')).toEqual(['of-ada', 'of-nobody']);
    expect(await asked('ada', 'elsewhere')).toEqual([]);
    expect(await asked('admin')).toEqual(['of-ada', 'of-bob', 'of-nobody']);
  });
});
