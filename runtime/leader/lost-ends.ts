/**
 * Restores the records of workloads that have ended and that the database has lost: it failed over without its last
 * commits, or was restored. Such an object carries its grant, so its row is made as one that holds that grant; the
 * reconciler then records its start and its end, as of any other. Without the row its FluxJob would say Running for ever,
 * workloads that depend on it would wait, and its usage would be lost.
 */
import { TimeSlice } from '../clock';
import type { KubernetesObject } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import { identityOf } from '../shared/pod-facts';
import type { Shared } from '../shared/shared';
import type { RecordedGrant, WorkloadAdapter } from '../workloads/adapter';
import { adoptionOf, adoptRunning, TakenUnits } from '../workloads/adoption';
import { adapters } from '../workloads/index';
import type { SubmissionBuilder } from '../workloads/submission';

const DAY_SECONDS = 86_400;

/** A released workload that has ended. */
interface Ended {
  readonly object: KubernetesObject;
  readonly adapter: WorkloadAdapter;
  readonly grant: RecordedGrant;
}

export class LostEnds {
  /** Objects whose rows the tables have. Most objects that have ended are asked for once. */
  private recorded = new WeakSet<KubernetesObject>();

  constructor(
    private readonly shared: Shared,
    private readonly submissionBuilder: Pick<SubmissionBuilder, 'submissionOf'>,
  ) {}

  /** The tables may have lost rows. */
  forget(): void {
    this.recorded = new WeakSet();
  }

  /** @returns the new rows */
  async adopt(): Promise<readonly WorkloadRow[]> {
    const ended = await this.find();
    if (ended.length === 0) return [];
    const { workloadCache, workloads, queue, nodes, now } = this.shared;
    const lost = new Set(await queue.unrecorded(ended.map(({ object }) => object.metadata.uid)));
    const taken = new TakenUnits(workloadCache.active());
    const adoptions = ended.flatMap(({ object, adapter, grant }) => {
      this.recorded.add(object);
      if (!lost.has(object.metadata.uid)) return [];
      const submission = this.submissionBuilder.submissionOf(object, adapter, undefined);
      const facts = {
        pods: workloads.podsOf(identityOf(adapter.kind, object)),
        nodes: nodes.graphNodes(),
        now: now(),
      };
      return submission === undefined ? [] : adoptionOf(submission, grant, taken, facts);
    });
    return adoptRunning(workloadCache, adoptions);
  }

  private async find(): Promise<readonly Ended[]> {
    const { workloadCache, workloads, namespaces } = this.shared;
    const found: Ended[] = [];
    const slice = new TimeSlice(this.shared.time.clock);
    for (const key of workloads.keys()) {
      if (slice.isOver) await slice.rest();
      const object = workloads.get(key);
      if (object === undefined || this.recorded.has(object) || namespaces.isExcluded(key.namespace)) continue;
      if (workloadCache.byUid(object.metadata.uid) !== undefined) continue;
      const adapter = adapters.get(key.kind)!;
      const grant = this.endedGrant(object, adapter);
      if (grant !== undefined) found.push({ object, adapter, grant });
    }
    return found;
  }

  /** Undefined unless the workload has ended under a grant, so late that its row was not removed since. */
  private endedGrant(object: KubernetesObject, adapter: WorkloadAdapter): RecordedGrant | undefined {
    const { workloads, now, config } = this.shared;
    if (object.metadata.deletionTimestamp !== undefined) return undefined;
    const pods = workloads.podsOf(identityOf(adapter.kind, object));
    const outcome = adapter.outcome(object, pods, now());
    if (outcome === undefined) return undefined;
    const isRecent = outcome.finishedAt > now() - config.queue.retentionDays * DAY_SECONDS;
    return isRecent ? adapter.recordedGrant(object, pods) : undefined;
  }
}
