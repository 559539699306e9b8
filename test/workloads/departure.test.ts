/**
 * Workloads of a namespace that has left the queue, while Kubernetes refuses to hand them back. test/stack/leaving.test.ts
 * has the same without refusals, on a real control plane.
 */
import pino from 'pino';
import { ASSIGNMENT_ANNOTATION, HOLD, JOBID_ANNOTATION, NAMESPACE_LABEL } from '../../constructs/api/labels';
import { pods } from '../../runtime/kubernetes/paths';
import type { KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import { SimulatedController } from '../fuzz/simulated-controller';

function labelNamespace({ apiserver: { store } }: SimulatedController, value: string): void {
  const namespace = store.get<KubernetesObject>('namespaces', 'science')!;
  const metadata = { ...namespace.metadata, labels: { [NAMESPACE_LABEL]: value } };
  store.put('namespaces', { ...namespace, metadata });
}

/** As its user does, with the Job `running`. */
function suspend(controller: SimulatedController, value: boolean): void {
  const job = controller.job('running');
  controller.apiserver.store.put('jobs', { ...job, spec: { ...job.spec, suspend: value } });
}

describe('a namespace that left the queue, of which Kubernetes takes nothing back', () => {
  let passes = 0;
  const write = (line: string) => {
    if ((JSON.parse(line) as { message: string }).message === 'pass done') passes += 1;
  };
  let controller: SimulatedController;

  beforeEach(async () => {
    controller = new SimulatedController(pino({ level: 'debug', messageKey: 'message' }, { write }));
    await controller.start();
  });
  afterEach(() => controller.close());

  function refuse(resource = 'jobs'): void {
    controller.apiserver.policy = (verb, of) =>
      verb === 'patch' && of === resource ? 'change freeze' : undefined;
  }
  function allow(): void {
    controller.apiserver.policy = () => undefined;
  }
  const relabel = (value: string) => labelNamespace(controller, value);
  const lone = () =>
    controller.apiserver.create(pods('science'), {
      metadata: { name: 'lone' },
      spec: { containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '1' } } }] },
      status: { phase: 'Pending' },
    });
  const grantsOf = (name: string) =>
    controller.queue.events.filter(
      ({ event, uid }) => event === 'Allocated' && uid === controller.job(name).metadata.uid,
    );

  test('what waits is not granted, however much is free, and starts no pass after the other', async () => {
    controller.submit('first', { pods: 2, runs: 20 });
    await controller.seconds(3);
    controller.submit('waiting');
    await controller.seconds(2);
    expect(controller.row('waiting')).toMatchObject({ phase: 'Waiting' });
    refuse();
    relabel('false');
    await controller.seconds(30);
    expect(controller.row('first')).toMatchObject({ phase: 'Finished' });
    expect(controller.row('waiting')).toMatchObject({
      phase: 'Waiting',
      reason: 'NamespaceLeft',
      message: 'its namespace left the queue: it waits until Kubernetes takes it back',
    });
    const before = passes;
    await controller.seconds(60);
    expect(controller.apiserver.store.list('events')).toContainEqual(
      expect.objectContaining({ reason: 'NotHandedBack', note: expect.stringContaining('change freeze') }),
    );
    expect(passes - before).toBeLessThan(10);
    expect(grantsOf('waiting')).toEqual([]);
    allow();
    await controller.seconds(70);
    expect(controller.row('waiting')).toMatchObject({ phase: 'Finished', result: 'Cancelled' });
    expect(controller.job('waiting').spec.suspend).toBe(false);
  });

  test('a pod that waits is not granted either', async () => {
    controller.submit('first', { pods: 2, runs: 20 });
    await controller.seconds(3);
    lone();
    await controller.seconds(2);
    refuse('pods');
    relabel('false');
    await controller.seconds(40);
    expect(controller.row('lone')).toMatchObject({ phase: 'Waiting', allocation: null });
  });

  test('what waits keeps its place when the label is back within ten seconds', async () => {
    controller.submit('first', { pods: 2, runs: 60 });
    await controller.seconds(3);
    controller.submit('waiting');
    await controller.seconds(2);
    for (let i = 0; i < 3; i++) {
      relabel('false');
      await controller.seconds(6);
      relabel('true');
      await controller.seconds(2);
    }
    expect(controller.job('waiting').spec.suspend).toBe(true);
    await controller.seconds(60);
    expect(controller.row('waiting')).toMatchObject({ phase: 'Running', requeues: 0 });
  });

  test('what was granted and not released gives its nodes back', async () => {
    refuse();
    controller.submit('granted');
    await controller.seconds(3);
    expect(controller.row('granted')).toMatchObject({ phase: 'Ready', releasedAt: null });
    relabel('false');
    await controller.seconds(20);
    expect(controller.row('granted')).toMatchObject({ phase: 'Waiting', allocation: null, requeues: 0 });
    expect(await controller.held()).toEqual([]);
    allow();
    await controller.seconds(10);
    expect(controller.job('granted').spec.suspend).toBe(false);
  });

  test('a pod that was granted and not released gives its node back', async () => {
    refuse('pods');
    lone();
    await controller.seconds(3);
    expect(controller.row('lone')).toMatchObject({ phase: 'Ready', releasedAt: null });
    relabel('false');
    await controller.seconds(15);
    expect(controller.row('lone')).toMatchObject({ phase: 'Waiting', allocation: null });
    expect(await controller.held()).toEqual([]);
    allow();
    await controller.seconds(70);
    expect(controller.row('lone')).toMatchObject({ phase: 'Finished', result: 'Cancelled' });
  });

  test('what ran and was suspended by its user gives its nodes back', async () => {
    controller.submit('running', { runs: 600 });
    await controller.seconds(5);
    relabel('false');
    await controller.seconds(2);
    refuse();
    // Admission holds what its user suspends.
    controller.label('running', { [HOLD]: 'true' });
    suspend(controller, true);
    await controller.seconds(15);
    expect(controller.row('running')).toMatchObject({ phase: 'Waiting', reason: 'Held', allocation: null });
    expect(await controller.held()).toEqual([]);
    allow();
    await controller.seconds(70);
    expect(controller.job('running').spec.suspend).toBe(true);
  });

  test('what comes back to the queue before it was taken back is granted again', async () => {
    controller.submit('first', { pods: 2, runs: 10 });
    await controller.seconds(3);
    controller.submit('waiting', { runs: 10 });
    refuse();
    relabel('false');
    await controller.seconds(30);
    allow();
    relabel('true');
    await controller.seconds(30);
    expect(controller.row('waiting')).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
  });
});

describe('a running Job that its user suspends after its namespace left the queue', () => {
  let controller: SimulatedController;
  beforeEach(async () => {
    controller = new SimulatedController();
    await controller.start();
    controller.submit('running', { runs: 600 });
    await controller.seconds(5);
    expect(controller.row('running')).toMatchObject({ phase: 'Running' });
  });
  afterEach(() => controller.close());

  test('keeps nothing of its grant, by which its pods would be pinned once its namespace comes back', async () => {
    labelNamespace(controller, 'false');
    await controller.seconds(2);
    suspend(controller, true);
    await controller.seconds(10);
    const annotations = controller.job('running').spec.template.metadata?.annotations ?? {};
    expect(annotations).not.toHaveProperty([ASSIGNMENT_ANNOTATION]);
    expect(annotations).not.toHaveProperty([JOBID_ANNOTATION]);
    expect(controller.row('running')).toMatchObject({ phase: 'Finished', result: 'Cancelled' });
    labelNamespace(controller, 'true');
    suspend(controller, false);
    await controller.seconds(5);
    // Its pod is one like any other of the namespace: it has a grant of its own.
    const own = controller.apiserver.store
      .list<Pod>('pods')
      .filter(({ metadata }) => metadata.name.startsWith('running'));
    expect(own.map(({ metadata }) => metadata.annotations?.[ASSIGNMENT_ANNOTATION])).toEqual([undefined]);
    expect(controller.row(own[0]!.metadata.name)).toMatchObject({
      kind: 'Pod',
      allocation: expect.anything(),
    });
  });
});
