/** An array whose user lowers its parallelism: its FluxJob shows what it still holds. */
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';
import { pods } from '../../runtime/kubernetes/paths';
import { RUNS } from '../fuzz/simulated-cluster';
import { SimulatedController } from '../fuzz/simulated-controller';

describe('the FluxJob of an array whose parallelism is lowered', () => {
  let controller: SimulatedController;
  beforeEach(async () => {
    controller = new SimulatedController();
    await controller.start();
  });
  afterEach(() => controller.close());

  const shown = () => controller.apiserver.store.get<FluxJobObject>('fluxjobs', 'science/a-job')!;

  test.each([false, true])(
    'has the nodes and pods that are left (with another leader: %s)',
    async (restarts) => {
      const job = controller.submit('a', { pods: 4, cores: 2, runs: 300 });
      await controller.seconds(10);
      expect(shown()).toMatchObject({ spec: { pods: 4 }, status: { phase: 'Running', nodeCount: 2 } });
      controller.apiserver.store.put('jobs', {
        ...controller.job('a'),
        spec: { ...controller.job('a').spec, parallelism: 1, completions: 1 },
      });
      const [, ...surplus] = controller.apiserver.store.list('pods');
      for (const { metadata } of surplus) controller.apiserver.delete(pods('science', metadata.name));
      if (restarts) {
        await controller.stop();
        await controller.start();
      }
      await controller.seconds(60);
      const [node] = controller.row('a')!.allocation!.nodes;
      expect(controller.row('a')!.allocation!.nodes).toHaveLength(1);
      expect(shown()).toMatchObject({
        spec: { pods: 1 },
        status: {
          phase: 'Running',
          nodeCount: 1,
          nodes: node!.name,
          allocation: [{ node: node!.name, pods: 1 }],
        },
      });
      expect(shown().status!.conditions).toEqual(
        expect.arrayContaining([expect.objectContaining({ message: `running on ${node!.name}` })]),
      );
      expect(job.metadata.uid).toBe(controller.row('a')!.uid);
    },
  );
});

test('the FluxJob of a group has its whole grant while some of its pods have ended', async () => {
  const controller = new SimulatedController();
  await controller.start();
  for (const [name, runs] of Object.entries({ short: '20', long: '300' }))
    controller.apiserver.create(pods('science'), {
      metadata: {
        name,
        annotations: {
          'fluxqueue/group': 'ring',
          'fluxqueue/group-size': '2',
          'fluxqueue/walltime': '600s',
          [RUNS]: runs,
        },
      },
      spec: {
        restartPolicy: 'Never',
        containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '4' } } }],
      },
      status: { phase: 'Pending' },
    });
  await controller.seconds(15);
  const shown = () => controller.apiserver.store.get<FluxJobObject>('fluxjobs', 'science/ring-podgroup');
  const whole = { spec: { pods: 2 }, status: { phase: 'Running', nodeCount: 2, nodes: 'node-[0-1]' } };
  expect(shown()).toMatchObject(whole);
  await controller.seconds(60);
  expect(controller.row('ring')!.allocation!.nodes).toHaveLength(1);
  expect(shown()).toMatchObject(whole);
  await controller.close();
});
