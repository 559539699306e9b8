/**
 * Admission of Pods: *pinned* to the node of their assignment where that is
 * known for sure, *gated* otherwise.
 */
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  GATE,
} from '../../constructs/api/labels';
import { nodeOfIndex, soleNode } from '../workloads/assignment';
import { workloadSettings } from '../workloads/settings';
import { addLabels, type JsonPatch, type Metadata, pointerToken } from './review';
import { markUser } from './user';

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

export interface PodAdmissionOptions {
  /** Given to pods that ask for the default scheduler. @default - schedulerName is left alone */
  readonly schedulerName?: string | undefined;
}

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
const DEFAULT_SCHEDULER = 'default-scheduler';
/**
 * Applied to its own result it changes nothing.
 * @param username who creates it
 * @throws FluxqError FLUXQ_SETTING_INVALID
 */
export function admitPod(
  pod: AdmittedPod,
  username: string,
  { schedulerName }: PodAdmissionOptions = {},
): JsonPatch[] {
  if (belongsToAnother(pod)) return [];
  const place = placeOf(pod.metadata);
  return [
    ...(place === undefined
      ? [...gate(pod), ...markUser(pod.metadata, username)]
      : [...pin(pod, place.node), ...keepOwnPart(pod.metadata, place)]),
    ...chooseScheduler(pod, schedulerName),
  ];
}

/** Bound already, or started by the kubelet or the DaemonSet controller. No label lets a pod pass: anyone could set it. */
function belongsToAnother({ metadata, spec }: AdmittedPod): boolean {
  return (
    (spec?.nodeName ?? '') !== '' ||
    metadata?.annotations?.[MIRROR_ANNOTATION] !== undefined ||
    (metadata?.ownerReferences ?? []).some(
      ({ apiVersion, kind, controller }) =>
        controller === true && kind === 'DaemonSet' && apiVersion.startsWith('apps/'),
    )
  );
}

interface Placer {
  readonly node: string;
  /** Pod index, where the assignment has a place for it. */
  readonly index: number | undefined;
}

function placeOf(metadata: Metadata | undefined): Placer | undefined {
  const assignment = metadata?.annotations?.[ASSIGNMENT_ANNOTATION];
  if (assignment === undefined) return undefined;
  const text = metadata?.annotations?.[COMPLETION_INDEX_ANNOTATION];
  if (text !== undefined && /^[0-9]{1,9}$/.test(text)) {
    const index = Number(text);
    const node = nodeOfIndex(assignment, index);
    if (node !== undefined) return { node, index };
  }
  const node = soleNode(assignment);
  return node === undefined ? undefined : { node, index: undefined };
}

/**
 * A pod needs no more of the assignment than its own place. All of it in each
 * of 5,000 pods would be 380 MB in etcd and in every watch of pods.
 */
function keepOwnPart(metadata: Metadata | undefined, { node, index }: Placer): JsonPatch[] {
  if (index === undefined) return [];
  const own = `${index}/1:${node}`;
  if (metadata?.annotations?.[ASSIGNMENT_ANNOTATION] === own) return [];
  return [{ op: 'add', path: `/metadata/annotations/${pointerToken(ASSIGNMENT_ANNOTATION)}`, value: own }];
}

function gate({ metadata, spec }: AdmittedPod): JsonPatch[] {
  // The settings of a pod with an assignment are those of its Job, checked there.
  if (metadata?.annotations?.[ASSIGNMENT_ANNOTATION] === undefined) workloadSettings(metadata ?? {});
  const gates = spec?.schedulingGates;
  const gated = gates?.some(({ name }) => name === GATE) ?? false;
  const path = '/spec/schedulingGates';
  const add: JsonPatch =
    gates === undefined
      ? { op: 'add', path, value: [{ name: GATE }] }
      : { op: 'add', path: `${path}/-`, value: { name: GATE } };
  return [...addLabels(metadata, { [ADMITTED_LABEL]: 'true' }), ...(gated ? [] : [add])];
}

/** Adds "and only on this node" to whatever node affinity is required already. */
function pin({ spec }: AdmittedPod, node: string): JsonPatch[] {
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
  // Terms are alternatives, so each one needs it; what stands in one term must all hold. An empty
  // term matches no node, and would match this one if we added to it: it stays as it is.
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
