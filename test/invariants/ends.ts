/**
 * How each workload truly started and ended, as the cluster saw it, whatever the controller saw of it; and what its row and
 * its FluxJob say of that (`end`). A Job and a bare pod are workloads.
 */

import { COMPLETION_INDEX_ANNOTATION } from '../../constructs/api/labels';
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import type { Result, WorkloadRow } from '../../runtime/queue/workload';
import type { Violation } from './observation';

type SeenEnd = Pick<
  WorkloadRow,
  'uid' | 'name' | 'kind' | 'phase' | 'result' | 'allocatedAt' | 'releasedAt' | 'startedAt' | 'finishedAt'
>;

/** What has happened to one workload. Unix seconds. */
interface Life {
  /** When its pods began to run. */
  readonly starts: number[];
  /** The tasks that pods have done which nobody had deleted. */
  readonly done: Set<string>;
  /** How many it has. @default - of a pod: none */
  tasks?: number | undefined;
  /** When the last of its pods ended. */
  podsEndedAt?: number;
  /** When all of its tasks were done. */
  doneAt?: number;
  /** Its end as the Job controller or the kubelet says it: it is final. */
  ended?: { readonly result: Result; readonly at: number };
  /** When it was deleted before its end. */
  deletedAt?: number;
  /** Whether its object was removed. */
  isGone?: boolean;
  /** Whether the controller may not know its end: it saw no pod after that, or the database forgot what it knew. */
  isUnseen?: boolean;
}

/** Times of the apiserver are whole seconds. */
const ROUNDED_SECONDS = 1;

/** A change of an object, as it happened. */
export interface SeenChange {
  /** Whether the object was removed. */
  readonly isGone: boolean;
  /** Whether the controller may not have seen it, because of a fault. */
  readonly isUnseen: boolean;
  /** Unix seconds of the cluster. */
  readonly at: number;
}

export class TrueEnds {
  /** By uid. */
  private readonly lives = new Map<string, Life>();
  /** The phase of each pod, by its uid. */
  private readonly phases = new Map<string, string | undefined>();

  sawJob(job: Job, { isGone, at }: SeenChange): void {
    const { metadata, spec, status } = job;
    const life = this.lifeOf(metadata.uid);
    life.tasks = spec.completions;
    const end = status?.conditions?.find(
      ({ type, status: value }) => (type === 'Complete' || type === 'Failed') && value === 'True',
    );
    if (end !== undefined && life.deletedAt === undefined)
      life.ended ??= { result: resultOf(end.type === 'Complete', end.reason), at };
    if (isGone || metadata.deletionTimestamp !== undefined) markDeleted(life, at);
    if (isGone) life.isGone = true;
  }

  sawPod(pod: Pod, change: SeenChange): void {
    const { uid, ownerReferences } = pod.metadata;
    const owner = ownerReferences?.[0]?.uid;
    const life = this.lifeOf(owner ?? uid);
    const phase = pod.status?.phase;
    if (this.phases.get(uid) !== phase) follow(life, pod, change.at);
    this.phases.set(uid, phase);
    if (owner === undefined) followBare(life, pod, change);
  }

  /** A restored row that waits says nothing of a grant, so nobody asks how it ended. */
  forgotten(): void {
    for (const life of this.lives.values()) if (life.isGone) life.isUnseen = true;
  }

  /**
   * What finished rows say that was not so.
   * @param areClocksRight whether the times that the controller notes itself are those of the cluster
   */
  violations(rows: readonly SeenEnd[], areClocksRight: boolean): Violation[] {
    return rows.flatMap((row) => {
      const life = this.lives.get(row.uid);
      if (life === undefined || row.phase !== 'Finished') return [];
      const wrong = wrongResult(row, life) ?? wrongStart(row, life) ?? wrongFinish(row, life, areClocksRight);
      return wrong === undefined ? [] : [{ invariant: 'end', text: `${row.kind} ${row.name} ${wrong}` }];
    });
  }

  /** FluxJobs that still say of what has ended that it waits or runs. */
  unrecorded(records: readonly FluxJobObject[]): Violation[] {
    return records
      .filter(({ spec, status }) => this.lives.get(spec.workload.uid)?.ended && status?.phase !== 'Finished')
      .map(({ spec: { workload }, status }) => ({
        invariant: 'end',
        text: `the FluxJob of ${workload.kind} ${workload.name} is ${status?.phase}, and it has ended`,
      }));
  }

  private lifeOf(uid: string): Life {
    const life: Life = this.lives.get(uid) ?? { starts: [], done: new Set() };
    this.lives.set(uid, life);
    return life;
  }
}

/** What a new phase of a pod is for its workload. */
function follow(life: Life, { metadata, status: { phase } = {} }: Pod, at: number): void {
  if (phase === 'Running') life.starts.push(at);
  if (phase !== 'Succeeded' && phase !== 'Failed') return;
  life.podsEndedAt = at;
  if (phase === 'Succeeded' && metadata.deletionTimestamp === undefined)
    life.done.add(metadata.annotations?.[COMPLETION_INDEX_ANNOTATION] ?? metadata.uid);
  if (life.done.size >= (life.tasks ?? Number.POSITIVE_INFINITY)) life.doneAt ??= at;
}

/** A pod that is a workload. */
function followBare(life: Life, { metadata, status }: Pod, { isGone, isUnseen, at }: SeenChange): void {
  const isOwn = metadata.deletionTimestamp === undefined;
  const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  if (hasEnded && isOwn) life.ended ??= { result: resultOf(status.phase === 'Succeeded', status.reason), at };
  if (isGone || !isOwn) markDeleted(life, at);
  if (!isGone) return;
  life.isGone = true;
  // Nothing else tells how it ended.
  life.isUnseen = isUnseen;
}

function markDeleted(life: Life, at: number): void {
  if (life.ended === undefined) life.deletedAt ??= at;
}

function resultOf(succeeded: boolean, reason: string | undefined): Result {
  if (succeeded) return 'Succeeded';
  return reason === 'DeadlineExceeded' ? 'TimedOut' : 'Failed';
}

/** Also that of a Job whose tasks were all done before its controller said what ended it, or its user deleted it. */
function truthOf({ ended, deletedAt, doneAt, isUnseen = false }: Life): readonly Result[] {
  const truth: Result[] = ended === undefined ? [] : [ended.result];
  if (deletedAt !== undefined || isUnseen) truth.push('Cancelled');
  if (doneAt !== undefined) truth.push('Succeeded');
  return [...new Set(truth)];
}

function wrongResult({ result }: SeenEnd, life: Life): string | undefined {
  const truth = truthOf(life);
  if (truth.includes(result!)) return undefined;
  return truth.length === 0
    ? `is ${result}, and has not ended`
    : `is ${result}, and was ${truth.join(' or ')}`;
}

function wrongStart(
  { startedAt, allocatedAt, releasedAt, result }: SeenEnd,
  { starts, isGone = false }: Life,
): string | undefined {
  if (startedAt === null) {
    const start = starts.find((at) => at > (allocatedAt ?? Number.POSITIVE_INFINITY));
    // The pods of what was deleted, or exceeded its deadline, may be gone before anybody has seen them.
    const isExpected = result === 'Succeeded' || (result === 'Failed' && !isGone);
    return isExpected && start !== undefined
      ? `is ${result}, and never started, but ran at ${start}`
      : undefined;
  }
  // Of what succeeded, the release is noted where nothing is left that tells its start.
  if (result === 'Succeeded' && startedAt === releasedAt) return undefined;
  const isTrue = starts.some((at) => Math.floor(at) <= startedAt && startedAt <= at + ROUNDED_SECONDS);
  return isTrue ? undefined : `started at ${startedAt}, but its pods at ${starts.join(', ') || 'no time'}`;
}

function wrongFinish(row: SeenEnd, life: Life, areClocksRight: boolean): string | undefined {
  const { result, startedAt } = row;
  const finishedAt = row.finishedAt!;
  if (!areClocksRight) return undefined;
  if (startedAt !== null && finishedAt < startedAt) return `finished at ${finishedAt}, before its start`;
  const { ended, deletedAt, podsEndedAt = 0, doneAt, starts } = life;
  const isByTasks = result === 'Succeeded' && ended?.result !== 'Succeeded';
  const last = isByTasks ? doneAt : ended?.at;
  const least = result === 'Succeeded' ? podsEndedAt : (ended?.at ?? deletedAt ?? 0);
  // When the controller came to know of a deletion is its own affair.
  const isNoted = result !== 'Cancelled' && last !== undefined && starts.length > 0;
  if (finishedAt < Math.floor(least) - ROUNDED_SECONDS)
    return `finished at ${finishedAt}, but ended at ${least}`;
  return isNoted && finishedAt > last + ROUNDED_SECONDS
    ? `finished at ${finishedAt}, but ended at ${last}`
    : undefined;
}

/**
 * FluxJobs that say something else than their rows, and workloads without one.
 * @param existing uids of workloads that nobody deletes
 */
export function recordedEnds(
  rows: readonly SeenEnd[],
  records: readonly FluxJobObject[],
  existing: ReadonlySet<string>,
): Violation[] {
  const byWorkload = new Map(records.map((record) => [record.spec.workload.uid, record]));
  return rows.flatMap((row) => {
    const record = byWorkload.get(row.uid);
    const missing = existing.has(row.uid) ? 'is missing' : undefined;
    const wrong = record === undefined ? missing : wrongRecord(row, record);
    return wrong === undefined
      ? []
      : [{ invariant: 'end', text: `the FluxJob of ${row.kind} ${row.name} ${wrong}` }];
  });
}

/** The row of a granted workload whose first pods are made again is Running, and its FluxJob says Ready. */
const isHeld = (phase: string | undefined) => phase === 'Ready' || phase === 'Running';

function wrongRecord(row: SeenEnd, { status = {} }: FluxJobObject): string | undefined {
  const { phase, result } = row;
  if (status.phase !== phase && !(isHeld(phase) && isHeld(status.phase)))
    return `is ${status.phase}, and its row ${phase}`;
  if (phase !== 'Finished') return undefined;
  const reason = status.conditions?.find(({ type }) => type === 'Ready')?.reason;
  if (status.result !== result || reason !== result)
    return `is ${status.result} (${reason}), and its row ${result}`;
  const times = [
    ['startTime', row.startedAt],
    ['finishTime', row.finishedAt],
  ] as const;
  for (const [field, seconds] of times) {
    const shown = status[field] === undefined ? undefined : Date.parse(status[field]) / 1000;
    const noted = seconds === null ? undefined : Math.floor(seconds);
    if (shown !== noted) return `has the ${field} ${shown}, and its row ${noted}`;
  }
  return undefined;
}
