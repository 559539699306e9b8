/**
 * The patch that releases a Job. Its `test` operations name what was compared with the grant (compared.ts): the Job
 * controller writes a status just when a new Job is released.
 */
import {
  ASSIGNMENT_ANNOTATION,
  DEADLINE_ANNOTATION,
  JOB_UID_LABEL,
  JOBID_ANNOTATION,
} from '../../constructs/api/labels';
import { patchEntries } from '../kubernetes/json-patch';
import type { WorkloadRow } from '../queue/workload';
import type { WatchedJob } from '../shared/job-projection';
import type { JsonPatchOperation } from './adapter';
import { hasReplacementNote, withReplacementNote } from './assignment';
import { sameTerms } from './compared';
import type { ReleasedDeadline } from './deadlines';

/** Whether the watch shows the release with this job id. */
export function isReleasedAs({ spec: { template } }: Pick<WatchedJob, 'spec'>, jobid: number): boolean {
  return template.metadata?.annotations?.[JOBID_ANNOTATION] === String(jobid);
}

/** Whether what is written there is the queue's: its user had the default. */
export function isReplacementNoted({ spec: { template } }: Pick<WatchedJob, 'spec'>): boolean {
  return hasReplacementNote(template.metadata?.annotations?.[ASSIGNMENT_ANNOTATION] ?? '');
}

/** A Job that was released before has `Failed` from then. */
function hasDefaultReplacement({ spec }: WatchedJob): boolean {
  return spec.podReplacementPolicy !== 'Failed' || isReplacementNoted({ spec });
}

/** What a release writes. */
interface JobRelease {
  /** In the template, where pod admission reads it. */
  readonly assignment: string;
  readonly deadline: ReleasedDeadline;
}

export function jobReleasePatch(
  job: WatchedJob,
  row: WorkloadRow,
  { assignment, deadline }: JobRelease,
): readonly JsonPatchOperation[] {
  const { uid } = job.metadata;
  const { metadata } = job.spec.template;
  const template = '/spec/template/metadata';
  const noted = hasDefaultReplacement(job) ? withReplacementNote(assignment) : assignment;
  const grant = { [ASSIGNMENT_ANNOTATION]: noted, [JOBID_ANNOTATION]: String(row.jobid) };
  return [
    ...deadlineOperations(job, deadline),
    ...(metadata === undefined ? [{ op: 'add', path: template, value: {} } as const] : []),
    ...patchEntries(`${template}/annotations`, metadata?.annotations, grant),
    // The apiserver gives it to all other Jobs: by it the pods of a deleted Job are found.
    ...(job.spec.manualSelector === true
      ? patchEntries(`${template}/labels`, metadata?.labels, { [JOB_UID_LABEL]: uid })
      : []),
    { op: 'add', path: '/spec/suspend', value: false },
  ];
}

/** The deadline of exactly this state of the Job. */
export function deadlineOperations(
  { metadata }: WatchedJob,
  { activeDeadlineSeconds, annotation }: ReleasedDeadline,
): readonly JsonPatchOperation[] {
  return [
    ...sameTerms(metadata),
    ...patchEntries('/metadata/annotations', metadata.annotations, { [DEADLINE_ANNOTATION]: annotation }),
    { op: 'add', path: '/spec/activeDeadlineSeconds', value: activeDeadlineSeconds },
  ];
}
