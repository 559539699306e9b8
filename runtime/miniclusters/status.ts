/**
 * What the status of a MiniCluster says of what is seen. Pure: facts in, status
 * out. Every condition is a statement that holds or does not: Ready and
 * JobMiniClusterReady are the brokers, not the objects; JobFinished carries the
 * result; Stalled is what no waiting cures.
 */
import type {
  MiniClusterStatus,
  MiniClusterStatusConditions,
  MiniClusterStatusPhase,
} from '../../imports/flux-framework.org-status';
import { rfc3339, stamped } from '../kubernetes/conditions';
import type { WorkloadRow } from '../queue/workload';
import type { MiniCluster } from './resource';
import type { Progress } from './workload-status';

/** What stands in the way of what the spec asks for. */
export interface Refusal {
  /** UpperCamelCase. */
  readonly reason: string;
  readonly message: string;
}

export interface Facts {
  readonly cluster: MiniCluster;
  /** Its Job or StatefulSet; undefined: it is not there. */
  readonly progress: Progress | undefined;
  /** Its place in the queue, while it has one. */
  readonly row: Pick<WorkloadRow, 'phase' | 'reason' | 'message'> | undefined;
  /** Name of its FluxJob, if it goes through the queue. */
  readonly fluxJob: string | undefined;
  /** Label selector of its pods. */
  readonly selector: string;
  /** The spec as it stands was not, or not wholly, applied. */
  readonly refusal: Refusal | undefined;
  /** Unix seconds. */
  readonly now: number;
}

export function statusOf(facts: Facts): MiniClusterStatus {
  const { cluster, progress, selector, fluxJob } = facts;
  const before = cluster.status ?? {};
  // Its Job may be gone long since (ttlSecondsAfterFinished): what is over stays over.
  if (progress === undefined && before.phase === 'Finished') return stillOver(facts, before);
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
    observedGeneration: cluster.metadata.generation ?? 0,
    conditions: conditionsOf(facts, phase),
  };
}

function stillOver(facts: Facts, before: MiniClusterStatus): MiniClusterStatus {
  const { refusal, cluster } = facts;
  if (refusal === undefined) return before;
  const { generation = 0 } = cluster.metadata;
  const stalled = conditionOf({ type: 'Stalled', status: 'True', ...refusal }, facts);
  const others = (before.conditions ?? []).filter(({ type }) => type !== 'Stalled');
  return { ...before, observedGeneration: generation, conditions: [...others, stalled] };
}

/** Brokers that must be up before its command starts. */
function quorumOf({ spec }: MiniCluster): number {
  return spec.minSize ?? spec.size ?? 1;
}

/** The ranks its brokers were told of. They read it when they start, so it is fixed from then on. */
export function maximumSize({ spec, status }: MiniCluster, phase = status?.phase): number {
  const fixed = hasStarted(phase) ? status?.maximumSize : undefined;
  return fixed ?? spec.maxSize ?? spec.size ?? 1;
}

/** Whether brokers of it have read their configuration. */
export function hasStarted(phase: MiniClusterStatusPhase | undefined): boolean {
  return phase === 'Ready' || phase === 'Running' || phase === 'Finished';
}

function phaseOf({ cluster, progress, row }: Facts): MiniClusterStatusPhase {
  if (progress === undefined) return 'Requested';
  if (progress.end !== undefined) return 'Finished';
  if (progress.ready > 0 && progress.ready >= Math.min(quorumOf(cluster), progress.wanted)) return 'Running';
  if (row !== undefined) return row.phase === 'Ready' || row.phase === 'Running' ? 'Ready' : 'Waiting';
  return progress.placed > 0 ? 'Ready' : 'Waiting';
}

interface Words {
  readonly reason: string;
  readonly message: string;
}

function conditionsOf(facts: Facts, phase: MiniClusterStatusPhase): MiniClusterStatusConditions[] {
  const { progress, refusal, row } = facts;
  const words = wordsOf(facts, phase);
  const isUp = phase === 'Running';
  const lost = progress?.end !== undefined && progress.end.result !== 'Succeeded';
  const hopeless = row?.phase === 'Waiting' && (row.reason === 'Unsatisfiable' || row.reason === 'Invalid');
  const stalled = refusal !== undefined || lost || hopeless;
  const settled = isUp && progress?.ready === progress?.wanted;
  const holds: readonly (readonly [type: string, holds: boolean, words: Words])[] = [
    ['JobRequested', progress !== undefined, refusal ?? words],
    ['JobWaitingForResources', phase === 'Waiting', words],
    ['JobRunning', phase !== 'Finished' && (progress?.ready ?? 0) > 0, words],
    ['JobMiniClusterReady', isUp, words],
    ['JobFinished', phase === 'Finished', words],
    ['Ready', isUp, words],
    ['Reconciling', !stalled && !settled && phase !== 'Finished', words],
    ['Stalled', stalled, refusal ?? words],
  ];
  return holds.map(([type, isTrue, { reason, message }]) =>
    conditionOf({ type, status: isTrue ? 'True' : 'False', reason, message }, facts),
  );
}

function wordsOf(facts: Facts, phase: MiniClusterStatusPhase): Words {
  const { progress, row, cluster } = facts;
  const brokers = `${progress?.ready ?? 0} of ${progress?.wanted ?? cluster.spec.size ?? 1} brokers are up`;
  switch (phase) {
    case 'Requested':
      return facts.refusal ?? { reason: 'Requested', message: 'its Job is not there yet' };
    case 'Waiting':
      return waitingWords(facts, row);
    case 'Ready':
      return { reason: 'BrokersStarting', message: `${brokers}, ${quorumOf(cluster)} are needed` };
    case 'Running':
      return { reason: 'BrokersUp', message: brokers };
    case 'Finished':
      return finishedWords(facts);
  }
}

function waitingWords({ progress }: Facts, row: Facts['row']): Words {
  if (row !== undefined)
    return { reason: row.reason ?? 'Submitted', message: row.message ?? 'waits in its queue' };
  return progress?.suspended === true
    ? { reason: 'Suspended', message: 'its Job is suspended' }
    : { reason: 'Pending', message: 'no pod of it has a node' };
}

function finishedWords({ cluster, progress }: Facts): Words {
  const { result, message } = progress!.end!;
  // Once they were up, it is its command that took too long.
  if (result !== 'TimedOut' || cluster.status?.startTime !== undefined) return { reason: result, message };
  const never = `the ${quorumOf(cluster)} brokers that it needs were never up together`;
  return { reason: 'QuorumNotReached', message: `${message}; ${never}` };
}

function conditionOf(
  said: Omit<MiniClusterStatusConditions, 'lastTransitionTime' | 'observedGeneration'>,
  { cluster, now }: Facts,
): MiniClusterStatusConditions {
  const { generation = 0 } = cluster.metadata;
  return stamped({ ...said, observedGeneration: generation }, cluster.status?.conditions, now);
}
