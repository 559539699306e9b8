/** Plans of the read API on a simulated cluster, whose two nodes have four cores each. */
import type { Plan } from '../../../runtime/reader/kinds';
import { SimulatedReader } from './simulated-reader';

describe('plans', () => {
  let world: SimulatedReader;
  beforeEach(async () => {
    world = new SimulatedReader();
    await world.controller.start();
  });
  afterEach(() => world.close());

  const seconds = (plan: Plan, iso: string) => (Date.parse(iso) - Date.parse(plan.now)) / 1000;

  test('have what runs, the promise of the leader, and a plan behind it', async () => {
    const { controller } = world;
    controller.submit('running', { pods: 2 });
    await controller.seconds(5);
    for (const name of ['promised', 'second', 'third']) {
      controller.submit(name, { pods: 2 });
      await controller.seconds(2);
    }
    const plan = await world.ask<Plan>('plans');
    expect(plan.jobs.map(({ name, state, nodes }) => ({ name, state, nodes: nodes.length }))).toEqual([
      { name: 'running', state: 'Running', nodes: 2 },
      { name: 'promised', state: 'Reserved', nodes: 2 },
      { name: 'second', state: 'Planned', nodes: 2 },
      { name: 'third', state: 'Planned', nodes: 2 },
    ]);
    expect(plan.unplanned).toBe(0);
    const [running, promised, second, third] = plan.jobs;
    // Each uses its walltime of ten minutes, and starts when the one before it ends.
    for (const [before, after] of [
      [running, promised],
      [promised, second],
      [second, third],
    ] as const)
      expect(after!.start).toBe(before!.end);
    expect(seconds(plan, third!.end) - seconds(plan, third!.start)).toBe(600);
  });

  test('tell what has its nodes without pods that run apart, and count its walltime from now', async () => {
    const { controller } = world;
    controller.stopCluster();
    controller.submit('granted', { pods: 2 });
    await controller.seconds(60);
    const plan = await world.ask<Plan>('plans');
    expect(plan.jobs.map(({ name, state, end }) => [name, state, seconds(plan, end)])).toEqual([
      ['granted', 'Starting', 600],
    ]);
  });

  test('tell a likely start where workloads usually end before their walltime', async () => {
    const { controller } = world;
    for (const name of ['one', 'two']) {
      controller.submit(name, { pods: 2, runs: 30 });
      await controller.seconds(60);
    }
    controller.submit('running', { pods: 2, runs: 500 });
    await controller.seconds(5);
    for (const name of ['promised', 'planned']) controller.submit(name, { pods: 2 });
    await controller.seconds(5);
    const plan = await world.ask<Plan>('plans');
    const told = plan.jobs.map(({ name, start, likelyStart = start }) => [
      name,
      seconds(plan, start) > 500,
      seconds(plan, likelyStart) < 80,
    ]);
    expect(told).toEqual([
      ['running', false, true],
      ['promised', true, true],
      ['planned', true, true],
    ]);
    expect(plan.jobs[0]).not.toHaveProperty('likelyStart');
  });

  test('promise no start behind what should have ended, and say that it is overdue', async () => {
    const { controller } = world;
    controller.submit('stuck', { pods: 2, runs: 9_000 });
    await controller.seconds(10);
    controller.stopCluster();
    await controller.seconds(700);
    controller.submit('behind', { pods: 2 });
    await controller.seconds(10);
    const { jobs, unplanned } = await world.ask<Plan>('plans');
    expect(jobs.map(({ name, overdue }) => [name, overdue])).toEqual([['stuck', true]]);
    expect(unplanned).toBe(1);
  });

  test('count apart what cannot start as things are, and does not wait behind others', async () => {
    const { controller } = world;
    controller.submit('running', { pods: 2 });
    await controller.seconds(5);
    controller.submit('impossible', { cores: 100 });
    controller.submit('held', { labels: {} });
    const job = controller.job('held');
    const annotations = { ...job.metadata.annotations, 'fluxqueue/hold': 'true' };
    controller.apiserver.store.put('jobs', { ...job, metadata: { ...job.metadata, annotations } });
    controller.submit('behind', { pods: 2 });
    await controller.seconds(5);
    const plan = await world.ask<Plan>('plans');
    expect(plan.jobs.map(({ name }) => name)).toEqual(['running', 'behind']);
    expect(plan).toMatchObject({ unplanned: 0, blocked: 2 });
    expect(await world.ask<Plan>('plans', { namespace: 'elsewhere' })).toMatchObject({ blocked: 0 });
  });

  test('plan no more than 200 waiting workloads, and count the rest', async () => {
    const { controller } = world;
    for (let i = 0; i < 230; i++) controller.submit(`j${i}`);
    await controller.seconds(20);
    const plan = await world.ask<Plan>('plans');
    const running = plan.jobs.filter(({ state }) => state === 'Running').length;
    expect(plan.jobs.length - running).toBe(200);
    expect(plan.unplanned).toBe(30 - running);
  });

  test('without a leader have the promises of the rows', async () => {
    const { controller } = world;
    controller.submit('running', { pods: 2 });
    await controller.seconds(5);
    controller.submit('promised', { pods: 2 });
    await controller.seconds(5);
    await controller.stop();
    const plan = await world.ask<Plan>('plans');
    const start = controller.row('promised')!.estimatedStart!;
    expect(plan.jobs.find(({ name }) => name === 'promised')).toMatchObject({
      state: 'Reserved',
      start: new Date(start * 1000).toISOString(),
    });
  });

  test('with exact walltimes and no new submissions the promised starts are right up to one pass', async () => {
    const { controller } = world;
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) controller.submit(name, { pods: 2, runs: 600 });
    await controller.seconds(5 * 700);
    const { events } = controller.queue;
    const errors = ['b', 'c', 'd', 'e', 'f'].map((name) => {
      const own = events.filter(({ uid }) => uid === controller.row(name)!.uid);
      const promise = own.find(({ event, detail }) => event === 'Waiting' && detail.estimatedStart !== null);
      const grant = own.find(({ event }) => event === 'Allocated');
      return Math.abs(grant!.at - Number(promise!.detail.estimatedStart));
    });
    expect(errors).toHaveLength(5);
    // Seconds in which the end of the Job is noticed, and the gathering of one pass.
    expect(Math.max(...errors)).toBeLessThan(3);
  });

  test('of one namespace name nothing of another', async () => {
    const { controller } = world;
    controller.apiserver.store.create('namespaces', {
      metadata: { name: 'secret', labels: { 'fluxqueue/enabled': 'true' } },
    });
    controller.submit('running', { pods: 2 });
    await controller.seconds(5);
    controller.submitIn('secret', 'hidden', { pods: 2 });
    await controller.seconds(2);
    controller.submit('mine', { pods: 2 });
    await controller.seconds(2);
    const plan = await world.ask<Plan>('plans', { namespace: 'science' });
    expect(plan.jobs.map(({ name }) => name)).toEqual(['running', 'mine']);
    expect(plan.jobs[1]!.start).not.toBe(plan.jobs[0]!.end);
    expect(JSON.stringify(plan)).not.toMatch(/secret|hidden/);
    expect((await world.ask<Plan>('plans')).jobs).toHaveLength(3);
  });
});
