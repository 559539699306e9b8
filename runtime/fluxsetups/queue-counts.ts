/** What is in each queue: how many workloads in which phase, and what they hold. Pure. */
import type { UnitSettings } from '../jobspec/units';
import type { Quota } from '../queue/settings';
import type { WorkloadRow } from '../queue/workload';
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

/** By queue. What was granted is used, also before its pods are there: it can't be given to another. */
export function countQueues(
  rows: Iterable<WorkloadRow>,
  units: UnitSettings,
): ReadonlyMap<string, QueueCounts> {
  const counts = new Map<string, Count>();
  for (const row of rows) {
    const count = counts.get(row.queue) ?? new Count(units);
    counts.set(row.queue, count);
    count.add(row);
  }
  return new Map([...counts].map(([queue, count]) => [queue, count.counts()]));
}

class Count {
  private waiting = 0;
  private ready = 0;
  private running = 0;
  private readonly held: Usage = new Float64Array(DIMENSIONS.length);
  private readonly nodes = new Set<string>();

  constructor(private readonly units: UnitSettings) {}

  add(row: WorkloadRow): void {
    if (row.allocation === null) {
      this.waiting++;
      return;
    }
    if (row.phase === 'Running') this.running++;
    else this.ready++;
    for (const { name } of row.allocation.nodes) this.nodes.add(name);
    heldBy(row, row.allocation, this.units).forEach((amount, dimension) => {
      this.held[dimension]! += amount;
    });
  }

  counts(): QueueCounts {
    const { waiting, ready, running, held, nodes } = this;
    return { waiting, ready, running, usage: { ...inQuota(held), nodes: nodes.size } };
  }
}

export interface FinishedCount {
  readonly queue: string;
  readonly count: number;
}

export class Finished {
  private readonly counts = new Map<string, number>();

  /** @param before as the tables have it; what ends while they are read may be counted twice, once */
  start(before: readonly FinishedCount[]): void {
    this.counts.clear();
    for (const { queue, count } of before) this.counts.set(queue, count);
  }

  changed({ phase, queue }: WorkloadRow): void {
    if (phase === 'Finished') this.counts.set(queue, this.of(queue) + 1);
  }

  of(queue: string): number {
    return this.counts.get(queue) ?? 0;
  }
}
