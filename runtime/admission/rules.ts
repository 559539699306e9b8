/**
 * The rules of admission as a pure function: the verdict depends on the object
 * and its user alone. The CEL policies of constructs/fluxqueue/admission
 * implement the same rules; tests apply both to the objects of
 * test/admission/corpus.ts on a real apiserver.
 */
import { WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import { FluxqError } from '../errors';
import type { JsonPatch } from '../kubernetes/json-patch';
import { creatorKind, noteCreator } from './creators';
import { restoreJob } from './job-updates';
import { type AdmittedJob, type AdmittedObject, admitJob, admitKind } from './jobs';
import { type AdmittedPod, admitPod, type PodAdmissionOptions } from './pods';
import { putBackKind, type UpdatedJob } from './reapplied';
import type { AdmissionRequest, Verdict } from './review';

export type AdmissionOptions = PodAdmissionOptions;

/** Judges the creation of Jobs, Pods and objects of workload kinds, and the update of all but Pods; allows every other request unchanged. Never throws for an invalid object. */
export function admit(request: AdmissionRequest, options: AdmissionOptions = {}): Verdict {
  try {
    return { allowed: true, patch: patchOf(request, options) };
  } catch (error) {
    if (!(error instanceof FluxqError)) throw error;
    return { allowed: false, patch: [], message: error.message };
  }
}

function patchOf(request: AdmissionRequest, options: AdmissionOptions): JsonPatch[] {
  const { kind, operation, subResource, object, oldObject, userInfo } = request;
  if ((subResource ?? '') !== '') return [];
  const username = userInfo?.username ?? '';
  switch (`${operation} ${kind.group}/${kind.version}/${kind.kind}`) {
    case 'CREATE batch/v1/Job':
      return admitJob(object as AdmittedJob, username, options);
    case 'UPDATE batch/v1/Job':
      // The webhook configuration excludes updates by the runtime.
      return restoreJob(object as UpdatedJob, (oldObject ?? {}) as UpdatedJob);
    case 'CREATE /v1/Pod':
      return admitPod(object as AdmittedPod, username, options);
    default:
      return kindPatch(request, options) ?? noteCreatorOf(request, options);
  }
}

/** Undefined for other kinds. */
function kindPatch(
  { kind: { group, version, kind: name }, operation, object, oldObject, userInfo }: AdmissionRequest,
  options: AdmissionOptions,
): JsonPatch[] | undefined {
  const { kinds = WORKLOAD_KINDS } = options;
  const kind = kinds.find((each) => each.kind === name && each.group === group && each.version === version);
  if (kind === undefined) return undefined;
  if (operation === 'CREATE')
    return admitKind(kind, object as AdmittedObject, userInfo?.username ?? '', options);
  // As updates of Jobs.
  return operation === 'UPDATE'
    ? putBackKind(kind, object as UpdatedJob, (oldObject ?? {}) as UpdatedJob)
    : [];
}

function noteCreatorOf(
  { kind, operation, object, oldObject, userInfo }: AdmissionRequest,
  options: AdmissionOptions,
): JsonPatch[] {
  const creator = creatorKind(`${kind.group}/${kind.version}/${kind.kind}`);
  if (creator === undefined || !['CREATE', 'UPDATE'].includes(operation)) return [];
  const old = operation === 'UPDATE' ? (oldObject ?? {}) : undefined;
  return noteCreator(creator, object, old, userInfo?.username ?? '', options);
}
