import type { UnitSettings } from '../../jobspec/units';
import type { WorkloadRow } from '../../queue/workload';
import type { Cluster } from './cluster';
import { type LeastUsage, leastUsage } from './usage';

/** Every pass asks for every waiting workload; the answer depends only on its shape and the nodes. */
const known = new WeakMap<Cluster, Map<string, LeastUsage>>();
const MOST_SHAPES = 10_000;

/** The least that rows can hold on the nodes of a cluster. */
export class LeastUsages {
  private readonly byShape: Map<string, LeastUsage>;

  constructor(
    private readonly cluster: Cluster,
    private readonly units: UnitSettings,
  ) {
    this.byShape = known.get(cluster) ?? new Map<string, LeastUsage>();
    known.set(cluster, this.byShape);
  }

  of(row: WorkloadRow): LeastUsage {
    const found = this.byShape.get(row.shape);
    if (found !== undefined) return found;
    const least = leastUsage(row, this.cluster.classesFor(row.jobspec), this.units);
    if (this.byShape.size >= MOST_SHAPES) this.byShape.clear();
    this.byShape.set(row.shape, least);
    return least;
  }
}
