import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import {
  EventRecorder,
  type EventRecorderOptions,
  type ObjectReference,
} from '../../runtime/kubernetes/events';
import { events, jobs } from '../../runtime/kubernetes/paths';
import type { Job, KubernetesObject } from '../../runtime/kubernetes/types';
import type { Cluster } from '../cluster/cluster';
import { describeCluster } from '../cluster/suite';
import { everything, type FaultProxy, startFaultProxy } from './fault-proxy';
import { recordingLogger } from './recording-logger';

interface Event extends KubernetesObject {
  readonly note: string;
  readonly reason: string;
  readonly regarding: ObjectReference;
  readonly series?: { readonly count: number };
}

describeCluster('event recorder', tests);

function tests(getCluster: () => Cluster): void {
  let client: KubernetesClient;
  let proxy: FaultProxy;
  let recorder: EventRecorder;
  let outcomes: string[];
  let logger: ReturnType<typeof recordingLogger>;
  let count = 0;
  let about: ObjectReference;

  beforeEach(async () => {
    proxy = await startFaultProxy(getCluster());
    client = createClient({ kubeconfig: proxy.kubeconfig, random: () => 0 });
    count += 1;
    const { metadata } = await client.create<Job>(jobs('default'), {
      metadata: { name: `event-${count}` },
      spec: {
        suspend: true,
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] } },
      },
    });
    const { name, uid } = metadata;
    about = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'default', name, uid };
    outcomes = [];
    logger = recordingLogger();
    recorder = recorderWith({});
  });
  afterEach(async () => {
    client.close();
    await recorder.stop();
    await proxy.stop();
  });

  function recorderWith(options: Partial<EventRecorderOptions>): EventRecorder {
    return new EventRecorder({
      client,
      component: 'fluxqueue-controller',
      instance: 'replica-1',
      logger,
      onEvent: (outcome) => outcomes.push(outcome),
      ...options,
    });
  }

  const stored = async () => {
    const { items } = await client.list<Event>(events('default'));
    return items.filter(({ regarding }) => regarding.uid === about.uid && regarding.kind === 'Job');
  };
  const recorded = async () => (await stored()).filter(({ reason }) => reason !== 'Suspended');
  const scheduled = { type: 'Normal', reason: 'Scheduled', message: '1 pod on node-3 after 12 s' } as const;

  test('creates the Event that kubectl describe shows', async () => {
    recorder.record(about, scheduled);
    recorder.record(about, {
      type: 'Warning',
      reason: 'Unsatisfiable',
      message: 'asks for 5 nodes with 8 nvidia.com/gpu, the cluster has 3',
    });
    await recorder.flushed();
    const { stdout } = await getCluster().kubectl(['describe', 'job', about.name]);
    expect(stdout).toMatch(/Normal +Scheduled +\S+ +fluxqueue-controller +1 pod on node-3 after 12 s/);
    expect(stdout).toMatch(
      /Warning +Unsatisfiable .*asks for 5 nodes with 8 nvidia.com\/gpu, the cluster has 3/,
    );
    expect(outcomes).toEqual(['sent', 'sent']);
  });

  test('counts a repeated Event and creates a different one', async () => {
    recorder.record(about, scheduled);
    await recorder.flushed();
    recorder.record(about, scheduled);
    recorder.record(about, scheduled);
    recorder.record(about, { ...scheduled, message: '1 pod on node-4 after 13 s' });
    await recorder.flushed();
    const seen = (await recorded()).map(({ note, series }) => [note, series?.count]);
    expect(seen.sort()).toEqual([
      ['1 pod on node-3 after 12 s', 3],
      ['1 pod on node-4 after 13 s', undefined],
    ]);
    const { stdout } = await getCluster().kubectl(['describe', 'job', about.name]);
    expect(stdout).toMatch(/\(x3 over .*node-3/);
  });

  test('creates an Event again that was deleted meanwhile', async () => {
    recorder.record(about, scheduled);
    await recorder.flushed();
    const [first] = await recorded();
    await client.delete(events('default', first!.metadata.name));
    recorder.record(about, scheduled);
    await recorder.flushed();
    expect((await recorded()).map(({ note }) => note)).toEqual([scheduled.message]);
  });

  test('drops the oldest Events while the apiserver is slow, without delaying callers', async () => {
    const lift = proxy.inject(everything, { kind: 'delay', milliseconds: 300 });
    recorder = recorderWith({ capacity: 3 });
    for (const name of ['1', '2', '3', '4', '5', '6'])
      recorder.record(about, { ...scheduled, message: name });
    expect(outcomes).toEqual(['dropped', 'dropped']);
    lift();
    await recorder.flushed();
    // The first one was in flight already.
    expect((await recorded()).map(({ note }) => note).sort()).toEqual(['1', '4', '5', '6']);
    expect(outcomes).toEqual(['dropped', 'dropped', 'sent', 'sent', 'sent', 'sent']);
  });

  test('drops an Event that the apiserver refuses and sends the next one', async () => {
    recorder.record({ ...about, namespace: 'nowhere' }, scheduled);
    recorder.record(about, scheduled);
    await recorder.flushed();
    expect(outcomes).toEqual(['dropped', 'sent']);
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { reason: 'Scheduled' } }]);
  });

  test('shortens names and messages to their limits', async () => {
    recorder.record(about, { ...scheduled, message: 'x'.repeat(5_000) });
    await recorder.flushed();
    expect((await recorded())[0]!.note).toHaveLength(1024);
  });

  test('drops waiting Events when it is stopped', async () => {
    proxy.inject(everything, { kind: 'delay', milliseconds: 100 });
    const { promise: first, resolve } = Promise.withResolvers<void>();
    proxy.onRequest = (open) => {
      if (open.some(({ method, path }) => method === 'POST' && path.includes('/events'))) resolve();
    };
    for (const message of ['1', '2', '3']) recorder.record(about, { ...scheduled, message });
    await first;
    await recorder.stop();
    expect(outcomes).toEqual(['dropped', 'dropped', 'sent']);
    recorder.record(about, scheduled);
    expect(outcomes).toHaveLength(3);
  });
}
