/** What a requeued workload asks for reads as its user wrote it, not as the units that it was granted. */
import { jobs, nodes } from '../../runtime/kubernetes/paths';
import { RUNS } from '../fuzz/simulated-cluster';
import { SimulatedController } from '../fuzz/simulated-controller';

test('a Job of 32Mi that was requeued asks for 32Mi in every message', async () => {
  const controller = new SimulatedController();
  await controller.start();
  const create = (name: string, requests: Readonly<Record<string, string>>) =>
    controller.apiserver.create(jobs('science'), {
      metadata: { name, annotations: { 'fluxqueue/walltime': '600s' } },
      spec: {
        template: {
          metadata: { annotations: { [RUNS]: '500' } },
          spec: {
            restartPolicy: 'Never',
            containers: [{ name: 'main', image: 'none', resources: { requests } }],
          },
        },
      },
    });
  create('small', { cpu: '1', memory: '32Mi' });
  await controller.seconds(10);
  expect(controller.row('small')).toMatchObject({ phase: 'Running' });
  const [node] = controller.row('small')!.allocation!.nodes;
  controller.apiserver.delete(nodes(node!.name));
  await controller.seconds(60);
  const row = controller.row('small')!;
  expect(row.requeues).toBeGreaterThan(0);
  expect(row.jobspec.attributes.user?.requests).toEqual({ cpu: '1', memory: '32Mi' });
  await controller.close();
});
