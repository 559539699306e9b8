/**
 * Pods that no controller ends, so each gets a deadline of its own, which the kubelet enforces: those that outlive their Job
 * (`kubectl delete --cascade=orphan`) keep its grant for the rest of its walltime, those of a Job that its controller cannot
 * sync any more, as when a pod has lost a label of its selector, end some time after their grant, and those of a group that a
 * PodDisruptionBudget keeps from its eviction, and those of an object of a workload kind that its own controller leaves, or that
 * somebody else made for it, some time after that was asked for. The kubelet counts no deadline of a pod that has never started,
 * as one that waits for a gate or a claim: the queue evicts it then, or it would hold its node for ever.
 */
import { formatDuration } from '../../constructs/api/durations';
import { WORKLOAD_KIND_NAMES } from '../../constructs/api/workload-kinds';
import type { Clock } from '../clock';
import type { KubernetesClient } from '../kubernetes/client';
import { rfc3339 } from '../kubernetes/conditions';
import { pods as podsPath } from '../kubernetes/paths';
import type { Pod } from '../kubernetes/types';
import type { ReconcileResult } from '../kubernetes/work-queue';
import { applyPatch } from '../kubernetes/writes';
import type { WorkloadRow } from '../queue/workload';
import { isEndless } from '../resources/endless';
import type { Allocation } from '../resources/types';
import type { GrantReason, GrantWait } from '../shared/grant-waits';
import type { WatchedJob } from '../shared/job-projection';
import { type ActiveWorkload, isTerminal, secondsOf } from './adapter';
import { lookAgainIn, START_ALLOWANCE_SECONDS } from './deadlines';
import { evictPods } from './evict-pods';
import { belongsToGrant, isGated, isOrphaned } from './pod';
import { limitOperations } from './pod-deadlines';
import { POD_GROUP } from './pod-group';

export interface OrphansOptions {
  readonly client: KubernetesClient;
  readonly clock: Clock;
  /** Unix seconds. */
  readonly now: () => number;
}

/** The controller of its kind, or whoever keeps a budget, has this long to end the pods of a grant that is over. It may be down for a while. */
const LATE_SECONDS = 300;
/** Whoever ends pods in time has asked them to end by then. */
const OVERRUN_SECONDS = 60;

export class Orphans {
  /** Job id -> UID of a pod that has not started -> when it was seen first, in milliseconds of the clock. */
  private readonly unstarted = new Map<number, ReadonlyMap<string, number>>();

  constructor(private readonly options: OrphansOptions) {}

  forget({ jobid }: Pick<WorkloadRow, 'jobid'>): void {
    this.unstarted.delete(jobid);
  }

  /** Of an object that does not exist any more. */
  async limitOrphans(
    row: Pick<WorkloadRow, 'releasedAt' | 'startedAt' | 'walltime' | 'jobid'>,
    pods: readonly Pod[],
  ): Promise<void> {
    const { now } = this.options;
    const late = this.late(row, pods);
    const end = (row.startedAt ?? row.releasedAt ?? now()) + row.walltime;
    await limitPods(this.options, end, pods.filter(isOrphaned));
    if (now() >= end) await evictPods(this.options.client, late);
  }

  /** Of an object that is deleted, and that a finalizer of its user may keep for ever: its controller ends no pod that it has let go. */
  async limitDeleted(workload: Pick<ActiveWorkload, 'object' | 'row' | 'pods'>): Promise<ReconcileResult> {
    await this.limitOrphans(workload.row, workload.pods);
    return this.limitOverdue(workload);
  }

  /** Ends the pods of a workload whose grant is over for long, and that nobody has asked to end. Says when to look again. */
  async limitOverdue({
    object,
    row,
    pods,
  }: Pick<ActiveWorkload, 'object' | 'row' | 'pods'>): Promise<ReconcileResult> {
    const late = this.late(row, pods);
    const end = endOfGrant(object, row);
    if (end === undefined) return undefined;
    const over = this.options.now() - end;
    const next = [OVERRUN_SECONDS, LATE_SECONDS].find((seconds) => over < seconds);
    if (next !== undefined) return lookAgainIn(next - over);
    // The rest of a walltime is nothing for what has not started, if the clock is ahead: it gets its deadline at its start.
    const own = pods.filter((pod) => belongsToGrant(pod, row.jobid) && pod.status?.startTime !== undefined);
    await limitPods(this.options, end, own);
    await evictPods(this.options.client, late);
    return this.unstarted.has(row.jobid) ? { after: LATE_SECONDS * 1000 } : undefined;
  }

  /** What is said of a workload whose grant is over while a pod of it runs that nobody has asked to end. */
  overrunOf({ object, row, pods }: ActiveWorkload): GrantWait | undefined {
    const end = endOfGrant(object, row);
    if (end === undefined || this.options.now() < end + OVERRUN_SECONDS) return undefined;
    const pod = pods.find((each) => belongsToGrant(each, row.jobid) && runsOn(each));
    if (pod === undefined) return undefined;
    const { name } = pod.metadata;
    const isLate = this.options.now() >= end + LATE_SECONDS;
    const byQueue = isLate
      ? 'its kubelet has been asked to end it'
      : `the queue ends it ${formatDuration(LATE_SECONDS * 1000)} after that`;
    const message = `its walltime ended at ${rfc3339(end)}, and pod ${name} still runs, which is charged; ${byQueue}`;
    return { reason: 'Pending' satisfies GrantReason, pod: name, message, isPartial: true };
  }

  /**
   * The pods of the grant that this process has seen without a start for long. The clock that says that their walltime is over may
   * be hours ahead of that of the cluster: then they have only just been made.
   */
  private late({ jobid }: Pick<WorkloadRow, 'jobid'>, pods: readonly Pod[]): readonly Pod[] {
    const now = this.options.clock.now();
    const before = this.unstarted.get(jobid);
    const waiting = pods.filter((pod) => belongsToGrant(pod, jobid) && mayStart(pod));
    const since = new Map(waiting.map(({ metadata: { uid } }) => [uid, before?.get(uid) ?? now]));
    if (since.size === 0) this.unstarted.delete(jobid);
    else this.unstarted.set(jobid, since);
    return waiting.filter(({ metadata: { uid } }) => now - since.get(uid)! >= LATE_SECONDS * 1000);
  }
}

/** Whether no kubelet has it yet, and nothing of the queue keeps it from that. */
function mayStart(pod: Pod): boolean {
  return (
    pod.status?.startTime === undefined &&
    pod.metadata.deletionTimestamp === undefined &&
    !isTerminal(pod) &&
    !isGated(pod)
  );
}

function runsOn({ metadata, status }: Pod): boolean {
  return status?.phase === 'Running' && metadata.deletionTimestamp === undefined;
}

/** Unix seconds: when its pods should have left its nodes. Undefined: never. */
function endOfGrant(object: ActiveWorkload['object'], row: WorkloadRow): number | undefined {
  return row.kind === 'Job' ? endOf(object as WatchedJob, row) : endOfOthers(row);
}

const KINDS: ReadonlySet<string> = new Set(WORKLOAD_KIND_NAMES);

/** Unix seconds: when it should have left its nodes. Its pods have their walltime as a deadline, if they start. */
function endOfOthers({
  kind,
  allocation,
  evictionReason,
  startedAt,
  walltime,
}: WorkloadRow): number | undefined {
  if (allocation === null) return undefined;
  const isAsked = evictionReason !== null && (kind === POD_GROUP || KINDS.has(kind));
  const hasWalltime = KINDS.has(kind) && !isEndless(allocation);
  if (isAsked) return endOfEvicted(allocation, { startedAt, walltime });
  if (!hasWalltime) return undefined;
  return Math.max(allocation.end, endOfWalltime(allocation, { startedAt, walltime }));
}

/** Unix seconds: at the latest, of what has not started. */
function endOfWalltime(
  { end }: Pick<Allocation, 'end'>,
  { startedAt, walltime }: Pick<WorkloadRow, 'startedAt' | 'walltime'>,
): number {
  return startedAt === null ? end + START_ALLOWANCE_SECONDS : startedAt + walltime;
}

/** Unix seconds: not beyond its walltime, as the end of its allocation is where its pods have a long grace period left by then. */
function endOfEvicted(
  { end }: Pick<Allocation, 'end'>,
  { startedAt, walltime }: Pick<WorkloadRow, 'startedAt' | 'walltime'>,
): number {
  return startedAt === null ? end : Math.min(end, startedAt + walltime);
}

/** Unix seconds: the end of its walltime, or the deadline of the Job before its start, or when it should have left its nodes. */
function endOf({ spec, status }: WatchedJob, row: WorkloadRow): number | undefined {
  const { allocation, evictionReason, startedAt } = row;
  if (allocation === null) return undefined;
  if (evictionReason !== null) return endOfEvicted(allocation, row);
  const { activeDeadlineSeconds = Number.POSITIVE_INFINITY } = spec;
  const deadline = secondsOf(status?.startTime ?? '') + activeDeadlineSeconds;
  const byWalltime = endOfWalltime(allocation, row);
  if (Number.isFinite(deadline))
    return Math.max(startedAt === null ? deadline : Math.min(deadline, byWalltime), allocation.end);
  // Whoever may say that a Job is over can take its deadline away then, and the Job controller ends no pod of it.
  return isEndless(allocation) ? undefined : Math.max(byWalltime, allocation.end);
}

async function limitPods({ client, now }: OrphansOptions, end: number, pods: readonly Pod[]): Promise<void> {
  for (const pod of pods) {
    if (isTerminal(pod) || pod.metadata.deletionTimestamp !== undefined) continue;
    // Until it starts, the rest of the walltime changes with each second.
    if (pod.status?.startTime === undefined && pod.spec.activeDeadlineSeconds !== undefined) continue;
    const value = deadlineOf(pod, end, now());
    if (value >= (pod.spec.activeDeadlineSeconds ?? Number.POSITIVE_INFINITY)) continue;
    const { namespace, name } = pod.metadata;
    const body = limitOperations(pod, value);
    await applyPatch(client, podsPath(namespace, name), { type: 'json', body });
  }
}

/** The kubelet counts from the start of the pod. A pod that has not started does so soon. */
function deadlineOf({ status }: Pod, end: number, now: number): number {
  const start = status?.startTime === undefined ? now : secondsOf(status.startTime);
  return Math.max(1, Math.ceil(end - start));
}
