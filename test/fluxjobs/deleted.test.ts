/** A FluxJob that somebody deletes by hand is written again while its workload is active, also if nothing about that changes. */
import { type FluxJobObject, fluxJobs } from '../../runtime/kubernetes/custom-resources';
import { jobs } from '../../runtime/kubernetes/paths';
import { SimulatedController } from '../fuzz/simulated-controller';

describe('a FluxJob that is deleted by hand', () => {
  let controller: SimulatedController;
  beforeEach(async () => {
    controller = new SimulatedController();
    await controller.start();
  });
  afterEach(() => controller.close());

  const shown = () => controller.apiserver.store.get<FluxJobObject>('fluxjobs', 'science/a-job');

  test.each([false, true])(
    'is written again while its Job runs (with another leader: %s)',
    async (restarts) => {
      controller.submit('a', { runs: 300 });
      await controller.seconds(10);
      const { uid } = shown()!.metadata;
      if (restarts) {
        await controller.stop();
        await controller.start();
        await controller.seconds(10);
      }
      controller.apiserver.delete(fluxJobs('science', 'a-job'));
      await controller.seconds(10);
      expect(shown()).toMatchObject({ status: { phase: 'Running', nodeCount: 1 } });
      expect(shown()!.metadata.uid).not.toBe(uid);
      await controller.seconds(300);
      expect(shown()).toMatchObject({ status: { phase: 'Finished', result: 'Succeeded' } });
    },
  );

  test('is written again once for each deletion', async () => {
    controller.submit('a', { runs: 300 });
    await controller.seconds(10);
    const uids = new Set<string>();
    for (let i = 0; i < 3; i++) {
      uids.add(shown()!.metadata.uid);
      controller.apiserver.delete(fluxJobs('science', 'a-job'));
      await controller.seconds(10);
    }
    const { uid } = shown()!.metadata;
    expect(uids.size).toBe(3);
    await controller.seconds(30);
    expect(shown()!.metadata.uid).toBe(uid);
  });

  test.each(['Background', 'Foreground'])(
    'stays deleted while the pods of its deleted Job end (%s)',
    async (policy) => {
      controller.submit('a', { runs: 300 });
      await controller.seconds(10);
      // Its kubelet does not answer, so its pod stays.
      controller.stopCluster();
      controller.apiserver.delete(jobs('science', 'a'), undefined, policy);
      await controller.seconds(5);
      controller.apiserver.delete(fluxJobs('science', 'a-job'));
      await controller.seconds(20);
      expect(controller.row('a')).toMatchObject({ phase: 'Running' });
      expect(shown()).toBeUndefined();
    },
  );

  test('stays deleted once its Job has ended', async () => {
    controller.submit('a', { runs: 10 });
    await controller.seconds(40);
    expect(shown()).toMatchObject({ status: { phase: 'Finished' } });
    controller.apiserver.delete(fluxJobs('science', 'a-job'));
    await controller.seconds(30);
    expect(shown()).toBeUndefined();
  });
});
