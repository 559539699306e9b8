/** What the user of a workload can do about the reason in its FluxJob. Pure functions. */
import { scheduled } from '../fluxjobs/reading';
import { REASONS, type Reason } from '../fluxjobs/status';
import { isTrue } from '../kubernetes/conditions';
import type { FluxJobObject } from '../kubernetes/custom-resources';
import { lingeringAdvice } from '../workloads/lingering';
import { REPLACED_LATER } from '../workloads/replacement-policy';
import { STARTED_AGAIN } from '../workloads/restarts';

const NOTHING = 'nothing; it starts by itself';
const STARTING = 'nothing; its pods are being started';

/** Of a workload that waits for something that can come. */
const ADVICE: Readonly<Record<Reason, string | undefined>> = {
  Submitted: 'nothing, unless this lasts: then ask your administrator for the log of the controller',
  Held: 'kubectl fluxqueue release WORKLOAD lets it start',
  Busy: `${NOTHING} when nodes are free for it. A shorter fluxqueue/walltime or fewer pods may fit earlier`,
  Reserved: NOTHING,
  Unsatisfiable:
    'delete it and submit it with a request that the nodes can hold; or ask your administrator for such nodes, then it starts by itself',
  QuotaExceeded: `${NOTHING} when there is room for it again`,
  DependencyPending: 'nothing, if the names in its fluxqueue/after are right: it starts by itself',
  NoFluxSetup:
    'correct fluxqueue/queue of it or of its namespace (kubectl get fluxsetups NAMESPACE lists the queues), or have the FluxSetup created or corrected: then it starts by itself',
  GroupIncomplete:
    'create its other pods with the same fluxqueue/group, or correct the pod that the message names: then it waits for nodes by itself',
  NamespaceLeft:
    'nothing, unless this lasts: then kubectl describe WORKLOAD names the policy that refuses to hand it back',
  KindNotListed:
    'ask your administrator: the log of the controller says whether a right is missing, or which version of the kind is not served. Then it starts by itself, in its old place',
  Invalid: 'correct what the message names and submit it again',
  Requeued: 'nothing; it is tried again by itself, in its old place',
  RequeueLimit:
    'remove the cause; to have it tried at once, change any setting of it (such as fluxqueue/priority) or submit it again',
  Granted: STARTING,
  ReleaseFailed:
    'nothing, if this passes: it is tried again by itself. If it lasts: ask your administrator about the webhook or policy that the message names',
  PodsMissing: `${STARTING}. If this lasts: the Events in kubectl describe WORKLOAD`,
  Pending: STARTING,
  ContainerCreating: STARTING,
  PodInitializing: 'nothing; its pods run when their init containers have ended',
  VolumesUnbound:
    'see kubectl get pvc NAMESPACE and kubectl describe pvc NAMESPACE for what the volumes wait for',
  ResourceClaimMissing: 'create the resource claim; if it is missing for too long, the workload is requeued',
  SchedulingGated: 'see that the controller to which the gate belongs removes it',
  SchedulerMissing: 'correct spec.schedulerName, or ask your administrator to start that scheduler',
  Unschedulable:
    'nothing, if this passes: a workload whose pods are refused for too long is tried on other nodes',
  NodeLost: 'nothing; Kubernetes deletes the pod. One without a controller has to be submitted again',
  NodeNotReady: 'nothing, if the node comes back: otherwise the workload is tried on other nodes',
  Running: undefined,
  Evicting: 'nothing; it waits in its place again when its pods have ended',
  Succeeded: undefined,
  Failed:
    'kubectl logs WORKLOAD and kubectl describe WORKLOAD say why; submit it again when the cause is removed',
  Cancelled: undefined,
  TimedOut: 'submit it again with a longer fluxqueue/walltime, or have it save its work before the end',
};

/** Of a workload that cannot start as it is. */
const STALLED_ADVICE: Partial<Record<Reason, string>> = {
  QuotaExceeded:
    'delete it and submit it with a smaller request, or to a queue with a larger quota (fluxqueue/queue)',
  DependencyPending: 'change or remove its annotation fluxqueue/after, or delete it',
};

/** The one that it waits for, of which it depends what can be done. */
const AFTER_NEVER = /waits for (\S+) to \w+, which can never start$/;

const ROLLOUT =
  'nothing, if another workload ends and leaves enough for it: otherwise set maxUnavailable of at least 1, or type Recreate, in the strategy of its Deployment';
const OF_KUBERNETES =
  'correct what the message names; kubectl describe pods NAMESPACE says more. Pods that do not start in time are tried on other nodes';
const NEVER_STARTED =
  'kubectl describe WORKLOAD says why none of its pods started; submit it again when the cause is removed';
const RESTARTS =
  'kubectl logs WORKLOAD --previous says why its container ended; submit it again when the cause is removed';
const DEAD_NODE =
  'nothing, if the node comes back: otherwise ask your administrator to delete the node, which ends its pods';
const TOO_MUCH =
  'nothing, if a pod of it is about to end: the rest is charged until then. If it lasts: kubectl get pods NAMESPACE -o wide shows its pods; delete one that is too many, or submit it again with the requests that they have there';
/** A quota or a limit that lets nothing start, as queues are paused. */
const PAUSED = / (quota of|at most) 0 /;
const OF_PAUSED =
  'nothing, until whoever manages its queue (kubectl get fluxsetups NAMESPACE) raises that; or move it to another queue (fluxqueue/queue)';
/** Nodes or quota that is free at no known time. */
const BEHIND_SERVICES = /; (it can start only when|services hold part of it) /;
const OF_SERVICES =
  'nothing, until enough of what the message names has ended: it is free at no known time. Fewer or smaller pods may fit beside it';
const WITHOUT_PODS = 'set spec.parallelism (and spec.completions) to 1 or more';

/**
 * With the namespace in each command, so that it can be copied.
 * @param name the workload as its user writes it: `job/train`
 * @returns undefined: there is nothing to do or to say
 */
export function adviceFor(fluxJob: FluxJobObject, reason: string, name: string): string | undefined {
  const namespace = `-n ${fluxJob.metadata.namespace}`;
  return (ofLingering(fluxJob) ?? adviceOf(fluxJob, reason) ?? ofSurplus(fluxJob))
    ?.replaceAll('WORKLOAD', `${name} ${namespace}`)
    .replaceAll('NAMESPACE', namespace);
}

/** A node that is not ready is deleted, and the pods on it with it. */
function ofLingering({ metadata, status = {} }: FluxJobObject): string | undefined {
  const { message } = scheduled({ status });
  return message.includes(REPLACED_LATER) ? undefined : lingeringAdvice(message, metadata.namespace!);
}

function ofSurplus({ status = {} }: FluxJobObject): string | undefined {
  return isTrue(status.conditions, 'MoreThanGranted') ? TOO_MUCH : undefined;
}

function adviceOf({ spec, status = {} }: FluxJobObject, reason: string): string | undefined {
  if (reason === 'TimedOut' && status.startTime === undefined) return NEVER_STARTED;
  const { message } = scheduled({ status });
  if ((reason === 'Running' || reason === 'NodeNotReady') && message.includes(REPLACED_LATER))
    return DEAD_NODE;
  if (reason === 'Running') return message.includes(STARTED_AGAIN) ? RESTARTS : undefined;
  if (reason === 'Held' && spec.pods === 0) return WITHOUT_PODS;
  if (!isReason(reason)) return OF_KUBERNETES;
  if (isTrue(status.conditions, 'RolloutWaits')) return ROLLOUT;
  if (BEHIND_SERVICES.test(message)) return OF_SERVICES;
  return (
    (isTrue(status.conditions, 'Stalled') ? adviceOfStalled(reason, message) : undefined) ?? ADVICE[reason]
  );
}

function adviceOfStalled(reason: Reason, message: string): string | undefined {
  const blocked = AFTER_NEVER.exec(message)?.[1];
  if (reason === 'DependencyPending' && blocked !== undefined)
    return `kubectl fluxqueue why ${blocked} NAMESPACE says what to correct there; or ${STALLED_ADVICE[reason]}`;
  return reason === 'QuotaExceeded' && PAUSED.test(message) ? OF_PAUSED : STALLED_ADVICE[reason];
}

function isReason(text: string): text is Reason {
  return (REASONS as readonly string[]).includes(text);
}
