/** Gauges of the queue and the cluster. They are set again and again while this replica leads, and have no value otherwise. */
import { countQueues } from '../fluxsetups/queue-counts';
import type { Quota } from '../queue/settings';
import { type WorkloadRow, waitReasonOf } from '../queue/workload';
import type { UnitCounts } from '../resources/types';
import type { Controller, Shared } from '../shared/shared';
import { isLingering } from '../workloads/lingering';

/** Milliseconds. Every workload is looked at, which takes about 1 ms per 10,000. */
const PERIOD_MS = 15_000;
/** Each has a series of its own. */
const MOST_LINGERING = 20;
const PHASES = ['Waiting', 'Ready', 'Running'] as const;
const MIB = 2 ** 20;
const GIB = 2 ** 30;

/** As kube-state-metrics names resources. */
const UNITS = { cpu: 'core', memory: 'byte', gpu: 'integer' } as const;
type Resource = keyof typeof UNITS;
type Amounts = Readonly<Record<Resource, number>>;
const RESOURCES = Object.entries(UNITS) as readonly (readonly [Resource, string])[];

export class Measurements implements Controller {
  private cancel = () => {};

  constructor(
    private readonly shared: Pick<
      Shared,
      'config' | 'metrics' | 'nodes' | 'now' | 'time' | 'workloadCache' | 'workloads'
    >,
    /** Units that pods outside the queue use, by node. */
    private readonly unmanaged: () => ReadonlyMap<string, UnitCounts>,
  ) {}

  start(): void {
    this.measure();
    this.cancel = this.shared.time.clock.after(PERIOD_MS, () => this.start());
  }

  async stop(): Promise<void> {
    this.cancel();
    this.reset();
    this.shared.metrics.workloads.reset();
    this.shared.metrics.reservations.reset();
  }

  private measure(): void {
    this.reset();
    const { metrics, workloadCache } = this.shared;
    for (const phase of PHASES) metrics.workloads.set({ phase }, workloadCache.count(phase));
    this.measureWaiting();
    this.measureResources();
    this.measureLingering();
  }

  private measureWaiting(): void {
    const { metrics, workloadCache, now } = this.shared;
    const queues = new Map<string, WaitingIn>();
    for (const row of workloadCache.active()) if (row.phase === 'Waiting') addTo(queues, row);
    for (const [queue, { oldest, reasons }] of queues) {
      metrics.oldestWait.set({ queue }, Math.max(0, now() - oldest));
      for (const [reason, count] of reasons) metrics.waiting.set({ queue, reason }, count);
    }
  }

  private measureLingering(): void {
    const { metrics, workloadCache, workloads, now } = this.shared;
    const seconds = now();
    let found = 0;
    for (const row of workloadCache.active()) {
      if (row.allocation === null) continue;
      for (const pod of workloads.podsOf(row)) {
        if (!isLingering(pod, seconds)) continue;
        const { namespace = '', name } = pod.metadata;
        metrics.lingeringPods.set({ pod_namespace: namespace, pod_name: name, node: pod.spec.nodeName! }, 1);
        found += 1;
        if (found === MOST_LINGERING) return;
      }
    }
  }

  private measureResources(): void {
    const { metrics, workloadCache, nodes, config } = this.shared;
    const granted = { cpu: 0, memory: 0, gpu: 0 };
    for (const [queue, { usage }] of countQueues(workloadCache.active(), config.units)) {
      const amounts = amountsOf(usage);
      for (const [resource, unit] of RESOURCES) {
        metrics.held.set({ queue, resource, unit }, amounts[resource]);
        granted[resource] += amounts[resource];
      }
    }
    const all = [...nodes.graphNodes().values()].map(({ units }) => units);
    this.setResource('allocatable', this.sum(all));
    this.setResource('granted', granted);
    this.setResource('outside', this.sum(this.unmanaged().values()));
  }

  private setResource(state: string, amounts: Amounts): void {
    for (const [resource, unit] of RESOURCES)
      this.shared.metrics.resource.set({ resource, unit, state }, amounts[resource]);
  }

  private sum(counts: Iterable<UnitCounts>): Amounts {
    const { cpuMillis, memoryMiB } = this.shared.config.units;
    let [core, memory, gpu] = [0, 0, 0];
    for (const units of counts) {
      core += units.core ?? 0;
      memory += units.memory ?? 0;
      gpu += units.gpu ?? 0;
    }
    return { cpu: (core * cpuMillis) / 1000, memory: memory * memoryMiB * MIB, gpu };
  }

  /** Queues and reasons that are gone must not keep their last value. */
  private reset(): void {
    const { waiting, oldestWait, held, resource, lingeringPods } = this.shared.metrics;
    for (const gauge of [waiting, oldestWait, held, resource, lingeringPods]) gauge.reset();
  }
}

interface WaitingIn {
  /** Unix seconds of the earliest submission. */
  oldest: number;
  /** Number of workloads by reason. */
  readonly reasons: Map<string, number>;
}

function addTo(queues: Map<string, WaitingIn>, row: WorkloadRow): void {
  const { queue, submittedAt } = row;
  const reason = waitReasonOf(row);
  const waiting = queues.get(queue) ?? { oldest: submittedAt, reasons: new Map<string, number>() };
  queues.set(queue, waiting);
  waiting.oldest = Math.min(waiting.oldest, submittedAt);
  waiting.reasons.set(reason, (waiting.reasons.get(reason) ?? 0) + 1);
}

function amountsOf({ cores = 0, memoryGiB = 0, gpus = 0 }: Quota): Amounts {
  return { cpu: cores, memory: memoryGiB * GIB, gpu: gpus };
}
