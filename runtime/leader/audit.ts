/**
 * Compares the database with the apiserver and has every difference repaired: at the start of a term, whenever the
 * database connection was interrupted, and periodically. docs/recovery.md has the kinds of difference.
 */
import { TimeSlice } from '../clock';
import type { KubernetesObject } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { Shared } from '../shared/shared';
import { lostNodes, namesOf, type WorkloadAdapter } from '../workloads/adapter';
import { adapters } from '../workloads/index';
import type { SubmissionBuilder } from '../workloads/submission';
import { LostGrants } from './lost-grants';

type RepairKind =
  | 'adopted'
  | 'workload-gone'
  | 'workload-ended'
  | 'workload-edited'
  | 'workload-suspended'
  | 'release-unrecorded'
  | 'release-unfounded'
  | 'node-gone';

interface Difference {
  readonly kind: RepairKind;
  readonly row: WorkloadRow;
  /** Further fields for the log. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

type FoundDifference = Omit<Difference, 'row'> | undefined;

export class Audit {
  /** Differences that the last comparison found for the first time, by row and kind. */
  private suspected = new Set<string>();
  private readonly lostGrants: LostGrants;

  constructor(
    private readonly shared: Shared,
    private readonly submissionBuilder: Pick<SubmissionBuilder, 'changeOf' | 'submissionOf'>,
  ) {
    this.lostGrants = new LostGrants(shared, submissionBuilder);
  }

  /** Repairs every difference at once: at the start of a term nothing else was reconciling these rows. */
  async recover(): Promise<void> {
    const lost = await this.lostGrants.uids();
    for await (const difference of this.differences())
      if (!lost.has(difference.row.uid)) this.repair(difference);
    await this.adopt();
  }

  /**
   * Repairs the differences that the last comparison found too. One that is found for the first time may only show
   * that a watch lags behind.
   * @returns whether the next comparison should come soon, because differences were found for the first time
   */
  async compare(): Promise<boolean> {
    await this.adopt();
    const suspected = new Set<string>();
    for await (const difference of this.differences()) {
      const { row, kind } = difference;
      const key = `${row.uid}/${row.jobid}/${kind}`;
      if (this.suspected.has(key)) this.repair(difference);
      else suspected.add(key);
    }
    this.suspected = suspected;
    return suspected.size > 0;
  }

  /** The reconciler repairs the row: it only has to be enqueued. */
  private repair({ kind, row, detail }: Difference): void {
    const { logger, metrics, signals } = this.shared;
    const { uid, kind: workload, namespace, name, phase, jobid } = row;
    logger.warn(
      { repair: kind, workload, namespace, name, uid, phase, jobid, ...detail },
      'database and cluster state differ',
    );
    metrics.repairs.inc({ kind });
    signals.reconcileWorkload.emit(row);
  }

  /** Rows of running workloads that the database has lost are created again before anything else is granted. */
  private async adopt(): Promise<void> {
    for (const row of await this.lostGrants.adopt())
      this.repair({ kind: 'adopted', row, detail: { nodes: namesOf(row.allocation!.nodes) } });
  }

  /** A comparison of 10,000 rows takes a second, and must not keep the lease from being renewed. */
  private async *differences(): AsyncIterable<Difference> {
    const slice = new TimeSlice(this.shared.time.clock);
    for (const row of this.shared.workloadCache.active()) {
      if (slice.isOver) await slice.rest();
      if (this.shared.workloadCache.byUid(row.uid) !== row) continue;
      const difference = this.differenceOf(row);
      if (difference !== undefined) yield { row, ...difference };
    }
  }

  private differenceOf(row: WorkloadRow): FoundDifference {
    const { workloads, now } = this.shared;
    const object = workloads.get(row);
    if (object?.metadata.uid !== row.uid) return { kind: 'workload-gone' };
    const adapter = adapters.get(row.kind)!;
    const outcome = adapter.outcome(object, workloads.podsOf(row.uid), now());
    if (outcome !== undefined) return { kind: 'workload-ended', detail: { result: outcome.result } };
    return row.phase === 'Waiting'
      ? this.differenceOfWaiting(row, object, adapter)
      : this.differenceOfGranted(row, object, adapter);
  }

  private differenceOfWaiting(
    row: WorkloadRow,
    object: KubernetesObject,
    adapter: WorkloadAdapter,
  ): FoundDifference {
    if (object.metadata.deletionTimestamp !== undefined) return { kind: 'workload-gone' };
    if (!adapter.isSuspended(object) && row.reason === 'RequeueLimit' && !adapter.suspendable)
      return undefined;
    if (!adapter.isSuspended(object)) return { kind: 'release-unfounded' };
    const isEdited = this.submissionBuilder.changeOf(object, adapter, row) !== undefined;
    return isEdited ? { kind: 'workload-edited' } : undefined;
  }

  private differenceOfGranted(
    row: WorkloadRow,
    object: KubernetesObject,
    adapter: WorkloadAdapter,
  ): FoundDifference {
    const lost = lostNodes(row, (name) => this.shared.nodes.exists(name));
    if (lost.length > 0) return { kind: 'node-gone', detail: { nodes: lost } };
    const isReleased = !adapter.isSuspended(object);
    if (row.releasedAt === null && isReleased) return { kind: 'release-unrecorded' };
    return row.releasedAt !== null && !isReleased ? { kind: 'workload-suspended' } : undefined;
  }
}
