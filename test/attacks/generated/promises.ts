/** What must be true of an object after any change that its user was allowed to make, said without the lists of admission. */
import { isDeepStrictEqual } from 'node:util';
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  DEADLINE_ANNOTATION,
  GATE,
  GROUP_MEMBER_ANNOTATION,
  JOBID_ANNOTATION,
  KUEUE_QUEUE_LABEL,
  PRIORITY,
  QUEUED_BY_ANNOTATION,
  USER_ANNOTATION,
} from '../../../constructs/api/labels';
import { podRequests } from '../../../runtime/jobspec/requests';
import type { Job, Pod } from '../../../runtime/kubernetes/types';
import type { KubeObject } from '../../cluster/api';

type Promises = Readonly<Record<string, (before: KubeObject, after: KubeObject) => boolean>>;

/** An empty value is none. */
const keeps = (kind: 'labels' | 'annotations', key: string) => (before: KubeObject, after: KubeObject) =>
  (before.metadata[kind]?.[key] ?? '') === (after.metadata[kind]?.[key] ?? '');

const isOfKueue = ({ metadata }: KubeObject) => metadata.labels?.[KUEUE_QUEUE_LABEL] !== undefined;

const COMMON: Promises = {
  'it stays in the queue': keeps('labels', ADMITTED_LABEL),
  'it counts for its user': keeps('annotations', USER_ANNOTATION),
  // Nobody reads that of a Job of Kueue, which it stays.
  'its priority is one that every user may set': (_, after) =>
    isOfKueue(after) ||
    [after.metadata.labels, after.metadata.annotations].every((map) => Number(map?.[PRIORITY] ?? 0) <= 0),
};

const specOf = (object: KubeObject) => (object as unknown as Job).spec;

/** Pods of an indexed Job have the indexes below its completions. */
function podsAtOnce(job: KubeObject): number {
  const { parallelism = 1, completions, completionMode } = specOf(job);
  return completionMode === 'Indexed' ? Math.min(parallelism, completions ?? parallelism) : parallelism;
}

/** A Job that its user suspends gives its nodes back, and is granted anew for what it asks then. */
const unlessSuspended = (promises: Promises): Promises =>
  Object.fromEntries(
    Object.entries(promises).map(([promise, holds]) => [
      promise,
      (before: KubeObject, after: KubeObject) => specOf(after).suspend === true || holds(before, after),
    ]),
  );

const JOBS: Promises = {
  ...COMMON,
  'no other queue gets it': (before, after) => isOfKueue(before) === isOfKueue(after),
};

const STARTED: Promises = {
  ...JOBS,
  'its own deadline is known': keeps('annotations', DEADLINE_ANNOTATION),
  ...unlessSuspended({
    'no more pods run at once than were granted': (before, after) => podsAtOnce(after) <= podsAtOnce(before),
    'an indexed Job has no further indexes': (before, after) =>
      specOf(before).completionMode !== 'Indexed' ||
      (specOf(after).completions ?? 0) <= specOf(before).completions!,
    'it ends no later': (before, after) =>
      (specOf(after).activeDeadlineSeconds ?? Infinity) <= (specOf(before).activeDeadlineSeconds ?? Infinity),
    // Where its pods run, how large they are, and by which grant.
    'its pods are as granted': (before, after) =>
      isDeepStrictEqual(specOf(before).template, specOf(after).template),
    'a pod is replaced as before': (before, after) =>
      fieldOf(before, 'podReplacementPolicy') === fieldOf(after, 'podReplacementPolicy'),
    'its controller is the same': (before, after) =>
      fieldOf(before, 'managedBy') === fieldOf(after, 'managedBy'),
  }),
};

const queuedBy = (job: KubeObject) => specOf(job).template.metadata?.annotations?.[QUEUED_BY_ANNOTATION];

const grantOf = (job: KubeObject) => specOf(job).template.metadata?.annotations ?? {};

const WAITING: Promises = {
  ...JOBS,
  'it waits': (_, after) => specOf(after).suspend === true,
  'its pods are of its queue': (before, after) => queuedBy(before) === queuedBy(after),
  // That of a suspended Job is over, and the next release writes another one.
  'it has no other grant': (before, after) =>
    [ASSIGNMENT_ANNOTATION, JOBID_ANNOTATION].every((key) =>
      [undefined, '', grantOf(before)[key]].includes(grantOf(after)[key]),
    ),
  // Each of its pods would be this one.
  'its pods have no place of their own': (before, after) =>
    [COMPLETION_INDEX_ANNOTATION, GROUP_MEMBER_ANNOTATION].every(
      (key) => grantOf(before)[key] === grantOf(after)[key],
    ),
};

const GATED: Promises = {
  ...COMMON,
  'it waits': (_, after) => podSpec(after).schedulingGates?.some(({ name }) => name === GATE) === true,
  'no node is chosen': (_, after) => podSpec(after).nodeName === undefined,
  'it has no grant': keeps('annotations', ASSIGNMENT_ANNOTATION),
};

const RELEASED: Promises = {
  ...COMMON,
  'it has its grant': (before, after) =>
    [ASSIGNMENT_ANNOTATION, JOBID_ANNOTATION, DEADLINE_ANNOTATION].every((key) =>
      keeps('annotations', key)(before, after),
    ),
  'it stays on its node': (before, after) => podSpec(before).nodeName === podSpec(after).nodeName,
  'it is no larger than granted': isNoLarger,
  'it ends no later': (before, after) =>
    (podSpec(after).activeDeadlineSeconds ?? Infinity) <= (podSpec(before).activeDeadlineSeconds ?? Infinity),
  'it is not over': (before, after) => phaseOf(before) === phaseOf(after),
};

/** A pod that requests no core was granted one. */
function isNoLarger(before: KubeObject, after: KubeObject): boolean {
  const granted = new Map([['cpu', 1_000_000_000n], ...podRequests(podSpec(before))]);
  return [...podRequests(podSpec(after))].every(
    ([resource, amount]) => amount <= (granted.get(resource) ?? 0n),
  );
}

const phaseOf = (pod: KubeObject) => (pod as unknown as Pod).status?.phase;
const podSpec = (object: KubeObject) => (object as unknown as Pod).spec;
const fieldOf = (object: KubeObject, field: string) => (object.spec as Record<string, unknown>)[field];

const PROMISES = { started: STARTED, waiting: WAITING, gated: GATED, released: RELEASED } as const;
export type Situation = keyof typeof PROMISES;

/** The promises that the change breaks. */
export function broken(situation: Situation, before: KubeObject, after: KubeObject): readonly string[] {
  return Object.entries(PROMISES[situation])
    .filter(([, holds]) => !holds(before, after))
    .map(([promise]) => promise);
}
