/**
 * Updates of Jobs. A user who raises what the queue granted to a started Job gets the old value back, without an error:
 * a manifest that is applied again has the value from before the release.
 */
import { GRANTED_ANNOTATION, GRANTED_FIELDS, type GrantedField } from '../../constructs/api/granted-fields';
import { ADMITTED_LABEL } from '../../constructs/api/labels';
import { type JsonPatch, type Metadata, pointerToken } from './review';

export interface UpdatedJob {
  readonly metadata?: Metadata;
  readonly spec?: { readonly suspend?: boolean } & { readonly [field in GrantedField['field']]?: number };
}

const PATH = `/metadata/annotations/${pointerToken(GRANTED_ANNOTATION)}`;

/** The patch for an update by anybody but the runtime. */
export function restoreGrant(job: UpdatedJob, old: UpdatedJob): JsonPatch[] {
  const isStarted = old.metadata?.labels?.[ADMITTED_LABEL] === 'true' && old.spec?.suspend !== true;
  // A suspended Job is judged anew before its next start.
  if (!isStarted || job.spec?.suspend === true) return [];
  return [
    ...GRANTED_FIELDS.flatMap(({ field }) => restoreField(field, job, old)),
    ...restoreAnnotation(job, old),
  ];
}

function restoreField(field: GrantedField['field'], job: UpdatedJob, old: UpdatedJob): JsonPatch[] {
  const granted = old.spec?.[field];
  if (granted === undefined || (job.spec?.[field] ?? Number.POSITIVE_INFINITY) <= granted) return [];
  return [{ op: 'add', path: `/spec/${field}`, value: granted }];
}

function restoreAnnotation(job: UpdatedJob, old: UpdatedJob): JsonPatch[] {
  const annotations = job.metadata?.annotations;
  const value = old.metadata?.annotations?.[GRANTED_ANNOTATION] ?? '';
  if ((annotations?.[GRANTED_ANNOTATION] ?? '') === value) return [];
  if (value === '') return [{ op: 'remove', path: PATH }];
  return annotations === undefined
    ? [{ op: 'add', path: '/metadata/annotations', value: { [GRANTED_ANNOTATION]: value } }]
    : [{ op: 'add', path: PATH, value }];
}
