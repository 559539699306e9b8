/**
 * The rules of admission as a pure function: the verdict depends on the object
 * and its user alone. The CEL policies of constructs/fluxqueue/admission
 * implement the same rules; tests apply both to the objects of
 * test/admission/corpus.ts on a real apiserver.
 */
import { FluxqError } from '../errors';
import { type AdmittedJob, admitJob } from './jobs';
import { type AdmittedPod, admitPod, type PodAdmissionOptions } from './pods';
import type { AdmissionRequest, JsonPatch, Verdict } from './review';

export type AdmissionOptions = PodAdmissionOptions;

/** Judges the creation of Jobs and Pods; allows every other request unchanged. Never throws for an invalid object. */
export function admit(request: AdmissionRequest, options: AdmissionOptions = {}): Verdict {
  try {
    return { allowed: true, patch: patchOf(request, options) };
  } catch (error) {
    if (!(error instanceof FluxqError)) throw error;
    return { allowed: false, patch: [], message: error.message };
  }
}

function patchOf(
  { kind, operation, subResource, object, userInfo }: AdmissionRequest,
  options: AdmissionOptions,
): JsonPatch[] {
  if (operation !== 'CREATE' || (subResource ?? '') !== '') return [];
  const username = userInfo?.username ?? '';
  switch (`${kind.group}/${kind.version}/${kind.kind}`) {
    case 'batch/v1/Job':
      return admitJob(object as AdmittedJob, username);
    case '/v1/Pod':
      return admitPod(object as AdmittedPod, username, options);
    default:
      return [];
  }
}
