/**
 * A term that starts without namespaces and LimitRanges, because the rights of an earlier version do not have them yet: once
 * they are listed, all that was decided without them is compared.
 */
import { NAMESPACE_LABEL } from '../../constructs/api/labels';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import { SimulatedController } from '../fuzz/simulated-controller';

describe('lists that come after the start of a term', () => {
  let controller: SimulatedController;
  beforeEach(async () => {
    controller = new SimulatedController();
    await controller.start();
    controller.submit('wide', { pods: 2, runs: 600 });
    await controller.seconds(5);
    controller.submit('waiting', { cores: 1 });
    await controller.seconds(5);
    await controller.stop();
  });
  afterEach(() => controller.close());

  async function leadWithout(resource: string): Promise<void> {
    const { unreadable } = controller.apiserver;
    unreadable.add(resource);
    await controller.start();
    await controller.seconds(20);
    expect(controller.row('waiting')).toMatchObject({ phase: 'Waiting' });
    unreadable.delete(resource);
    await controller.seconds(40);
  }

  test('of namespaces hand back what waits where the label was removed while nobody led', async () => {
    const { store } = controller.apiserver;
    const namespace = store.get<KubernetesObject>('namespaces', 'science')!;
    const labels = { [NAMESPACE_LABEL]: 'false' };
    store.put('namespaces', { ...namespace, metadata: { ...namespace.metadata, labels } });
    await leadWithout('namespaces');
    expect(controller.row('waiting')).toMatchObject({ phase: 'Finished', result: 'Cancelled' });
  });

  test('of LimitRanges change what waiting Jobs are charged', async () => {
    controller.apiserver.store.create('limitranges', {
      metadata: { name: 'defaults', namespace: 'science' },
      spec: { limits: [{ type: 'Container', defaultRequest: { memory: '1Gi' } }] },
    });
    await leadWithout('limitranges');
    expect(controller.row('waiting')!.jobspec.attributes.user?.requests).toEqual({ cpu: '1', memory: '1Gi' });
  });
});
