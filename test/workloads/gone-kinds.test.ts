/**
 * An object of a workload kind that has ended and is gone is not recorded as deleted: its last state tells its end, or the Events of
 * the controller of its kind. These say here what those controllers say (test/kinds has the controllers themselves).
 */
import { ADMITTED_LABEL, GATE, OWNER_ANNOTATION, USER_ANNOTATION } from '../../constructs/api/labels';
import { WORKLOAD_KIND_NAMES, WORKLOAD_KINDS, type WorkloadKind } from '../../constructs/api/workload-kinds';
import { FluxqError } from '../../runtime/errors';
import { withField } from '../../runtime/kubernetes/fields';
import { type KindObject, kindPath } from '../../runtime/kubernetes/kind-fields';
import { events } from '../../runtime/kubernetes/paths';
import { createLogger } from '../../runtime/observability/log';
import { RUNS } from '../fuzz/simulated-cluster';
import { SimulatedController } from '../fuzz/simulated-controller';
import { gang, kindOf } from '../kinds/objects';

describe('an object of a workload kind that has ended and is gone', () => {
  let controller: SimulatedController;
  let isDown = false;
  beforeEach(async () => {
    isDown = false;
    controller = new SimulatedController(createLogger('simulation', 'silent'), WORKLOAD_KIND_NAMES);
    const finish = controller.queue.finish.bind(controller.queue);
    controller.queue.finish = async (...call) => {
      if (isDown) throw new FluxqError('FLUXQ_DATABASE_DOWN', 'no answer', { retryable: true });
      return finish(...call);
    };
    await controller.start();
  });
  afterEach(() => controller.close());

  const store = () => controller.apiserver.store;
  const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString();
  const now = () => Math.floor(controller.now());
  const objectOf = ({ plural }: WorkloadKind) => store().get<KindObject>(plural, 'science/train')!;
  const remove = ({ plural }: WorkloadKind) => store().remove(plural, 'science/train');

  /** An object that was released, as admission makes it. @returns its uid */
  async function released(kind: WorkloadKind, settings: object = {}): Promise<string> {
    const annotations = { [USER_ANNOTATION]: 'ada', ...settings };
    const metadata = { labels: { [ADMITTED_LABEL]: 'true' }, annotations };
    const held = withField(gang(kind, 'train', { metadata }), kind.suspend, true);
    const { uid } = controller.apiserver.create(kindPath(kind)('science'), held as object).metadata;
    await controller.seconds(10);
    expect(controller.row('train')).toMatchObject({ kind: kind.kind, uid, phase: 'Ready' });
    expect(controller.row('train')!.releasedAt).not.toBeNull();
    return uid;
  }

  /** As the controller of its kind writes its status. */
  function end(kind: WorkloadKind, type: string, message = ''): void {
    const lastTransitionTime = timeOf(now());
    const conditions = [{ type, status: 'True', message, lastTransitionTime }];
    store().put(kind.plural, { ...objectOf(kind), status: { conditions } } as KindObject);
  }

  function tell(uid: string, reason: string, note = '', at = now()): void {
    controller.apiserver.create(events('science'), {
      metadata: { name: `${uid}.${reason}.${at}`.toLowerCase() },
      regarding: { uid },
      ...{ reason, note, deprecatedLastTimestamp: timeOf(at) },
    });
  }

  /** As admission leaves it. */
  function createPod(kind: WorkloadKind, uid: string, name: string, runs: number): void {
    store().create('pods', {
      metadata: {
        namespace: 'science',
        name,
        labels: { [ADMITTED_LABEL]: 'true', [kind.podSetLabel]: 'master' },
        annotations: {
          [OWNER_ANNOTATION]: `${kind.kind}/train/${uid}`,
          [USER_ANNOTATION]: 'ada',
          [RUNS]: `${runs}`,
        },
      },
      spec: {
        schedulingGates: [{ name: GATE }],
        containers: [{ name: 'pytorch', image: 'none', resources: { requests: { cpu: '1' } } }],
      },
      status: { phase: 'Pending' },
    });
  }

  test('leaves its waiting pods as workloads of their own a minute later, where nobody collects them', async () => {
    const kind = kindOf('PyTorchJob');
    const uid = await released(kind);
    createPod(kind, uid, 'placed', 5);
    await controller.seconds(1);
    createPod(kind, uid, 'left', 5);
    remove(kind);
    await controller.seconds(50);
    expect(controller.row('left')).toBeUndefined();
    await controller.seconds(20);
    expect(controller.row('left')).toMatchObject({ kind: 'Pod', result: 'Succeeded' });
  });

  test('leaves them so once its grant has ended, where a pod of it goes on', async () => {
    const kind = kindOf('PyTorchJob');
    const uid = await released(kind);
    createPod(kind, uid, 'placed', 120);
    await controller.seconds(1);
    createPod(kind, uid, 'left', 5);
    remove(kind);
    await controller.seconds(100);
    expect(controller.row('left')).toBeUndefined();
    await controller.seconds(40);
    expect(controller.row('train')).toMatchObject({ phase: 'Finished' });
    expect(controller.row('left')).toMatchObject({ kind: 'Pod', result: 'Succeeded' });
  });

  describe.each(WORKLOAD_KINDS)('$kind', (kind) => {
    test.each(['Succeeded', 'Failed'] as const)(
      'gets its Finished row again, if the tables lose it: %s',
      async (result) => {
        const backup = controller.queue.backup();
        await released(kind);
        const at = now();
        end(kind, kind.ends[result][0]!);
        await controller.seconds(5);
        controller.queue.restore(backup);
        expect(controller.row('train')).toBeUndefined();
        await controller.seconds(75);
        expect(controller.row('train')).toMatchObject({ phase: 'Finished', result, finishedAt: at });
      },
    );

    test.each(['Succeeded', 'Failed'] as const)(
      'has its own result, of its last state, when the database is back: %s',
      async (result) => {
        await released(kind);
        isDown = true;
        const at = now();
        end(kind, kind.ends[result][0]!, 'it is over');
        await controller.seconds(5);
        remove(kind);
        await controller.seconds(60);
        expect(controller.row('train')!.phase).not.toBe('Finished');
        isDown = false;
        await controller.seconds(60);
        expect(controller.row('train')).toMatchObject({ phase: 'Finished', result, finishedAt: at });
        expect(controller.row('train')!.message ?? null).toBe(result === 'Failed' ? 'it is over' : null);
      },
    );

    test('was deleted if it went before its end', async () => {
      await released(kind);
      isDown = true;
      remove(kind);
      await controller.seconds(30);
      isDown = false;
      await controller.seconds(60);
      expect(controller.row('train')).toMatchObject({ phase: 'Finished', result: 'Cancelled' });
    });

    const told = (['Succeeded', 'Failed'] as const).flatMap((result) =>
      kind.endEvents[result].map((reason) => ({ reason, result })),
    );
    test.each(told)(
      'has the result of the Event $reason, and its time, if it ended while no controller ran',
      async ({ reason, result }) => {
        const uid = await released(kind);
        await controller.stop();
        await controller.seconds(20);
        const at = now();
        tell(uid, 'SuccessfulCreatePod', 'Created pod: train-0', at + 2);
        tell(uid, reason, 'it is over', at);
        remove(kind);
        await controller.seconds(30);
        await controller.start();
        await controller.seconds(20);
        expect(controller.row('train')).toMatchObject({ phase: 'Finished', result, finishedAt: at });
        expect(controller.row('train')!.message ?? null).toBe(result === 'Failed' ? 'it is over' : null);
      },
    );

    test('was deleted if no Event since its release says that it ended', async () => {
      const uid = await released(kind);
      await controller.stop();
      const [reason] = kind.endEvents.Succeeded;
      tell(uid, reason!, 'of an earlier run', Math.floor(controller.row('train')!.releasedAt!) - 100);
      tell('another', reason!);
      // A reason of another kind's controller.
      tell(uid, 'Completed', 'Job completed');
      tell(uid, `${kind.kind}Restarting`, 'it is restarting');
      remove(kind);
      await controller.start();
      await controller.seconds(20);
      expect(controller.row('train')).toMatchObject({ phase: 'Finished', result: 'Cancelled' });
    });
  });

  test('an MPIJob has failed by the Event with which its operator names the last pod, and not by one about a pod that it could not make', async () => {
    const kind = kindOf('MPIJob');
    const uid = await released(kind);
    await controller.stop();
    const at = now();
    tell(uid, 'BackoffLimitExceeded/Error', 'Job has reached the specified backoff limit', at);
    tell(uid, 'MPIJobFailed', 'worker pod created failed: quota exceeded', at + 1);
    remove(kind);
    await controller.start();
    await controller.seconds(20);
    expect(controller.row('train')).toMatchObject({ phase: 'Finished', result: 'Failed', finishedAt: at });
  });

  test('timed out if the Event says that it failed at its walltime', async () => {
    const kind = kindOf('PyTorchJob');
    const uid = await released(kind, { 'fluxqueue/walltime': '60s' });
    createPod(kind, uid, 'train-master-0', 300);
    await controller.seconds(20);
    const { phase, startedAt } = controller.row('train')!;
    expect(phase).toBe('Running');
    await controller.stop();
    await controller.seconds(60);
    const at = Math.ceil(startedAt!) + 61;
    tell(uid, 'PyTorchJobFailed', 'PyTorchJob train is failed because 1 Master replica(s) failed.', at);
    remove(kind);
    await controller.start();
    await controller.seconds(30);
    expect(controller.row('train')).toMatchObject({ phase: 'Finished', result: 'TimedOut', startedAt });
    expect(controller.row('train')!.message ?? null).toBeNull();
  });

  test('starts what depends on it', async () => {
    const kind = kindOf('JobSet');
    const uid = await released(kind);
    await controller.stop();
    tell(uid, 'AllJobsCompleted', 'jobset completed successfully');
    remove(kind);
    await controller.start();
    const next = controller.submit('next', { runs: 5 });
    const annotations = { 'fluxqueue/after': 'train', 'fluxqueue/walltime': '600s' };
    store().put('jobs', { ...next, metadata: { ...next.metadata, annotations } });
    await controller.seconds(60);
    expect(controller.row('next')).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
  });
});
