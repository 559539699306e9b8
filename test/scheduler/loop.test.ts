import { Writable } from 'node:stream';
import pino from 'pino';
import { embeddedFluxion } from '../../runtime/fluxion/matcher/engine';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { controllerMetrics, createRegistry } from '../../runtime/observability/metrics';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { FluxionSync } from '../../runtime/scheduler/fluxion-sync';
import { SchedulingLoop } from '../../runtime/scheduler/loop';
import { QueueModel } from '../fuzz/queue-model';
import { SimulatedClock } from '../fuzz/simulated-clock';
import { submission } from '../queue/submission';
import { queueSettings } from './pass/settings';

type Line = Readonly<Record<string, unknown>>;

/** A loop over tables in memory and one node of one core. */
async function start(level: 'debug' | 'info') {
  const clock = new SimulatedClock();
  const now = () => 1_700_000_000 + clock.now() / 1000;
  const lines: Line[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)) as Line);
      done();
    },
  });
  const logger = pino({ level, messageKey: 'message' }, stream);
  const queue = new QueueModel(now);
  const fence = await queue.acquireFence('leader-1');
  const workloadCache = new WorkloadCache(queue, fence, { now });
  const nodes = new Map([['n0', { name: 'n0', units: { core: 1 } }]]);
  const unmanaged = new Map<string, Readonly<Record<string, number>>>();
  const granted: string[] = [];
  const graph = new FluxionSync({
    fluxion: embeddedFluxion(),
    policy: 'lonode',
    fence,
    logger,
    onRebuild: () => undefined,
  });
  const loop = new SchedulingLoop({
    workloadCache,
    graph,
    nodes: () => nodes,
    unmanaged: () => unmanaged,
    units: DEFAULT_UNITS,
    queueSettings: () => queueSettings(),
    queues: () => [queueSettings()],
    fairUsage: () => undefined,
    onGranted: ({ uid }: WorkloadRow) => granted.push(uid),
    onEvictionRequested: () => undefined,
    audit: async () => false,
    onFluxionDiffers: () => undefined,
    auditMs: 3_600_000,
    onReloaded: () => undefined,
    onFenced: () => undefined,
    logger,
    metrics: controllerMetrics(createRegistry()),
    clock,
    now,
  });
  loop.start();
  return { clock, lines, workloadCache, granted, loop };
}

const decisions = (lines: readonly Line[]) =>
  lines
    .filter(({ message }) => `${message}`.startsWith('decided'))
    .map(({ time: _, pid: __, hostname: ___, level: ____, ...line }) => line);

test('logs each decision once, with workload, queue and job id', async () => {
  const { clock, lines, workloadCache, granted, loop } = await start('debug');
  await clock.advance(1_000);
  for (const uid of ['a', 'b']) await workloadCache.submit(submission(uid));
  loop.trigger();
  await clock.advance(40_000);
  expect(granted).toEqual(['a']);
  expect(decisions(lines)).toEqual([
    {
      message: 'decided to start the workload',
      pass: 2,
      workload: 'Job/science/job-a',
      queue: 'default',
      jobid: 1,
      nodes: ['n0'],
      end: 1_700_000_061,
    },
    {
      message: 'decided that the workload waits',
      pass: 2,
      workload: 'Job/science/job-b',
      queue: 'default',
      jobid: 2,
      reason: 'Reserved',
      why: 'nodes are reserved for it',
      estimatedStart: 1_700_000_061,
    },
  ]);
  await loop.stop();
});

test('logs the number of each pass and how long its phases took', async () => {
  const { clock, lines, loop } = await start('debug');
  await clock.advance(40_000);
  const passes = lines.filter(({ message }) => message === 'pass done');
  expect(passes.map(({ pass }) => pass)).toEqual([1, 2]);
  expect(Object.keys(passes[0]!.milliseconds as object)).toEqual([
    'audit',
    'sync',
    'snapshot',
    'order',
    'match',
    'commit',
  ]);
  await loop.stop();
});

test('logs nothing at info level while nothing happens', async () => {
  const { clock, lines, loop } = await start('info');
  await clock.advance(1_000);
  expect(lines.map(({ message }) => message)).toEqual(['graph rebuilt']);
  await clock.advance(300_000);
  expect(lines).toHaveLength(1);
  await loop.stop();
});
