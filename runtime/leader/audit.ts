import type { KubernetesObject, Pod } from '../kubernetes/types';
import type { Logger } from '../observability/log';
import type { Adoption, WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import type { GraphNode } from '../resources/types';
import { lostNodes, namesOf, type WorkloadAdapter } from '../workloads/adapter';
import { adoptionOf, TakenUnits, unrecordedGrant } from '../workloads/adoption';
import type { WorkloadKey } from '../workloads/key';
import type { SubmissionBuilder } from '../workloads/submission';

/** What an audit finds; docs/recovery.md says what is done about each. */
type RepairKind =
  | 'adopted'
  | 'workload-gone'
  | 'workload-ended'
  | 'workload-edited'
  | 'workload-suspended'
  | 'release-unrecorded'
  | 'release-unfounded'
  | 'node-gone';

export interface AuditOptions {
  readonly workloadCache: WorkloadCache;
  readonly submissionBuilder: Pick<SubmissionBuilder, 'changeOf' | 'submissionOf'>;
  readonly adapters: ReadonlyMap<string, WorkloadAdapter>;
  /** Keys of everything that may be a workload. */
  readonly workloads: () => Iterable<WorkloadKey>;
  readonly objectOf: (key: WorkloadKey) => KubernetesObject | undefined;
  readonly podsOf: (uid: string) => readonly Pod[];
  readonly nodeExists: (name: string) => boolean;
  readonly nodes: () => ReadonlyMap<string, GraphNode>;
  /** Has the reconciler look at it at once. */
  readonly enqueue: (key: WorkloadKey) => void;
  readonly onRepair: (kind: RepairKind) => void;
  readonly logger: Pick<Logger, 'warn'>;
  /** Unix seconds. */
  readonly now: () => number;
}

/** One thing that is not as the row says. */
interface Difference {
  readonly kind: RepairKind;
  readonly row: WorkloadRow;
  readonly detail?: Readonly<Record<string, unknown>>;
}

export class Audit {
  /** Differences of the last comparison that were not there before it, by row and kind. */
  private suspected = new Set<string>();

  constructor(private readonly options: AuditOptions) {}

  /**
   * Compares everything once.
   * @param certain what differs has differed for long: nobody followed it. If not, watches may only lag behind, and
   *   what differs counts when the next comparison finds it again
   * @returns whether the next comparison should come soon
   */
  async compare(certain: boolean): Promise<boolean> {
    await this.adopt();
    const suspected = new Set<string>();
    for (const difference of this.differences()) {
      const { row, kind } = difference;
      const key = `${row.uid}/${row.jobid}/${kind}`;
      if (certain || this.suspected.has(key)) this.repair(difference);
      else suspected.add(key);
    }
    this.suspected = suspected;
    return suspected.size > 0;
  }

  private repair({ kind, row, detail }: Difference): void {
    const { logger, onRepair, enqueue } = this.options;
    const { uid, kind: workload, namespace, name, phase, jobid } = row;
    logger.warn(
      { repair: kind, workload, namespace, name, uid, phase, jobid, ...detail },
      'the books differ from the cluster',
    );
    onRepair(kind);
    enqueue(row);
  }

  /** What runs by a grant that the tables have forgotten is in the books again, before anything else is granted. */
  private async adopt(): Promise<void> {
    const adoptions = this.forgotten();
    if (adoptions.length === 0) return;
    for (const row of await this.options.workloadCache.adopt(adoptions))
      this.repair({ kind: 'adopted', row, detail: { nodes: namesOf(row.allocation!.nodes) } });
  }

  private forgotten(): readonly Adoption[] {
    const { workloadCache, submissionBuilder, adapters, workloads, objectOf, podsOf, nodes, now } =
      this.options;
    const adoptions: Adoption[] = [];
    let taken: TakenUnits | undefined;
    for (const key of workloads()) {
      const object = objectOf(key)!;
      const { uid } = object.metadata;
      const adapter = adapters.get(key.kind)!;
      const grant = unrecordedGrant(object, adapter, workloadCache.byUid(uid), podsOf(uid), now());
      const submission =
        grant && submissionBuilder.submissionOf(object, adapter, workloadCache.byUid(uid)?.queue);
      if (grant === undefined || submission === undefined) continue;
      taken ??= new TakenUnits(workloadCache.active());
      adoptions.push(adoptionOf(submission, grant, taken, nodes(), now()));
    }
    return adoptions;
  }

  private *differences(): Iterable<Difference> {
    for (const row of this.options.workloadCache.active()) {
      const difference = this.differenceOf(row);
      if (difference !== undefined) yield { row, ...difference };
    }
  }

  private differenceOf(row: WorkloadRow): Omit<Difference, 'row'> | undefined {
    const { adapters, objectOf, podsOf, now } = this.options;
    const object = objectOf(row);
    if (object?.metadata.uid !== row.uid) return { kind: 'workload-gone' };
    const adapter = adapters.get(row.kind)!;
    const outcome = adapter.outcome(object, podsOf(row.uid), now());
    if (outcome !== undefined) return { kind: 'workload-ended', detail: { result: outcome.result } };
    return row.phase === 'Waiting'
      ? this.differenceOfWaiting(row, object, adapter)
      : this.differenceOfGranted(row, object, adapter);
  }

  private differenceOfWaiting(
    row: WorkloadRow,
    object: KubernetesObject,
    adapter: WorkloadAdapter,
  ): Omit<Difference, 'row'> | undefined {
    if (object.metadata.deletionTimestamp !== undefined) return { kind: 'workload-gone' };
    if (!adapter.isSuspended(object)) return { kind: 'release-unfounded' };
    const edited = this.options.submissionBuilder.changeOf(object, adapter, row) !== undefined;
    return edited ? { kind: 'workload-edited' } : undefined;
  }

  private differenceOfGranted(
    row: WorkloadRow,
    object: KubernetesObject,
    adapter: WorkloadAdapter,
  ): Omit<Difference, 'row'> | undefined {
    const lost = lostNodes(row, this.options.nodeExists);
    if (lost.length > 0) return { kind: 'node-gone', detail: { nodes: lost } };
    const released = !adapter.isSuspended(object);
    if (row.releasedAt === null && released) return { kind: 'release-unrecorded' };
    return row.releasedAt !== null && !released ? { kind: 'workload-suspended' } : undefined;
  }
}
