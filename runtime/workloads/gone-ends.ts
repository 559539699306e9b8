/**
 * How workloads ended whose objects are gone: an object is removed the second it ends (`ttlSecondsAfterFinished: 0`), or by its
 * user after that, and the database or the controller may be down meanwhile. Its last state tells, if this process has seen
 * it go; otherwise the Events of the controller of its kind, which outlive it by an hour. Its user can write such Events too: that
 * is a user's own word about an own workload.
 */
import { WORKLOAD_KINDS, type WorkloadKind } from '../../constructs/api/workload-kinds';
import type { KubernetesClient } from '../kubernetes/client';
import type { KubernetesObject, Pod } from '../kubernetes/types';
import type { Result, WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import type { WorkloadIdentity } from '../shared/pod-facts';
import { type ActiveWorkload, isTerminal, type Outcome, type WorkloadAdapter } from './adapter';
import { isPastWalltime } from './deadlines';
import { groupAdapter } from './group-adapter';
import { groupOf, membershipOf } from './group-member';
import { newestEvent } from './kubelet-events';
import { endedByDeletion } from './pod-end';
import { assembleGroup } from './pod-group';

export interface GoneEndsOptions {
  readonly client: Pick<KubernetesClient, 'list'>;
  readonly workloadCache: Pick<WorkloadCache, 'byUid'>;
  /** The pods of the workload, as the watch last delivered them. */
  readonly podsOf: (workload: WorkloadIdentity) => readonly Pod[];
  /** Unix seconds. */
  readonly now: () => number;
}

type Reasons = ReadonlyMap<string, Result>;

/** Reasons of the Job controller's Events at the end of a Job. */
const OF_JOBS: Reasons = new Map([
  ['Completed', 'Succeeded'],
  ['DeadlineExceeded', 'TimedOut'],
  ['BackoffLimitExceeded', 'Failed'],
  ['FailedIndexes', 'Failed'],
  ['MaxFailedIndexesExceeded', 'Failed'],
  ['PodFailurePolicy', 'Failed'],
]);

function reasonsOf({ endEvents: { Succeeded, Failed } }: WorkloadKind): Reasons {
  const all = (reasons: readonly string[], result: Result) =>
    reasons.map((reason): [string, Result] => [reason, result]);
  return new Map([...all(Succeeded, 'Succeeded'), ...all(Failed, 'Failed')]);
}

/** By kind of the workload. */
const REASONS: ReadonlyMap<string, Reasons> = new Map([
  ['Job', OF_JOBS],
  ...WORKLOAD_KINDS.map((kind) => [kind.kind, reasonsOf(kind)] as const),
]);

/** The longest sentence that is kept of an Event. Those of the Job controller are shorter. */
const LONGEST_MESSAGE = 600;

export class GoneEnds {
  /** UID -> how it had ended when its object went; undefined: it had not. */
  private readonly seen = new Map<string, Outcome | undefined>();

  constructor(private readonly options: GoneEndsOptions) {}

  /** This object is gone. The watch has delivered all changes before, unless a list says so. */
  saw(object: KubernetesObject, adapter: WorkloadAdapter, isMissed = false): void {
    const row = this.options.workloadCache.byUid(object.metadata.uid);
    if (row === undefined || this.seen.get(row.uid) !== undefined) return;
    // Pods that end because they are deleted with it say nothing about its end.
    const pods = this.options.podsOf(row).filter((pod) => isTerminal(pod) && !isDeleted(pod));
    const outcome = adapter.outcome(object, pods, this.options.now(), row);
    if (outcome !== undefined || !isMissed) this.seen.set(row.uid, outcome);
  }

  /** The same of a pod of a group, which ends with the last of its pods, and may lose them one by one after that. */
  sawMember(pod: Pod): void {
    const row = this.options.workloadCache.byUid(membershipOf(pod)?.uid ?? '');
    if (row === undefined || this.seen.get(row.uid) !== undefined) return;
    const now = this.options.now();
    const own = [...this.options.podsOf(row), pod].filter((each) => !endedByDeletion(each));
    const group = assembleGroup(row, own, row);
    const outcome = group && groupAdapter.outcome(group, group.members, now, row);
    if (outcome !== undefined && outcome.result !== 'Cancelled') this.seen.set(row.uid, outcome);
  }

  /**
   * Of a row whose object exists. A group of which pods are left may have ended before the first of them went, and a pod
   * before it was deleted, in the same second.
   */
  outcomeOf({ object, adapter, row, pods }: ActiveWorkload): Outcome | undefined {
    const ended = adapter.podsExist ? this.seen.get(row.uid) : undefined;
    return ended ?? adapter.outcome(object, pods, this.options.now(), row);
  }

  /** Of a row whose object is gone. Undefined: it was deleted before its end. */
  async endOf(row: WorkloadRow): Promise<Outcome | undefined> {
    if (this.seen.has(row.uid)) return this.seen.get(row.uid);
    const group = this.joinedGroup(row);
    if (group !== undefined)
      return {
        result: 'Cancelled',
        message: `it joined podgroup/${group} and waits there`,
        finishedAt: this.options.now(),
      };
    const reasons = REASONS.get(row.kind);
    return reasons === undefined || row.releasedAt === null ? undefined : this.toldEnd(row, reasons);
  }

  forget({ uid }: WorkloadRow): void {
    this.seen.delete(uid);
  }

  /** A pod that got a group while it waited is there, but no workload of its own any more. */
  private joinedGroup(row: WorkloadRow): string | undefined {
    if (row.kind !== 'Pod' || row.phase !== 'Waiting') return undefined;
    const pod = this.options.podsOf(row).find(({ metadata }) => metadata.uid === row.uid);
    return pod && groupOf(pod);
  }

  private async toldEnd(row: WorkloadRow, reasons: Reasons): Promise<Outcome | undefined> {
    const { uid, kind, namespace, releasedAt } = row;
    const resultOf = (reason = '') => reasons.get(reason.split('/', 1)[0]!);
    const event = await newestEvent(this.options.client, namespace, `regarding.uid=${uid}`, {
      from: Math.floor(releasedAt!),
      accepts: ({ reason }) => resultOf(reason) !== undefined,
    });
    const result = resultOf(event?.reason);
    if (event?.at === undefined || result === undefined) return undefined;
    const finishedAt = Math.min(event.at, this.options.now());
    if (result !== 'Failed') return { result, finishedAt };
    // The kubelet ends pods at the walltime, which the controllers of other kinds take for a failure.
    if (kind !== 'Job' && isPastWalltime(row, event.at)) return { result: 'TimedOut', finishedAt };
    return { result, finishedAt, message: event.note?.slice(0, LONGEST_MESSAGE) || undefined };
  }
}

function isDeleted({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}
