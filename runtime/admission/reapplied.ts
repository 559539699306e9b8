/**
 * Puts back what is the queue's in a Job that its user updates (docs/edits.md): a
 * manifest that is applied again drops or overwrites it, and means nothing by it.
 */
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  DEADLINE_ANNOTATION,
  ENDED_ANNOTATION,
  HOLD,
  IGNORED_ANNOTATION,
  JOBID_ANNOTATION,
  SUSPEND_ANNOTATION,
  USER_ANNOTATION,
} from '../../constructs/api/labels';
import { type FieldPath, JOB_SUSPEND, type WorkloadKind } from '../../constructs/api/workload-kinds';
import { fieldAt } from '../kubernetes/fields';
import { type JsonPatch, patchEntries } from '../kubernetes/json-patch';
import { settingOf } from '../workloads/settings';
import { setField } from './jobs';
import type { Metadata } from './review';

export interface UpdatedJob {
  readonly metadata?: Metadata;
  readonly spec?: {
    readonly suspend?: boolean;
    readonly parallelism?: number;
    readonly completions?: number;
    readonly activeDeadlineSeconds?: number;
    readonly template?: { readonly metadata?: Metadata };
  };
}

/** What an update means for the suspension of a Job. */
export interface SuspensionWish {
  /** The value that spec.suspend gets. */
  readonly suspend: boolean;
  /** What admission notes in SUSPEND_ANNOTATION; empty for nothing. */
  readonly note: string;
  /** Whether admission holds the Job. */
  readonly holds: boolean;
  /** Whether the hold that admission gave the Job ends. */
  readonly lifts: boolean;
}

const LABELS = '/metadata/labels';
const ANNOTATIONS = '/metadata/annotations';
const TEMPLATE = '/spec/template/metadata';

/**
 * `spec.suspend` is the queue's, so the value of an update is the user's wish only if it differs both from the queue's
 * value and from the user's last wish, which SUSPEND_ANNOTATION notes. A hold says more than a suspension.
 */
export function suspensionWish(
  job: UpdatedJob,
  old: UpdatedJob,
  suspend: FieldPath = JOB_SUSPEND,
): SuspensionWish {
  const is = fieldAt(job, suspend) === true;
  const was = fieldAt(old, suspend) === true;
  const noted = old.metadata?.annotations?.[SUSPEND_ANNOTATION] ?? '';
  const hold = settingOf(job.metadata ?? {}, HOLD) ?? '';
  const resumes = was && !is && noted !== '';
  const stops = !was && is && hold !== 'false' && (noted === '' || hold === 'true');
  if (resumes) return { suspend: true, note: '', holds: false, lifts: noted === 'held' };
  const holdsAnew = stops && hold === '';
  const isNew = !was && is && noted === '';
  const note = isNew ? (holdsAnew ? 'held' : 'true') : noted;
  const keepsHold = !stops && note === 'held' && losesHold(job, old);
  return { suspend: was || stops, note, holds: holdsAnew || keepsHold, lifts: false };
}

/** An update that drops all labels drops also the hold of admission, which a user lifts by its own name. */
function losesHold(job: UpdatedJob, old: UpdatedJob): boolean {
  return old.metadata?.labels?.[HOLD] === 'true' && job.metadata?.labels?.[ADMITTED_LABEL] === undefined;
}

/**
 * The patch for an update of an admitted Job by anybody but the runtime.
 * @param ignored fields of its spec that are put back and told of
 */
export function putBack(job: UpdatedJob, old: UpdatedJob, ignored: readonly string[] = []): JsonPatch[] {
  const wish = suspensionWish(job, old);
  const annotations = annotationsOf(old, wish);
  const suspend: JsonPatch = { op: 'add', path: '/spec/suspend', value: wish.suspend };
  return [
    ...((job.spec?.suspend === true) === wish.suspend ? [] : [suspend]),
    ...patchEntries(LABELS, job.metadata?.labels, labelsOf(job, wish)),
    ...patchEntries(ANNOTATIONS, job.metadata?.annotations, {
      ...annotations,
      [IGNORED_ANNOTATION]: noteOf([...overwritten(job, old, annotations), ...ignored]),
    }),
    ...templateEntries(job, old),
  ];
}

/** The patch for an update of an admitted object of a workload kind by anybody but the runtime. */
export function putBackKind({ suspend }: WorkloadKind, object: UpdatedJob, old: UpdatedJob): JsonPatch[] {
  if (old.metadata?.labels?.[ADMITTED_LABEL] !== 'true') return [];
  const wish = suspensionWish(object, old, suspend);
  const before = old.metadata?.annotations;
  const { metadata } = object;
  const annotations = {
    ...Object.fromEntries(KEPT_OF_KINDS.map((key) => [key, before?.[key]])),
    [SUSPEND_ANNOTATION]: wish.note === '' ? undefined : wish.note,
  };
  return [
    ...((fieldAt(object, suspend) === true) === wish.suspend ? [] : setField(object, suspend, wish.suspend)),
    ...patchEntries(LABELS, metadata?.labels, labelsOf(object, wish)),
    ...patchEntries(ANNOTATIONS, metadata?.annotations, {
      ...annotations,
      [IGNORED_ANNOTATION]: noteOf(overwritten(object, old, annotations)),
    }),
  ];
}

const KEPT_OF_KINDS = [USER_ANNOTATION, ASSIGNMENT_ANNOTATION, JOBID_ANNOTATION, ENDED_ANNOTATION];

/** Undefined: the key is removed. */
type Wanted = Readonly<Record<string, string | undefined>>;

function labelsOf(job: UpdatedJob, { holds, lifts }: SuspensionWish): Wanted {
  const isHeld = job.metadata?.labels?.[HOLD] === 'true';
  return {
    [ADMITTED_LABEL]: 'true',
    ...(holds ? { [HOLD]: 'true' } : {}),
    ...(lifts && isHeld ? { [HOLD]: undefined } : {}),
  };
}

function annotationsOf(old: UpdatedJob, { note }: SuspensionWish): Wanted {
  const before = old.metadata?.annotations;
  return {
    [USER_ANNOTATION]: before?.[USER_ANNOTATION],
    [DEADLINE_ANNOTATION]: before?.[DEADLINE_ANNOTATION],
    [SUSPEND_ANNOTATION]: note === '' ? undefined : note,
  };
}

/** Labels and annotations of the queue that have a value of the update's own. A manifest that drops one means nothing by it. */
function overwritten({ metadata }: UpdatedJob, old: UpdatedJob, annotations: Wanted): readonly string[] {
  const isOther = (value: string | undefined, ...ours: (string | undefined)[]) =>
    value !== undefined && !['', ...ours].includes(value);
  return [
    ...(isOther(metadata?.labels?.[ADMITTED_LABEL], 'true') ? [ADMITTED_LABEL] : []),
    ...Object.keys(annotations).filter((key) =>
      isOther(metadata?.annotations?.[key], old.metadata?.annotations?.[key], annotations[key]),
    ),
  ];
}

const noteOf = (ignored: readonly string[]) => (ignored.length === 0 ? undefined : ignored.join(','));

/** A value of a user's own is refused by the guard; only a dropped one is put back. */
function templateEntries(job: UpdatedJob, old: UpdatedJob): JsonPatch[] {
  const metadata = job.spec?.template?.metadata;
  const before = old.spec?.template?.metadata?.annotations;
  const dropped = [ASSIGNMENT_ANNOTATION, JOBID_ANNOTATION].filter(
    (key) => before?.[key] !== undefined && metadata?.annotations?.[key] === undefined,
  );
  if (dropped.length === 0) return [];
  const wanted = Object.fromEntries(dropped.map((key) => [key, before?.[key]]));
  return [
    ...(metadata === undefined ? [{ op: 'add', path: TEMPLATE, value: {} } as const] : []),
    ...patchEntries(`${TEMPLATE}/annotations`, metadata?.annotations, wanted),
  ];
}
