/** Admission of Jobs, and of the kinds of constructs/api/workload-kinds.ts: suspends them until the queue releases them. */
import {
  ADMITTED_LABEL,
  HOLD,
  IGNORED_ANNOTATION,
  KUEUE_QUEUE_LABEL,
  SUSPEND_ANNOTATION,
} from '../../constructs/api/labels';
import { type FieldPath, JOB_SUSPEND, type WorkloadKind } from '../../constructs/api/workload-kinds';
import { checkPodLimits } from '../jobspec/jobspec';
import { fieldAt } from '../kubernetes/fields';
import { type JsonPatch, patchEntries } from '../kubernetes/json-patch';
import { settingOf, workloadSettings } from '../workloads/settings';
import { checkKeys, checkTemplateKeys } from './keys';
import type { Metadata } from './review';
import { noteOtherJob, ownerOfKind, recordUser, type UserOptions } from './user';

export interface AdmittedObject {
  readonly metadata?: Metadata | undefined;
}

export interface AdmittedJob extends AdmittedObject {
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
  if (isManagedElsewhere(job) || ownerOfKind(job.metadata, options) !== undefined)
    return noteOtherJob(job.metadata, job.spec?.template?.metadata, username, options);
  const metadata = job.metadata ?? {};
  workloadSettings(metadata);
  checkKeys(metadata);
  checkTemplateKeys(job.spec?.template?.metadata);
  checkPodLimits(job.spec?.template?.spec, 'spec.template.spec');
  return hold(job, JOB_SUSPEND, username, options);
}

/**
 * The patch for a new object of a workload kind; it is idempotent too.
 * @throws FluxqError FLUXQ_SETTING_INVALID
 */
export function admitKind(
  kind: WorkloadKind,
  object: AdmittedObject,
  username: string,
  options: UserOptions = {},
): JsonPatch[] {
  const { field, builtIn } = kind.managedBy;
  const isElsewhere = (fieldAt(object, field) ?? builtIn) !== builtIn || isOfKueue(object);
  if (isElsewhere || ownerOfKind(object.metadata, options) !== undefined) return [];
  workloadSettings(object.metadata ?? {});
  checkKeys(object.metadata);
  return hold(object, kind.suspend, username, options);
}

/** @param suspend the field that holds the object */
function hold(
  object: AdmittedObject,
  suspend: FieldPath,
  username: string,
  options: UserOptions,
): JsonPatch[] {
  const metadata = object.metadata ?? {};
  const suspended = fieldAt(object, suspend) === true;
  // A Job that its user suspended must not start. A suspended Job with the admitted label was suspended by
  // admission: by its other form, or it is a copy of a waiting Job.
  const isAdmitted = metadata.labels?.[ADMITTED_LABEL] === 'true';
  const held = suspended && !isAdmitted && settingOf(metadata, HOLD) === undefined;
  const user = recordUser(object.metadata, username, options);
  const hasAnnotations = metadata.annotations !== undefined || user.length > 0;
  return [
    ...patchEntries('/metadata/labels', metadata.labels, {
      [ADMITTED_LABEL]: 'true',
      ...(held ? { [HOLD]: 'true' } : {}),
    }),
    ...(suspended ? [] : setField(object, suspend, true)),
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
  return managedBy !== BUILT_IN_CONTROLLER || isOfKueue({ metadata });
}

function isOfKueue({ metadata }: AdmittedObject): boolean {
  return metadata?.labels?.[KUEUE_QUEUE_LABEL] !== undefined;
}

/** Sets a field below `spec`, which may be below one that is not set. */
export function setField(object: unknown, path: FieldPath, value: boolean): JsonPatch[] {
  const above = path.slice(0, -1);
  if (above.length < 2 || fieldAt(object, above) !== undefined)
    return [{ op: 'add', path: `/${path.join('/')}`, value }];
  return [{ op: 'add', path: `/${above.join('/')}`, value: { [path.at(-1)!]: value } }];
}
