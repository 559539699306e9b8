/**
 * How a pod ended: whether it ever ran, and what ended it, in words of the kubelet and of whoever evicted it. Status,
 * `why`, history and usage tell the end of a workload by this one account.
 */
import { controllerOf } from '../kubernetes/owner';
import type { Pod } from '../kubernetes/types';
import { containerStatusesOf, isKnown, isTerminal, lastFinishTime, type Outcome, secondsOf } from './adapter';

type Status = NonNullable<Pod['status']>;
type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];
type Ended = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>;

const BY_KUBELET = 'TerminationByKubelet';

/** Who evicted a pod: the reasons of its condition DisruptionTarget. */
const EVICTED_BY: Readonly<Record<string, string>> = {
  PreemptionByScheduler: 'kube-scheduler preempted it for a more urgent pod',
  DeletionByTaintManager: 'its node got a taint that it does not tolerate',
  EvictionByEvictionAPI: 'it was evicted, as by kubectl drain',
  DeletionByPodGC: 'its node no longer exists',
  [BY_KUBELET]: 'its kubelet ended it for want of resources, or as the node shut down',
};

/**
 * Whether a container of the pod has run, also an init container: what it does there is charged. A pod can end without that:
 * its image is missing, or its deadline comes first.
 */
export function hasRun(pod: Pod): boolean {
  const phase = pod.status?.phase;
  if (phase === 'Running' || phase === 'Succeeded') return true;
  return containerStatusesOf(pod).some(
    ({ state, restartCount = 0 }) =>
      restartCount > 0 || state?.running !== undefined || hasStarted(state?.terminated),
  );
}

function hasStarted(terminated: Ended | undefined): boolean {
  return isKnown(secondsOf(terminated?.startedAt ?? ''));
}

/**
 * Whether the pod ended because it was deleted: a kubelet reports such an end too before the object goes, also as a success. What ended
 * for another reason (its deadline, want of memory, a kubelet that refused it) says so.
 */
export function endedByDeletion(pod: Pod): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds: grace = 0 } = pod.metadata;
  if (deletionTimestamp === undefined || !isTerminal(pod) || pod.status?.reason !== undefined) return false;
  const [finishedAt, deletedAt] = [lastFinishTime([pod], Infinity), secondsOf(deletionTimestamp) - grace];
  // What had ended before is deleted without a grace period, and so is last what a kubelet has ended. Both times are whole seconds.
  return finishedAt > deletedAt || (finishedAt === deletedAt && (grace > 0 || wasKilled(pod)));
}

/** Exit codes of processes that end by SIGKILL and SIGTERM. */
const KILLED = [137, 143];

function wasKilled(pod: Pod): boolean {
  const ends = containerStatusesOf(pod).flatMap(({ state }) => state?.terminated ?? []);
  return ends.some(({ exitCode, reason }) => KILLED.includes(exitCode) && reason !== 'OOMKilled');
}

/** Who took the pod off its node, and why; undefined: nobody says so. */
function disruptionOf({ status }: Pick<Pod, 'status'>) {
  return status?.conditions?.find(
    ({ type, status: holds }) => type === 'DisruptionTarget' && holds === 'True',
  );
}

function isDisrupted(pod: Pick<Pod, 'status'>): boolean {
  return disruptionOf(pod) !== undefined;
}

/** Whether it ended by itself, and well. */
export function hasSucceeded(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' && !endedByDeletion(pod);
}

/**
 * Whether its user or the queue deleted it. What evicts a pod otherwise makes it fail, and says why.
 * @param eviction why the queue evicted it
 */
export function wasCancelled(pod: Pod, eviction: string | undefined): boolean {
  return endedByDeletion(pod) && (eviction !== undefined || !isDisrupted(pod));
}

/** What ended the newest failed pod, as a clause that names it; undefined if no pod has failed, or nothing says why. */
export function failureOf(pods: readonly Pod[]): string | undefined {
  const failed = pods
    .filter((pod) => pod.status?.phase === 'Failed' || (isDisrupted(pod) && endedByDeletion(pod)))
    .sort(
      (a, b) =>
        lastFinishTime([b], 0) - lastFinishTime([a], 0) ||
        secondsOf(b.metadata.creationTimestamp) - secondsOf(a.metadata.creationTimestamp),
    );
  for (const pod of failed) {
    const cause = causeOf(pod);
    if (cause !== undefined) return `pod ${pod.metadata.name} failed: ${cause}`;
  }
  return undefined;
}

function causeOf(pod: Pod): string | undefined {
  const { status = {} } = pod;
  const target = disruptionOf(pod);
  if (target?.reason !== undefined) return evictionOf(target.reason, target.message, status);
  if (status.reason === 'DeadlineExceeded' && hasRun(pod) && controllerOf(pod)?.kind === 'Job')
    return `it ran longer than the activeDeadlineSeconds of its template (${pod.spec.activeDeadlineSeconds} s)`;
  if (status.reason !== undefined && status.reason !== 'DeadlineExceeded')
    return status.message === undefined ? status.reason : `${status.reason}: ${status.message}`;
  const ended = containerStatusesOf(pod).find(
    ({ state }) => state?.terminated !== undefined && state.terminated.exitCode !== 0,
  );
  if (ended !== undefined) return `container ${ended.name} ${exitOf(ended.state!.terminated!)}`;
  return hasRun(pod) ? undefined : neverRan(pod);
}

/** The kubelet says itself what its node lacked; whoever deletes a pod says nothing. */
function evictionOf(reason: string, said: string | undefined, { reason: why, message }: Status): string {
  if (reason === BY_KUBELET && message !== undefined)
    return why === undefined ? message : `${why}: ${message}`;
  return EVICTED_BY[reason] ?? said ?? reason;
}

/** How a container ended, as a clause that wants its name before it. */
export function exitOf({ exitCode, reason }: Pick<Ended, 'exitCode' | 'reason'>): string {
  if (reason === 'OOMKilled')
    return `was OOMKilled (exit code ${exitCode}): it needs more memory than its limit`;
  const why = reason === undefined || reason === 'Error' ? '' : ` (${reason})`;
  return `exited with code ${exitCode}${why}`;
}

function neverRan(pod: Pod): string | undefined {
  const waiting = containerStatusesOf(pod).find(({ state }) => state?.waiting?.reason !== undefined)?.state
    ?.waiting;
  if (waiting === undefined) return undefined;
  const { reason, message } = waiting;
  return `it never ran: ${message === undefined ? reason : `${reason}: ${message}`}`;
}

/** Who takes the pod away, as a clause that names it; undefined: nobody deletes it. */
function removalOf(pod: Pod): string | undefined {
  const { name, deletionTimestamp } = pod.metadata;
  if (isDisrupted(pod)) return `pod ${name} failed: ${causeOf(pod)}`;
  return deletionTimestamp === undefined || isTerminal(pod) ? undefined : `pod ${name} was deleted`;
}

/**
 * The ends of pods that are gone before their workload has ended: whoever evicts a pod deletes it, and a Job only says then
 * that it may not fail so often.
 */
export class RemovedPods {
  /** By job id. */
  private readonly removals = new Map<number, string>();

  forget(jobid: number): void {
    this.removals.delete(jobid);
  }

  see(jobid: number, pods: readonly Pod[]): void {
    for (const pod of pods) {
      const removal = removalOf(pod);
      // A Job that fails deletes its other pods: that is no cause.
      if (removal !== undefined && (isTold(removal) || !this.removals.has(jobid)))
        this.removals.set(jobid, removal);
    }
  }

  /** The outcome with what took its pods away, if no pod that is there says what ended it. */
  told(jobid: number, outcome: Outcome): Outcome {
    const removal = this.removals.get(jobid);
    const { result, message } = outcome;
    if (result !== 'Failed' || removal === undefined || message === undefined || isTold(message))
      return outcome;
    return { ...outcome, message: `${removal}; ${message}` };
  }
}

function isTold(clause: string): boolean {
  return /^pod \S+ failed: /.test(clause);
}
