/** What is in each queue: how many workloads in which phase, and what they hold. Pure. */
import type { UnitSettings } from '../jobspec/units';
import type { Quota, WorkloadRow } from '../queue/types';
import { unitCounts } from '../scheduling/usage';

export interface Tally {
  readonly waiting: number;
  readonly ready: number;
  readonly running: number;
  readonly usage: Required<Quota>;
}

export const EMPTY: Tally = {
  waiting: 0,
  ready: 0,
  running: 0,
  usage: { jobs: 0, pods: 0, cores: 0, memoryGiB: 0, gpus: 0, nodes: 0 },
};

/** By queue. What was granted is used, also before its pods are there: it can't be given to another. */
export function tallies(rows: Iterable<WorkloadRow>, units: UnitSettings): ReadonlyMap<string, Tally> {
  const counts = new Map<string, Count>();
  for (const row of rows) {
    const count = counts.get(row.queue) ?? new Count();
    counts.set(row.queue, count);
    count.add(row);
  }
  return new Map([...counts].map(([queue, count]) => [queue, count.tally(units)]));
}

class Count {
  private waiting = 0;
  private ready = 0;
  private running = 0;
  private pods = 0;
  private readonly held = { core: 0, memory: 0, gpu: 0 };
  private readonly nodes = new Set<string>();

  add(row: WorkloadRow): void {
    if (row.allocation === null) {
      this.waiting++;
      return;
    }
    if (row.phase === 'Running') this.running++;
    else this.ready++;
    this.pods += row.pods;
    for (const { name } of row.allocation.nodes) this.nodes.add(name);
    const counts = unitCounts(row.allocation);
    for (const type of ['core', 'memory', 'gpu'] as const) this.held[type] += counts[type] ?? 0;
  }

  tally({ cpuMillis, memoryMiB }: UnitSettings): Tally {
    const { waiting, ready, running, pods, held, nodes } = this;
    return {
      waiting,
      ready,
      running,
      usage: {
        jobs: ready + running,
        pods,
        cores: (held.core * cpuMillis) / 1000,
        memoryGiB: (held.memory * memoryMiB) / 1024,
        gpus: held.gpu,
        nodes: nodes.size,
      },
    };
  }
}
