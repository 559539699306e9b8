/**
 * Adapter of the kinds of constructs/api/workload-kinds.ts. Their own `suspend` field holds them. One JSON patch releases an
 * object: it unsuspends it and notes the grant in its annotations. The controller of the kind makes its pods then, at once or
 * late, or again; each is gated when it is created, and gets a free place of its pod set.
 */
import { ASSIGNMENT_ANNOTATION, ENDED_ANNOTATION, JOBID_ANNOTATION } from '../../constructs/api/labels';
import {
  MOST_POD_SETS,
  REFUSAL_REMEDY,
  refusal,
  type WorkloadKind,
} from '../../constructs/api/workload-kinds';
import { FluxqError } from '../errors';
import type { Jobspec } from '../jobspec/types';
import { fieldAt, withField } from '../kubernetes/fields';
import { patchEntries } from '../kubernetes/json-patch';
import {
  apiVersionOf,
  isSuspended,
  type KindObject,
  kindPath,
  kindPodSets,
  mayRestart,
} from '../kubernetes/kind-fields';
import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import { isEndless } from '../resources/endless';
import {
  isTerminal,
  type JsonPatchOperation,
  type LargerPod,
  lastFinishTime,
  type Outcome,
  type RecordedGrant,
  secondsOf,
  type WalltimeEnd,
  type WorkloadAdapter,
} from './adapter';
import { assignmentOfSets, placementOfSets } from './assignment';
import { sameTerms } from './compared';
import { isPastWalltime, lookAgainIn, remainingDeadline, START_ALLOWANCE_SECONDS } from './deadlines';
import { type Demand, ifReadable, type PodSet } from './demand';
import { kindHandOver } from './hand-over';
import { excessOf, grantedPods, grantedSets } from './kind-pods';
import { belongsToGrant, isGated, parseJobid, pinPatch, ungated } from './pod';
import { failureOf, hasSucceeded } from './pod-end';
import { byAge } from './pod-group';
import { isOfAnotherPerson } from './row-user';
import { succeededNodes } from './succeeded-nodes';
import { tally } from './tally';
import { kindTemplatePod } from './template-pod';

const TIMED_OUT = 'TimedOut';
/** Kubernetes counts the pods of one Job up to here, and so does a row. */
const MOST_PODS = 2 ** 31 - 1;

/** What no kind has, or all have alike. */
const OF_KINDS = {
  membersOf: () => undefined,
  podsExist: false,
  marksPods: true,
  isStaged: () => false,
  // Its pods are made after the grant: one that another controller keeps then waits in its place.
  gates: () => [],
  stagePatch: () => undefined,
  canRelease: () => true,
  startTimePatch: () => undefined,
  isSuspendable: () => true,
  isLarge: () => false,
  isGang: () => true,
  idleNodes: () => [],
  neededPods: () => undefined,
  awaitedPods: () => new Map(),
  // A pod of it runs only after the watch has shown it: it is ungated then.
  unseenPods: () => 0,
  earlierReleasePatch: () => undefined,
  earlierPlacePatch: () => undefined,
  replacementPolicy: () => undefined,
  isReplacementNoted: () => false,
} satisfies Partial<WorkloadAdapter<KindObject>>;

export function kindAdapter(kind: WorkloadKind): WorkloadAdapter<KindObject> {
  const isHeld = (object: KindObject) => isSuspended(kind, object);
  const hasEnded = (object: KindObject) => endOf(kind, object) !== undefined;
  return {
    ...OF_KINDS,
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    path: kindPath(kind),
    isSuspended: (object) => isHeld(object) && !hasEnded(object),
    isReleasedOnto: (object, { jobid }) => jobidOf(object) === `${jobid}`,
    demand: (object) => demandOf(kind, object),
    podSetOf: (_object, pod) => podSetNameOf(kind, pod),
    outcome: (object, pods, now, row) => outcomeOf(kind, object, pods, now, row),
    finishedNodes: (object, row, pods) => finishedNodes(kind, object, row, pods),
    missingPods: (object, row, pods) => missingPods(object, row, pods),
    podsToPlace: (object, pods, row, now) =>
      isHeld(object) || hasEnded(object) || isPastWalltime(row, now)
        ? []
        : podsToPlace(kind, object, row, pods),
    largerPods: (object, row, pods) => (isHeld(object) ? [] : largerPods(kind, object, row, pods)),
    placelessPods: (object, row, pods) => (isHeld(object) ? [] : placelessPods(kind, object, row, pods)),
    placePatch: (_object, row, pod, node, now) => [
      // Only the pod that was compared with its pod set is released.
      { op: 'test', path: '/metadata/resourceVersion', value: pod.metadata.resourceVersion },
      ...pinPatch(pod, node),
      ...patchEntries('/metadata/annotations', pod.metadata.annotations, {
        [JOBID_ANNOTATION]: `${row.jobid}`,
      }),
      ...remainingDeadline(pod, row, now, START_ALLOWANCE_SECONDS),
    ],
    placedPod: (_object, row, pod, node) => {
      const placed = ungated(pod, node);
      const annotations = { ...placed.metadata.annotations, [JOBID_ANNOTATION]: `${row.jobid}` };
      return { ...placed, metadata: { ...placed.metadata, annotations } };
    },
    releasePatch: (object, row) => ({ type: 'json', body: releaseOf(kind, object, row) }),
    walltimeEnd: (object, row, now) => walltimeEnd(kind, object, row, now),
    suspendPatch: (object) =>
      isHeld(object)
        ? undefined
        : {
            type: 'merge',
            body: { metadata: { uid: object.metadata.uid }, ...suspension(kind) },
          },
    handOverPatch: (object, starts) => ({ type: 'json', body: kindHandOver(kind, object, starts) }),
    samplePod: (object, set) => kindTemplatePod(kind, object, set),
    // One whose walltime is over is suspended for good.
    recordedGrant: (object) => (isHeld(object) && !hasEnded(object) ? undefined : recordedGrant(object)),
  };
}

function suspension({ suspend }: WorkloadKind): Readonly<Record<string, unknown>> {
  return withField({}, suspend, true) as Record<string, unknown>;
}

function jobidOf({ metadata }: KindObject): string | undefined {
  return metadata.annotations?.[JOBID_ANNOTATION];
}

/** @throws FluxqError FLUXQ_POD_SETS for a field of which a guard refuses new objects */
function checkRefused(kind: WorkloadKind, object: KindObject): void {
  for (const refused of kind.refused ?? [])
    if ((fieldAt(object, refused.field) ?? null) !== null)
      throw new FluxqError('FLUXQ_POD_SETS', refusal(kind, refused), {
        field: refused.field.join('.'),
        remedy: REFUSAL_REMEDY,
      });
}

/** @throws FluxqError FLUXQ_POD_SETS for pod sets that can be no gang */
function demandOf(kind: WorkloadKind, object: KindObject): Demand {
  checkRefused(kind, object);
  const sets = kindPodSets(kind, object);
  const all = sets.flatMap(({ name, count, template, field }): readonly PodSet[] => {
    if (template === undefined) return [];
    const { labels = {}, annotations } = template.metadata ?? {};
    return [{ name, count, spec: template.spec, labels, annotations, field }];
  });
  const field = kind.podSets.in.join('.');
  const problem = all.length < sets.length ? 'has a set of pods without a template' : problemOf(all);
  if (problem !== undefined)
    throw new FluxqError('FLUXQ_POD_SETS', problem, { field, remedy: 'change it, or make several objects' });
  // Without pods it waits until its user wants some.
  const wanted = all.filter(({ count }) => count > 0);
  const [first, ...others] = wanted.length > 0 ? wanted : all.slice(0, 1);
  const deadline = kind.deadline === undefined ? undefined : fieldAt(object, kind.deadline);
  return {
    podSets: [first!, ...others],
    deadlineSeconds: typeof deadline === 'number' ? deadline : undefined,
    isService: false,
    priority: undefined,
  };
}

function problemOf(sets: readonly PodSet[]): string | undefined {
  if (sets.length === 0) return 'has no pods';
  if (sets.some(({ count }) => !Number.isSafeInteger(count) || count < 0))
    return 'has a number of pods that is none';
  if (sets.reduce((sum, { count }) => sum + count, 0) > MOST_PODS) return `has more than ${MOST_PODS} pods`;
  if (new Set(sets.map(({ name }) => name)).size < sets.length) return 'has two sets of pods of one name';
  return sets.length > MOST_POD_SETS
    ? `has ${sets.length} sets of pods: a workload has at most ${MOST_POD_SETS}`
    : undefined;
}

function podSetNameOf({ podSetLabel }: WorkloadKind, { metadata }: Pod): string {
  return (metadata.labels?.[podSetLabel] ?? '').toLowerCase();
}

/** What the object says of its end. */
interface End extends Pick<Outcome, 'result' | 'message'> {
  /** Unix seconds. @default - not said */
  readonly at?: number;
}

function endOf({ ends }: WorkloadKind, { metadata, status }: KindObject): End | undefined {
  if (metadata.annotations?.[ENDED_ANNOTATION] === TIMED_OUT) return { result: TIMED_OUT };
  for (const { type, status: value, message, lastTransitionTime = '' } of status?.conditions ?? []) {
    if (value !== 'True') continue;
    const at = secondsOf(lastTransitionTime);
    const when = Number.isFinite(at) ? { at } : {};
    if (ends.Succeeded.includes(type)) return { result: 'Succeeded', ...when };
    if (ends.Failed.includes(type)) return { result: 'Failed', message: message || undefined, ...when };
  }
  return undefined;
}

/** Gated pods use nothing, and may never start. */
function outcomeOf(
  kind: WorkloadKind,
  object: KindObject,
  pods: readonly Pod[],
  now: number,
  row: WorkloadRow | undefined,
): Outcome | undefined {
  const end = endOf(kind, object);
  if (end === undefined || pods.some((pod) => !isTerminal(pod) && !isGated(pod))) return undefined;
  const { result, message, at = lastFinishTime(pods, now) } = end;
  if (result !== 'Failed') return { result, finishedAt: at };
  // The kubelet ends pods at the walltime, which their controller takes for a failure.
  if (isPastWalltime(row, at)) return { result: TIMED_OUT, finishedAt: at };
  return { result, finishedAt: at, message: failureOf(pods) ?? message };
}

/** Its gated pods of a pod set that was granted, each with what was granted for one of that set. */
function gatedPods(
  kind: WorkloadKind,
  object: KindObject,
  { jobspec, user }: WorkloadRow,
  pods: readonly Pod[],
): readonly { readonly pod: Pod; readonly set: Jobspec }[] {
  const gated = pods.filter(
    (pod) =>
      isGated(pod) &&
      pod.metadata.deletionTimestamp === undefined &&
      !isTerminal(pod) &&
      !isOfAnotherPerson(pod.metadata, user),
  );
  // Nearly always: a gang that runs is looked at with each change of its pods.
  if (gated.length === 0) return [];
  // What cannot be read any more gets no more pods.
  const [sole] = ifReadable(() => demandOf(kind, object).podSets) ?? [];
  if (sole === undefined) return [];
  const sets = grantedSets(jobspec, sole.name);
  return gated.flatMap((pod) => {
    const set = sets.get(podSetNameOf(kind, pod));
    return set === undefined ? [] : [{ pod, set }];
  });
}

/** Gated pods that ask for no more than their pod set was granted for; those that came first are first. */
function podsToPlace(
  kind: WorkloadKind,
  object: KindObject,
  row: WorkloadRow,
  pods: readonly Pod[],
): readonly Pod[] {
  return gatedPods(kind, object, row, pods)
    .filter(({ pod, set }) => excessOf(pod, set) === undefined)
    .map(({ pod }) => pod)
    .sort(byAge);
}

function largerPods(
  kind: WorkloadKind,
  object: KindObject,
  row: WorkloadRow,
  pods: readonly Pod[],
): readonly LargerPod[] {
  const larger = gatedPods(kind, object, row, pods).flatMap(({ pod, set }) => {
    const excess = excessOf(pod, set);
    return excess === undefined ? [] : [{ pod, excess }];
  });
  if (larger.length === 0) return [];
  const placed = tally(
    pods
      // Nobody makes one again that has succeeded.
      .filter((pod) => belongsToGrant(pod, row.jobid) && pod.status?.phase !== 'Failed')
      .map((pod) => podSetNameOf(kind, pod)),
  );
  const hasPlace = (set: string) => grantedPods(row, set) > (placed.get(set) ?? 0);
  return larger.filter(({ pod }) => hasPlace(podSetNameOf(kind, pod)));
}

/** Of a pod set whose nodes were freed, because all pods there had succeeded: somebody has removed one, for example. */
function placelessPods(
  kind: WorkloadKind,
  object: KindObject,
  row: WorkloadRow,
  pods: readonly Pod[],
): readonly Pod[] {
  if (pods.some((pod) => belongsToGrant(pod, row.jobid) && !isTerminal(pod))) return [];
  const wanted = podsToPlace(kind, object, row, pods);
  return wanted.filter((pod) => grantedPods(row, podSetNameOf(kind, pod)) === 0);
}

/** Until the first pod is there: then each of the others may be one that comes later by design. */
function missingPods(object: KindObject, row: WorkloadRow, pods: readonly Pod[]): number {
  // The watch still shows the object before this release.
  if (jobidOf(object) !== `${row.jobid}` || object.metadata.deletionTimestamp !== undefined) return 0;
  const isNew = (pod: Pod) => belongsToGrant(pod, row.jobid) || isGated(pod);
  return pods.some(isNew) ? 0 : grantedPods(row);
}

/** Nodes whose pods have all succeeded, where none of them is made again. */
function finishedNodes(
  kind: WorkloadKind,
  object: KindObject,
  row: WorkloadRow,
  pods: readonly Pod[],
): readonly string[] {
  if (mayRestart(kind, object) || kindPodSets(kind, object).some(({ goesOn }) => goesOn)) return [];
  const own = pods.filter((pod) => belongsToGrant(pod, row.jobid));
  const succeeded = own.filter(hasSucceeded);
  return succeededNodes(row, { succeeded, live: own.filter((pod) => !isTerminal(pod)) });
}

function releaseOf(
  kind: WorkloadKind,
  { metadata }: KindObject,
  row: WorkloadRow,
): readonly JsonPatchOperation[] {
  return [
    ...sameTerms(metadata),
    ...patchEntries('/metadata/annotations', metadata.annotations, {
      [ASSIGNMENT_ANNOTATION]: assignmentOfSets(row),
      [JOBID_ANNOTATION]: `${row.jobid}`,
    }),
    { op: 'add', path: `/${kind.suspend.join('/')}`, value: false },
  ];
}

/**
 * Each pod has a deadline of its own, which allows for a late start of the first. Their controllers would make others after it,
 * so the object is suspended for good.
 */
function walltimeEnd(kind: WorkloadKind, object: KindObject, row: WorkloadRow, now: number): WalltimeEnd {
  if (row.startedAt === null || row.allocation === null || isEndless(row.allocation)) return {};
  if (endOf(kind, object) !== undefined) return {};
  const left = row.startedAt + row.walltime - now;
  if (left > 0) return lookAgainIn(left);
  const { uid, annotations } = object.metadata;
  const body: readonly JsonPatchOperation[] = [
    { op: 'test', path: '/metadata/uid', value: uid },
    ...patchEntries('/metadata/annotations', annotations, { [ENDED_ANNOTATION]: TIMED_OUT }),
    { op: 'add', path: `/${kind.suspend.join('/')}`, value: true },
  ];
  return { patch: { type: 'json', body } };
}

function recordedGrant(object: KindObject): RecordedGrant | undefined {
  const placement = placementOfSets(object.metadata.annotations?.[ASSIGNMENT_ANNOTATION] ?? '');
  return placement.length === 0 ? undefined : { jobid: parseJobid(jobidOf(object)), placement };
}
