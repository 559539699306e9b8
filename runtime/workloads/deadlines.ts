/**
 * The deadlines of a Job: its user's own, and the one that the queue writes at a release, by which Kubernetes enforces the
 * walltime. Both are in one field of the Job, so an annotation says which is which: `604800/864000` is the deadline that
 * the queue wrote and the one that its user had set, `604800/none` if there was none. Without the user's own, a requeued
 * Job would ask for the default of its queue instead of what it asked for before.
 */

import { pointerToken } from '../../constructs/api/json-pointer';
import { DEADLINE_ANNOTATION } from '../../constructs/api/labels';
import type { WorkloadRow } from '../queue/workload';
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

/**
 * The Job controller counts the deadline from status.startTime, which is the release; suspended time does not count.
 * @param delay seconds from the release to the start of the first container
 */
export function releasedDeadline(job: DeadlineFields, row: WorkloadRow, delay = 0): ReleasedDeadline {
  const own = ownDeadline(job);
  const activeDeadlineSeconds = deadlineOf({ walltime: row.walltime + delay }, own);
  const annotation = activeDeadlineSeconds === own ? undefined : `${activeDeadlineSeconds}/${own ?? 'none'}`;
  return { activeDeadlineSeconds, annotation };
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
 */
export function lateDeadline(job: WatchedJob, row: WorkloadRow, now: number): LateDeadline {
  const begun = secondsOf(job.status?.startTime ?? '');
  const enforced = enforcedDeadline(job);
  if (enforced === undefined || job.spec.suspend === true || !Number.isFinite(begun)) return {};
  // A grant that is younger than the release was adopted, and says nothing about the start.
  if ((row.allocatedAt ?? 0) > begun + PROMPT_SECONDS) return {};
  const left = begun + enforced - now;
  const half = row.walltime / 2;
  if (row.startedAt === null && left > half) return { after: Math.ceil((left - half) * 1000) };
  const delay = Math.min(Math.max(0, (row.startedAt ?? now) - begun), LONGEST_DELAY_SECONDS);
  const { activeDeadlineSeconds, annotation } = releasedDeadline(job, row, delay);
  if (activeDeadlineSeconds <= enforced + (row.startedAt === null ? 0 : PROMPT_SECONDS)) return {};
  return { patch: { type: 'json', body: extension(job, activeDeadlineSeconds, annotation) } };
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
