/**
 * Whose fault it is that the pods of a grant do not run. What the workload itself names (its image, volumes, claims,
 * ServiceAccount, the quota and the rules of its namespace) counts towards the requeue limit. All else is the
 * cluster's: admission or a scheduler that does not answer, another controller that has not lifted its gate, a lost node,
 * room that others have taken, a policy that refuses everything for a while. Such a workload is tried again without a limit, so that nobody has to touch it afterwards.
 */
import type { EvictionCause } from '../queue/workload';
import type { PodWait } from './pod-wait';

/** kube-scheduler about claims and volumes that the pod names. */
const OWN_VERDICT = /persistentvolumeclaim|resourceclaim|volume/i;

/** Reasons of the kubelet's Events about the network and the container runtime of its node. */
const NODE_FAULTS: ReadonlySet<string> = new Set([
  'FailedCreatePodSandBox',
  'FailedPodSandBoxStatus',
  'NetworkNotReady',
]);
/** The pod names a RuntimeClass that its node does not have. */
const OWN_RUNTIME = /no runtime for/i;

/** The apiserver about a pod whose creation failed for no reason in the pod. */
const NO_ANSWER =
  /internal error|failed calling webhook|failed to call webhook|failed to evaluate|timed? ?out|deadline exceeded|connection (refused|reset)|no route to host|etcdserver|too many requests|service unavailable|unable to handle the request|not yet ready to handle request|being terminated/i;
const CUT_OFF = /\bEOF\b/;
/** Names are chosen by users: `geofold` is no end of a file. */
const NAMES = /"[^"]*"/g;
/** A webhook or a policy of the cluster says no, perhaps only for a while. */
const DENIED = /admission webhook .* denied the request|ValidatingAdmissionPolicy .* denied request/;
/** What the queue itself refuses stands in the template, and it says what. Its webhook may fail for a while. */
const OWN_REFUSAL = /denied (the )?request: FLUXQ_(?!ADMISSION_FAILED)/;

/** The cause of a requeue for a pod that waits too long. */
export function causeOfWait({ cause, reason, message }: PodWait): EvictionCause {
  if (cause === 'claims' || cause === 'volumes') return 'failure';
  // If nobody says why containers are not created, mostly a ConfigMap or Secret that the pod names does not exist.
  if (cause === 'starting')
    return NODE_FAULTS.has(reason) && !OWN_RUNTIME.test(message) ? 'cluster' : 'failure';
  if (cause === 'silent' || cause === 'gated') return 'cluster';
  return OWN_VERDICT.test(message) ? 'failure' : 'cluster';
}

/** The cause of a requeue for pods that the Job controller cannot create, by its own sentence. */
export function causeOfRefusal(sentence: string): EvictionCause {
  const text = sentence.replaceAll(NAMES, '""');
  if (OWN_REFUSAL.test(text)) return 'failure';
  return [NO_ANSWER, CUT_OFF, DENIED].some((pattern) => pattern.test(text)) ? 'cluster' : 'failure';
}
