/** Work that has run has a start, also where its end is known before any of its pods. */
import { events } from '../../runtime/kubernetes/paths';
import type { Pod } from '../../runtime/kubernetes/types';
import { SimulatedController } from '../fuzz/simulated-controller';

describe('a Job whose end is known before its pods', () => {
  let controller: SimulatedController;
  beforeEach(() => {
    controller = new SimulatedController();
  });
  afterEach(() => controller.close());

  const startOfPod = () => {
    const [pod] = controller.apiserver.store.list<Pod>('pods');
    return Date.parse(pod!.status!.startTime!) / 1000;
  };

  /** What happens to pods from now on is not delivered. */
  function silencePods(): void {
    const { apiserver } = controller;
    const create = apiserver.client.bind(apiserver);
    apiserver.client = () => {
      const client = create();
      const watch = client.watch.bind(client);
      return Object.assign(client, {
        watch: ((path, options, onEvent) =>
          watch(path, options, path.endsWith('/pods') ? () => undefined : onEvent)) satisfies typeof watch,
      });
    };
  }

  test.each([
    ['succeeded', 0, 'Succeeded'],
    ['failed', 1, 'Failed'],
  ])('has the start of its pod, if it %s while their watch is behind', async (_, fails, result) => {
    silencePods();
    await controller.start();
    controller.submit('a', { runs: 20, fails: fails > 0 });
    await controller.seconds(60);
    expect(controller.row('a')).toMatchObject({ phase: 'Finished', result, startedAt: startOfPod() });
  });

  test('has run since its release, if nothing of it is left but the Event of its success', async () => {
    await controller.start();
    const { uid } = controller.submit('a', { runs: 20 }).metadata;
    while (controller.row('a')?.releasedAt == null) await controller.seconds(0.1);
    expect(controller.row('a')).toMatchObject({ phase: 'Ready', startedAt: null });
    await controller.stop();
    await controller.seconds(60);
    expect(controller.job('a').status?.conditions).toMatchObject([{ type: 'Complete' }]);
    controller.apiserver.create(events('science'), {
      metadata: { name: 'a.end' },
      regarding: { kind: 'Job', uid },
      reason: 'Completed',
      deprecatedLastTimestamp: new Date(controller.now() * 1000).toISOString(),
    });
    controller.delete('a');
    await controller.seconds(30);
    await controller.start();
    await controller.seconds(20);
    const { releasedAt } = controller.row('a')!;
    expect(releasedAt).not.toBeNull();
    expect(controller.row('a')).toMatchObject({
      phase: 'Finished',
      result: 'Succeeded',
      startedAt: releasedAt,
    });
  });

  test('has none, if it was deleted before one of its pods ran', async () => {
    await controller.start();
    controller.submit('a', { runs: 20 });
    while (controller.row('a')?.releasedAt == null) await controller.seconds(0.1);
    controller.stopCluster();
    controller.delete('a');
    await controller.seconds(30);
    expect(controller.row('a')).toMatchObject({ phase: 'Finished', result: 'Cancelled', startedAt: null });
  });
});
