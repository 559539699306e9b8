/** A row whose object is gone ends, whatever became of the attempts before: also beside the row of a new object of its name. */
import { FluxqError } from '../../runtime/errors';
import { pods } from '../../runtime/kubernetes/paths';
import { RUNS } from '../fuzz/simulated-cluster';
import { SimulatedController } from '../fuzz/simulated-controller';

const OWNER = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'set', controller: true };

describe('a pod of a StatefulSet that is lost and made again', () => {
  let controller: SimulatedController;
  beforeEach(async () => {
    controller = new SimulatedController();
    await controller.start();
    create();
    await controller.seconds(5);
    expect(rows()).toMatchObject([{ phase: 'Running' }]);
  });
  afterEach(() => controller.close());

  const create = () =>
    controller.apiserver.create(pods('science'), {
      metadata: { name: 'db-0', ownerReferences: [OWNER], annotations: { [RUNS]: '600' } },
      spec: {
        restartPolicy: 'Always',
        containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '1' } } }],
      },
      status: { phase: 'Pending' },
    });
  const rows = () => controller.queue.all.filter(({ name }) => name === 'db-0');
  const replace = () => {
    controller.apiserver.store.remove('pods', 'science/db-0');
    create();
  };

  test.each([
    ['is refused', new FluxqError('FLUXQ_DATABASE_REFUSED', 'no', { retryable: false })],
    ['gets no answer', new FluxqError('FLUXQ_DATABASE_DOWN', 'no answer', { retryable: true })],
  ])('frees the units of the lost one, although the first record of its end %s', async (_, error) => {
    const finish = controller.queue.finish.bind(controller.queue);
    let refused = 0;
    controller.queue.finish = async (...call) => {
      refused += 1;
      if (refused === 1) throw error;
      return finish(...call);
    };
    replace();
    await controller.seconds(20);
    expect(refused).toBeGreaterThan(0);
    expect(
      rows()
        .map(({ phase }) => phase)
        .sort(),
    ).toEqual(['Finished', 'Running']);
    expect(await controller.held()).toHaveLength(1);
  });
});
