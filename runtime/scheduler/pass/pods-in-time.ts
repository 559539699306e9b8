/** The pods that are on the nodes at some time: outside the queue, running, granted or reserved. */
import { hasPlacementRules, podSetsOf } from '../../jobspec/pod-sets';
import type { WorkloadRow } from '../../queue/workload';
import type { Allocation } from '../../resources/types';
import type { Occupancy } from './occupancy';
import { type PlacedPods, podsOfJob, type Span, type Surroundings } from './placed-pods';

/** What has to be known of the jobs in Fluxion's state. */
export interface PlannerJobs {
  /** Undefined: the job stands for pods outside the queue. */
  rowOf(jobid: number): WorkloadRow | undefined;
  /** Its allocation as it was granted or reserved: what Fluxion's state does not say of it is which pod set has which units. */
  allocationOf(jobid: number): Allocation | undefined;
  /** Whether it runs or starts in this pass; else it has a reservation. */
  hasStarted(row: WorkloadRow): boolean;
}

export class PodsInTime {
  private unmanaged: readonly PlacedPods[] | undefined;
  private readonly known = new Map<number, readonly PlacedPods[]>();

  constructor(
    private readonly occupancy: Pick<Occupancy, 'jobs'>,
    private readonly now: number,
    private readonly surroundings: Surroundings,
    private readonly jobs: PlannerJobs,
  ) {}

  /** The job is gone, or holds something else. */
  forget(jobid: number): void {
    this.known.delete(jobid);
  }

  /**
   * The pods of all but one job in this span.
   * @param near nodes of which all pods count; of jobs elsewhere only those with rules do. @default - all nodes
   */
  ofOthers({ start, end }: Span, jobid: number, near?: ReadonlySet<string>): readonly PlacedPods[] {
    this.unmanaged ??= this.surroundings.unmanaged();
    const others = [...this.unmanaged];
    for (const job of this.occupancy.jobs.values()) {
      // The pods of a job past its end are still there.
      if (job.jobid === jobid || job.start >= end || Math.max(job.end, this.now + 1) <= start) continue;
      if (near === undefined || job.nodes.some(({ name }) => near.has(name)) || this.hasRules(job))
        others.push(...this.podsOf(job));
    }
    return others;
  }

  private hasRules({ jobid }: Allocation): boolean {
    const row = this.jobs.rowOf(jobid);
    return row !== undefined && hasPlacementRules(row.jobspec);
  }

  private podsOf(job: Allocation): readonly PlacedPods[] {
    const row = this.jobs.rowOf(job.jobid);
    const pods = this.known.get(job.jobid) ?? (row === undefined ? [] : this.podsOfRow(row, job));
    this.known.set(job.jobid, pods);
    return pods;
  }

  private podsOfRow(row: WorkloadRow, job: Allocation): readonly PlacedPods[] {
    const isOfSets = podSetsOf(row.jobspec) !== undefined;
    const { nodes } = (isOfSets ? this.jobs.allocationOf(job.jobid) : undefined) ?? job;
    const pods = podsOfJob(row, { ...job, nodes }, this.surroundings);
    return this.jobs.hasStarted(row) ? pods : pods.map((one) => ({ ...one, planned: true }));
  }
}
