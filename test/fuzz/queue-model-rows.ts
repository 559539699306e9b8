/** The changes of a row in the in-memory model of the queue. */
import { isDeepStrictEqual } from 'node:util';
import type { Jobspec } from '../../runtime/jobspec/types';
import type { Queue } from '../../runtime/queue/store';
import type { UsualPart } from '../../runtime/queue/usual-runtimes';
import type { Submission, SubmissionUpdate, WaitReason, WorkloadRow } from '../../runtime/queue/workload';
import { isEndless } from '../../runtime/resources/endless';
import type { Allocation } from '../../runtime/resources/types';
import { copyOf } from './json-patch';

export const NO_WAIT = { reason: null, message: null, estimatedStart: null, notBefore: null } as const;
export const NOT_GRANTED = {
  allocation: null,
  allocatedAt: null,
  releasedAt: null,
  startedAt: null,
  evictionReason: null,
  evictionCause: null,
} as const;
export const RETURNED = {
  ...NO_WAIT,
  ...NOT_GRANTED,
  phase: 'Waiting',
  reason: 'Submitted',
  result: null,
  finishedAt: null,
  requeues: 0,
  clusterRequeues: 0,
  avoid: {},
} as const;
const BY_USER = ['queue', 'priority', 'walltime', 'held', 'after', 'preemptible'] as const;
const REQUESTED = ['queue', 'walltime', 'pods', 'jobspec'] as const;

/** Of several records of one uid in a call, the last one counts, in the position of the first one. */
export function lastOfEach<R extends { readonly uid: string }>(records: readonly R[]): R[] {
  return [...new Map(records.map((record) => [record.uid, record])).values()];
}

export function grantDetail(allocation: Allocation | null): Record<string, unknown> {
  const { jobid: _, ...rest } = allocation!;
  return rest;
}

/** The fields of a submission that replace those of an existing row. */
export function requestedFields(submission: Submission): Omit<SubmissionUpdate, 'uid'> {
  const { queue, priority, walltime, pods, jobspec, shape, held, after, preemptible } = submission;
  return { queue, priority, walltime, pods, jobspec, shape, held, after, preemptible };
}

export function holds({ phase }: WorkloadRow): boolean {
  return phase === 'Ready' || phase === 'Running';
}

/** Whether the current reason of the row has precedence. */
export function keepsReason(row: WorkloadRow, reason: WaitReason): boolean {
  return row.held && reason !== 'Held' && reason !== 'GroupIncomplete';
}

function checkpointOf({ attributes }: Jobspec): number | undefined {
  return attributes.user?.checkpointSeconds;
}

/** What an earlier version queued does not note its gang size, and an array has none. */
function hasOtherGangSize(row: Jobspec, update: Jobspec): boolean {
  const { gangSize, array } = row.attributes.user ?? {};
  return update.attributes.user?.gangSize !== gangSize && (gangSize !== undefined || array === true);
}

function differ(
  row: WorkloadRow,
  update: SubmissionUpdate,
  keys: readonly (keyof SubmissionUpdate)[],
): boolean {
  return keys.some((key) => key !== 'progressed' && !isDeepStrictEqual(row[key], update[key]));
}

/** The workloads that their users change, and not the cluster. */
export function uidsOfUsers(
  rows: ReadonlyMap<string, WorkloadRow>,
  updates: readonly SubmissionUpdate[],
): ReadonlySet<string> {
  const byUser = updates.filter((update) => {
    const row = rows.get(update.uid);
    return row !== undefined && isByUser(row, copyOf(update));
  });
  return new Set(byUser.map(({ uid }) => uid));
}

/** Whether the user has changed what the row asks for. */
function isByUser(row: WorkloadRow, update: SubmissionUpdate): boolean {
  const keys = update.progressed === true ? BY_USER : ([...BY_USER, 'pods'] as const);
  return (
    differ(row, update, keys) ||
    checkpointOf(update.jobspec) !== checkpointOf(row.jobspec) ||
    hasOtherGangSize(row.jobspec, update.jobspec)
  );
}

export function finished(
  row: WorkloadRow,
  { result, finishedAt, message }: Parameters<Queue['finish']>[1][number],
): WorkloadRow | undefined {
  if (row.phase === 'Finished') return undefined;
  const ended = { phase: 'Finished', evictionReason: null, evictionCause: null } as const;
  return { ...row, ...NO_WAIT, ...ended, result, finishedAt, message: message ?? null };
}

export function updated(
  nextJobid: () => number,
  row: WorkloadRow,
  update: SubmissionUpdate,
): WorkloadRow | undefined {
  const { uid: _, progressed: __, ...values } = update;
  const differs = (keys: readonly (keyof SubmissionUpdate)[]) => differ(row, update, keys);
  if (row.phase !== 'Waiting' || !differs([...BY_USER, 'pods', 'jobspec', 'shape'])) return undefined;
  const byUser = isByUser(row, update);
  const stays = (row.reason === 'Requeued' || row.reason === 'RequeueLimit') && !byUser;
  return {
    ...row,
    ...values,
    reason: stays ? row.reason : values.held ? 'Held' : 'Submitted',
    message: stays ? row.message : null,
    isAfterMet: row.isAfterMet && !differs(['after']),
    estimatedStart: null,
    ...(byUser && { requeues: 0, clusterRequeues: 0, avoid: {}, notBefore: null }),
    jobid: differs(REQUESTED) ? nextJobid() : row.jobid,
  };
}

/** As the statement has it, of rows that are few enough. */
export function usualPartsOf(rows: readonly WorkloadRow[]): UsualPart[] {
  const ran = rows.filter(
    ({ result, startedAt, walltime }) =>
      startedAt !== null &&
      result !== null &&
      result !== 'Cancelled' &&
      !isEndless({ start: 0, end: walltime }),
  );
  const newest = ran.sort((a, b) => b.finishedAt! - a.finishedAt!);
  return [...Map.groupBy(newest, ({ user }) => user)].map(([user, [last, before = last]]) => {
    const parts = [last!, before!].map((row) =>
      Math.min(1, (row.finishedAt! - row.startedAt!) / row.walltime),
    );
    return { user, part: (parts[0]! + parts[1]!) / 2 };
  });
}
