/**
 * The deadlines of a Job: its user's own, and the one that the queue writes at a release, by which Kubernetes enforces the
 * walltime. Both are in one field of the Job, so an annotation says which is which: `604800/864000` is the deadline that
 * the queue wrote and the one that its user had set, `604800/none` if there was none. Without the user's own, a requeued
 * Job would ask for the default of its queue instead of what it asked for before.
 */
import { DEADLINE_ANNOTATION } from '../../constructs/api/labels';
import type { WorkloadRow } from '../queue/workload';
import type { WatchedJob } from '../shared/job-projection';
import { deadlineOf } from './adapter';

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
function ownDeadline(job: DeadlineFields): number | undefined {
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

/** The Job controller counts the deadline from status.startTime, which is the release; suspended time does not count. */
export function releasedDeadline(job: DeadlineFields, row: WorkloadRow): ReleasedDeadline {
  const own = ownDeadline(job);
  const activeDeadlineSeconds = deadlineOf(row, own);
  const annotation = activeDeadlineSeconds === own ? undefined : `${activeDeadlineSeconds}/${own ?? 'none'}`;
  return { activeDeadlineSeconds, annotation };
}
