/** Pods with a scheduling gate of another controller: they wait for it, and are not deleted meanwhile. */
import { jobs, pods } from '../../runtime/kubernetes/paths';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { RUNS } from '../fuzz/simulated-cluster';
import { SimulatedController } from '../fuzz/simulated-controller';

const STAGED = 'example.com/staged';
const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'set', controller: true };

describe('a scheduling gate of another controller', () => {
  let controller: SimulatedController;
  beforeEach(async () => {
    controller = new SimulatedController();
    await controller.start();
  });
  afterEach(() => controller.close());

  const podsNamed = (name: string) =>
    controller.apiserver.store.list<Pod>('pods').filter(({ metadata }) => metadata.name.startsWith(name));
  /** As its controller does. */
  const ungate = (pod: Pod) => {
    const schedulingGates = pod.spec.schedulingGates!.filter(({ name }) => name !== STAGED);
    controller.apiserver.store.put('pods', { ...pod, spec: { ...pod.spec, schedulingGates } });
  };

  test.each([
    ['of a ReplicaSet', [OWNER]],
    ['that is bare', []],
  ])('keeps a pod %s from a grant until it is gone', async (_, ownerReferences) => {
    const { uid } = controller.apiserver.create(pods('science'), {
      metadata: { name: 'web-0', ownerReferences, annotations: { [RUNS]: '5' } },
      spec: {
        restartPolicy: 'Never',
        schedulingGates: [{ name: STAGED }],
        containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '4' } } }],
      },
      status: { phase: 'Pending' },
    }).metadata;
    await controller.seconds(120);
    expect(podsNamed('web').map(({ metadata }) => metadata.uid)).toEqual([uid]);
    expect(controller.row('web-0')).toMatchObject({
      phase: 'Waiting',
      reason: 'SchedulingGated',
      message: `waiting for scheduling gate ${STAGED}`,
      allocation: null,
      requeues: 0,
    });
    ungate(podsNamed('web')[0]!);
    await controller.seconds(20);
    expect(controller.row('web-0')).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
  });

  /** Submits a Job whose pods have the gate of another controller. */
  function submitStaged(
    spec: Partial<Job['spec']> = {},
    labels: Readonly<Record<string, string>> = {},
    walltime = '600s',
  ): void {
    controller.apiserver.create(jobs('science'), {
      metadata: { name: 'staged', labels, annotations: { 'fluxqueue/walltime': walltime } },
      spec: {
        parallelism: 2,
        completions: 2,
        completionMode: 'Indexed',
        ...spec,
        template: {
          metadata: { annotations: { [RUNS]: '100' } },
          spec: {
            restartPolicy: 'Never',
            schedulingGates: [{ name: STAGED }],
            containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '4' } } }],
          },
        },
      },
    });
  }
  const uids = () => podsNamed('staged').map(({ metadata }) => metadata.uid);
  const ungateAll = () => podsNamed('staged').forEach(ungate);
  const WAITS = {
    phase: 'Waiting',
    reason: 'SchedulingGated',
    message: `waiting for scheduling gate ${STAGED}`,
    allocation: null,
    requeues: 0,
  };

  test.each<[string, Partial<Job['spec']>]>([
    ['an index Job', {}],
    ['a Job without indexes', { completionMode: 'NonIndexed' }],
    ['an array', { parallelism: 1, completions: 2 }],
    ['a Job with a short deadline of its own', { activeDeadlineSeconds: 300 }],
  ])('keeps %s from a grant until it is gone, and its pods from their end', async (_, spec) => {
    submitStaged(spec);
    await controller.seconds(60);
    const first = uids();
    expect(first).toHaveLength(spec.parallelism ?? 2);
    // Longer than the walltime, the deadline, and the time that pods of a grant may take to start.
    await controller.seconds(3_000);
    expect(controller.row('staged')).toMatchObject(WAITS);
    expect(uids()).toEqual(first);
    const gatedUntil = controller.now();
    ungateAll();
    await controller.seconds(20);
    expect(controller.row('staged')).toMatchObject({ phase: 'Running', requeues: 0 });
    expect(uids()).toEqual(first);
    const { spec: started, status } = controller.job('staged');
    const end = Date.parse(status!.startTime!) / 1000 + started.activeDeadlineSeconds!;
    const left = end - gatedUntil;
    const { activeDeadlineSeconds: granted = 600 + 3_600 } = spec;
    expect(left).toBeGreaterThanOrEqual(granted);
    expect(left).toBeLessThan(granted + 20);
    for (let i = 0; i < 3; i++) {
      await controller.seconds(110);
      ungateAll();
    }
    expect(controller.row('staged')).toMatchObject({ phase: 'Finished', result: 'Succeeded', requeues: 0 });
  });

  test('lets others use the nodes meanwhile', async () => {
    submitStaged();
    await controller.seconds(30);
    controller.submit('other', { pods: 2, runs: 30 });
    await controller.seconds(60);
    expect(controller.row('other')).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
    expect(controller.row('staged')).toMatchObject(WAITS);
  });

  test('waits in line with its pods once the gate is gone', async () => {
    submitStaged();
    await controller.seconds(30);
    controller.submit('other', { pods: 2, runs: 500 });
    await controller.seconds(30);
    const first = uids();
    ungateAll();
    await controller.seconds(300);
    expect(controller.row('staged')).toMatchObject({ phase: 'Waiting', reason: 'Reserved' });
    expect(uids()).toEqual(first);
    await controller.seconds(230);
    expect(controller.row('staged')).toMatchObject({ phase: 'Running', requeues: 0 });
    expect(uids()).toEqual(first);
  });

  test('keeps a workload whose gate one pod has left, and starts it as a whole', async () => {
    submitStaged({}, { 'fluxqueue/gang-size': '2' });
    await controller.seconds(30);
    ungate(podsNamed('staged')[0]!);
    await controller.seconds(900);
    expect(controller.row('staged')).toMatchObject(WAITS);
    ungate(podsNamed('staged')[1]!);
    await controller.seconds(20);
    const row = controller.row('staged')!;
    expect(row).toMatchObject({ phase: 'Running' });
    expect(row.allocation!.nodes).toHaveLength(2);
  });

  test('has no part in a Job whose template lost it before its pods were made', async () => {
    submitStaged({}, { 'fluxqueue/hold': 'true' });
    await controller.seconds(30);
    expect(controller.row('staged')).toMatchObject({ reason: 'Held' });
    expect(uids()).toEqual([]);
    const job = controller.job('staged');
    const { schedulingGates: _, ...spec } = job.spec.template.spec;
    const template = { ...job.spec.template, spec };
    controller.apiserver.store.put('jobs', { ...job, spec: { ...job.spec, template } });
    controller.label('staged', { 'fluxqueue/hold': 'false' });
    await controller.seconds(20);
    expect(controller.row('staged')).toMatchObject({ phase: 'Running' });
    expect(controller.job('staged').spec.activeDeadlineSeconds).toBe(600 + 3_600);
  });

  test('makes no pods of a Job that waits for another', async () => {
    controller.submit('other', { runs: 60 });
    submitStaged({}, { 'fluxqueue/after': 'other' });
    await controller.seconds(30);
    expect(uids()).toEqual([]);
    expect(controller.row('staged')).toMatchObject({ reason: 'DependencyPending' });
    await controller.seconds(60);
    expect(uids()).toHaveLength(2);
    expect(controller.row('staged')).toMatchObject(WAITS);
  });

  test('is waited for by a Job that was suspended meanwhile', async () => {
    submitStaged();
    await controller.seconds(30);
    const job = controller.job('staged');
    controller.apiserver.store.put('jobs', { ...job, spec: { ...job.spec, suspend: true } });
    controller.label('staged', { 'fluxqueue/hold': 'true' });
    await controller.seconds(60);
    expect(uids()).toEqual([]);
    expect(controller.row('staged')).toMatchObject({ phase: 'Waiting', reason: 'Held', requeues: 0 });
    controller.label('staged', { 'fluxqueue/hold': 'false' });
    await controller.seconds(60);
    expect(uids()).toHaveLength(2);
    ungateAll();
    await controller.seconds(20);
    expect(controller.row('staged')).toMatchObject({ phase: 'Running' });
  });

  test('leaves nothing of a Job that was deleted meanwhile', async () => {
    submitStaged();
    await controller.seconds(30);
    controller.delete('staged');
    await controller.seconds(30);
    expect(uids()).toEqual([]);
    expect(controller.row('staged')).toMatchObject({ phase: 'Finished', result: 'Cancelled' });
    expect(await controller.held()).toEqual([]);
  });

  test('is waited for by the next controller, too', async () => {
    submitStaged();
    await controller.seconds(60);
    const first = uids();
    await controller.stop();
    await controller.start();
    await controller.seconds(900);
    expect(controller.row('staged')).toMatchObject(WAITS);
    ungateAll();
    await controller.stop();
    await controller.start();
    await controller.seconds(20);
    expect(controller.row('staged')).toMatchObject({ phase: 'Running' });
    expect(uids()).toEqual(first);
    expect(await controller.repairs()).toEqual({});
  });

  test('is waited for anew after a requeue, and the walltime is whole again', async () => {
    submitStaged({ activeDeadlineSeconds: 500 }, { 'fluxqueue/gang-size': '2' });
    await controller.seconds(1_000);
    ungateAll();
    await controller.seconds(20);
    const row = controller.row('staged')!;
    expect(row).toMatchObject({ phase: 'Running' });
    const lost = row.allocation!.nodes[0]!.name;
    controller.removeNode(lost);
    await controller.seconds(60);
    controller.addNode(lost);
    await controller.seconds(120);
    expect(controller.row('staged')).toMatchObject({ ...WAITS, requeues: 1, walltime: 600 });
    await controller.seconds(1_000);
    const gatedUntil = controller.now();
    ungateAll();
    await controller.seconds(20);
    expect(controller.row('staged')).toMatchObject({ phase: 'Running' });
    const { spec, status } = controller.job('staged');
    const end = Date.parse(status!.startTime!) / 1000 + spec.activeDeadlineSeconds!;
    expect(end - gatedUntil).toBeGreaterThanOrEqual(500);
    await controller.seconds(120);
    expect(controller.row('staged')).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
  });

  test('holds the nodes of a pod that is made again for as long as pods may take to start, and counts as no failure', async () => {
    submitStaged({ parallelism: 1, completions: 2 }, {}, '5000s');
    await controller.seconds(30);
    ungateAll();
    // The second pod comes when the first one has ended.
    await controller.seconds(110);
    expect(controller.row('staged')).toMatchObject({ phase: 'Running', requeues: 0 });
    await controller.seconds(700);
    expect(controller.row('staged')).toMatchObject({ ...WAITS, requeues: 1, clusterRequeues: 1 });
    await controller.seconds(3_000);
    ungateAll();
    await controller.seconds(130);
    expect(controller.row('staged')).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
  });
});
