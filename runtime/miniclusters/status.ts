/**
 * Computes the status of a MiniCluster from observed facts.
 * JobMiniClusterReady describes the brokers, not the objects, and so does
 * Ready, which is also True for a cluster that succeeded: kstatus and Argo CD
 * wait for it. JobFinished has the result as its reason; Stalled is True if the cluster makes no progress
 * until its user changes something.
 */
import type {
  MiniClusterStatus,
  MiniClusterStatusConditions,
  MiniClusterStatusPhase,
} from '../../imports/flux-framework.org-status';
import { rfc3339, stamped } from '../kubernetes/conditions';
import { type WorkloadRow, waitReasonOf } from '../queue/workload';
import type { GrantWait } from '../shared/grant-waits';
import type { MiniCluster } from './resource';
import type { Progress } from './workload-status';

/** Why the spec cannot take effect, or not completely. */
export interface Rejection {
  /** UpperCamelCase. */
  readonly reason: string;
  readonly message: string;
}

export interface Facts {
  readonly cluster: MiniCluster;
  /** Progress of the Job or StatefulSet; undefined if that does not exist. */
  readonly progress: Progress | undefined;
  /** The row of the Job in the queue; undefined for a workload outside the queue. */
  readonly row: Pick<WorkloadRow, 'phase' | 'reason' | 'message'> | undefined;
  /** What the granted Job waits for while none of its pods runs. */
  readonly wait: GrantWait | undefined;
  /** Name of the FluxJob; undefined for a workload outside the queue. */
  readonly fluxJob: string | undefined;
  /** Label selector of the pods. */
  readonly selector: string;
  /** Set if the current spec was not applied, or not completely. */
  readonly rejection: Rejection | undefined;
  /** What the lead broker reported in the last minute. @default - nothing */
  readonly flux?: MiniClusterStatus['flux'] | undefined;
  /** Unix seconds. */
  readonly now: number;
}

export function statusOf(facts: Facts): MiniClusterStatus {
  const { cluster, progress, selector, fluxJob, flux } = facts;
  const before = cluster.status ?? {};
  // With ttlSecondsAfterFinished the Job may be deleted. A finished cluster stays finished.
  if (progress === undefined && before.phase === 'Finished') return keepFinished(facts, before);
  const phase = phaseOf(facts);
  const startTime = before.startTime ?? (phase === 'Running' ? rfc3339(facts.now) : undefined);
  const end = phase === 'Finished' ? progress?.end : undefined;
  return {
    phase,
    ...(end !== undefined && { result: end.result, finishTime: rfc3339(end.finishedAt) }),
    size: progress?.pods ?? 0,
    readyBrokers: progress?.ready ?? 0,
    maximumSize: maximumSize(cluster, phase),
    selector,
    ...(fluxJob !== undefined && { jobid: fluxJob }),
    ...(startTime !== undefined && { startTime }),
    ...(flux !== undefined && phase !== 'Finished' && { flux }),
    observedGeneration: cluster.metadata.generation ?? 0,
    conditions: conditionsOf(facts, phase),
  };
}

function keepFinished(facts: Facts, before: MiniClusterStatus): MiniClusterStatus {
  const { rejection, cluster } = facts;
  if (rejection === undefined) return before;
  const { generation = 0 } = cluster.metadata;
  const stalled = conditionOf({ type: 'Stalled', status: 'True', ...rejection }, facts);
  const others = (before.conditions ?? []).filter(({ type }) => type !== 'Stalled');
  return { ...before, observedGeneration: generation, conditions: [...others, stalled] };
}

/** The number of brokers that must be up before the command starts. */
function quorumOf({ spec }: MiniCluster): number {
  return spec.minSize ?? spec.size ?? 1;
}

/** The number of ranks in the configuration of the brokers. They read it when they start, so it is fixed from then on. */
export function maximumSize({ spec, status }: MiniCluster, phase = status?.phase): number {
  const fixed = hasStarted(phase) ? status?.maximumSize : undefined;
  return fixed ?? spec.maxSize ?? spec.size ?? 1;
}

/** Whether brokers of the cluster have read their configuration. */
export function hasStarted(phase: MiniClusterStatusPhase | undefined): boolean {
  return phase === 'Ready' || phase === 'Running' || phase === 'Finished';
}

function phaseOf({ cluster, progress, row }: Facts): MiniClusterStatusPhase {
  if (progress === undefined) return 'Requested';
  if (progress.end !== undefined) return 'Finished';
  if (progress.ready > 0 && progress.ready >= Math.min(quorumOf(cluster), progress.desired)) return 'Running';
  if (row !== undefined) return row.phase === 'Ready' || row.phase === 'Running' ? 'Ready' : 'Waiting';
  return progress.scheduled > 0 ? 'Ready' : 'Waiting';
}

/** Reason and message of a condition. */
interface Explanation {
  readonly reason: string;
  readonly message: string;
}

function conditionsOf(facts: Facts, phase: MiniClusterStatusPhase): MiniClusterStatusConditions[] {
  const { progress, rejection, row } = facts;
  const explanation = explain(facts, phase);
  const isUp = phase === 'Running';
  const succeeded = progress?.end?.result === 'Succeeded';
  const failed = progress?.end !== undefined && !succeeded;
  const cannotStart =
    row?.phase === 'Waiting' && (row.reason === 'Unsatisfiable' || row.reason === 'Invalid');
  const stalled = rejection !== undefined || failed || cannotStart;
  const settled = isUp && progress?.ready === progress?.desired;
  const conditions: readonly (readonly [type: string, isTrue: boolean, explanation: Explanation])[] = [
    ['JobRequested', progress !== undefined, rejection ?? explanation],
    ['JobWaitingForResources', phase === 'Waiting', explanation],
    ['JobRunning', phase !== 'Finished' && (progress?.ready ?? 0) > 0, explanation],
    ['JobMiniClusterReady', isUp, explanation],
    ['JobFinished', phase === 'Finished', explanation],
    ['Ready', isUp || succeeded, explanation],
    ['Reconciling', !stalled && !settled && phase !== 'Finished', explanation],
    ['Stalled', stalled, rejection ?? explanation],
  ];
  return conditions.map(([type, isTrue, { reason, message }]) =>
    conditionOf({ type, status: isTrue ? 'True' : 'False', reason, message }, facts),
  );
}

function explain(facts: Facts, phase: MiniClusterStatusPhase): Explanation {
  const { progress, row, cluster, wait } = facts;
  const brokers = `${progress?.ready ?? 0} of ${progress?.desired ?? cluster.spec.size ?? 1} brokers are up`;
  switch (phase) {
    case 'Requested':
      return facts.rejection ?? { reason: 'Requested', message: 'the Job does not exist yet' };
    case 'Waiting':
      return explainWaiting(facts, row);
    case 'Ready':
      if (wait !== undefined) return { reason: wait.reason, message: `${brokers}; ${wait.message}` };
      return { reason: 'BrokersStarting', message: `${brokers}, the quorum is ${quorumOf(cluster)}` };
    case 'Running':
      return { reason: 'BrokersUp', message: brokers };
    case 'Finished':
      return explainFinished(facts);
  }
}

function explainWaiting({ progress }: Facts, row: Facts['row']): Explanation {
  if (row !== undefined)
    return { reason: waitReasonOf(row), message: row.message ?? 'the Job is pending in its queue' };
  return progress?.suspended === true
    ? { reason: 'Suspended', message: 'the Job is suspended' }
    : { reason: 'Pending', message: 'no pod is scheduled yet' };
}

function explainFinished({ cluster, progress }: Facts): Explanation {
  const { result, message } = progress!.end!;
  // If the brokers were up before the timeout, the command took too long, not the start.
  if (result !== 'TimedOut' || cluster.status?.startTime !== undefined) return { reason: result, message };
  const quorum = `the quorum of ${quorumOf(cluster)} brokers was never reached`;
  return { reason: 'QuorumNotReached', message: `${message}; ${quorum}` };
}

function conditionOf(
  condition: Omit<MiniClusterStatusConditions, 'lastTransitionTime' | 'observedGeneration'>,
  { cluster, now }: Facts,
): MiniClusterStatusConditions {
  const { generation = 0 } = cluster.metadata;
  return stamped({ ...condition, observedGeneration: generation }, cluster.status?.conditions, now);
}
