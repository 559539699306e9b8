/** What must be true of a target whatever its user has done to it, said by the pods and the rows of the queue. */
import {
  GROUP_MEMBER_ANNOTATION,
  JOB_UID_LABEL,
  JOBID_ANNOTATION,
  USER_ANNOTATION,
} from '../../../constructs/api/labels';
import { controllerOf } from '../../../runtime/kubernetes/owner';
import type { Pod } from '../../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../../runtime/queue/workload';
import { isTerminal } from '../../../runtime/workloads/adapter';
import { placementOf } from '../../../runtime/workloads/assignment';
import type { Life } from './targets';

/** One target, and what there was of it before the moves. */
interface Before {
  readonly life: Life;
  readonly uids: readonly string[];
}

export interface Found {
  /** Its pods now. */
  readonly pods: readonly Pod[];
  /** Rows by the uid of their workload. */
  readonly rowOf: (uid: string) => WorkloadRow | undefined;
}

/** The user of the targets. */
const USER = 'mallory';

const isLive = (pod: Pod) => pod.spec.nodeName !== undefined && !isTerminal(pod);

/** The workload for which the pod was released. */
export function workloadOf({ metadata }: Pod): string {
  const member = metadata.annotations?.[GROUP_MEMBER_ANNOTATION]?.split('/')[0];
  const ofJob =
    JOBID_ANNOTATION in (metadata.annotations ?? {}) ? metadata.labels?.[JOB_UID_LABEL] : undefined;
  return member ?? ofJob ?? metadata.uid;
}

const PROMISES: Readonly<Record<string, (before: Before, found: Found) => boolean>> = {
  'what waits has no pod that runs': ({ life }, { pods }) => life !== 'waits' || !pods.some(isLive),
  'a pod stays until its kubelet says that it has ended': ({ life, uids }, { pods }) =>
    life !== 'stays' || uids.every((uid) => pods.some(({ metadata }) => metadata.uid === uid)),
  'each pod that runs has a grant on its node': (_, { pods, rowOf }) =>
    pods.filter(isLive).every((pod) => slotsOn(pod.spec.nodeName, rowOf(workloadOf(pod))) > 0),
  'no node has more pods of a workload than were granted there': (_, { pods, rowOf }) => {
    const places = Map.groupBy(pods.filter(isLive), (pod) => `${workloadOf(pod)} ${pod.spec.nodeName}`);
    return [...places.values()].every(
      ([first, ...others]) => others.length + 1 <= slotsOn(first!.spec.nodeName, rowOf(workloadOf(first!))),
    );
  },
  'a pod that no Job ends has a deadline of its own': (_, { pods }) =>
    pods
      .filter((pod) => isLive(pod) && JOBID_ANNOTATION in (pod.metadata.annotations ?? {}))
      .filter((pod) => controllerOf(pod) === undefined && pod.metadata.deletionTimestamp === undefined)
      .every(({ spec }) => spec.activeDeadlineSeconds !== undefined),
  'each row counts for its user': (_, { pods, rowOf }) =>
    pods.filter(isLive).every((pod) => [undefined, USER].includes(rowOf(workloadOf(pod))?.user)),
  'no pod has the name of another user': (_, { pods }) =>
    pods.every(({ metadata }) => [undefined, USER].includes(metadata.annotations?.[USER_ANNOTATION])),
};

function slotsOn(node: string | undefined, row: WorkloadRow | undefined): number {
  if (row === undefined || row.phase === 'Waiting' || row.phase === 'Finished') return 0;
  return placementOf(row).find((part) => part.node === node)?.pods ?? 0;
}

/** The promises that are broken. */
export function brokenBy(before: Before, found: Found): readonly string[] {
  return Object.entries(PROMISES)
    .filter(([, holds]) => !holds(before, found))
    .map(([promise]) => promise);
}
