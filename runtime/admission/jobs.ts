/** Admission of Jobs: suspends them until the queue releases them. */
import {
  ADMITTED_LABEL,
  GATE,
  HOLD,
  IGNORED_ANNOTATION,
  SUSPEND_ANNOTATION,
  WALLTIME,
} from '../../constructs/api/labels';
import { GANG_OWNERS, POD_SETTINGS, WHOLE_JOB_SETTINGS } from '../../constructs/api/staged-jobs';
import { checkPodLimits } from '../jobspec/jobspec';
import { type JsonPatch, patchEntries } from '../kubernetes/json-patch';
import { settingOf, workloadSettings } from '../workloads/settings';
import { checkKeys, checkTemplateKeys } from './keys';
import type { Metadata } from './review';
import { recordTemplateUser, recordUser, type UserOptions } from './user';

export interface AdmittedJob {
  readonly metadata?: Metadata;
  readonly spec?: {
    readonly suspend?: boolean;
    readonly managedBy?: string;
    readonly activeDeadlineSeconds?: number;
    readonly template?: {
      readonly metadata?: Metadata;
      readonly spec?: { readonly schedulingGates?: readonly { readonly name: string }[] };
    };
  };
}

const BUILT_IN_CONTROLLER = 'kubernetes.io/job-controller';
const KUEUE_QUEUE = 'kueue.x-k8s.io/queue-name';

/**
 * The patch for a new Job. It is idempotent, because both forms of admission
 * can be active for a moment while one replaces the other.
 * @param username the user who creates the Job
 * @throws FluxqError FLUXQ_SETTING_INVALID, FLUXQ_TOO_LARGE
 */
export function admitJob(job: AdmittedJob, username: string, options: UserOptions = {}): JsonPatch[] {
  if (isManagedElsewhere(job))
    return recordTemplateUser(job.metadata, job.spec?.template?.metadata, username, options);
  const metadata = job.metadata ?? {};
  workloadSettings(metadata);
  checkKeys(metadata);
  checkPodLimits(job.spec?.template?.spec, 'spec.template.spec');
  if (isStaged(job)) return giveToPods(job, username, options);
  checkTemplateKeys(job.spec?.template?.metadata);
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

/** Its pods are queued by themselves: they count for the user of the Job, and have its settings and its deadline. */
function giveToPods(
  { metadata = {}, spec }: AdmittedJob,
  username: string,
  options: UserOptions,
): JsonPatch[] {
  const template = spec?.template?.metadata;
  const user = recordTemplateUser(metadata, template, username, options);
  const given = POD_SETTINGS.map((key) => [key, settingOf(metadata, key)] as const);
  const settings = new Map(given.filter(([, value]) => value !== undefined));
  const deadline = spec?.activeDeadlineSeconds;
  if (!settings.has(WALLTIME) && deadline !== undefined) settings.set(WALLTIME, String(deadline));
  if (settings.size === 0) return user;
  const hasMap = template?.annotations !== undefined || user.length > 0;
  const path = '/spec/template/metadata';
  return [
    ...user,
    ...(template === undefined && user.length === 0 ? [{ op: 'add', path, value: {} } as const] : []),
    ...patchEntries(
      `${path}/annotations`,
      hasMap ? (template?.annotations ?? {}) : undefined,
      Object.fromEntries(settings),
    ),
  ];
}

/** Whether the Job starts at once, and its pods wait for another controller and then for the queue. */
function isStaged({ metadata = {}, spec }: AdmittedJob): boolean {
  return (
    (spec?.template?.spec?.schedulingGates ?? []).some(({ name }) => name !== GATE) &&
    !WHOLE_JOB_SETTINGS.some((key) => settingOf(metadata, key) !== undefined) &&
    !(metadata.ownerReferences ?? []).some(
      ({ kind, controller }) => controller === true && GANG_OWNERS.includes(kind),
    )
  );
}

/** Whether another controller runs the Job, or Kueue suspends it. */
function isManagedElsewhere({ metadata, spec }: AdmittedJob): boolean {
  const managedBy = spec?.managedBy ?? BUILT_IN_CONTROLLER;
  return managedBy !== BUILT_IN_CONTROLLER || metadata?.labels?.[KUEUE_QUEUE] !== undefined;
}
