/** How far the Job or StatefulSet of a MiniCluster is, in the words that its status needs. Pure. */
import { COMPLETION_INDEX_ANNOTATION } from '../../constructs/api/labels';
import type { Job, KubernetesObject, Pod } from '../kubernetes/types';
import { isTerminal, type Outcome, secondsOf } from '../workloads/adapter';
import { endOf, enforcedDeadline, type JobEnd } from '../workloads/job';

export interface Progress {
  /** Pods it is to have. */
  readonly wanted: number;
  /** Pods there are. */
  readonly pods: number;
  /** Pods that have a node. */
  readonly placed: number;
  /** Pods that are ready: their brokers are up. */
  readonly ready: number;
  readonly suspended: boolean;
  /** Seconds; what the queue wrote at its release, because its walltime ends before the user's own deadline. */
  readonly enforcedDeadline?: number;
  readonly end?: End;
}

interface End extends Outcome {
  /** One sentence without the full stop. */
  readonly message: string;
}

export interface StatefulSet extends KubernetesObject {
  readonly spec: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number; readonly readyReplicas?: number };
}

/** @param pods those of the Job that are known; they may be gone before it is over */
export function progressOfJob(job: Job, pods: readonly Pod[]): Progress {
  const { parallelism = 1, suspend = false } = job.spec;
  const end = endOf(job);
  const enforced = enforcedDeadline(job);
  return {
    wanted: parallelism,
    pods: job.status?.active ?? 0,
    placed: placedOf(pods),
    ready: end === undefined ? (job.status?.ready ?? 0) : 0,
    suspended: suspend,
    ...(enforced !== undefined && { enforcedDeadline: enforced }),
    ...(end !== undefined && { end: { ...end.outcome, message: wordsOf(end, job, pods) } }),
  };
}

/** It has no end: it is there until it is deleted. */
export function progressOfStatefulSet({ spec, status }: StatefulSet, pods: readonly Pod[]): Progress {
  return {
    wanted: spec.replicas ?? 1,
    pods: status?.replicas ?? 0,
    placed: placedOf(pods),
    ready: status?.readyReplicas ?? 0,
    suspended: false,
  };
}

function placedOf(pods: readonly Pod[]): number {
  return pods.filter((pod) => pod.spec.nodeName !== undefined && !isTerminal(pod)).length;
}

function wordsOf({ outcome: { result }, message }: JobEnd, { spec }: Job, pods: readonly Pod[]): string {
  if (result === 'Succeeded') return 'the lead is done';
  if (result === 'TimedOut') return `ended by its deadline of ${spec.activeDeadlineSeconds} s`;
  return exitOfLead(pods) ?? message;
}

/** What its last lead ended with, while a pod tells. */
function exitOfLead(pods: readonly Pod[]): string | undefined {
  const codes = pods
    .filter(({ metadata }) => metadata.annotations?.[COMPLETION_INDEX_ANNOTATION] === '0')
    .sort((a, b) => secondsOf(b.metadata.creationTimestamp) - secondsOf(a.metadata.creationTimestamp))
    .flatMap(({ status }) => status?.containerStatuses ?? [])
    .map(({ state }) => state?.terminated?.exitCode)
    .filter((code) => code !== undefined && code !== 0);
  return codes.length === 0 ? undefined : `the lead ended with exit code ${codes[0]}`;
}
