import { Registry } from 'prom-client';
import { parseConfig } from '../../runtime/config';
import type { Pod } from '../../runtime/kubernetes/types';
import { Measurements } from '../../runtime/leader/measurements';
import { controllerMetrics } from '../../runtime/observability/metrics';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { SimulatedClock } from '../fuzz/simulated-clock';
import { rowIn } from '../queue/rows';

const GIB = 2 ** 30;

function setUp(rows: WorkloadRow[], pods: readonly Pod[] = []) {
  const clock = new SimulatedClock();
  const metrics = controllerMetrics(new Registry());
  const graphNodes = new Map([['node-1', { name: 'node-1', units: { core: 80, memory: 512, gpu: 2 } }]]);
  const measurements = new Measurements(
    {
      config: parseConfig({}),
      metrics,
      nodes: { graphNodes: () => graphNodes },
      now: () => 1_000,
      time: { clock, random: () => 0, wall: () => 0 },
      workloads: { podsOf: () => pods },
      workloadCache: {
        active: () => rows,
        count: (phase: string) => rows.filter((row) => row.phase === phase).length,
      },
    } as unknown as ConstructorParameters<typeof Measurements>[0],
    () => new Map([['node-1', { core: 10, memory: 8 }]]),
  );
  const values = async (gauge: { get(): Promise<{ values: { value: number; labels: object }[] }> }) =>
    (await gauge.get()).values.map(({ value, labels }) => [...Object.values(labels), value].join(' ')).sort();
  return { clock, metrics, measurements, values };
}

test('counts what waits by queue and reason, and what is held', async () => {
  const rows = [
    rowIn('Waiting', { uid: 'a', queue: 'default', reason: 'Busy', submittedAt: 900 }),
    rowIn('Waiting', { uid: 'b', queue: 'default', reason: 'Busy', submittedAt: 950 }),
    rowIn('Waiting', { uid: 'c', queue: 'team/gpu', reason: null, submittedAt: 990 }),
    rowIn('Running', { uid: 'd', queue: 'default' }),
  ];
  const { clock, metrics, measurements, values } = setUp(rows);
  measurements.start();
  expect(await values(metrics.waiting)).toEqual(['default Busy 2', 'team/gpu Submitted 1']);
  expect(await values(metrics.oldestWait)).toEqual(['default 100', 'team/gpu 10']);
  expect(await values(metrics.workloads)).toEqual(['Ready 0', 'Running 1', 'Waiting 3']);
  const { units } = parseConfig({});
  const cores = (count: number) => (count * units.cpuMillis) / 1000;
  const bytes = (count: number) => (count * units.memoryMiB * GIB) / 1024;
  expect(await values(metrics.resource)).toEqual(
    expect.arrayContaining([
      `cpu core allocatable ${cores(80)}`,
      `cpu core outside ${cores(10)}`,
      `memory byte allocatable ${bytes(512)}`,
      `memory byte outside ${bytes(8)}`,
      'gpu integer allocatable 2',
      'gpu integer outside 0',
    ]),
  );
  expect(await values(metrics.held)).toContain(`default cpu core ${cores(1)}`);

  rows.splice(0, 3);
  await clock.advance(20_000);
  // A queue in which nothing waits has no oldest wait.
  expect(await values(metrics.oldestWait)).toEqual([]);
  expect(await values(metrics.waiting)).toEqual([]);

  await measurements.stop();
  expect(await values(metrics.workloads)).toEqual([]);
  expect(await values(metrics.held)).toEqual([]);
});

test('names the pods that hold units and do not end', async () => {
  const pod = (name: string, secondsAgo: number, grace = 30, own = grace): Pod => ({
    metadata: {
      name,
      namespace: 'science',
      uid: name,
      resourceVersion: '1',
      creationTimestamp: '',
      deletionTimestamp: new Date((1_000 - secondsAgo) * 1000).toISOString(),
      deletionGracePeriodSeconds: grace,
    },
    spec: { containers: [], nodeName: 'node-1', terminationGracePeriodSeconds: own },
    status: { phase: 'Running' },
  });
  const ended: Pod = { ...pod('ended', 900), status: { phase: 'Failed' } };
  const { metrics, measurements, values } = setUp(
    [rowIn('Running', { uid: 'a' })],
    [pod('late', 300), pod('soon', 299), pod('long', -3_601, 7_200, 30), pod('own', -3_601, 7_200), ended],
  );
  measurements.start();
  expect(await values(metrics.lingeringPods)).toEqual(['science late node-1 1', 'science long node-1 1']);
  await measurements.stop();
  expect(await values(metrics.lingeringPods)).toEqual([]);
});
