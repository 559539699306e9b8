/**
 * What a pod of a grant waits for, in the words of the component that said so: kube-scheduler (condition PodScheduled),
 * the kubelet (states of the containers), the node controller (condition Ready of the node). Pure: how long a wait may
 * last is decided in grant-watch.ts.
 */
import { SCHEDULER_NAME } from '../../constructs/api/labels';
import type { Pod } from '../kubernetes/types';
import type { GrantReason } from '../shared/grant-waits';
import { verdictOf } from '../shared/schedulers';
import { type ActiveWorkload, isTerminal } from './adapter';
import type { NodeView } from './live-pods';
import { assignedNode, isGated } from './pod';

/**
 * unschedulable: kube-scheduler refused the pod, or its node is dead. volumes: it waits for volumes that are bound when
 * it is. claims: a resource claim that it names does not exist or is being deleted. gated: a controller of others lets it start later. starting: it is bound, and its containers do not run yet.
 * silent: a scheduler of others has neither placed nor refused it. pending: nobody has refused it, so its wait has no limit.
 */
export type PodWaitCause =
  | 'unschedulable'
  | 'claims'
  | 'gated'
  | 'volumes'
  | 'starting'
  | 'silent'
  | 'pending';

export interface PodWait {
  readonly cause: PodWaitCause;
  /** In the words of Kubernetes: `Unschedulable`, `ImagePullBackOff`, `ContainerCreating`. */
  readonly reason: string;
  readonly message: string;
  /** What Kubernetes says in full, if `message` is shorter. It may name a cause. @default - `message` */
  readonly told?: string | undefined;
  /** Name of the pod. */
  readonly pod: string;
  /** The UID of the pod. */
  readonly uid: string;
  /** The node to which it is bound or pinned. */
  readonly node: string | undefined;
  readonly isBound: boolean;
}

export interface UnplacedPod {
  readonly pod: Pod;
  readonly wait: PodWait;
}

export interface PodWaitContext extends NodeView {
  /** Whether this scheduler has ever scheduled or refused a pod. */
  readonly schedulerRuns: (schedulerName: string) => boolean;
}

const CREATING: GrantReason = 'ContainerCreating';
const INITIALIZING: GrantReason = 'PodInitializing';
const UNSCHEDULABLE: GrantReason = 'Unschedulable';
const DEFAULT_SCHEDULER = 'default-scheduler';
/** An outage of these evicts nothing. Others may have a queue of their own, in which the pod would wait with the units of its grant. */
const PROMPT_SCHEDULERS: readonly string[] = [DEFAULT_SCHEDULER, SCHEDULER_NAME];
/** Reasons of the kubelet about the image of a container. */
const IMAGE_REASON = /Image/;

type Wait = Pick<PodWait, 'cause' | 'reason' | 'message' | 'told'>;

export function isAboutImage(reason: string): boolean {
  return IMAGE_REASON.test(reason);
}

/** In words of the queue, where Kubernetes says nothing. */
function said(cause: PodWaitCause, reason: GrantReason, message: string): Wait {
  return { cause, reason, message };
}

/** Undefined for a pod that runs on a live node, has ended, is being deleted, or waits for the queue itself. */
export function podWait(pod: Pod, context: PodWaitContext): PodWait | undefined {
  if (isTerminal(pod) || isGated(pod)) return undefined;
  const found = deadNodeWait(pod, context) ?? startWait(pod, context);
  if (found === undefined) return undefined;
  const { metadata, spec } = pod;
  return {
    ...found,
    pod: metadata.name,
    uid: metadata.uid,
    node: assignedNode(pod),
    isBound: spec.nodeName !== undefined,
  };
}

/** The pods for which the queue has no place in their grant. */
export function unplacedPods({ object, adapter, row, pods }: ActiveWorkload): readonly UnplacedPod[] {
  const larger = adapter.largerPods(object, row, pods).map(({ pod, excess }) => {
    return unplaced(pod, `it asks for more than was granted for its pod set: ${excess}`);
  });
  const placeless = adapter.placelessPods(object, row, pods).map((pod) => {
    const set = adapter.podSetOf(object, pod);
    return unplaced(pod, `its grant has no place for pod set ${set} any more, whose pods had all succeeded`);
  });
  return [...larger, ...placeless];
}

function unplaced(pod: Pod, message: string): UnplacedPod {
  const { name, uid } = pod.metadata;
  const wait = said('unschedulable', UNSCHEDULABLE, message);
  return { pod, wait: { ...wait, pod: name, uid, node: undefined, isBound: false } };
}

/** Kubernetes has given the pod up, but its kubelet does not confirm that it has ended. */
function deadNodeWait({ metadata, spec: { nodeName } }: Pod, nodes: NodeView): Wait | undefined {
  if (nodeName === undefined) return undefined;
  if (!nodes.exists(nodeName)) return said('unschedulable', 'NodeLost', `node ${nodeName} was lost`);
  if (metadata.deletionTimestamp === undefined || nodes.isReady(nodeName)) return undefined;
  return said('unschedulable', 'NodeNotReady', `node ${nodeName} is not ready`);
}

function startWait(pod: Pod, context: PodWaitContext): Wait | undefined {
  if (pod.metadata.deletionTimestamp !== undefined || pod.status?.phase === 'Running') return undefined;
  return pod.spec.nodeName === undefined ? schedulingWait(pod, context) : startingWait(pod);
}

function schedulingWait(pod: Pod, { schedulerRuns }: PodWaitContext): Wait {
  const { spec } = pod;
  const gates = spec.schedulingGates ?? [];
  if (gates.length > 0) {
    const message = `waiting for scheduling gate ${gates.map(({ name }) => name).join(', ')}`;
    return said('gated', 'SchedulingGated', message);
  }
  const verdict = verdictOf(pod);
  if (verdict?.status === 'False' && verdict.message !== undefined)
    return { cause: 'unschedulable', reason: verdict.reason ?? UNSCHEDULABLE, message: verdict.message };
  const { schedulerName = DEFAULT_SCHEDULER, volumes = [] } = spec;
  if (!schedulerRuns(schedulerName)) {
    const message = `scheduler ${schedulerName} does not answer, and has never scheduled a pod`;
    return said('unschedulable', 'SchedulerMissing', message);
  }
  // kube-scheduler has chosen the node and says nothing while it binds the volumes.
  if (volumes.some(({ persistentVolumeClaim: claim, ephemeral }) => (claim ?? ephemeral) !== undefined))
    return said('volumes', 'VolumesUnbound', 'waiting for its volumes to be bound');
  const cause = PROMPT_SCHEDULERS.includes(schedulerName) ? 'pending' : 'silent';
  return said(cause, 'Pending', `waiting for ${schedulerName}`);
}

function startingWait({ spec, status }: Pod): Wait {
  const inits = status?.initContainerStatuses ?? [];
  // A sidecar runs beside the containers and says nothing about their start.
  const sidecars = new Set(
    spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  );
  const init = inits.find(({ name, state }) => state?.running !== undefined && !sidecars.has(name));
  if (init !== undefined) return said('pending', INITIALIZING, `init container ${init.name} is running`);
  const waiting = [...inits, ...(status?.containerStatuses ?? [])].find(({ state }) => isBlocked(state));
  const { reason = CREATING, message } = waiting?.state?.waiting ?? {};
  if (waiting !== undefined && isAboutImage(reason)) {
    const containers = [...(spec.initContainers ?? []), ...spec.containers];
    const image = containers.find(({ name }) => name === waiting.name)?.image ?? waiting.name;
    return { cause: 'starting', reason, message: `${reason}: ${image}`, told: message };
  }
  if (message !== undefined) return { cause: 'starting', reason, message: `${reason}: ${message}` };
  return {
    cause: 'starting',
    reason,
    message: reason === CREATING ? 'its containers are being created' : reason,
  };
}

/** PodInitializing is what the containers after the init container that waits have. */
function isBlocked(state: { readonly waiting?: { readonly reason?: string } } | undefined): boolean {
  const reason = state?.waiting?.reason;
  return reason !== undefined && reason !== INITIALIZING;
}

/** Of several waits the one that tells the user most is shown. */
const ORDER: readonly PodWaitCause[] = [
  'unschedulable',
  'claims',
  'gated',
  'volumes',
  'starting',
  'silent',
  'pending',
];

export function firstOf(waits: readonly PodWait[]): PodWait | undefined {
  const rank = ({ cause }: PodWait) => ORDER.indexOf(cause);
  return [...waits].sort((a, b) => rank(a) - rank(b))[0];
}
