/** The walltime of a Job counts from its first container, also of one that starts while no controller is there. */
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { UNTOUCHED } from '../fuzz/simulated-cluster';
import { SimulatedController } from '../fuzz/simulated-controller';

const NAME = 'train';
/** That of the Jobs of a simulated controller, which run for longer. Seconds. */
const WALLTIME = 600;
const RUNS = 5_000;

describe('a Job whose image is pulled for minutes', () => {
  let controller: SimulatedController;
  beforeEach(async () => {
    controller = new SimulatedController();
    await controller.start();
    const { spec } = controller.submit(NAME, { runs: RUNS });
    const job = controller.job(NAME);
    const annotations = { ...spec.template.metadata?.annotations, [UNTOUCHED]: '' };
    const template = { ...spec.template, metadata: { ...spec.template.metadata, annotations } };
    controller.apiserver.store.put('jobs', { ...job, spec: { ...job.spec, template } });
    await controller.seconds(10);
    pull({ nodeName: 'node-0' });
    await controller.seconds(10);
  });
  afterEach(() => controller.close());

  const pods = () => controller.apiserver.store.list<Pod>('pods');
  const deadline = () => controller.job(NAME).spec.activeDeadlineSeconds;
  const failure = ({ status }: Job) => status?.conditions?.find(({ type }) => type === 'Failed')?.reason;

  function pull(spec: Partial<Pod['spec']>): void {
    const [pod] = pods();
    const containerStatuses = [{ name: 'main', state: { waiting: { reason: 'ContainerCreating' } } }];
    const conditions = [{ type: 'PodScheduled', status: 'True' as const }];
    const status = { phase: 'Pending' as const, conditions, containerStatuses };
    controller.apiserver.store.put('pods', { ...pod!, spec: { ...pod!.spec, ...spec }, status });
  }

  /** Unix seconds. */
  async function start(): Promise<number> {
    const [pod] = pods();
    const { [UNTOUCHED]: _, ...annotations } = pod!.metadata.annotations ?? {};
    controller.apiserver.store.put('pods', { ...pod!, metadata: { ...pod!.metadata, annotations } });
    await controller.seconds(5);
    const [running] = pods();
    expect(running!.status).toMatchObject({ phase: 'Running' });
    return Date.parse(running!.status!.startTime!) / 1000;
  }

  async function runsFor(seconds: number, startedAt: number): Promise<void> {
    await controller.seconds(startedAt + seconds - controller.now());
    expect(pods()).toMatchObject([{ status: { phase: 'Running' } }]);
  }

  test('has its whole walltime, although no controller is there from its release to its end', async () => {
    await controller.stop();
    await controller.seconds(WALLTIME);
    const startedAt = await start();
    await runsFor(WALLTIME, startedAt);
    await controller.start();
    await controller.seconds(30);
    expect(failure(controller.job(NAME))).toBe('DeadlineExceeded');
    expect(controller.row(NAME)).toMatchObject({ phase: 'Finished', result: 'TimedOut', startedAt });
  });

  test('ends at its walltime, to the second, once the controller is back', async () => {
    await controller.stop();
    await controller.seconds(WALLTIME);
    const startedAt = await start();
    await controller.start();
    await runsFor(WALLTIME - 5, startedAt);
    expect(controller.row(NAME)).toMatchObject({ phase: 'Running', startedAt });
    expect(controller.row(NAME)!.allocation!.end).toBe(startedAt + WALLTIME);
    await controller.seconds(15);
    expect(failure(controller.job(NAME))).toBe('DeadlineExceeded');
  });

  test('ends at its walltime without the controller, if it was there when half of it was over', async () => {
    await controller.seconds(WALLTIME / 2);
    const startedAt = await start();
    await runsFor(WALLTIME / 2 + 5, startedAt);
    await controller.stop();
    await controller.seconds(WALLTIME / 2 + 10);
    expect(failure(controller.job(NAME))).toBe('DeadlineExceeded');
  });

  test('is written twice, and asks for the same after a requeue', async () => {
    const released = deadline();
    const startedAt = await start();
    await runsFor(WALLTIME / 2 - 5, startedAt);
    expect(deadline()).toBe(released);
    await controller.seconds(10);
    const exact = deadline();
    expect(exact).toBeLessThan(WALLTIME + 30);
    await controller.seconds(100);
    expect(deadline()).toBe(exact);
    controller.removeNode('node-0');
    await controller.seconds(30);
    expect(controller.row(NAME)).toMatchObject({ requeues: 1, walltime: WALLTIME });
    expect(deadline()).toBe(released);
  });

  test('runs no longer than an hour beyond its walltime, while no controller is there', async () => {
    const startedAt = await start();
    await controller.stop();
    await runsFor(WALLTIME + 3_000, startedAt);
    await controller.seconds(600);
    expect(failure(controller.job(NAME))).toBe('DeadlineExceeded');
  });
});
