/** Work that has ended is not recorded as deleted, although its object goes before anybody can record its end. */
import { FluxqError } from '../../runtime/errors';
import { events, pods } from '../../runtime/kubernetes/paths';
import type { Pod } from '../../runtime/kubernetes/types';
import { FAILS, RUNS } from '../fuzz/simulated-cluster';
import { SimulatedController } from '../fuzz/simulated-controller';

describe('a Job that has ended and is gone', () => {
  let controller: SimulatedController;
  beforeEach(async () => {
    controller = new SimulatedController();
    await controller.start();
  });
  afterEach(() => controller.close());

  const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString();
  const remove = (name: string) => controller.apiserver.store.remove('jobs', `science/${name}`);

  /** As its controller records it. @param at Unix seconds */
  function tell(uid: string, reason: string, note: string, at: number): void {
    controller.apiserver.create(events('science'), {
      metadata: { name: `${uid}.${reason}.${at}` },
      regarding: { kind: 'Job', uid },
      reason,
      note,
      deprecatedLastTimestamp: timeOf(at),
    });
  }

  /** A Job that starts within 5 s. */
  async function running(name: string, runs: number): Promise<string> {
    const { uid } = controller.submit(name, { runs }).metadata;
    await controller.seconds(5);
    expect(controller.row(name)).toMatchObject({ phase: 'Running' });
    return uid;
  }

  describe('while the database does not answer', () => {
    let isDown = false;
    beforeEach(() => {
      isDown = false;
      const finish = controller.queue.finish.bind(controller.queue);
      controller.queue.finish = async (...call) => {
        if (isDown) throw new FluxqError('FLUXQ_DATABASE_DOWN', 'no answer', { retryable: true });
        return finish(...call);
      };
    });

    test('has its own result and its own end', async () => {
      await running('a', 10);
      isDown = true;
      await controller.seconds(10);
      const end = controller.now();
      expect(controller.job('a').status?.conditions).toMatchObject([{ type: 'Complete' }]);
      remove('a');
      await controller.seconds(120);
      expect(controller.row('a')).toMatchObject({ phase: 'Running' });
      isDown = false;
      await controller.seconds(120);
      expect(controller.row('a')).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
      expect(controller.row('a')!.finishedAt).toBeLessThanOrEqual(end);
      expect(await controller.held()).toEqual([]);
    });

    test('was deleted if it went before its end', async () => {
      await running('a', 300);
      isDown = true;
      remove('a');
      await controller.seconds(60);
      isDown = false;
      await controller.seconds(120);
      expect(controller.row('a')).toMatchObject({ phase: 'Finished', result: 'Cancelled' });
    });
  });

  describe('as a group of pods, while the database does not answer', () => {
    let isDown = false;
    beforeEach(() => {
      isDown = false;
      const finish = controller.queue.finish.bind(controller.queue);
      controller.queue.finish = async (...call) => {
        if (isDown) throw new FluxqError('FLUXQ_DATABASE_DOWN', 'no answer', { retryable: true });
        return finish(...call);
      };
    });

    const NAMES = ['a', 'b'];

    /** A group that starts within 10 s. */
    async function runningGroup(runs: number, more: object = {}): Promise<void> {
      for (const name of NAMES) createMember(name, runs, more);
      await controller.seconds(10);
      expect(controller.row('ring')).toMatchObject({ kind: 'PodGroup', phase: 'Running' });
    }

    function createMember(name: string, runs: number, more: object = {}): void {
      const group = { 'fluxqueue/group': 'ring', 'fluxqueue/group-size': '2', 'fluxqueue/walltime': '600s' };
      controller.apiserver.create(pods('science'), {
        metadata: { name, annotations: { ...group, [RUNS]: `${runs}`, ...more } },
        spec: {
          restartPolicy: 'Never',
          containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '4' } } }],
        },
        status: { phase: 'Pending' },
      });
    }

    /** The database answers again. */
    async function expectEnd(result: string): Promise<void> {
      isDown = false;
      await controller.seconds(60);
      expect(controller.row('ring')).toMatchObject({ phase: 'Finished', result });
    }

    const removePods = (names = NAMES) => {
      for (const name of names) controller.apiserver.store.remove('pods', `science/${name}`);
    };

    test.each<[string, object]>([
      ['Succeeded', {}],
      ['Failed', { [FAILS]: 'true' }],
    ])('has its own result and its own end: %s', async (result, more) => {
      await runningGroup(20, more);
      isDown = true;
      await controller.seconds(30);
      const end = controller.now();
      removePods();
      await controller.seconds(60);
      expect(controller.row('ring')).toMatchObject({ phase: 'Running' });
      await expectEnd(result);
      expect(controller.row('ring')!.finishedAt).toBeLessThanOrEqual(end);
      expect(await controller.held()).toEqual([]);
    });

    test('has its own result if some of its pods are still there', async () => {
      await runningGroup(20);
      isDown = true;
      await controller.seconds(30);
      removePods(['a']);
      await controller.seconds(30);
      await expectEnd('Succeeded');
    });

    test('was deleted if its pods go before their end', async () => {
      await runningGroup(300);
      isDown = true;
      for (const name of NAMES) controller.apiserver.delete(pods('science', name));
      await controller.seconds(60);
      expect(controller.apiserver.store.list('pods')).toEqual([]);
      await expectEnd('Cancelled');
    });

    test('was deleted if one of its pods had succeeded, and the other goes before its end', async () => {
      createMember('a', 20);
      createMember('b', 300);
      await controller.seconds(10);
      isDown = true;
      await controller.seconds(30);
      controller.apiserver.delete(pods('science', 'b'));
      await controller.seconds(10);
      removePods(['a']);
      await controller.seconds(30);
      await expectEnd('Cancelled');
    });

    test('was deleted if its pods end by their deletion', async () => {
      await runningGroup(300);
      isDown = true;
      const at = controller.now();
      for (const name of NAMES) {
        const pod = controller.apiserver.store.get<Pod>('pods', `science/${name}`)!;
        const metadata = { ...pod.metadata, deletionTimestamp: timeOf(at), deletionGracePeriodSeconds: 0 };
        const terminated = { exitCode: 143, finishedAt: timeOf(at + 1) };
        const containerStatuses = [
          { name: 'main', ready: false, restartCount: 0, state: { terminated } },
        ] as const;
        const status = { ...pod.status, phase: 'Failed', containerStatuses } as Pod['status'];
        controller.apiserver.store.put('pods', { ...pod, metadata, status } as Pod);
      }
      await controller.seconds(60);
      expect(controller.apiserver.store.list('pods')).toEqual([]);
      await expectEnd('Cancelled');
    });
  });

  describe('while its watch has expired', () => {
    test.each([
      ['has the result of the Event that says so', 'Completed', 'Succeeded'],
      ['was deleted if no Event says that it ended', 'SuccessfulCreate', 'Cancelled'],
    ])('%s', async (_, reason, result) => {
      const uid = await running('a', 300);
      controller.apiserver.breakWatches('expired');
      tell(uid, reason, 'it is over', Math.floor(controller.now()));
      for (const pod of controller.apiserver.store.list('pods'))
        controller.apiserver.store.remove('pods', `science/${pod.metadata.name}`);
      remove('a');
      await controller.seconds(60);
      expect(controller.row('a')).toMatchObject({ phase: 'Finished', result });
    });
  });

  describe('while no controller runs', () => {
    test.each([
      ['Completed', 'Job completed', 'Succeeded', null],
      [
        'BackoffLimitExceeded',
        'Job has reached the backoff limit',
        'Failed',
        'Job has reached the backoff limit',
      ],
      ['DeadlineExceeded', 'Job was active longer than the deadline', 'TimedOut', null],
    ])('has the result of the Event %s, and its time', async (reason, note, result, message) => {
      const uid = await running('a', 10);
      const { startedAt } = controller.row('a')!;
      await controller.stop();
      await controller.seconds(20);
      const end = Math.floor(startedAt!) + 10;
      tell(uid, 'SuccessfulCreate', 'Created pod: a-0', end + 5);
      tell(uid, reason, note, end);
      remove('a');
      await controller.seconds(100);
      await controller.start();
      await controller.seconds(20);
      expect(controller.row('a')).toMatchObject({ phase: 'Finished', result, finishedAt: end, startedAt });
      expect(controller.row('a')!.message ?? null).toBe(message);
    });

    test('starts what depends on it', async () => {
      const uid = await running('a', 10);
      await controller.stop();
      await controller.seconds(20);
      tell(uid, 'Completed', 'Job completed', Math.floor(controller.now()) - 8);
      remove('a');
      await controller.start();
      const next = controller.submit('b', { runs: 5 });
      controller.apiserver.store.put('jobs', {
        ...next,
        metadata: { ...next.metadata, annotations: { 'fluxqueue/after': 'a', 'fluxqueue/walltime': '600s' } },
      });
      await controller.seconds(60);
      expect(controller.row('b')).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
    });

    test('was deleted if no Event since its release says that it ended', async () => {
      const uid = await running('a', 300);
      await controller.stop();
      tell(uid, 'Completed', 'of an earlier run', Math.floor(controller.row('a')!.releasedAt!) - 100);
      tell('another', 'Completed', 'Job completed', Math.floor(controller.now()));
      remove('a');
      await controller.seconds(20);
      await controller.start();
      await controller.seconds(20);
      expect(controller.row('a')).toMatchObject({ phase: 'Finished', result: 'Cancelled' });
    });
  });
});
