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
import { LostEnds } from './lost-ends';
import { LostGrants } from './lost-grants';

type RepairKind =
  | 'adopted'
  | 'end-unrecorded'
  | 'workload-gone'
  | 'workload-ended'
  | 'workload-edited'
  | 'workload-suspended'
  | 'release-missing'
  | 'release-unrecorded'
  | 'release-unfounded'
  | 'node-gone';

interface Difference {
  readonly kind: RepairKind;
  readonly row: WorkloadRow;
  /** Further fields for the log. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** Whether the object of a waiting row asks for something else now. */
type IsEdited = (object: KubernetesObject, adapter: WorkloadAdapter, row: WorkloadRow) => boolean;

type FoundDifference = Omit<Difference, 'row'> | undefined;

/** Milliseconds. A grant is refused no longer because its workload differs from its row. */
const REFUSE_MS = 5_000;

export class Audit {
  /** Differences that the last comparison found for the first time, by row and kind -> uid of the row. */
  private suspected = new Map<string, string>();
  private readonly lostGrants: LostGrants;
  private readonly lostEnds: LostEnds;
  /** Whether a workload may have changed while nobody led, and was not compared with its row since. */
  private isRecovering = true;
  /** When a row was first found to differ before its grant, in milliseconds of the clock. */
  private readonly refusedSince = new WeakMap<WorkloadRow, number>();

  constructor(
    private readonly shared: Shared,
    private readonly submissionBuilder: Pick<SubmissionBuilder, 'changeOf' | 'submissionOf'>,
  ) {
    this.lostGrants = new LostGrants(shared, submissionBuilder);
    this.lostEnds = new LostEnds(shared, submissionBuilder);
    shared.signals.resync.subscribe(() => this.lostEnds.forget());
  }

  /**
   * Repairs differences at once: at the start of a term nothing else was reconciling these rows. To compare what every
   * waiting workload asks for takes a second per 10,000, so that is done before a grant, and with the first reconcile.
   */
  async recover(): Promise<void> {
    const lost = await this.lostGrants.uids();
    // What was granted last is released now.
    for await (const difference of this.differences(this.shared.workloadCache.active(), () => false))
      if (!lost.has(difference.row.uid) && difference.kind !== 'release-missing') this.repair(difference);
    if (lost.size > 0) await this.adopt();
  }

  /** Every workload was reconciled since the term began. */
  recovered(): void {
    this.isRecovering = false;
  }

  /**
   * Whether a grant for this waiting row may be committed. While the term recovers, a workload that differs from its row
   * is reconciled first. A difference that remains must not keep it waiting for ever.
   */
  mayGrant(row: WorkloadRow): boolean {
    const difference = this.isRecovering ? this.differenceOf(row) : undefined;
    if (difference === undefined) return true;
    const now = this.shared.time.clock.now();
    const since = this.refusedSince.get(row);
    this.refusedSince.set(row, since ?? now);
    if (since === undefined) this.repair({ row, ...difference });
    return since !== undefined && now - since >= REFUSE_MS;
  }

  /**
   * Compares everything. A difference that is found for the first time may only show that a watch lags behind.
   * @param isReloaded whether the rows were read again since the last time
   * @returns whether such ones were found, which {@link confirm} should look at soon
   */
  async compare(isReloaded: boolean): Promise<boolean> {
    if (isReloaded) this.lostEnds.forget();
    await this.adopt();
    for (const row of await this.lostEnds.adopt()) this.repair({ kind: 'end-unrecorded', row });
    const suspected = new Map<string, string>();
    for await (const difference of this.differences(this.shared.workloadCache.active()))
      if (!this.repairSuspected(difference)) suspected.set(keyOf(difference), difference.row.uid);
    this.suspected = suspected;
    return suspected.size > 0;
  }

  /** Repairs what the last comparison suspected, where it differs still. There are always some where many are submitted. */
  async confirm(): Promise<void> {
    const { workloadCache } = this.shared;
    const rows = [...new Set(this.suspected.values())].flatMap((uid) => workloadCache.byUid(uid) ?? []);
    for await (const difference of this.differences(rows)) this.repairSuspected(difference);
    this.suspected.clear();
  }

  private repairSuspected(difference: Difference): boolean {
    const isSuspected = this.suspected.has(keyOf(difference));
    if (isSuspected) this.repair(difference);
    return isSuspected;
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
  private async *differences(rows: Iterable<WorkloadRow>, isEdited?: IsEdited): AsyncIterable<Difference> {
    const slice = new TimeSlice(this.shared.time.clock);
    for (const row of rows) {
      if (slice.isOver) await slice.rest();
      if (this.shared.workloadCache.byUid(row.uid) !== row) continue;
      const difference = this.differenceOf(row, isEdited);
      if (difference !== undefined) yield { row, ...difference };
    }
  }

  private differenceOf(
    row: WorkloadRow,
    isEdited: IsEdited = (...workload) => this.submissionBuilder.changeOf(...workload) !== undefined,
  ): FoundDifference {
    const { workloads, now } = this.shared;
    const object = workloads.get(row);
    if (workloads.isUnlisted(row)) return undefined;
    if (object?.metadata.uid !== row.uid) return { kind: 'workload-gone' };
    const adapter = adapters.get(row.kind)!;
    const outcome = adapter.outcome(object, workloads.podsOf(row), now(), row);
    if (outcome !== undefined) return { kind: 'workload-ended', detail: { result: outcome.result } };
    return row.phase === 'Waiting'
      ? this.differenceOfWaiting(row, object, adapter, isEdited)
      : this.differenceOfGranted(row, object, adapter);
  }

  private differenceOfWaiting(
    row: WorkloadRow,
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    isEdited: IsEdited,
  ): FoundDifference {
    if (object.metadata.deletionTimestamp !== undefined) return { kind: 'workload-gone' };
    if (adapter.isSuspended(object) || adapter.isStaged(object))
      return isEdited(object, adapter, row) ? { kind: 'workload-edited' } : undefined;
    return { kind: 'release-unfounded' };
  }

  private differenceOfGranted(
    row: WorkloadRow,
    object: KubernetesObject,
    adapter: WorkloadAdapter,
  ): FoundDifference {
    const lost = lostNodes(row, (name) => this.shared.nodes.exists(name));
    if (lost.length > 0) return { kind: 'node-gone', detail: { nodes: lost } };
    const isReleased = !adapter.isSuspended(object);
    if (row.releasedAt === null)
      return { kind: isReleased && !adapter.isStaged(object) ? 'release-unrecorded' : 'release-missing' };
    return isReleased ? undefined : { kind: 'workload-suspended' };
  }
}

function keyOf({ row: { uid, jobid }, kind }: Difference): string {
  return `${uid}/${jobid}/${kind}`;
}
