/**
 * The deadline of a pod that the queue releases by its gate, alone or in a group. It is written and noted as that of a Job
 * (deadlines.ts). The kubelet counts it from the start of the pod, before the pull of its image, and Kubernetes lets nobody
 * extend it: so the release allows for the pull, and the exact deadline is only ever an earlier one.
 */
import { pointerToken } from '../../constructs/api/json-pointer';
import { DEADLINE_ANNOTATION } from '../../constructs/api/labels';
import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import { isEndless } from '../resources/endless';
import {
  containerStatusesOf,
  isTerminal,
  type JsonPatchOperation,
  secondsOf,
  type WalltimeEnd,
} from './adapter';
import {
  lookAgainIn,
  lowered,
  noteOf,
  ownDeadline,
  parseNote,
  type ReleasedDeadline,
  releasedDeadline,
  remainingOf,
  written,
} from './deadlines';

/**
 * What the release of a pod writes; undefined for one that may run for ever. A pod that comes after the first container of its
 * group ends with the others, whenever it starts.
 */
export function placedDeadline(pod: Pod, row: WorkloadRow, now: number): ReleasedDeadline | undefined {
  const { allocation, walltime, startedAt } = row;
  if (allocation === null || isEndless(allocation)) return undefined;
  if (startedAt === null) return releasedDeadline(pod, { walltime });
  const own = ownDeadline(pod);
  return written(
    Math.min(remainingOf({ walltime, startedAt }, now), own ?? Number.POSITIVE_INFINITY),
    0,
    own,
  );
}

/** The same without a note and without time for the start, as earlier versions wrote it. */
export function earlierDeadline({
  annotation = '',
  activeDeadlineSeconds,
}: ReleasedDeadline): ReleasedDeadline {
  const granted = parseNote(annotation)?.granted ?? activeDeadlineSeconds;
  return { activeDeadlineSeconds: granted, annotation: undefined };
}

/** The operation for the spec; the note is one of the annotations that the release writes. */
export function deadlineOperations(
  { spec }: Pod,
  deadline: ReleasedDeadline | undefined,
): readonly JsonPatchOperation[] {
  const value = deadline?.activeDeadlineSeconds;
  if (value === undefined || value === spec.activeDeadlineSeconds) return [];
  return [{ op: 'add', path: '/spec/activeDeadlineSeconds', value }];
}

/**
 * Takes back what the start did not need, once half of the walltime is over. The walltime of a group counts from its first
 * container, so a pod that its kubelet has started after that ends with the others.
 */
export function podWalltimeEnd(pod: Pod, { startedAt, walltime }: WorkloadRow, now: number): WalltimeEnd {
  if (startedAt === null) return cannotStart(pod) ? unstartedEnd(pod, now) : {};
  const begun = startOf(pod);
  const note = noteOf(pod);
  if (begun === undefined || note === undefined || note.allowance === 0) return {};
  const exact = Math.max(1, note.granted + Math.min(Math.ceil(startedAt - begun), note.allowance));
  if (exact >= pod.spec.activeDeadlineSeconds!) return {};
  // The clock of a node may be ahead: nothing is computed from a start that is still to come.
  const due = Math.max(startedAt + walltime / 2, begun);
  return now < due ? lookAgainIn(due - now) : { patch: lowered(pod, exact) };
}

/** Whether the kubelet says that it could not start a container, as one whose image does not exist. */
export function cannotStart(pod: Pod): boolean {
  return containerStatusesOf(pod).some(({ state }) => !STARTING.has(state?.waiting?.reason));
}

/** The reasons of a container that is about to start; one that has started has none. */
const STARTING: ReadonlySet<string | undefined> = new Set([
  undefined,
  'ContainerCreating',
  'PodInitializing',
]);

/** Nobody moves a pod that is bound. One that cannot start holds its units for its walltime, without time for the start. */
export function unstartedEnd(pod: Pod, now: number): WalltimeEnd {
  const begun = startOf(pod);
  const note = noteOf(pod);
  if (begun === undefined || note === undefined || note.granted >= pod.spec.activeDeadlineSeconds!) return {};
  const left = begun + note.granted - now;
  return left > 0 ? lookAgainIn(left) : { patch: lowered(pod, note.granted) };
}

/** What is due of any of these pods. */
export function endOfPods(pods: readonly Pod[], endOf: (pod: Pod) => WalltimeEnd): WalltimeEnd {
  const ends = pods.map((pod) => ({ pod, ...endOf(pod) }));
  const ofPods = ends.flatMap(({ pod, patch }) => (patch === undefined ? [] : [{ pod, patch }]));
  const after = Math.min(...ends.map((end) => end.after ?? Number.POSITIVE_INFINITY));
  return { ofPods, ...(Number.isFinite(after) && { after }) };
}

/** Unix seconds from which the kubelet counts; undefined as long as it does not, and of a pod that ends anyway. */
function startOf(pod: Pod): number | undefined {
  const begun = secondsOf(pod.status?.startTime ?? '');
  const isOver = isTerminal(pod) || pod.metadata.deletionTimestamp !== undefined;
  return isOver || pod.spec.activeDeadlineSeconds === undefined || !Number.isFinite(begun)
    ? undefined
    : begun;
}

/** A lower deadline of a pod whose grant is over. What its user asked for stays noted. */
export function limitOperations(pod: Pod, value: number): readonly JsonPatchOperation[] {
  const { uid, annotations } = pod.metadata;
  const note = noteOf(pod) && written(value, 0, ownDeadline(pod)).annotation;
  const path = `/metadata/annotations/${pointerToken(DEADLINE_ANNOTATION)}`;
  return [
    { op: 'test', path: '/metadata/uid', value: uid },
    ...(note === undefined ? [] : [{ op: 'test', path, value: annotations?.[DEADLINE_ANNOTATION] } as const]),
    ...(note === undefined ? [] : [{ op: 'replace', path, value: note } as const]),
    { op: 'add', path: '/spec/activeDeadlineSeconds', value },
  ];
}
