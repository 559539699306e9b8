/**
 * A Pod that no admitted workload owns: a plain one, or one of a Deployment,
 * StatefulSet, ... Held back by our scheduling gate; released by one JSON patch
 * that pins it to its node, removes the gate and has the kubelet end it when its walltime is over.
 */
import { GATE, JOBID_ANNOTATION, WALLTIME } from '../../constructs/api/labels';
import { pods } from '../kubernetes/paths';
import type { NodeSelectorTerm, Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import {
  deadlineOf,
  isTerminal,
  type JsonPatchOperation,
  lastEnd,
  namesOf,
  type WorkloadAdapter,
} from './adapter';
import { settingOf } from './settings';

export const podAdapter: WorkloadAdapter<Pod> = {
  kind: 'Pod',
  apiVersion: 'v1',
  path: (namespace, name) => pods(namespace, name),
  isHeldBack: (pod) => isGated(pod),
  canRelease: () => true,
  // A pod that lost its gate in another way can't be taken back: it is where it is.
  isReleasedOnto: () => true,
  recallable: false,
  demand: (pod) => ({
    pods: 1,
    spec: pod.spec,
    deadlineSeconds: pod.spec.activeDeadlineSeconds,
    priority: pod.spec.priority,
  }),
  outcome: (pod, _pods, now) =>
    isTerminal(pod)
      ? {
          result: pod.status?.phase === 'Succeeded' ? 'Succeeded' : resultOfFailed(pod),
          finishedAt: lastEnd([pod], now),
        }
      : undefined,
  doneOn: () => [],
  release: (pod, row) => ({
    type: 'json',
    body: [...pinPatch(pod, row.allocation!.nodes[0]!.name), ...deadlinePatch(pod, row)],
  }),
  // Gates can't be put back on a pod.
  recall: () => undefined,
  // It is where it is, whatever it was released with.
  grantOf(pod) {
    const node = isGated(pod) ? undefined : placeOf(pod);
    return node === undefined ? undefined : { jobid: undefined, places: [{ node, pods: 1 }] };
  },
};

/** Where a pod runs or is pinned to. */
export function placeOf({ spec }: Pod): string | undefined {
  if (spec.nodeName !== undefined) return spec.nodeName;
  const terms =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  for (const { matchFields } of terms)
    for (const { key, values } of matchFields ?? []) if (key === 'metadata.name') return values?.[0];
  return undefined;
}

/** Whether a Job's pod was made for the grant with this job id. */
export function isOfRun({ metadata }: Pod, jobid: number): boolean {
  return metadata.annotations?.[JOBID_ANNOTATION] === String(jobid);
}

/**
 * A live pod that nothing holds to a node of the allocation, because it was made while admission was not in force:
 * it goes wherever there is room, and units that it uses are granted to others.
 */
export function unpinned({ jobid, allocation }: WorkloadRow, pods: readonly Pod[]): Pod | undefined {
  const own = new Set<string | undefined>(namesOf(allocation?.nodes ?? []));
  return pods.find(
    (pod) =>
      isOfRun(pod, jobid) &&
      pod.metadata.deletionTimestamp === undefined &&
      !isTerminal(pod) &&
      !isGated(pod) &&
      !own.has(placeOf(pod)),
  );
}

export function isGated({ spec }: Pod): boolean {
  return spec.schedulingGates?.some(({ name }) => name === GATE) ?? false;
}

function resultOfFailed({ status }: Pod): 'TimedOut' | 'Failed' {
  return status?.reason === 'DeadlineExceeded' ? 'TimedOut' : 'Failed';
}

/**
 * Pin and ungate a gated pod in one patch. The tests make it precise: another
 * pod of the same name, or gates in another order, refuse it.
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

/** A service runs until it is deleted: planned with its queue's walltime, and not ended unless its user gave one. */
function deadlinePatch({ metadata, spec }: Pod, row: WorkloadRow): readonly JsonPatchOperation[] {
  const isService =
    (spec.restartPolicy ?? 'Always') === 'Always' && settingOf(metadata, WALLTIME) === undefined;
  const value = deadlineOf(row, spec.activeDeadlineSeconds);
  if (isService || value === spec.activeDeadlineSeconds) return [];
  return [{ op: 'add', path: '/spec/activeDeadlineSeconds', value }];
}

/**
 * Terms are alternatives, so the node goes into each of them: only narrowing is allowed on a gated pod. An empty term
 * matches no node, and must not begin to match one.
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
