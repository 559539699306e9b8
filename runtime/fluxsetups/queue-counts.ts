/** The number of workloads in each queue by phase, and the resources that they hold. Pure functions. */
import type { UnitSettings } from '../jobspec/units';
import type { Quota } from '../queue/settings';
import type { WorkloadRow } from '../queue/workload';
import type { Surplus } from '../resources/types';
import { DIMENSIONS, heldBy, inQuota, type Usage } from '../scheduler/pass/usage';

export interface QueueCounts {
  readonly waiting: number;
  readonly ready: number;
  readonly running: number;
  readonly usage: Required<Quota>;
}

export const EMPTY: QueueCounts = {
  waiting: 0,
  ready: 0,
  running: 0,
  usage: { jobs: 0, pods: 0, cores: 0, memoryGiB: 0, gpus: 0, nodes: 0 },
};

/** Counts by queue. A grant counts as used before its pods exist, because no other workload can have it. */
export function countQueues(
  rows: Iterable<WorkloadRow>,
  units: UnitSettings,
  surpluses: ReadonlyMap<string, Surplus> = new Map(),
): ReadonlyMap<string, QueueCounts> {
  const counters = new Map<string, Counter>();
  for (const row of rows) {
    const counter = counters.get(row.queue) ?? new Counter(units);
    counters.set(row.queue, counter);
    counter.add(row, surpluses.get(row.uid));
  }
  return new Map([...counters].map(([queue, counter]) => [queue, counter.counts()]));
}

class Counter {
  private waiting = 0;
  private ready = 0;
  private running = 0;
  private readonly held: Usage = new Float64Array(DIMENSIONS.length);
  private readonly nodes = new Set<string>();

  constructor(private readonly units: UnitSettings) {}

  add(row: WorkloadRow, surplus: Surplus | undefined): void {
    if (row.allocation === null) {
      this.waiting++;
      return;
    }
    if (row.phase === 'Running') this.running++;
    else this.ready++;
    for (const { name } of row.allocation.nodes) this.nodes.add(name);
    heldBy(row, row.allocation, this.units, surplus).forEach((amount, dimension) => {
      this.held[dimension]! += amount;
    });
  }

  counts(): QueueCounts {
    const { waiting, ready, running, held, nodes } = this;
    return { waiting, ready, running, usage: { ...inQuota(held), nodes: nodes.size } };
  }
}
