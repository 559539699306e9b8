/** A scheduling loop over tables in memory, with a simulated clock. */
import { Writable } from 'node:stream';
import pino from 'pino';
import { embeddedFluxion } from '../../runtime/fluxion/matcher/engine';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { controllerMetrics, createRegistry } from '../../runtime/observability/metrics';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import type { GraphNode } from '../../runtime/resources/types';
import { FluxionSync } from '../../runtime/scheduler/fluxion-sync';
import { SchedulingLoop } from '../../runtime/scheduler/loop';
import type { SchedulingLoopOptions } from '../../runtime/scheduler/loop-options';
import type { Surroundings } from '../../runtime/scheduler/pass/placed-pods';
import { QueueModel } from '../fuzz/queue-model';
import { SimulatedClock } from '../fuzz/simulated-clock';
import { queueSettings } from './pass/settings';

export type Line = Readonly<Record<string, unknown>>;

const NO_PODS: Surroundings = {
  unmanaged: () => [],
  repelling: () => [],
  unmanagedOn: () => 0,
  traitsOf: ({ namespace }) => ({ namespace, labels: {} }),
  amountsOf: () => ({}),
};

export const NODE: GraphNode = { name: 'n0', units: { core: 1 } };

function streamTo(lines: Line[]): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)) as Line);
      done();
    },
  });
}

/** A loop over tables in memory and one node of one core. */
export async function startLoop(
  level: 'debug' | 'info',
  onSnapshot = (_queue: QueueModel, _setNodes: (nodes: readonly GraphNode[]) => void) => {},
  over: Partial<SchedulingLoopOptions> = {},
) {
  const clock = new SimulatedClock();
  const now = () => 1_700_000_000 + clock.now() / 1000;
  const lines: Line[] = [];
  const logger = pino({ level, messageKey: 'message' }, streamTo(lines));
  const queue = new QueueModel(now);
  const fence = await queue.acquireFence('leader-1');
  const workloadCache = new WorkloadCache(queue, fence, { now });
  let nodes: ReadonlyMap<string, GraphNode> = new Map([['n0', NODE]]);
  const setNodes = (list: readonly GraphNode[]) => {
    nodes = new Map(list.map((node) => [node.name, node]));
  };
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
    surroundings: NO_PODS,
    unmanaged: () => {
      onSnapshot(queue, setNodes);
      return unmanaged;
    },
    surpluses: () => new Map(),
    units: DEFAULT_UNITS,
    queueSettings: () => queueSettings(),
    queues: () => [queueSettings()],
    problemOf: () => undefined,
    fairUsage: () => undefined,
    hasLeft: () => false,
    isUnlisted: () => false,
    mayGrant: () => true,
    onGranted: ({ uid }: WorkloadRow) => granted.push(uid),
    onEvictionRequested: () => undefined,
    onPending: () => undefined,
    audit: { compare: async () => false, confirm: async () => undefined },
    onFluxionDiffers: () => undefined,
    auditMs: 3_600_000,
    onReloaded: () => undefined,
    onFenced: () => undefined,
    logger,
    metrics: controllerMetrics(createRegistry()),
    clock,
    now,
    ...over,
  });
  loop.start();
  return { clock, lines, queue, workloadCache, granted, loop };
}
