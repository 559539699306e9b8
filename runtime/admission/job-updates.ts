/**
 * Updates of Jobs. A user who raises what the queue granted to a started Job gets the old value back, without an error:
 * a manifest that is applied again has the value from before the release.
 */

import { isDeepStrictEqual } from 'node:util';
import { CHANGEABLE_FIELDS, GRANTED_FIELDS, type GrantedField } from '../../constructs/api/granted-fields';
import { ADMITTED_LABEL, DEADLINE_ANNOTATION } from '../../constructs/api/labels';
import type { JsonPatch } from '../kubernetes/json-patch';
import { putBack, suspensionWish, type UpdatedJob } from './reapplied';

/** The patch for an update by anybody but the runtime. */
export function restoreJob(job: UpdatedJob, old: UpdatedJob): JsonPatch[] {
  if (old.metadata?.labels?.[ADMITTED_LABEL] !== 'true') return [];
  // A suspended Job is judged anew before its next start.
  const isStarted = !suspensionWish(job, old).suspend;
  return [
    ...(isStarted
      ? [...GRANTED_FIELDS.flatMap(({ field }) => restoreField(field, job, old)), ...keep(job, old)]
      : []),
    ...putBack(job, old, isStarted ? ignoredOf(job, old) : []),
  ];
}

type Field = GrantedField['field'];

function isRaised(field: Field, job: UpdatedJob, old: UpdatedJob): boolean {
  const granted = old.spec?.[field];
  return granted !== undefined && (job.spec?.[field] ?? Number.POSITIVE_INFINITY) > granted;
}

/**
 * The deadline of a release allows for a late start (`600+3600/none`). One beyond the granted 600 s would end the Job no
 * earlier, because the queue takes the allowance back.
 */
function isIneffective(field: Field, job: UpdatedJob, old: UpdatedJob): boolean {
  if (isRaised(field, job, old)) return true;
  if (field !== 'activeDeadlineSeconds') return false;
  const [, granted] = /^([0-9]{1,10})[+]/.exec(old.metadata?.annotations?.[DEADLINE_ANNOTATION] ?? '') ?? [];
  const { activeDeadlineSeconds: is = Number.NaN } = old.spec ?? {};
  const { activeDeadlineSeconds: wanted = Number.NaN } = job.spec ?? {};
  return granted !== undefined && wanted < is && wanted > Number(granted);
}

function restoreField(field: Field, job: UpdatedJob, old: UpdatedJob): JsonPatch[] {
  const isAgain = field === 'activeDeadlineSeconds' && isAppliedAgain(job, old);
  return isIneffective(field, job, old) || isAgain
    ? [{ op: 'add', path: `/spec/${field}`, value: old.spec?.[field] }]
    : [];
}

/** Names of the fields that the user wants to change and that are put back. */
function ignoredOf(job: UpdatedJob, old: UpdatedJob): readonly string[] {
  const raised = GRANTED_FIELDS.map(({ field }) => field).filter(
    (field) =>
      isIneffective(field, job, old) && !(field === 'activeDeadlineSeconds' && hasOwnDeadline(job, old)),
  );
  // The queue writes `Failed`: a manifest that is put again has what was there before the release.
  const { podReplacementPolicy: replaced }: Fields = old.spec ?? {};
  const told = keptKeys(job, old).filter((key) => key !== 'podReplacementPolicy' || replaced !== 'Failed');
  return [...raised, ...told.slice(0, 1)];
}

/** The deadline of a Job that waited for another controller counts from before its grant, so its user's own may be shorter. */
function isAppliedAgain({ spec }: UpdatedJob, old: UpdatedJob): boolean {
  const noted = old.metadata?.annotations?.[DEADLINE_ANNOTATION] ?? '';
  const deadline = spec?.activeDeadlineSeconds;
  return (deadline ?? Number.NaN) < (old.spec?.activeDeadlineSeconds ?? 0) && noted.endsWith(`/${deadline}`);
}

/** A manifest that is applied again has the deadline from before the release, which the note of the release has too. */
function hasOwnDeadline({ spec }: UpdatedJob, old: UpdatedJob): boolean {
  const noted = old.metadata?.annotations?.[DEADLINE_ANNOTATION] ?? '';
  return (
    noted !== '' && (!noted.includes('/') || noted.endsWith(`/${spec?.activeDeadlineSeconds ?? 'none'}`))
  );
}

/** Every field that is not known to be changeable, also one of a newer Kubernetes, keeps its value. */
function keep(job: UpdatedJob, old: UpdatedJob): JsonPatch[] {
  const before: Fields = old.spec ?? {};
  return keptKeys(job, old).map((key) =>
    before[key] === undefined
      ? { op: 'remove', path: `/spec/${key}` }
      : { op: 'add', path: `/spec/${key}`, value: before[key] },
  );
}

type Fields = Readonly<Record<string, unknown>>;

function keptKeys({ spec = {} }: UpdatedJob, old: UpdatedJob): readonly string[] {
  const now: Fields = spec;
  const before: Fields = old.spec ?? {};
  return [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((key) => !CHANGEABLE_FIELDS.includes(key) && !isDeepStrictEqual(before[key], now[key]))
    .sort();
}
