/**
 * Updates of Jobs. A user who raises what the queue granted to a started Job gets the old value back, without an error:
 * a manifest that is applied again has the value from before the release.
 */
import { CHANGEABLE_FIELDS, GRANTED_FIELDS, type GrantedField } from '../../constructs/api/granted-fields';
import { ADMITTED_LABEL } from '../../constructs/api/labels';
import { isDeepStrictEqual } from 'node:util';
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
    ...putBack(job, old),
  ];
}

function restoreField(field: GrantedField['field'], job: UpdatedJob, old: UpdatedJob): JsonPatch[] {
  const granted = old.spec?.[field];
  if (granted === undefined || (job.spec?.[field] ?? Number.POSITIVE_INFINITY) <= granted) return [];
  return [{ op: 'add', path: `/spec/${field}`, value: granted }];
}

/** Every field that is not known to be changeable, also one of a newer Kubernetes, keeps its value. */
function keep({ spec = {} }: UpdatedJob, old: UpdatedJob): JsonPatch[] {
  const now: Readonly<Record<string, unknown>> = spec;
  const before: Readonly<Record<string, unknown>> = old.spec ?? {};
  return [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((key) => !CHANGEABLE_FIELDS.includes(key) && !isDeepStrictEqual(before[key], now[key]))
    .map((key) =>
      before[key] === undefined
        ? { op: 'remove', path: `/spec/${key}` }
        : { op: 'add', path: `/spec/${key}`, value: before[key] },
    );
}
