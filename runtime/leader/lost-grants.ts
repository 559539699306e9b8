/**
 * Restores the rows of grants that the database has lost, because it was restored from a backup. Running workloads carry
 * their grants (workloads/adoption.ts). A restored row may hold units that were free when another workload got them, so
 * these rows are reconciled first.
 */
import { pause, TimeSlice } from '../clock';
import type { Submission, WorkloadRow } from '../queue/workload';
import { parseRanges } from '../resources/idset';
import type { AllocatedNode } from '../resources/types';
import { identityOf } from '../shared/pod-facts';
import type { Shared } from '../shared/shared';
import { isTerminal, type RecordedGrant } from '../workloads/adapter';
import {
  adoptionOf,
  adoptRunning,
  type RunningAdoption,
  TakenUnits,
  unrecordedGrant,
} from '../workloads/adoption';
import { objectAsGranted } from '../workloads/as-granted';
import { adapters } from '../workloads/index';
import type { SubmissionBuilder } from '../workloads/submission';

/** A released workload whose grant the tables do not have. */
interface LostGrant {
  readonly submission: Submission;
  readonly grant: RecordedGrant;
}

/** Milliseconds. Adoption does not wait longer for rows whose workloads no longer use their units, or do not use them yet. */
const SETTLE_MS = 5_000;
/** Milliseconds. Rows, objects and pods all decide whether a row has settled, so it is polled. */
const SETTLE_POLL_MS = 50;

export class LostGrants {
  constructor(
    private readonly shared: Shared,
    private readonly submissionBuilder: Pick<SubmissionBuilder, 'submissionOf'>,
  ) {}

  /** The uids of the workloads that have to be adopted. */
  async uids(): Promise<ReadonlySet<string>> {
    return new Set((await this.find()).map(({ submission: { uid } }) => uid));
  }

  /** @returns the rows of the adopted workloads */
  async adopt(): Promise<readonly WorkloadRow[]> {
    if ((await this.find()).length === 0) return [];
    await this.settle(() => this.idleRows());
    await this.requeueUnreleased(this.crowdedNodes(await this.find()));
    const lost = await this.find();
    return adoptRunning(this.shared.workloadCache, this.adoptionsOf(lost));
  }

  private adoptionsOf(lost: readonly LostGrant[]): readonly RunningAdoption[] {
    const { workloadCache, workloads, nodes, now } = this.shared;
    const adopted = new Set(lost.map(({ submission: { uid } }) => uid));
    // Such a row holds units of an earlier grant.
    const taken = new TakenUnits([...workloadCache.active()].filter(({ uid }) => !adopted.has(uid)));
    return lost.map(({ submission, grant }) => {
      const facts = { pods: workloads.podsOf(submission), nodes: nodes.graphNodes(), now: now() };
      return adoptionOf(submission, grant, taken, facts);
    });
  }

  /** Nodes on which what was found has no room beside the rows. */
  private crowdedNodes(lost: readonly LostGrant[]): ReadonlySet<string> {
    const graph = this.shared.nodes.graphNodes();
    const isBeyond = ({ name, units }: AllocatedNode) =>
      Object.entries(units).some(([type, ids]) => {
        const count = graph.get(name)?.units[type] ?? Number.POSITIVE_INFINITY;
        return parseRanges(ids).some(([, to]) => to > count);
      });
    const placed = this.adoptionsOf(lost).flatMap(({ adoption }) => adoption.allocation.nodes);
    return new Set(placed.filter(isBeyond).map(({ name }) => name));
  }

  private async find(): Promise<readonly LostGrant[]> {
    const found = await this.unrecordedGrants();
    const { workloadCache } = this.shared;
    const isRowless = ({ submission: { uid } }: LostGrant) => workloadCache.byUid(uid) === undefined;
    const uids = found.filter(isRowless).map(({ submission: { uid } }) => uid);
    const unrecorded = await workloadCache.unrecorded(uids);
    return found.filter((one) => !isRowless(one) || unrecorded.has(one.submission.uid));
  }

  /** Also those of workloads that have ended by their rows, before Kubernetes says so. */
  private async unrecordedGrants(): Promise<readonly LostGrant[]> {
    const { workloadCache, workloads, namespaces, now } = this.shared;
    const lost: LostGrant[] = [];
    const slice = new TimeSlice(this.shared.time.clock);
    for (const key of workloads.keys()) {
      if (slice.isOver) await slice.rest();
      const object = workloads.get(key);
      if (object === undefined || namespaces.isExcluded(key.namespace)) continue;
      const { uid } = object.metadata;
      const adapter = adapters.get(key.kind)!;
      const row = workloadCache.byUid(uid);
      const grant = unrecordedGrant(
        object,
        adapter,
        row,
        workloads.podsOf(row ?? identityOf(key.kind, object)),
        now(),
      );
      const submission = grant && this.submissionBuilder.submissionOf(object, adapter, row?.queue);
      if (grant !== undefined && submission !== undefined) lost.push({ submission, grant });
    }
    return lost;
  }

  /** Has rows reconciled until there is none of them any more. */
  private async settle(rows: () => readonly WorkloadRow[]): Promise<void> {
    const { signals, time } = this.shared;
    const deadline = time.clock.now() + SETTLE_MS;
    for (const row of rows()) signals.reconcileWorkload.emit(row);
    while (rows().length > 0 && time.clock.now() < deadline) await pause(time.clock, SETTLE_POLL_MS);
  }

  /** Granted rows whose workload is gone, has ended, was suspended or needs fewer nodes, and whose pods are gone. */
  private idleRows(): readonly WorkloadRow[] {
    const { workloadCache, workloads, now } = this.shared;
    return [...workloadCache.active()].filter((row) => {
      if (row.allocation === null || workloads.isUnlisted(row)) return false;
      const object = workloads.get(row);
      if (object?.metadata.uid !== row.uid) return !this.hasLivePods(row);
      const adapter = adapters.get(row.kind)!;
      const pods = workloads.podsOf(row);
      if (adapter.outcome(object, pods, now(), row) !== undefined) return true;
      if (adapter.isSuspended(object)) return row.releasedAt !== null && !this.hasLivePods(row);
      const finished = adapter.finishedNodes(objectAsGranted(object, row), row, pods).length;
      return finished > 0 && finished < row.allocation.nodes.length;
    });
  }

  private hasLivePods(row: WorkloadRow): boolean {
    return this.shared.workloads.podsOf(row).some((pod) => !isTerminal(pod));
  }

  /**
   * A grant that is not released may be one that was given up since the backup, and its units may be in use. It may be released at
   * this moment, which nobody could undo: its own reconcile, which knows, gives it back.
   */
  private async requeueUnreleased(crowded: ReadonlySet<string>): Promise<void> {
    const { workloadCache, workloads, withdrawnGrants } = this.shared;
    const unreleased = () =>
      [...workloadCache.active()].filter(({ releasedAt, allocation }) => {
        return releasedAt === null && allocation?.nodes.some(({ name }) => crowded.has(name));
      });
    // Those of the last time were given back or released.
    withdrawnGrants.clear();
    for (const row of unreleased()) if (workloads.get(row) !== undefined) withdrawnGrants.add(row.jobid);
    await this.settle(() => unreleased().filter(({ jobid }) => withdrawnGrants.has(jobid)));
  }
}
