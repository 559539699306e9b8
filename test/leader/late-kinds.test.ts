/**
 * Objects of a workload kind cannot be listed, when a term starts or while it goes on: a right is missing, or the apiserver serves
 * another version of the kind. What is not listed is not gone.
 */
import { ADMITTED_LABEL, USER_ANNOTATION } from '../../constructs/api/labels';
import { withField } from '../../runtime/kubernetes/fields';
import { kindPath } from '../../runtime/kubernetes/kind-fields';
import { createLogger } from '../../runtime/observability/log';
import { SimulatedController } from '../fuzz/simulated-controller';
import { gang, kindOf } from '../kinds/objects';

const KIND = kindOf('JobSet');

describe('objects of a kind that cannot be listed', () => {
  let controller: SimulatedController;
  beforeEach(async () => {
    controller = new SimulatedController(createLogger('simulation', 'silent'), ['JobSet']);
    await controller.start();
    submit('runs');
    await controller.seconds(5);
    submit('waits');
    await controller.seconds(5);
    expect(phases()).toEqual(['Ready', 'Waiting']);
  });
  afterEach(() => controller.close());

  /** One pod that leads, with one core, and two workers: there is room for one such set. */
  function submit(name: string): void {
    const metadata = { labels: { [ADMITTED_LABEL]: 'true' }, annotations: { [USER_ANNOTATION]: 'ada' } };
    const held = withField(gang(KIND, name, { cores: 3, workers: 2, metadata }), KIND.suspend, true);
    controller.apiserver.create(kindPath(KIND)('science'), held as object);
  }

  const phases = () => ['runs', 'waits'].map((name) => controller.row(name)!.phase);
  const remove = (name: string) => controller.apiserver.store.remove(KIND.plural, `science/${name}`);

  const CAUSES = {
    'a right is missing': ({ unreadable }: SimulatedController['apiserver']) => {
      unreadable.add(KIND.plural);
      return () => unreadable.delete(KIND.plural);
    },
    'another version is served': ({ unserved }: SimulatedController['apiserver']) => {
      unserved.set(KIND.plural, 'in another version');
      return () => unserved.delete(KIND.plural);
    },
  };
  const causes = Object.entries(CAUSES);

  test.each(causes)('are kept, and start once they are listed: %s', async (_cause, hide) => {
    const [runs, waits] = ['runs', 'waits'].map((name) => controller.row(name)!);
    await controller.stop();
    const show = hide(controller.apiserver);
    await controller.start();
    // Its walltime is far away, so nothing but its end frees nodes.
    await controller.seconds(120);
    expect(controller.row('runs')).toMatchObject({
      uid: runs!.uid,
      jobid: runs!.jobid,
      releasedAt: runs!.releasedAt,
    });
    expect(controller.row('waits')).toMatchObject({
      uid: waits!.uid,
      phase: 'Waiting',
      reason: 'KindNotListed',
    });
    show();
    remove('runs');
    await controller.seconds(25);
    expect(controller.row('runs')).toMatchObject({ phase: 'Finished', result: 'Cancelled' });
    expect(controller.row('waits')).toMatchObject({ uid: waits!.uid, phase: 'Ready', requeues: 0 });
    expect(controller.row('waits')!.releasedAt).not.toBeNull();
  });

  test.each(causes)('hold no nodes under a grant that was not released: %s', async (_cause, hide) => {
    controller.apiserver.failure = (verb, resource) =>
      verb === 'patch' && resource === KIND.plural ? 'no answer' : undefined;
    remove('runs');
    await controller.seconds(10);
    expect(controller.row('waits')).toMatchObject({ phase: 'Ready', releasedAt: null });
    await controller.stop();
    hide(controller.apiserver);
    await controller.start();
    await controller.seconds(10);
    controller.submit('other', { pods: 2, runs: 600 });
    // The former leader may have released it a moment ago.
    await controller.seconds(40);
    expect(controller.row('waits')).toMatchObject({ phase: 'Ready' });
    await controller.seconds(30);
    expect(controller.row('waits')).toMatchObject({ phase: 'Waiting', requeues: 1, clusterRequeues: 1 });
    expect(controller.row('other')).toMatchObject({ phase: 'Running' });
  });

  /** Room for both. */
  function addNodes(): void {
    for (const name of ['node-2', 'node-3']) controller.addNode(name);
  }

  test('are kept when a patch is the first to find that another version is served', async () => {
    const waits = controller.row('waits')!;
    const show = CAUSES['another version is served'](controller.apiserver);
    addNodes();
    await controller.seconds(5);
    expect(controller.row('waits')).toMatchObject({ uid: waits.uid, phase: 'Ready', releasedAt: null });
    show();
    await controller.seconds(40);
    expect(controller.row('waits')).toMatchObject({ uid: waits.uid, phase: 'Ready', requeues: 0 });
    expect(controller.row('waits')!.releasedAt).not.toBeNull();
  });

  test.each(causes)('are kept while a leader leads, and start once they are listed: %s', async (_, hide) => {
    const waits = controller.row('waits')!;
    const show = hide(controller.apiserver);
    controller.apiserver.breakWatches('reset');
    await controller.seconds(30);
    addNodes();
    await controller.seconds(120);
    expect(phases()).toEqual(['Ready', 'Waiting']);
    expect(controller.row('waits')).toMatchObject({ uid: waits.uid, reason: 'KindNotListed' });
    remove('runs');
    show();
    await controller.seconds(25);
    expect(controller.row('runs')).toMatchObject({ phase: 'Finished', result: 'Cancelled' });
    expect(controller.row('waits')).toMatchObject({ uid: waits.uid, phase: 'Ready', requeues: 0 });
    expect(controller.row('waits')!.releasedAt).not.toBeNull();
  });

  test('are listed as before where a right was missing for a moment while a leader leads', async () => {
    const show = CAUSES['a right is missing'](controller.apiserver);
    controller.apiserver.breakWatches('reset');
    addNodes();
    await controller.seconds(3);
    show();
    await controller.seconds(7);
    expect(phases()).toEqual(['Ready', 'Ready']);
    expect(controller.row('waits')!.releasedAt).not.toBeNull();
  });

  test.each([true, false])(
    'are gone when the apiserver stops serving the kind at all while a leader leads, and says so: %s',
    async (isTold) => {
      for (const name of isTold ? ['runs', 'waits'] : []) remove(name);
      controller.apiserver.unserved.set(KIND.plural, 'at all');
      controller.apiserver.breakWatches('reset');
      await controller.seconds(60);
      expect(phases()).toEqual(['Finished', 'Finished']);
    },
  );

  test('are not waited for before another workload is adopted', async () => {
    remove('waits');
    addNodes();
    await controller.seconds(5);
    const backup = controller.queue.backup();
    controller.submit('job', { runs: 600 });
    await controller.seconds(5);
    expect(controller.row('job')).toMatchObject({ phase: 'Running' });
    await controller.stop();
    CAUSES['another version is served'](controller.apiserver);
    controller.queue.restore(backup);
    const before = controller.now();
    await controller.start();
    await controller.seconds(1);
    expect(controller.row('job')).toMatchObject({ phase: 'Running' });
    expect(controller.queue.events.find(({ event }) => event === 'Adopted')!.at).toBeLessThan(before + 1);
  });

  test('are gone where the apiserver serves the kind in no version any more', async () => {
    await controller.stop();
    controller.apiserver.unserved.set(KIND.plural, 'at all');
    await controller.start();
    await controller.seconds(60);
    expect(controller.row('waits')).toMatchObject({ phase: 'Finished', result: 'Cancelled' });
  });

  test('are gone once the apiserver serves the kind in no version any more', async () => {
    await controller.stop();
    const { unserved } = controller.apiserver;
    unserved.set(KIND.plural, 'in another version');
    await controller.start();
    await controller.seconds(30);
    expect(controller.row('waits')).toMatchObject({ phase: 'Waiting' });
    unserved.set(KIND.plural, 'at all');
    await controller.seconds(60);
    expect(controller.row('waits')).toMatchObject({ phase: 'Finished', result: 'Cancelled' });
  });
});
