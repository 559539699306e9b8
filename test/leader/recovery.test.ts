/** Recovery, case by case (docs/recovery.md), on a simulated cluster: what happened while nobody looked is found and repaired. */

import { SimulatedController } from '../fuzz/simulated-controller';
import { doubleGrants } from '../invariants/log';

describe('recovery', () => {
  let house: SimulatedController;

  beforeEach(async () => {
    house = new SimulatedController();
    await house.start();
  });
  afterEach(async () => {
    expect(doubleGrants(house.queue.events)).toEqual([]);
    await house.close();
  });

  /** Runs on one whole node. */
  async function running(name: string, runs = 30): Promise<void> {
    house.submit(name, { runs });
    await house.seconds(5);
    expect(house.row(name)).toMatchObject({ phase: 'Running' });
  }

  test('finished while we were down', async () => {
    await running('a', 10);
    await house.stop();
    await house.seconds(20);
    expect(house.row('a')).toMatchObject({ phase: 'Running' });
    await house.start();
    await house.seconds(1);
    expect(house.row('a')).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
    expect(await house.repairs()).toEqual({ 'workload-ended': 1 });
    expect(await house.held()).toEqual([]);
  });

  test('deleted while we were down', async () => {
    await running('a');
    await house.stop();
    house.delete('a');
    await house.seconds(5);
    await house.start();
    await house.seconds(2);
    expect(house.row('a')).toMatchObject({ phase: 'Finished', result: 'Cancelled' });
    expect(await house.repairs()).toEqual({ 'workload-gone': 1 });
    expect(await house.held()).toEqual([]);
  });

  test('edited while we were down: nothing is granted by what it was before', async () => {
    await running('first', 20);
    await running('second', 20);
    house.submit('a');
    await house.seconds(1);
    await house.stop();
    house.label('a', { 'fluxqueue/hold': 'true' });
    await house.seconds(30);
    await house.start();
    await house.seconds(10);
    expect(house.row('a')).toMatchObject({ phase: 'Waiting', reason: 'Held' });
    expect(await house.repairs()).toMatchObject({ 'workload-edited': 1, 'workload-ended': 2 });
  });

  test('a node that went away under its pods while we were down', async () => {
    await running('a', 60);
    const lost = house.row('a')!.allocation!.nodes[0]!.name;
    await house.stop();
    house.removeNode(lost);
    await house.seconds(1);
    await house.start();
    await house.seconds(15);
    expect(house.row('a')).toMatchObject({ phase: 'Running', requeues: 1 });
    expect(house.row('a')!.allocation!.nodes).not.toContainEqual(expect.objectContaining({ name: lost }));
    expect(await house.repairs()).toEqual({ 'node-gone': 1 });
  });

  test('pods that nobody knows, on units that are granted, are accounted once those are free', async () => {
    await running('a', 20);
    const node = house.row('a')!.allocation!.nodes[0]!.name;
    house.unmanagedPod('unknown', { node, cores: 3, runs: 60 });
    await house.seconds(5);
    house.submit('wide', { pods: 2, cores: 4 });
    await house.seconds(30);
    expect(house.row('a')).toMatchObject({ phase: 'Finished' });
    expect(house.row('wide')).toMatchObject({ phase: 'Waiting' });
    await house.seconds(40);
    expect(house.row('wide')).toMatchObject({ phase: 'Running' });
  });

  test('pods that nobody knows are accounted as foreign until they end', async () => {
    house.unmanagedPod('unknown', { node: 'node-0', cores: 3, runs: 20 });
    await house.seconds(4);
    house.submit('wide', { pods: 2, cores: 4 });
    await house.seconds(5);
    expect(house.row('wide')).toMatchObject({ phase: 'Waiting' });
    await house.seconds(25);
    expect(house.row('wide')).toMatchObject({ phase: 'Running' });
  });

  test('Fluxion was restarted and has forgotten everything', async () => {
    await running('a');
    await house.fluxion.close();
    house.submit('b', { pods: 2 });
    await house.seconds(5);
    expect(house.row('b')).toMatchObject({ phase: 'Waiting' });
    expect(await house.repairs()).toEqual({ 'fluxion-rebuilt': 1 });
    expect(await house.held()).toContain(house.row('a')!.jobid);
  });

  test('Fluxion lost an allocation and holds one for nobody: the periodic audit finds it', async () => {
    await running('a', 300);
    const { jobid, jobspec } = house.row('a')!;
    const now = 1_800_000_020;
    await house.fluxion.cancel(jobid);
    await house.fluxion.match({ jobid: 4711, jobspec, operation: 'allocate', now });
    await house.seconds(100);
    expect(await house.held()).toEqual([jobid]);
    expect(await house.repairs()).toMatchObject({ 'fluxion-differs': 1 });
  });

  test('the database is restored from before everything: what runs is adopted, ids and fences go on', async () => {
    const empty = house.queue.backup();
    await running('a', 200);
    house.submit('b', { runs: 200 });
    house.submit('c');
    await house.seconds(5);
    const before = { a: house.row('a')!, b: house.row('b')! };
    await house.stop();
    house.queue.restore(empty);
    await house.start();
    await house.seconds(5);
    for (const name of ['a', 'b'] as const) {
      const row = house.row(name)!;
      expect(row).toMatchObject({ phase: 'Running' });
      expect(row.allocation!.nodes.map(({ name: node }) => node)).toEqual(
        before[name].allocation!.nodes.map(({ name: node }) => node),
      );
      expect(row.jobid).toBeGreaterThan(Math.max(before.a.jobid, before.b.jobid));
      expect(house.job(name).spec.suspend).toBe(false);
    }
    expect(house.row('c')).toMatchObject({ phase: 'Waiting' });
    expect(await house.repairs()).toEqual({ adopted: 2 });
    await house.seconds(300);
    for (const name of ['a', 'b', 'c'])
      expect(house.row(name)).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
  });

  test('the database is restored from when it waited: it is adopted, not suspended', async () => {
    await running('first', 14);
    await running('second', 14);
    house.submit('a', { runs: 60 });
    await house.seconds(1);
    const backup = house.queue.backup();
    await house.seconds(15);
    expect(house.row('a')).toMatchObject({ phase: 'Running' });
    await house.stop();
    house.queue.restore(backup);
    await house.start();
    await house.seconds(2);
    expect(house.row('a')).toMatchObject({ phase: 'Running', requeues: 0 });
    expect(await house.repairs()).toMatchObject({ adopted: 1 });
    expect(house.queue.events.filter(({ event }) => event === 'Requeued')).toEqual([]);
  });

  test('a leader that was overtaken releases it, too late: it is suspended again', async () => {
    await running('a', 60);
    const late = house.job('a');
    // Its user takes it back; it waits with a new job id, behind what fills the cluster.
    house.submit('b', { pods: 2, runs: 20 });
    await house.seconds(1);
    house.label('a', { 'fluxqueue/hold': 'true' });
    house.apiserver.store.put('jobs', { ...house.job('a'), spec: { ...late.spec, suspend: true } });
    await house.seconds(10);
    expect(house.row('a')).toMatchObject({ phase: 'Waiting', reason: 'Held' });
    house.apiserver.store.put('jobs', { ...house.job('a'), spec: late.spec });
    await house.seconds(5);
    expect(house.job('a').spec.suspend).toBe(true);
    expect(house.row('a')).toMatchObject({ phase: 'Waiting' });
    expect(await house.repairs()).toEqual({});
  });

  test.each([
    ['forwards', 30 * 24 * 3600],
    ['backwards', -30 * 24 * 3600],
  ])(
    'the clock jumps %s: nothing ends, is timed out or granted twice, also across a restart',
    async (_, jump) => {
      await running('a', 100);
      house.submit('wide', { pods: 2, runs: 5 });
      await house.seconds(2);
      house.drift = jump;
      await house.seconds(20);
      expect(house.row('a')).toMatchObject({ phase: 'Running' });
      expect(house.row('wide')).toMatchObject({ phase: 'Waiting' });
      await house.stop();
      await house.start();
      house.submit('small', { runs: 5 });
      await house.seconds(20);
      expect(house.row('a')).toMatchObject({ phase: 'Running' });
      expect(house.row('wide')).toMatchObject({ phase: 'Waiting' });
      await house.seconds(120);
      for (const name of ['a', 'wide', 'small'])
        expect(house.row(name)).toMatchObject({ phase: 'Finished', result: 'Succeeded', requeues: 0 });
    },
  );
});
