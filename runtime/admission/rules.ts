/**
 * The rules of admission as a pure function: nothing is called, nothing is
 * remembered, the answer depends on the object and its user alone. The CEL policies of
 * constructs/fluxqueue/admission are the same rules; test/admission/corpus.ts
 * holds the two together on a real apiserver.
 */
import { FluxqError } from '../errors';
import { type AdmittedJob, admitJob } from './jobs';
import { type AdmittedPod, admitPod, type PodAdmissionOptions } from './pods';
import type { AdmissionRequest, JsonPatch, Verdict } from './review';

export type AdmissionOptions = PodAdmissionOptions;

/** Jobs and Pods that are being created; everything else is allowed as it is. Never throws for what a user wrote. */
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
