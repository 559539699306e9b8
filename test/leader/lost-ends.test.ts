/** The database loses its last commits: what has ended meanwhile is not forgotten. */
import { SimulatedController } from '../fuzz/simulated-controller';
import { doubleGrants } from '../invariants/log';

describe('commits that a failover of the database loses', () => {
  let controller: SimulatedController;

  beforeEach(async () => {
    controller = new SimulatedController();
    await controller.start();
  });
  afterEach(async () => {
    expect(doubleGrants(controller.queue.events)).toEqual([]);
    await controller.close();
  });

  test('a workload that ended and has no row gets its Finished row, with its start and its end', async () => {
    const backup = controller.queue.backup();
    controller.submit('a', { runs: 5 });
    await controller.seconds(12);
    const before = controller.row('a')!;
    expect(before).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
    controller.queue.restore(backup);
    expect(controller.row('a')).toBeUndefined();
    await controller.seconds(75);
    const { startedAt } = before;
    expect(controller.row('a')).toMatchObject({
      phase: 'Finished',
      result: 'Succeeded',
      startedAt,
    });
    // The end of the Job, which its controller says a moment after that of its pod.
    expect(controller.row('a')!.finishedAt! - before.finishedAt!).toBeLessThan(2);
    expect(await controller.repairs()).toMatchObject({ 'end-unrecorded': 1 });
    expect(await controller.held()).toEqual([]);
  });

  test('a workload whose row the tables have gets no second one', async () => {
    controller.submit('a', { runs: 5 });
    await controller.seconds(12);
    const before = controller.row('a');
    await controller.seconds(300);
    expect(controller.row('a')).toEqual(before);
    expect(await controller.repairs()).toEqual({});
  });

  test('a workload that depends on one whose end was lost starts', async () => {
    const backup = controller.queue.backup();
    controller.submit('a', { runs: 5 });
    await controller.seconds(12);
    controller.queue.restore(backup);
    const next = controller.submit('b', { runs: 5 });
    controller.apiserver.store.put('jobs', {
      ...next,
      metadata: {
        ...controller.job('b').metadata,
        annotations: { ...next.metadata.annotations, 'fluxqueue/after': 'a' },
      },
    });
    await controller.seconds(150);
    expect(controller.row('b')).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
    expect(controller.row('b')!.startedAt!).toBeGreaterThan(controller.row('a')!.finishedAt!);
  });
});
