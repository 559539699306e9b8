/** Progress of the Job or StatefulSet of a MiniCluster, as its status needs it. */
import { ADMITTED_LABEL, COMPLETION_INDEX_ANNOTATION } from '../../constructs/api/labels';
import type { Job, KubernetesObject, Pod } from '../kubernetes/types';
import { isTerminal, type Outcome, secondsOf } from '../workloads/adapter';
import { type GrantedDeadline, grantedDeadline } from '../workloads/deadlines';
import { endOf, type JobEnd } from '../workloads/job-end';

export interface Progress {
  /** Number of pods that the spec requests. */
  readonly desired: number;
  /** Number of pods that exist. */
  readonly pods: number;
  /** Number of pods that have a node and have not finished. */
  readonly scheduled: number;
  /** Number of ready pods, which are the pods whose brokers are up. */
  readonly ready: number;
  readonly suspended: boolean;
  /** The deadline of a Job that the queue has started: no later edit moves it away. */
  readonly grantedDeadline?: GrantedDeadline;
  /** Whether the Job is of the queue, and of no other one. */
  readonly isQueued?: true;
  /** Version of the Job, as long as a release may change it: what is applied to it is judged by this version. */
  readonly unstarted?: string;
  readonly end?: End;
}

interface End extends Outcome {
  /** One clause without a full stop. */
  readonly message: string;
}

export interface StatefulSet extends KubernetesObject {
  readonly spec: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number; readonly readyReplicas?: number };
}

/** @param pods the known pods of the Job; they may be deleted before the Job ends */
export function progressOfJob(job: Job, pods: readonly Pod[]): Progress {
  const { parallelism = 1, suspend = false } = job.spec;
  const end = endOf(job);
  const deadline = grantedDeadline(job);
  return {
    desired: parallelism,
    pods: job.status?.active ?? 0,
    scheduled: scheduledPods(pods),
    ready: end === undefined ? (job.status?.ready ?? 0) : 0,
    suspended: suspend,
    ...(job.metadata.labels?.[ADMITTED_LABEL] === 'true' && { isQueued: true as const }),
    ...(deadline !== undefined && { grantedDeadline: deadline }),
    ...(suspend && { unstarted: job.metadata.resourceVersion }),
    ...(end !== undefined && { end: { ...end.outcome, message: endMessage(end, job, pods) } }),
  };
}

/** A StatefulSet has no end: it exists until it is deleted. */
export function progressOfStatefulSet({ spec, status }: StatefulSet, pods: readonly Pod[]): Progress {
  return {
    desired: spec.replicas ?? 1,
    pods: status?.replicas ?? 0,
    scheduled: scheduledPods(pods),
    ready: status?.readyReplicas ?? 0,
    suspended: false,
  };
}

function scheduledPods(pods: readonly Pod[]): number {
  return pods.filter((pod) => pod.spec.nodeName !== undefined && !isTerminal(pod)).length;
}

function endMessage({ outcome: { result }, message }: JobEnd, { spec }: Job, pods: readonly Pod[]): string {
  if (result === 'Succeeded') return 'the lead broker succeeded';
  if (result === 'TimedOut') return `the Job exceeded its deadline of ${spec.activeDeadlineSeconds}s`;
  return leadExitMessage(pods) ?? message;
}

/** The exit code of the newest lead broker, while its pod exists. */
function leadExitMessage(pods: readonly Pod[]): string | undefined {
  const codes = pods
    .filter(({ metadata }) => metadata.annotations?.[COMPLETION_INDEX_ANNOTATION] === '0')
    .sort((a, b) => secondsOf(b.metadata.creationTimestamp) - secondsOf(a.metadata.creationTimestamp))
    .flatMap(({ status }) => status?.containerStatuses ?? [])
    .map(({ state }) => state?.terminated?.exitCode)
    .filter((code) => code !== undefined && code !== 0);
  return codes.length === 0 ? undefined : `the lead broker exited with code ${codes[0]}`;
}
