/**
 * Restores the rows of grants that the database has lost, because it was restored from a backup. Running workloads carry
 * their grants (workloads/adoption.ts). A restored row may hold units that were free when another workload got them, so
 * these rows are reconciled first.
 */
import { pause, TimeSlice } from '../clock';
import type { Submission, WorkloadRow } from '../queue/workload';
import type { Shared } from '../shared/shared';
import { isTerminal, type RecordedGrant } from '../workloads/adapter';
import { adoptionOf, adoptRunning, TakenUnits, unrecordedGrant } from '../workloads/adoption';
import { adapters } from '../workloads/index';
import type { SubmissionBuilder } from '../workloads/submission';

/** A released workload whose grant the tables do not have. */
interface LostGrant {
  readonly submission: Submission;
  readonly grant: RecordedGrant;
}

/** Milliseconds. Adoption does not wait longer for rows whose workloads no longer use their units. */
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
    await this.settle();
    await this.requeueUnreleased();
    const { workloadCache, workloads, nodes, now } = this.shared;
    const lost = await this.find();
    if (lost.length === 0) return [];
    const adopted = new Set(lost.map(({ submission: { uid } }) => uid));
    // Such a row holds units of an earlier grant.
    const taken = new TakenUnits([...workloadCache.active()].filter(({ uid }) => !adopted.has(uid)));
    const adoptions = lost.map(({ submission, grant }) => {
      const facts = { pods: workloads.podsOf(submission), nodes: nodes.graphNodes(), now: now() };
      return adoptionOf(submission, grant, taken, facts);
    });
    return adoptRunning(workloadCache, adoptions);
  }

  private async find(): Promise<readonly LostGrant[]> {
    const { workloadCache, workloads, now } = this.shared;
    const lost: LostGrant[] = [];
    const slice = new TimeSlice(this.shared.time.clock);
    for (const key of workloads.keys()) {
      if (slice.isOver) await slice.rest();
      const object = workloads.get(key);
      if (object === undefined) continue;
      const { uid } = object.metadata;
      const adapter = adapters.get(key.kind)!;
      const row = workloadCache.byUid(uid);
      const grant = unrecordedGrant(object, adapter, row, workloads.podsOf(row ?? object.metadata), now());
      const submission = grant && this.submissionBuilder.submissionOf(object, adapter, row?.queue);
      if (grant !== undefined && submission !== undefined) lost.push({ submission, grant });
    }
    return lost;
  }

  /** Has the rows reconciled that hold units which their workloads no longer use, and waits until they are free. */
  private async settle(): Promise<void> {
    const { signals, time } = this.shared;
    const deadline = time.clock.now() + SETTLE_MS;
    for (const row of this.idleRows()) signals.reconcileWorkload.emit(row);
    while (this.idleRows().length > 0 && time.clock.now() < deadline) await pause(time.clock, SETTLE_POLL_MS);
  }

  /** Granted rows whose workload is gone, has ended, was suspended or needs fewer nodes, and whose pods are gone. */
  private idleRows(): readonly WorkloadRow[] {
    const { workloadCache, workloads, now } = this.shared;
    return [...workloadCache.active()].filter((row) => {
      if (row.allocation === null) return false;
      const object = workloads.get(row);
      if (object?.metadata.uid !== row.uid) return !this.hasLivePods(row);
      const adapter = adapters.get(row.kind)!;
      const pods = workloads.podsOf(row);
      if (adapter.outcome(object, pods, now(), row) !== undefined) return true;
      if (adapter.isSuspended(object)) return row.releasedAt !== null && !this.hasLivePods(row);
      const finished = adapter.finishedNodes(object, row, pods).length;
      return finished > 0 && finished < row.allocation.nodes.length;
    });
  }

  private hasLivePods(row: WorkloadRow): boolean {
    return this.shared.workloads.podsOf(row).some((pod) => !isTerminal(pod));
  }

  /** A grant that is not released may be one that was given up since the backup, and its units may be in use. */
  private async requeueUnreleased(): Promise<void> {
    const { workloadCache, workloads } = this.shared;
    for (const row of [...workloadCache.active()]) {
      const object = workloads.get(row);
      if (row.allocation === null || row.releasedAt !== null || object === undefined) continue;
      const adapter = adapters.get(row.kind)!;
      if (!adapter.isSuspended(object) && !adapter.isStaged(object)) continue;
      const message = 'the database was restored before the release; requeued';
      await workloadCache.requeue({ uid: row.uid, cause: 'suspended', message });
    }
  }
}
