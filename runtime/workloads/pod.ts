/**
 * Adapter of a Pod that no admitted workload owns: a bare pod, or a pod of a
 * Deployment or StatefulSet. A queued pod has the queue's scheduling gate. One
 * JSON patch releases it: the patch pins the pod to its node, removes the gate
 * and sets the deadline by which the kubelet enforces the walltime.
 */
import {
  ADMITTED_LABEL,
  DEADLINE_ANNOTATION,
  GATE,
  GROUP_MEMBER_ANNOTATION,
  JOBID_ANNOTATION,
  WALLTIME,
} from '../../constructs/api/labels';
import { foreignGates } from '../jobspec/unmodeled';
import { patchEntries } from '../kubernetes/json-patch';
import { isLarge } from '../kubernetes/object-size';
import { controllerOf } from '../kubernetes/owner';
import { pods } from '../kubernetes/paths';
import type { NodeSelectorTerm, Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import {
  isTerminal,
  type JsonPatchOperation,
  lastFinishTime,
  type Outcome,
  type Patch,
  type WorkloadAdapter,
} from './adapter';
import { type ReleasedDeadline, releasedDeadline, requestedDeadline } from './deadlines';
import { deadlineOperations, earlierDeadline, podWalltimeEnd } from './pod-deadlines';
import { failureOf, hasSucceeded, wasCancelled } from './pod-end';
import { settingOf } from './settings';

const POD_SET = 'pod';

/** Of pods that are there before they are granted anything, and which nobody suspends, makes or extends. */
export const OF_PLAIN_PODS = {
  podsExist: true,
  marksPods: false,
  samplePod: () => undefined,
  isStaged: () => false,
  stagePatch: () => undefined,
  canRelease: () => true,
  startTimePatch: () => undefined,
  isGang: () => true,
  idleNodes: () => [],
  neededPods: () => undefined,
  missingPods: () => 0,
  awaitedPods: () => new Map(),
  largerPods: () => [],
  placelessPods: () => [],
  unseenPods: () => 0,
  earlierPlacePatch: () => undefined,
  replacementPolicy: () => undefined,
  isReplacementNoted: () => false,
  suspendPatch: () => undefined,
} satisfies Partial<WorkloadAdapter>;

export const podAdapter: WorkloadAdapter<Pod> = {
  ...OF_PLAIN_PODS,
  kind: 'Pod',
  apiVersion: 'v1',
  path: (namespace, name) => pods(namespace, name),
  membersOf: () => undefined,
  isSuspended: (pod) => isGated(pod),
  gates: ({ spec }) => foreignGates(spec),
  // A gate cannot be added again, so a pod that lost its gate keeps its node.
  isReleasedOnto: () => true,
  isSuspendable: () => false,
  isLarge,
  demand: (pod) => ({
    podSets: [
      {
        name: POD_SET,
        count: 1,
        spec: pod.spec,
        labels: pod.metadata.labels ?? {},
        podName: pod.metadata.name,
        field: 'spec',
      },
    ],
    deadlineSeconds: requestedDeadline(pod),
    isService: isServicePod(pod),
    priority: pod.spec.priority,
  }),
  podSetOf: () => POD_SET,
  outcome: (pod, _pods, now, row) => (isTerminal(pod) ? outcomeOf(pod, now, row) : undefined),
  finishedNodes: () => [],
  podsToPlace: () => [],
  placePatch: (_pod, _row, pod, node) => pinPatch(pod, node),
  placedPod: (_pod, _row, pod, node) => ungated(pod, node),
  releasePatch: (pod, row) => releaseOf(pod, row, releasedDeadline(pod, row)),
  earlierReleasePatch: (pod, row) =>
    isServicePod(pod) ? undefined : releaseOf(pod, row, earlierDeadline(releasedDeadline(pod, row))),
  walltimeEnd: podWalltimeEnd,
  handOverPatch: (pod) => ({ type: 'json', body: podHandOver(pod) }),
  recordedGrant(pod) {
    const node = isGated(pod) ? undefined : assignedNode(pod);
    return node === undefined ? undefined : { jobid: undefined, placement: [{ node, pods: 1 }] };
  },
};

/** The node on which the pod runs, or the only one that its node affinity allows. */
export function assignedNode({ spec }: Pod): string | undefined {
  if (spec.nodeName !== undefined) return spec.nodeName;
  const terms =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const names = terms.filter((term) => !isEmpty(term)).map(namesInTerm);
  // Terms are alternatives: one that names no node allows several.
  if (names.includes(undefined)) return undefined;
  const [name, ...others] = new Set(names.flatMap((each) => each ?? []));
  return others.length === 0 ? name : undefined;
}

/** The nodes that all requirements of the term name; undefined if none of them names a node. */
function namesInTerm({ matchFields = [] }: NodeSelectorTerm): readonly string[] | undefined {
  const lists = matchFields
    .filter(({ key, operator }) => key === 'metadata.name' && operator === 'In')
    .map(({ values = [] }) => values);
  const [first, ...rest] = lists;
  return first?.filter((name) => rest.every((list) => list.includes(name)));
}

/** Microseconds since 1970, in the year 2112: higher ids would leave too few exact numbers for those that follow them. */
const HIGHEST_JOBID = 2 ** 52;

/** Returns 0 for text that the queue never writes: ids continue after the highest that any workload carries. */
export function parseJobid(text = ''): number {
  const jobid = /^[1-9][0-9]{0,15}$/.test(text) ? Number(text) : 0;
  return jobid < HIGHEST_JOBID ? jobid : 0;
}

/** Whether a Job's pod was created under the grant with this job id. */
export function belongsToGrant({ metadata }: Pod, jobid: number): boolean {
  return metadata.annotations?.[JOBID_ANNOTATION] === String(jobid);
}

/** Whether the pod was released with a Job that was deleted without its pods (`--cascade=orphan`). */
export function isOrphaned(pod: Pod): boolean {
  const { [JOBID_ANNOTATION]: jobid = '', [GROUP_MEMBER_ANNOTATION]: member = '' } =
    pod.metadata.annotations ?? {};
  return jobid !== '' && member === '' && controllerOf(pod) === undefined;
}

/**
 * The nodes that live pods use or are pinned to; gated pods use none. Undefined if a pod may run on any node.
 */
export function usedNodes(pods: readonly Pod[]): ReadonlySet<string> | undefined {
  const nodes = pods.filter((pod) => !isTerminal(pod) && !isGated(pod)).map(assignedNode);
  const known = nodes.filter((node) => node !== undefined);
  return known.length === nodes.length ? new Set(known) : undefined;
}

export function isGated({ spec }: Pod): boolean {
  return spec.schedulingGates?.some(({ name }) => name === GATE) ?? false;
}

function outcomeOf(pod: Pod, now: number, row: WorkloadRow | undefined): Outcome {
  const finishedAt = lastFinishTime([pod], now);
  const eviction = row?.evictionReason ?? undefined;
  if (wasCancelled(pod, eviction)) return { result: 'Cancelled', finishedAt, message: eviction };
  const result = hasSucceeded(pod) ? 'Succeeded' : resultOfFailed(pod);
  return { result, finishedAt, message: failureOf([pod]) };
}

function resultOfFailed({ status }: Pod): 'TimedOut' | 'Failed' {
  return status?.reason === 'DeadlineExceeded' ? 'TimedOut' : 'Failed';
}

/**
 * The patch that pins and ungates a gated pod. Its `test` operations make it
 * fail for another pod of the same name and for gates in another order.
 */
export function pinPatch(pod: Pod, node: string): readonly JsonPatchOperation[] {
  const index = pod.spec.schedulingGates!.findIndex(({ name }) => name === GATE);
  return [
    { op: 'test', path: '/metadata/uid', value: pod.metadata.uid },
    { op: 'test', path: `/spec/schedulingGates/${index}/name`, value: GATE },
    ...affinityPatch(pod, node),
    { op: 'remove', path: `/spec/schedulingGates/${index}` },
  ];
}

/** The pod as that patch leaves it, as far as its node is concerned. */
export function ungated(pod: Pod, node: string): Pod {
  return { ...pod, spec: { ...pod.spec, schedulingGates: [], nodeName: node } };
}

/** The pod goes where kube-scheduler places it. */
export function podHandOver({ metadata, spec }: Pod): readonly JsonPatchOperation[] {
  const index = spec.schedulingGates?.findIndex(({ name }) => name === GATE) ?? -1;
  const gate = `/spec/schedulingGates/${index}`;
  return [
    { op: 'test', path: '/metadata/uid', value: metadata.uid },
    ...patchEntries('/metadata/labels', metadata.labels, { [ADMITTED_LABEL]: undefined }),
    ...(index < 0 ? [] : [{ op: 'test', path: `${gate}/name`, value: GATE } as const]),
    ...(index < 0 ? [] : [{ op: 'remove', path: gate } as const]),
  ];
}

/** A pod that always restarts, unless its user set a walltime, runs until it is deleted: it is planned without an end. */
export function isServicePod({ metadata, spec }: Pod): boolean {
  return (
    (spec.restartPolicy ?? 'Always') === 'Always' &&
    spec.activeDeadlineSeconds === undefined &&
    settingOf(metadata, WALLTIME) === undefined
  );
}

/** Of a service the deadline is nothing. */
function releaseOf(pod: Pod, row: WorkloadRow, given: ReleasedDeadline): Patch {
  const deadline = isServicePod(pod) ? undefined : given;
  return { type: 'json', body: releaseOperations(pod, row.allocation!.nodes[0]!.name, deadline) };
}

/** @param marks annotations that the release writes beside the note of the deadline */
export function releaseOperations(
  pod: Pod,
  node: string,
  deadline: ReleasedDeadline | undefined,
  marks: Readonly<Record<string, string>> = {},
): readonly JsonPatchOperation[] {
  const { resourceVersion, annotations } = pod.metadata;
  const written = { ...marks, [DEADLINE_ANNOTATION]: deadline?.annotation };
  return [
    // Only the pod that was compared with its grant is released.
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    ...pinPatch(pod, node),
    ...patchEntries('/metadata/annotations', annotations, written),
    ...deadlineOperations(pod, deadline),
  ];
}

/**
 * Terms are alternatives, so the node is added to each of them: Kubernetes only lets the affinity of a gated pod become
 * narrower. An empty term matches no node and must stay empty.
 */
function affinityPatch({ spec }: Pod, node: string): readonly JsonPatchOperation[] {
  const pin = { key: 'metadata.name', operator: 'In' as const, values: [node] };
  const base = '/spec/affinity';
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  const nodeAffinity = spec.affinity?.nodeAffinity;
  const terms = nodeAffinity?.[required]?.nodeSelectorTerms;
  const pinned = (term: NodeSelectorTerm) => ({ ...term, matchFields: [...(term.matchFields ?? []), pin] });
  const value = {
    nodeSelectorTerms: terms?.map((term) => (isEmpty(term) ? term : pinned(term))) ?? [pinned({})],
  };
  if (spec.affinity === undefined)
    return [{ op: 'add', path: base, value: { nodeAffinity: { [required]: value } } }];
  if (nodeAffinity === undefined)
    return [{ op: 'add', path: `${base}/nodeAffinity`, value: { [required]: value } }];
  return [{ op: 'add', path: `${base}/nodeAffinity/${required}`, value }];
}

function isEmpty({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): boolean {
  return matchExpressions.length === 0 && matchFields.length === 0;
}
