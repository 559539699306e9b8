/** A pod that the Job controller makes while admission is not in force runs where kube-scheduler places it. */
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';
import { pods as podPath } from '../../runtime/kubernetes/paths';
import type { Pod } from '../../runtime/kubernetes/types';
import { SimulatedController } from '../fuzz/simulated-controller';

describe('a pod that runs beside the grant of its Job', () => {
  let controller: SimulatedController;
  beforeEach(async () => {
    controller = new SimulatedController();
    await controller.start();
  });
  afterEach(() => controller.close());

  const podsOf = (name: string) =>
    controller.apiserver.store
      .list<Pod>('pods')
      .filter(({ metadata }) => metadata.ownerReferences?.[0]?.name === name);
  const surplusOf = (name: string) =>
    controller.apiserver.store
      .get<FluxJobObject>('fluxjobs', `science/${name}-job`)!
      .status!.conditions!.find(({ type }) => type === 'MoreThanGranted')?.message;

  test('is charged and shown, and granted to nobody else, until it has ended', async () => {
    controller.submit('train', { cores: 2, runs: 60 });
    await controller.seconds(10);
    const [granted] = podsOf('train');
    const [own, other] = granted!.spec.nodeName === 'node-0' ? ['node-0', 'node-1'] : ['node-1', 'node-0'];
    const cordon = (unschedulable: boolean) =>
      controller.changeNode(own, (node) => ({ ...node, spec: { ...node.spec, unschedulable } }));
    controller.apiserver.admission = 'off';
    cordon(true);
    controller.apiserver.delete(podPath('science', granted!.metadata.name));
    await controller.seconds(10);
    controller.apiserver.admission = 'on';
    cordon(false);
    controller.submit('wide', { pods: 2, cores: 2, runs: 9 });
    controller.submit('whole', { cores: 4, runs: 9 });
    await controller.seconds(20);
    expect(podsOf('train').map(({ spec }) => spec.nodeName)).toEqual([other]);
    expect(surplusOf('train')).toContain(`2 cpu of ${other} (pod train-`);
    expect(controller.row('train')).toMatchObject({ phase: 'Running', requeues: 0 });
    expect(controller.row('wide')).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
    expect(controller.row('whole')).toMatchObject({ phase: 'Waiting' });
    await controller.seconds(60);
    expect(controller.row('whole')).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
  });
});
