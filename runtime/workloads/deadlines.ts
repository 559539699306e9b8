/**
 * The deadlines of a Job: its user's own, and the one that the queue writes at a release, by which Kubernetes enforces the
 * walltime. Both are in one field of the Job, so an annotation says which is which: `604800/864000` is the deadline that
 * the queue wrote and the one that its user had set, `604800/none` if there was none. Without the user's own, a requeued
 * Job would ask for the default of its queue instead of what it asked for before.
 */

import { pointerToken } from '../../constructs/api/json-pointer';
import { ADMITTED_LABEL, DEADLINE_ANNOTATION } from '../../constructs/api/labels';
import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import { isEndless } from '../resources/endless';
import type { WatchedJob } from '../shared/job-projection';
import { deadlineOf, type JsonPatchOperation, type LateDeadline, secondsOf } from './adapter';

type DeadlineFields = Pick<WatchedJob, 'metadata' | 'spec'>;

/** What the annotation says. */
interface Written {
  /** The activeDeadlineSeconds that the queue wrote. */
  readonly enforced: number;
  /** Undefined: the user had set none. */
  readonly own: number | undefined;
  /** Whether an earlier version wrote it, which did not keep the user's own. */
  readonly isOld: boolean;
}

const FORMAT = /^([0-9]{1,10})(?:\/(none|[0-9]{1,10}))?$/;

/** Undefined if the user has changed the deadline since the release, or no release wrote one. */
function writtenBy({ metadata, spec: { activeDeadlineSeconds } }: DeadlineFields): Written | undefined {
  const [, enforced, own] = FORMAT.exec(metadata.annotations?.[DEADLINE_ANNOTATION] ?? '') ?? [];
  if (enforced === undefined || Number(enforced) !== activeDeadlineSeconds) return undefined;
  const users = own === undefined || own === 'none' ? undefined : Number(own);
  return { enforced: activeDeadlineSeconds, own: users, isOld: own === undefined };
}

/** The activeDeadlineSeconds if the queue set it at a release, because the walltime is shorter than the user's deadline. */
export function enforcedDeadline(job: DeadlineFields): number | undefined {
  return writtenBy(job)?.enforced;
}

/** The deadline that the user has set, whatever a release has written since. */
export function ownDeadline(job: DeadlineFields): number | undefined {
  const written = writtenBy(job);
  return written === undefined ? job.spec.activeDeadlineSeconds : written.own;
}

/** The deadline of a Job that its grant has fixed. Seconds. */
export interface GrantedDeadline {
  readonly seconds: number;
  /** What the Job asked for before its start; undefined: the default of its queue. */
  readonly own: number | undefined;
}

/** Undefined as long as the queue reads the deadline anew before it starts the Job, and of a Job that is not the queue's. */
export function grantedDeadline(job: DeadlineFields): GrantedDeadline | undefined {
  const { activeDeadlineSeconds: seconds, suspend } = job.spec;
  const isStarted = suspend !== true && job.metadata.labels?.[ADMITTED_LABEL] === 'true';
  if (seconds === undefined || !(isStarted || enforcedDeadline(job) !== undefined)) return undefined;
  return { seconds, own: ownDeadline(job) };
}

/** The deadline that the Job asks for; what an earlier version granted, if that kept nothing else. */
export function requestedDeadline(job: DeadlineFields): number | undefined {
  const written = writtenBy(job);
  return written?.isOld === true ? written.enforced : ownDeadline(job);
}

/** What a release writes into a Job. */
export interface ReleasedDeadline {
  readonly activeDeadlineSeconds: number;
  /** Text of the annotation; undefined if the deadline is the user's own. */
  readonly annotation: string | undefined;
}

/** What a release knows of the time until its pods run. Seconds. */
interface ReleaseTimes {
  /** From the start of the Job to its grant: a staged Job has started before (staged.ts). @default 0 */
  readonly staged?: number;
  /** From the release to the start of the first container. @default 0 */
  readonly delay?: number;
}

/** The Job controller counts the deadline from status.startTime, which is the release; suspended time does not count. */
export function releasedDeadline(
  job: DeadlineFields,
  row: WorkloadRow,
  { staged = 0, delay = 0 }: ReleaseTimes = {},
): ReleasedDeadline {
  const own = ownDeadline(job);
  return written(staged + deadlineOf({ walltime: row.walltime + delay }, own), own);
}

function written(activeDeadlineSeconds: number, own: number | undefined): ReleasedDeadline {
  const annotation = activeDeadlineSeconds === own ? undefined : `${activeDeadlineSeconds}/${own ?? 'none'}`;
  return { activeDeadlineSeconds, annotation };
}

/** The longest that every reader takes: 68 years. */
export const PARKED_SECONDS = 2 ** 31 - 1;

/** Of a staged Job, which may wait for as long as another controller needs. Its walltime begins with its grant. */
export function parkedDeadline(job: DeadlineFields): ReleasedDeadline {
  return written(PARKED_SECONDS, ownDeadline(job));
}

export function isParked({ spec }: DeadlineFields): boolean {
  return spec.activeDeadlineSeconds === PARKED_SECONDS;
}

/** Whole seconds from the start of a staged Job to its grant. */
export function stagedSeconds({ status }: WatchedJob, { releasedAt, allocatedAt }: WorkloadRow): number {
  const begun = secondsOf(status?.startTime ?? '');
  return Number.isFinite(begun) ? Math.max(0, Math.ceil((releasedAt ?? allocatedAt ?? begun) - begun)) : 0;
}

/** A start that takes no longer than this is part of the walltime: each later one costs a write. */
const PROMPT_SECONDS = 5;

/**
 * No start is waited for longer than this: what runs in init containers, or never starts, would have no walltime at all.
 */
const LONGEST_DELAY_SECONDS = 3_600;

/**
 * The walltime counts from the start of the first container. The deadline of a release assumes a prompt start, so it moves
 * with a late one: to its exact value once a container has started, and before that whenever half of the walltime is over.
 * The user's own deadline counts from the release, as always in Kubernetes.
 * @param staged seconds from the start of a staged Job to its grant
 */
export function lateDeadline(job: WatchedJob, row: WorkloadRow, now: number, staged = 0): LateDeadline {
  const begun = secondsOf(job.status?.startTime ?? '') + staged;
  const enforced = enforcedDeadline(job);
  if (enforced === undefined || job.spec.suspend === true || !Number.isFinite(begun)) return {};
  // A grant that is younger than the release was adopted by an earlier version, and says nothing about the start.
  if ((row.allocatedAt ?? 0) > begun + PROMPT_SECONDS) return {};
  const left = begun + enforced - staged - now;
  const half = row.walltime / 2;
  if (row.startedAt === null && left > half) return { after: Math.ceil((left - half) * 1000) };
  const delay = Math.min(Math.max(0, (row.startedAt ?? now) - begun), LONGEST_DELAY_SECONDS);
  const { activeDeadlineSeconds, annotation } = releasedDeadline(job, row, { staged, delay });
  if (activeDeadlineSeconds <= enforced + (row.startedAt === null ? 0 : PROMPT_SECONDS)) return {};
  return { patch: { type: 'json', body: extension(job, activeDeadlineSeconds, annotation) } };
}

/** Whether the walltime of a workload is over, whose pods may be made again. */
export function isPastWalltime(row: WorkloadRow | undefined, now: number): boolean {
  if (row === undefined || row.startedAt === null || row.allocation === null) return false;
  return !isEndless(row.allocation) && now >= row.startedAt + row.walltime;
}

/** Of a pod that comes after the others of its workload: it ends with them. */
export function remainingDeadline(pod: Pod, row: WorkloadRow, now: number): readonly JsonPatchOperation[] {
  const { allocation, walltime, startedAt } = row;
  const users = pod.spec.activeDeadlineSeconds ?? Number.POSITIVE_INFINITY;
  if (allocation === null || isEndless(allocation)) return [];
  const left = startedAt === null ? walltime : startedAt + walltime - now;
  const value = Math.min(Math.max(1, Math.ceil(left)), users);
  return value === users ? [] : [{ op: 'add', path: '/spec/activeDeadlineSeconds', value }];
}

/** The user may change the deadline at the same moment. An empty annotation says that the deadline is the user's own. */
function extension(
  { metadata, spec }: DeadlineFields,
  value: number,
  annotation = '',
): readonly JsonPatchOperation[] {
  return [
    { op: 'test', path: '/metadata/uid', value: metadata.uid },
    { op: 'test', path: '/spec/activeDeadlineSeconds', value: spec.activeDeadlineSeconds },
    { op: 'replace', path: '/spec/activeDeadlineSeconds', value },
    { op: 'replace', path: `/metadata/annotations/${pointerToken(DEADLINE_ANNOTATION)}`, value: annotation },
  ];
}
