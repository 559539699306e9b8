/** The walltime of a Pod, alone or in a group, counts from its first container, also of one that starts while no controller is there. */
import { DEADLINE_ANNOTATION, GROUP, GROUP_SIZE, WALLTIME } from '../../constructs/api/labels';
import { pods as podPath } from '../../runtime/kubernetes/paths';
import type { Pod } from '../../runtime/kubernetes/types';
import { PULLS, RUNS, UNTOUCHED } from '../fuzz/simulated-cluster';
import { SimulatedController } from '../fuzz/simulated-controller';

const WALLTIME_SECONDS = 120;
const PULL_SECONDS = 300;

describe('a Pod whose image is pulled for minutes', () => {
  let controller: SimulatedController;
  beforeEach(async () => {
    controller = new SimulatedController();
    await controller.start();
  });
  afterEach(() => controller.close());

  function create(name: string, more: { annotations?: object; labels?: object; spec?: object } = {}): void {
    controller.apiserver.create(podPath('science'), {
      metadata: {
        name,
        labels: more.labels ?? {},
        annotations: { [RUNS]: '9000', [PULLS]: `${PULL_SECONDS}`, ...more.annotations },
      },
      spec: {
        restartPolicy: 'Never',
        containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '1' } } }],
        activeDeadlineSeconds: WALLTIME_SECONDS,
        ...more.spec,
      },
      status: { phase: 'Pending' },
    });
  }
  const walltime = (more: object = {}) => ({
    annotations: { [WALLTIME]: `${WALLTIME_SECONDS}s`, ...more },
    spec: { activeDeadlineSeconds: undefined },
  });
  const get = (name: string) => controller.apiserver.store.get<Pod>('pods', `science/${name}`)!;
  const deadline = (name: string) => get(name).spec.activeDeadlineSeconds;
  const phase = (name: string) => get(name).status?.phase;
  const startOf = (name: string) =>
    Date.parse(get(name).status!.containerStatuses![0]!.state!.running!.startedAt!) / 1000;
  const until = (seconds: number) => controller.seconds(seconds - controller.now());
  /** The start of its first container. Unix seconds. */
  async function started(name: string): Promise<number> {
    await controller.seconds(PULL_SECONDS + 10);
    expect(phase(name)).toBe('Running');
    return startOf(name);
  }

  test('has its whole walltime, although no controller is there from its release to its end', async () => {
    create('probe', walltime());
    await controller.seconds(10);
    await controller.stop();
    const startedAt = await started('probe');
    await until(startedAt + WALLTIME_SECONDS + 600);
    expect(phase('probe')).toBe('Running');
    await controller.start();
    await controller.seconds(30);
    expect(get('probe').status).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
    expect(controller.row('probe')).toMatchObject({ phase: 'Finished', result: 'TimedOut', startedAt });
  });

  test('ends at its walltime, also without the controller if that was there when half of it was over', async () => {
    create('probe', walltime());
    const startedAt = await started('probe');
    expect(deadline('probe')).toBe(WALLTIME_SECONDS + 3_600);
    await until(startedAt + WALLTIME_SECONDS / 2 + 5);
    const row = controller.row('probe')!;
    expect(row).toMatchObject({ phase: 'Running', startedAt });
    expect(row.allocation!.end).toBe(startedAt + WALLTIME_SECONDS);
    await controller.stop();
    await until(startedAt + WALLTIME_SECONDS - 3);
    expect(phase('probe')).toBe('Running');
    await controller.seconds(10);
    expect(get('probe').status).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
  });

  test('has the walltime that it asked for, not that of its release, after the database was lost', async () => {
    const empty = controller.queue.backup();
    create('probe', { spec: { activeDeadlineSeconds: 7_200 }, annotations: { [WALLTIME]: '120s' } });
    create('asks', { spec: { activeDeadlineSeconds: 7_200 } });
    create('default', { spec: { activeDeadlineSeconds: undefined } });
    await controller.seconds(10);
    const before = ['probe', 'asks', 'default'].map((name) => controller.row(name)!.walltime);
    const written = deadline('probe');
    expect([written, before[1]]).toEqual([WALLTIME_SECONDS + 3_600, 7_200]);
    const startedAt = await started('probe');
    // From the exact deadline too.
    await until(startedAt + WALLTIME_SECONDS / 2 + 5);
    expect(deadline('probe')).toBeLessThan(written!);
    controller.queue.restore(empty);
    await controller.stop();
    await controller.start();
    await controller.seconds(10);
    const after = ['probe', 'asks', 'default'].map((name) => controller.row(name)!);
    expect(after.map((row) => row.walltime)).toEqual(before);
    expect(after[0]).toMatchObject({ phase: 'Running', startedAt });
    await until(startedAt + WALLTIME_SECONDS + 10);
    expect(controller.row('probe')).toMatchObject({ phase: 'Finished', result: 'TimedOut' });
  });

  test('has one end with the others of its group, which is that of its FluxJob', async () => {
    const settings = { labels: { [GROUP]: 'ring' }, ...walltime({ [GROUP_SIZE]: '3' }) };
    for (const [name, pulls] of [
      ['first', 100],
      ['second', 150],
      ['slow', 3_000],
    ] as const)
      create(name, { ...settings, annotations: { ...settings.annotations, [PULLS]: `${pulls}` } });
    await controller.seconds(140);
    const startedAt = startOf('first');
    const row = () => controller.row('ring')!;
    expect(row()).toMatchObject({ kind: 'PodGroup', phase: 'Running', startedAt });
    await until(startedAt + WALLTIME_SECONDS - 3);
    expect(row().allocation!.end).toBe(startedAt + WALLTIME_SECONDS);
    expect(['first', 'second', 'slow'].map(phase)).toEqual(['Running', 'Running', 'Pending']);
    await controller.seconds(10);
    for (const name of ['first', 'second', 'slow']) {
      expect(get(name).status).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
      expect(get(name).metadata.annotations?.[DEADLINE_ANNOTATION]).toMatch(/^[0-9]+\/none$/);
    }
    expect(row()).toMatchObject({ phase: 'Finished', result: 'TimedOut' });
  });

  test('that fails to start, and that nobody moves, holds its units no longer than before', async () => {
    create('typo', walltime({ [UNTOUCHED]: '' }));
    await controller.seconds(10);
    const pod = get('typo');
    const startTime = new Date(controller.now() * 1000).toISOString();
    const waiting = { reason: 'ImagePullBackOff', message: 'Back-off pulling image "none"' };
    controller.apiserver.store.put('pods', {
      ...pod,
      spec: { ...pod.spec, nodeName: 'node-0' },
      status: {
        phase: 'Pending',
        startTime,
        conditions: [{ type: 'PodScheduled', status: 'True' }],
        containerStatuses: [{ name: 'main', ready: false, restartCount: 0, state: { waiting } }],
      },
    });
    await controller.seconds(WALLTIME_SECONDS - 5);
    expect(deadline('typo')).toBe(WALLTIME_SECONDS + 3_600);
    await controller.seconds(10);
    expect(deadline('typo')).toBe(WALLTIME_SECONDS);
    expect(controller.row('typo')).toMatchObject({ phase: 'Ready', startedAt: null });
  });

  test('is not ended by a clock of the controller that is a month ahead', async () => {
    controller.drift = 30 * 86_400;
    create('probe', walltime());
    const startedAt = await started('probe');
    await until(startedAt + WALLTIME_SECONDS - 5);
    expect(phase('probe')).toBe('Running');
    controller.drift = 0;
    await until(startedAt + WALLTIME_SECONDS + 3_600);
    expect(phase('probe')).toBe('Failed');
  });
});
