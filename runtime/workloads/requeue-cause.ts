/**
 * Whose fault it is that the pods of a grant do not run. What is known to be the workload's own (its image does not exist or is
 * not permitted, a ConfigMap, Secret, claim or ServiceAccount that it names is missing, its template is refused, the quota
 * and the rules of its namespace) counts towards the requeue limit. All else is the cluster's, also what nobody explains:
 * admission, a scheduler, a registry or a driver of volumes that does not answer, another controller that has not lifted
 * its gate, a lost node, room that others have taken, a policy that refuses everything for a while. Such a workload is
 * tried again without a limit, so that nobody has to touch it afterwards.
 */
import type { EvictionCause } from '../queue/workload';
import { isAboutImage, type PodWait } from './pod-wait';

/** Reasons of the kubelet for containers that it cannot make of the pod as it is. */
const OWN_REASONS: ReadonlySet<string> = new Set([
  'InvalidImageName',
  'ErrImageNeverPull',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'CrashLoopBackOff',
]);

/** What a registry says of an image that is not there, or not for this workload. */
const OWN_IMAGE =
  /code = NotFound|\bnot found\b|manifest unknown|does not exist|no match for platform|invalid reference format|access (to the resource )?(is )?denied|unauthorized|authentication required|insufficient_scope|no basic auth credentials|\b40[13]\b/i;

/** What the pod names and its namespace or node does not have, by the kubelet and kube-scheduler. */
const OWN_NAMES = [
  /\b(configmap|secret|serviceaccount|persistentvolumeclaim|resourceclaim|resourceclaimtemplate|runtimeclass)(es|s)?(\.\S+)? (""|\S+) (not found|is being deleted)/i,
  /non-existent (config|secret) key|couldn't find key|no runtime for/i,
];

/** The apiserver about a pod that breaks a rule of Kubernetes or of its namespace. Rights of its creator are no part of it. */
const OWN_REFUSAL = /\bis (forbidden|invalid): (?!User\b)/;

/** A component or a registry that fails for no reason in the pod, whatever else the sentence says. */
const OUTAGES = [
  /internal error|failed calling webhook|failed to call webhook|failed to evaluate|failed to sync|timed? ?out|deadline ?exceeded|connection (refused|reset)|no route to host|no such host|network is unreachable|etcdserver|too ?many ?requests|service unavailable|bad gateway|code = Unavailable|internal server error|unable to handle the request|not yet ready to handle request|being terminated/i,
  /\bEOF\b/,
];
/** A webhook or a policy of the cluster says no, perhaps only for a while. */
const DENIED = /admission webhook .* denied the request|ValidatingAdmissionPolicy .* denied request/;
/** What the queue itself refuses stands in the template, and it says what. Its webhook may fail for a while. */
const QUEUE_REFUSAL = /denied (the )?request: FLUXQ_(?!ADMISSION_FAILED)/;
/** kube-controller-manager makes it in every namespace. */
const CLUSTERS_OWN = /configmap "kube-root-ca\.crt" not found/;

/** Names are chosen by users: `geofold` is no end of a file. */
const NAMES = /"[^"]*"/g;

/** The cause of a requeue for a pod that waits too long. */
export function causeOfWait({ cause, reason, message, told = message }: PodWait): EvictionCause {
  if (cause === 'claims') return 'failure';
  if (cause === 'silent' || cause === 'gated' || cause === 'volumes' || isOutage(told)) return 'cluster';
  const own = isAboutImage(reason) ? [OWN_IMAGE] : OWN_NAMES;
  return OWN_REASONS.has(reason) || matches(told, own) ? 'failure' : 'cluster';
}

/** The cause of a requeue for pods that the Job controller cannot create, by its own sentence. */
export function causeOfRefusal(sentence: string): EvictionCause {
  if (matches(sentence, [QUEUE_REFUSAL])) return 'failure';
  const isOwn = matches(sentence, [OWN_REFUSAL, ...OWN_NAMES]);
  return isOwn && !isOutage(sentence) && !matches(sentence, [DENIED]) ? 'failure' : 'cluster';
}

function isOutage(sentence: string): boolean {
  return CLUSTERS_OWN.test(sentence) || matches(sentence, OUTAGES);
}

function matches(sentence: string, patterns: readonly RegExp[]): boolean {
  const text = sentence.replaceAll(NAMES, '""');
  return patterns.some((pattern) => pattern.test(text));
}
