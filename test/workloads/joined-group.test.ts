/** A Pod that waits alone until its user gives it a group is a workload no more, and was not deleted. */
import { pods } from '../../runtime/kubernetes/paths';
import { SimulatedController } from '../fuzz/simulated-controller';

test('the record of a Pod says which group it joined while it waited', async () => {
  const controller = new SimulatedController();
  try {
    await controller.start();
    controller.apiserver.create(pods('science'), {
      metadata: { name: 'p', annotations: { 'fluxqueue/hold': 'true' } },
      spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'a:1' }] },
      status: { phase: 'Pending' },
    });
    await controller.seconds(5);
    expect(controller.row('p')).toMatchObject({ kind: 'Pod', phase: 'Waiting' });
    const metadata = { labels: { 'fluxqueue/group': 'ring' }, annotations: { 'fluxqueue/group-size': '2' } };
    await controller.apiserver.client().patch(pods('science', 'p'), { metadata }, 'merge');
    await controller.seconds(20);
    expect(controller.row('p')).toMatchObject({
      phase: 'Finished',
      result: 'Cancelled',
      message: 'it joined podgroup/ring and waits there',
    });
    expect(controller.row('ring')).toMatchObject({ kind: 'PodGroup', phase: 'Waiting' });
  } finally {
    await controller.close();
  }
});
