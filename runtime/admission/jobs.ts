/** Admission of Jobs: suspends them until the queue releases them. */
import {
  ADMITTED_LABEL,
  HOLD,
  IGNORED_ANNOTATION,
  KUEUE_QUEUE_LABEL,
  SUSPEND_ANNOTATION,
} from '../../constructs/api/labels';
import { checkPodLimits } from '../jobspec/jobspec';
import { type JsonPatch, patchEntries } from '../kubernetes/json-patch';
import { settingOf, workloadSettings } from '../workloads/settings';
import { checkKeys, checkTemplateKeys } from './keys';
import type { Metadata } from './review';
import { noteOtherJob, recordUser, type UserOptions } from './user';

export interface AdmittedJob {
  readonly metadata?: Metadata;
  readonly spec?: {
    readonly suspend?: boolean;
    readonly managedBy?: string;
    readonly template?: { readonly metadata?: Metadata; readonly spec?: unknown };
  };
}

const BUILT_IN_CONTROLLER = 'kubernetes.io/job-controller';

/**
 * The patch for a new Job. It is idempotent, because both forms of admission
 * can be active for a moment while one replaces the other.
 * @param username the user who creates the Job
 * @throws FluxqError FLUXQ_SETTING_INVALID, FLUXQ_TOO_LARGE
 */
export function admitJob(job: AdmittedJob, username: string, options: UserOptions = {}): JsonPatch[] {
  if (isManagedElsewhere(job))
    return noteOtherJob(job.metadata, job.spec?.template?.metadata, username, options);
  const metadata = job.metadata ?? {};
  workloadSettings(metadata);
  checkKeys(metadata);
  checkTemplateKeys(job.spec?.template?.metadata);
  checkPodLimits(job.spec?.template?.spec, 'spec.template.spec');
  const suspended = job.spec?.suspend === true;
  // A Job that its user suspended must not start. A suspended Job with the admitted label was suspended by
  // admission: by its other form, or it is a copy of a waiting Job.
  const isAdmitted = metadata.labels?.[ADMITTED_LABEL] === 'true';
  const held = suspended && !isAdmitted && settingOf(metadata, HOLD) === undefined;
  const user = recordUser(job.metadata, username, options);
  const hasAnnotations = metadata.annotations !== undefined || user.length > 0;
  return [
    ...patchEntries('/metadata/labels', metadata.labels, {
      [ADMITTED_LABEL]: 'true',
      ...(held ? { [HOLD]: 'true' } : {}),
    }),
    ...(suspended ? [] : [{ op: 'add', path: '/spec/suspend', value: true } as const]),
    ...user,
    ...(isAdmitted
      ? []
      : noteSuspension(metadata, suspended ? (held ? 'held' : 'true') : '', hasAnnotations)),
    // A copy of a Job has it.
    ...patchEntries('/metadata/annotations', metadata.annotations, { [IGNORED_ANNOTATION]: undefined }),
  ];
}

/** @param hasAnnotations whether the map exists, also if only an earlier patch adds it */
function noteSuspension({ annotations }: Metadata, note: string, hasAnnotations: boolean): JsonPatch[] {
  const given = annotations?.[SUSPEND_ANNOTATION] ?? '';
  if (given === note) return [];
  const map = hasAnnotations ? (annotations ?? {}) : undefined;
  return patchEntries('/metadata/annotations', map, { [SUSPEND_ANNOTATION]: note || undefined });
}

/** Whether another controller runs the Job, or Kueue suspends it. */
function isManagedElsewhere({ metadata, spec }: AdmittedJob): boolean {
  const managedBy = spec?.managedBy ?? BUILT_IN_CONTROLLER;
  return managedBy !== BUILT_IN_CONTROLLER || metadata?.labels?.[KUEUE_QUEUE_LABEL] !== undefined;
}
