/**
 * Admission of Pods: *pins* a pod whose assignment determines its node, and
 * *gates* every other pod.
 */
import { JOB_CONTROLLER_USERS } from '../../constructs/api/job-controller';
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  GATE,
  OWNER_ANNOTATION,
  QUEUED_BY_ANNOTATION,
} from '../../constructs/api/labels';
import { checkPodLimits } from '../jobspec/jobspec';
import { type JsonPatch, patchEntries } from '../kubernetes/json-patch';
import { nodeOfIndex, soleNode } from '../workloads/assignment';
import { podSettings } from '../workloads/settings';
import { checkKeys } from './keys';
import { leaderWorkerGroup } from './leader-worker-sets';
import type { Metadata } from './review';
import { ownerOfKind, recordedUser, type UserOptions } from './user';

interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

export interface AdmittedPod {
  readonly metadata?: Metadata;
  readonly spec?: {
    readonly nodeName?: string;
    readonly schedulerName?: string;
    readonly schedulingGates?: readonly { readonly name: string }[];
    readonly affinity?: {
      readonly nodeAffinity?: {
        readonly requiredDuringSchedulingIgnoredDuringExecution?: {
          readonly nodeSelectorTerms?: readonly NodeSelectorTerm[] | null;
        };
      };
    };
  };
}

export interface PodAdmissionOptions extends UserOptions {
  /** The scheduler for pods that request the default scheduler. @default - schedulerName does not change */
  readonly schedulerName?: string | undefined;
}

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
const DEFAULT_SCHEDULER = 'default-scheduler';

/**
 * The patch for a new Pod. It is idempotent.
 * @param username the user who creates the Pod
 * @throws FluxqError FLUXQ_SETTING_INVALID, FLUXQ_TOO_LARGE
 */
export function admitPod(pod: AdmittedPod, username: string, options: PodAdmissionOptions = {}): JsonPatch[] {
  if (isManagedElsewhere(pod) || isQueuedElsewhere(pod.metadata, username)) return [];
  const placement = placementOf(pod.metadata);
  return [
    ...(placement === undefined
      ? hold(pod, username, options)
      : [...pinToNode(pod, placement.node), ...trimAssignment(pod.metadata, placement)]),
    ...chooseScheduler(pod, options.schedulerName),
  ];
}

/** Gates the pod, and notes whose it is. */
function hold(pod: AdmittedPod, username: string, options: PodAdmissionOptions): JsonPatch[] {
  const { metadata } = pod;
  const { annotations } = metadata ?? {};
  // It takes the place of a group that the user of the pod wrote.
  const group = leaderWorkerGroup(metadata, username, options);
  return [
    ...addGate({ ...pod, metadata: { ...metadata, annotations: { ...annotations, ...group } } }),
    ...patchEntries('/metadata/annotations', annotations, {
      ...recordedUser(metadata, username, options),
      [OWNER_ANNOTATION]: madeFor(metadata, username, options),
      ...group,
    }),
  ];
}

/**
 * Whether the pod is bound already, or the kubelet or the DaemonSet controller starts it. No label excludes a pod,
 * because every user could set it.
 */
function isManagedElsewhere({ metadata, spec }: AdmittedPod): boolean {
  return (
    (spec?.nodeName ?? '') !== '' ||
    metadata?.annotations?.[MIRROR_ANNOTATION] !== undefined ||
    (metadata?.ownerReferences ?? []).some(
      ({ apiVersion, kind, controller }) =>
        controller === true && kind === 'DaemonSet' && apiVersion.startsWith('apps/'),
    )
  );
}

/** Whether the Job controller makes the pod of a Job that another queue has: of anybody else the annotation says nothing. */
function isQueuedElsewhere(metadata: Metadata | undefined, username: string): boolean {
  return (metadata?.annotations?.[QUEUED_BY_ANNOTATION] ?? '') !== '' && isFromJob(metadata, username);
}

/** The object of a workload kind for which the pod is made. One of a Job has it from the template, where admission wrote it. */
function madeFor(metadata: Metadata | undefined, username: string, options: UserOptions): string | undefined {
  return isFromJob(metadata, username)
    ? metadata?.annotations?.[OWNER_ANNOTATION]
    : ownerOfKind(metadata, options);
}

/** Whether the Job controller makes the pod for a Job. */
function isFromJob(metadata: Metadata | undefined, username: string): boolean {
  return (
    JOB_CONTROLLER_USERS.includes(username) &&
    (metadata?.ownerReferences ?? []).some(
      ({ apiVersion, kind, controller }) =>
        controller === true && kind === 'Job' && apiVersion.startsWith('batch/'),
    )
  );
}

interface PodPlacement {
  readonly node: string;
  /** Undefined for a pod without an index, whose assignment has a single node. */
  readonly index: number | undefined;
}

function placementOf(metadata: Metadata | undefined): PodPlacement | undefined {
  const assignment = metadata?.annotations?.[ASSIGNMENT_ANNOTATION];
  if (assignment === undefined) return undefined;
  const text = metadata?.annotations?.[COMPLETION_INDEX_ANNOTATION];
  if ((text ?? '') === '') {
    const node = soleNode(assignment);
    return node === undefined ? undefined : { node, index: undefined };
  }
  // An index that the assignment does not list is no pod of the grant.
  const index = /^[0-9]{1,9}$/.test(text!) ? Number(text) : Number.NaN;
  const node = nodeOfIndex(assignment, index);
  return node === undefined ? undefined : { node, index };
}

/**
 * Reduces the assignment to the part of this pod. The whole assignment in each
 * of 5,000 pods would take 380 MB in etcd and in every watch of pods.
 */
function trimAssignment(metadata: Metadata | undefined, { node, index }: PodPlacement): JsonPatch[] {
  if (index === undefined) return [];
  const own = { [ASSIGNMENT_ANNOTATION]: `${index}/1:${node}` };
  return patchEntries('/metadata/annotations', metadata?.annotations, own);
}

function addGate({ metadata, spec }: AdmittedPod): JsonPatch[] {
  // A pod with an assignment has the settings and the fields of its Job, which admission has checked. Anybody may write an empty one.
  if ((metadata?.annotations?.[ASSIGNMENT_ANNOTATION] ?? '') === '') {
    podSettings(metadata ?? {});
    checkKeys(metadata);
    checkPodLimits(spec, 'spec');
  }
  const gates = spec?.schedulingGates;
  const gated = gates?.some(({ name }) => name === GATE) ?? false;
  const path = '/spec/schedulingGates';
  const add: JsonPatch =
    gates === undefined
      ? { op: 'add', path, value: [{ name: GATE }] }
      : { op: 'add', path: `${path}/-`, value: { name: GATE } };
  const labels = patchEntries('/metadata/labels', metadata?.labels, { [ADMITTED_LABEL]: 'true' });
  return [...labels, ...(gated ? [] : [add])];
}

/** Adds the node to the required node affinity of the pod. */
function pinToNode({ spec }: AdmittedPod, node: string): JsonPatch[] {
  const onNode = { key: 'metadata.name', operator: 'In', values: [node] };
  const required = { nodeSelectorTerms: [{ matchFields: [onNode] }] };
  const inNodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required };
  const path = '/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution';
  const nodeAffinity = spec?.affinity?.nodeAffinity;
  if (spec?.affinity === undefined)
    return [{ op: 'add', path: '/spec/affinity', value: { nodeAffinity: inNodeAffinity } }];
  if (nodeAffinity === undefined)
    return [{ op: 'add', path: '/spec/affinity/nodeAffinity', value: inNodeAffinity }];
  const present = nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution;
  if (present === undefined) return [{ op: 'add', path, value: required }];
  // Terms are alternatives, so the node is added to each of them. An empty term matches no node and would match this
  // node if it were added, so an empty term does not change.
  return (present.nodeSelectorTerms ?? []).flatMap((term, i): JsonPatch[] => {
    const fields = term.matchFields ?? [];
    if (fields.length === 0 && (term.matchExpressions ?? []).length === 0) return [];
    if (fields.some((field) => pinsTo(field, node))) return [];
    const matchFields = `${path}/nodeSelectorTerms/${i}/matchFields`;
    return term.matchFields === undefined
      ? [{ op: 'add', path: matchFields, value: [onNode] }]
      : [{ op: 'add', path: `${matchFields}/-`, value: onNode }];
  });
}

function pinsTo({ key, operator, values }: NodeSelectorRequirement, node: string): boolean {
  return key === 'metadata.name' && operator === 'In' && values?.length === 1 && values[0] === node;
}

function chooseScheduler({ spec }: AdmittedPod, schedulerName: string | undefined): JsonPatch[] {
  const asked = spec?.schedulerName ?? DEFAULT_SCHEDULER;
  if (schedulerName === undefined || asked !== DEFAULT_SCHEDULER || asked === schedulerName) return [];
  return [{ op: 'add', path: '/spec/schedulerName', value: schedulerName }];
}
