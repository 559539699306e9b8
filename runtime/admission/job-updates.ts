/**
 * Updates of Jobs. A user who raises what the queue granted to a started Job gets the old value back, without an error:
 * a manifest that is applied again has the value from before the release.
 */
import { GRANTED_FIELDS, type GrantedField } from '../../constructs/api/granted-fields';
import { ADMITTED_LABEL } from '../../constructs/api/labels';
import type { JsonPatch } from '../kubernetes/json-patch';
import { putBack, suspensionWish, type UpdatedJob } from './reapplied';

/** The patch for an update by anybody but the runtime. */
export function restoreJob(job: UpdatedJob, old: UpdatedJob): JsonPatch[] {
  if (old.metadata?.labels?.[ADMITTED_LABEL] !== 'true') return [];
  // A suspended Job is judged anew before its next start.
  const isStarted = !suspensionWish(job, old).suspend;
  return [
    ...(isStarted ? GRANTED_FIELDS.flatMap(({ field }) => restoreField(field, job, old)) : []),
    ...putBack(job, old),
  ];
}

function restoreField(field: GrantedField['field'], job: UpdatedJob, old: UpdatedJob): JsonPatch[] {
  const granted = old.spec?.[field];
  if (granted === undefined || (job.spec?.[field] ?? Number.POSITIVE_INFINITY) <= granted) return [];
  return [{ op: 'add', path: `/spec/${field}`, value: granted }];
}
