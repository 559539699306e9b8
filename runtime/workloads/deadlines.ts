/**
 * The deadlines of a Job or Pod: its user's own, and the one that the queue writes at a release, by which Kubernetes enforces
 * the walltime. Both are in one field of the object, so an annotation says which is which: `604800/864000` is the deadline that
 * the queue wrote and the one that its user had set, `604800/none` if there was none. Without the user's own, a requeued
 * Job would ask for the default of its queue instead of what it asked for before, and so would a pod of a lost database.
 *
 * Kubernetes counts that of a Job from the release, and that of a Pod from its kubelet, before the pull of its image. The
 * walltime counts from the start of the first container, which may be long after it and
 * happen while no controller runs. So the deadline of a release allows for a late start: `600+3600/none` is a walltime of 600
 * seconds and 3600 seconds for the start. A start that is known takes the allowance back. (pod-deadlines.ts has that of pods.)
 */

import { pointerToken } from '../../constructs/api/json-pointer';
import { ADMITTED_LABEL, DEADLINE_ANNOTATION } from '../../constructs/api/labels';
import type { ObjectMeta, Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import { isEndless } from '../resources/endless';
import type { WatchedJob } from '../shared/job-projection';
import { deadlineOf, type JsonPatchOperation, type Patch, secondsOf, type WalltimeEnd } from './adapter';

/** A Job and a Pod have these, with the same meaning. */
export interface DeadlineFields {
  readonly metadata: Pick<ObjectMeta, 'uid' | 'labels' | 'annotations'>;
  readonly spec: { readonly activeDeadlineSeconds?: number; readonly suspend?: boolean };
}

/** What the annotation says. */
interface Written {
  /** The activeDeadlineSeconds that the queue wrote. */
  readonly enforced: number;
  /** What of it is for the walltime. Seconds. */
  readonly granted: number;
  /** How much of that is for the start. Seconds. */
  readonly allowance: number;
  /** Undefined: the user had set none. */
  readonly own: number | undefined;
  /** Whether an earlier version wrote it, which did not keep the user's own. */
  readonly isOld: boolean;
}

const FORMAT = /^([0-9]{1,10})(?:\+([0-9]{1,10}))?(?:\/(none|[0-9]{1,16}))?$/;

/** Undefined if no release wrote a deadline. */
export function noteOf({ metadata }: DeadlineFields): Written | undefined {
  return parseNote(metadata.annotations?.[DEADLINE_ANNOTATION] ?? '');
}

export function parseNote(text: string): Written | undefined {
  const [, first, allowed = '0', own] = FORMAT.exec(text) ?? [];
  if (first === undefined) return undefined;
  const users = own === undefined || own === 'none' ? undefined : Number(own);
  const [granted, allowance] = [Number(first), Number(allowed)];
  return { enforced: granted + allowance, granted, allowance, own: users, isOld: own === undefined };
}

/**
 * Undefined if the user has changed the deadline since the release, or no release wrote one. A value that only the time for the
 * start allows is no wish while it runs: it would end nothing earlier. A suspended Job may ask for anything.
 */
function writtenBy(job: DeadlineFields): Written | undefined {
  const note = noteOf(job);
  const { activeDeadlineSeconds: is, suspend } = job.spec;
  if (note === undefined || is === undefined) return undefined;
  const isNoWish = suspend !== true && is > note.granted && is < note.enforced;
  return is === note.enforced || isNoWish ? note : undefined;
}

/** The activeDeadlineSeconds if the queue set it at a release, because the walltime is shorter than the user's deadline. */
export function enforcedDeadline(job: DeadlineFields): number | undefined {
  return writtenBy(job) && job.spec.activeDeadlineSeconds;
}

/** The deadline that the user has set, whatever a release has written since. */
export function ownDeadline(job: DeadlineFields): number | undefined {
  const written = writtenBy(job);
  return written === undefined ? job.spec.activeDeadlineSeconds : written.own;
}

/** The deadline of a Job that its grant has fixed. Seconds. */
export interface GrantedDeadline {
  readonly seconds: number;
  /** The most that an edit can set: a value beyond it, which only the time for the start allows, would end nothing earlier. */
  readonly most: number;
  /** What the Job asked for before its start; undefined: the default of its queue. */
  readonly own: number | undefined;
}

/** Undefined as long as the queue reads the deadline anew before it starts the Job, and of a Job that is not the queue's. */
export function grantedDeadline(job: DeadlineFields): GrantedDeadline | undefined {
  const { activeDeadlineSeconds: seconds, suspend } = job.spec;
  const isStarted = suspend !== true && job.metadata.labels?.[ADMITTED_LABEL] === 'true';
  if (seconds === undefined || !(isStarted || enforcedDeadline(job) !== undefined)) return undefined;
  return { seconds, most: writtenBy(job)?.granted ?? seconds, own: ownDeadline(job) };
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

/** The longest that every reader takes: 68 years. */
export const PARKED_SECONDS = 2 ** 31 - 1;

/**
 * How much later than its release a Job may start without a loss of walltime. What never starts holds its units for so long
 * beyond its walltime. What runs does so only while no controller is there to write its exact deadline: nothing else is
 * started then.
 */
export const START_ALLOWANCE_SECONDS = 3_600;

/**
 * The Job controller counts the deadline from status.startTime, which is the release; suspended time does not count. The
 * user's own deadline counts from there too, as always in Kubernetes.
 * @param staged seconds from the start of a staged Job, which has started before its grant, to its grant
 */
export function releasedDeadline(
  job: DeadlineFields,
  { walltime }: Pick<WorkloadRow, 'walltime'>,
  staged = 0,
): ReleasedDeadline {
  const own = ownDeadline(job);
  const granted = staged + deadlineOf({ walltime }, own);
  const latest = staged + deadlineOf({ walltime: walltime + START_ALLOWANCE_SECONDS }, own);
  return written(granted, Math.max(0, Math.min(latest, PARKED_SECONDS - 1) - granted), own);
}

/** @param allowance seconds for the start */
export function written(granted: number, allowance: number, own: number | undefined): ReleasedDeadline {
  const activeDeadlineSeconds = granted + allowance;
  const isUsers = activeDeadlineSeconds === own && allowance === 0;
  // Kubernetes takes any number of 64 bits for a Job.
  const noted = own === undefined ? 'none' : Math.min(own, Number.MAX_SAFE_INTEGER);
  const text = `${granted}${allowance === 0 ? '' : `+${allowance}`}/${noted}`;
  return { activeDeadlineSeconds, annotation: isUsers ? undefined : text };
}

/** Of a staged Job, which may wait for as long as another controller needs. Its walltime begins with its grant. */
export function parkedDeadline(job: DeadlineFields): ReleasedDeadline {
  return written(PARKED_SECONDS, 0, ownDeadline(job));
}

export function isParked({ spec }: DeadlineFields): boolean {
  return spec.activeDeadlineSeconds === PARKED_SECONDS;
}

/** Whole seconds from the start of a staged Job to its grant. */
export function stagedSeconds({ status }: WatchedJob, { releasedAt, allocatedAt }: WorkloadRow): number {
  const begun = secondsOf(status?.startTime ?? '');
  return Number.isFinite(begun) ? Math.max(0, Math.ceil((releasedAt ?? allocatedAt ?? begun) - begun)) : 0;
}

/** Milliseconds; a timer takes no more. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

/** When to look again, so many seconds from now. */
export function lookAgainIn(seconds: number): { readonly after: number } {
  return { after: Math.min(Math.ceil(seconds * 1000), LONGEST_WAIT_MS) };
}

/**
 * Takes back what the start did not need, once half of the walltime is over: most Jobs have ended by then, and cost no write.
 * A start that takes longer than the allowance is part of the walltime.
 * @param staged seconds from the start of a staged Job to its grant
 */
export function walltimeEnd(job: WatchedJob, row: WorkloadRow, now: number, staged = 0): WalltimeEnd {
  const note = noteOf(job);
  const { activeDeadlineSeconds: is = 0, suspend } = job.spec;
  const begun = secondsOf(job.status?.startTime ?? '') + staged;
  if (note === undefined || note.allowance === 0 || suspend === true) return {};
  if (row.startedAt === null || !Number.isFinite(begun)) return {};
  const delay = Math.ceil(Math.max(0, row.startedAt - begun));
  const exact = note.granted + Math.min(delay, note.allowance);
  if (exact >= is) return {};
  const half = row.startedAt + row.walltime / 2;
  if (now < half) return lookAgainIn(half - now);
  return { patch: lowered(job, exact) };
}

/** The patch for a deadline without time for the start; what its user asked for stays noted. */
export function lowered(object: DeadlineFields, seconds: number): Patch {
  const { activeDeadlineSeconds, annotation } = written(seconds, 0, ownDeadline(object));
  return { type: 'json', body: tightening(object, activeDeadlineSeconds, annotation) };
}

/** Whether the walltime of a workload is over, whose pods may be made again. */
export function isPastWalltime(row: WorkloadRow | undefined, now: number): boolean {
  if (row === undefined || row.startedAt === null || row.allocation === null) return false;
  return !isEndless(row.allocation) && now >= row.startedAt + row.walltime;
}

/** Whole seconds, at least one. A start in the future leaves no more than the whole. */
export function remainingOf(
  { walltime, startedAt }: { readonly walltime: number; readonly startedAt: number },
  now: number,
): number {
  return Math.max(1, Math.ceil(Math.min(walltime, startedAt + walltime - now)));
}

/**
 * Of a pod that may come after the others of its workload: it ends with them.
 * @param allowance for a late start of the first of them. Seconds
 */
export function remainingDeadline(
  pod: Pod,
  row: WorkloadRow,
  now: number,
  allowance = 0,
): readonly JsonPatchOperation[] {
  const { allocation, walltime, startedAt } = row;
  const users = pod.spec.activeDeadlineSeconds ?? Number.POSITIVE_INFINITY;
  if (allocation === null || isEndless(allocation)) return [];
  const left =
    startedAt === null ? Math.ceil(walltime + allowance) : remainingOf({ walltime, startedAt }, now);
  const value = Math.min(left, users);
  return value === users ? [] : [{ op: 'add', path: '/spec/activeDeadlineSeconds', value }];
}

/** The user may change the deadline at the same moment. An empty annotation says that the deadline is the user's own. */
function tightening(
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
