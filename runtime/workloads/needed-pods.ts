/**
 * How many pods of an array can still run at once on each of its nodes, once its user has lowered the parallelism. At the
 * end of an array, when fewer tasks are left than it had at once, only whole nodes are freed: each change is a write.
 */
import {
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  JOBID_ANNOTATION,
} from '../../constructs/api/labels';
import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import { parseIdset } from '../resources/idset';
import type { WatchedJob } from '../shared/job-projection';
import { isTerminal } from './adapter';
import { nodesOf, placementOf } from './assignment';
import { assignedNode, belongsToGrant } from './pod';

/** Undefined: it may need all of its slots. */
export function neededPods(
  job: WatchedJob,
  row: WorkloadRow,
  pods: readonly Pod[],
): ReadonlyMap<string, number> | undefined {
  const { parallelism: atOnce = 1, template, suspend } = job.spec;
  // The watch still shows the object before this release.
  if (suspend === true || template.metadata?.annotations?.[JOBID_ANNOTATION] !== String(row.jobid))
    return undefined;
  const slots = placementOf(row);
  const granted = slots.reduce((sum, { pods: count }) => sum + count, 0);
  if (atOnce < 1 || atOnce >= granted) return undefined;
  const needed = new Map<string, number>();
  const pinned = pinnedTasks(job, pods);
  const live = countBy(pods.filter((pod) => !isTerminal(pod)).map(assignedNode));
  for (const { node } of slots)
    needed.set(node, Math.max(live.get(node) ?? 0, Math.min(pinned.get(node) ?? 0, atOnce)));
  addUntil(atOnce, slots, needed);
  return needed;
}

/**
 * Pods to come that admission pins to each node by their index. The watch shows the pods of a new release in any order, so their
 * slots are not given to gated pods, which would be more than granted there.
 * @param missing pods that the Job controller has not created yet
 */
export function awaitedPods(
  job: WatchedJob,
  row: WorkloadRow,
  pods: readonly Pod[],
  missing: number,
): ReadonlyMap<string, number> {
  const { completions = 0, completionMode, backoffLimitPerIndex, template } = job.spec;
  if (completionMode !== 'Indexed') return new Map();
  const { [JOBID_ANNOTATION]: jobid, [ASSIGNMENT_ANNOTATION]: assignment = '' } =
    template.metadata?.annotations ?? {};
  // The watch of Jobs is behind that of pods: nobody knows yet which are pinned.
  if (jobid !== String(row.jobid) && pods.some((pod) => belongsToGrant(pod, row.jobid)))
    return new Map(placementOf(row).map(({ node, pods: count }) => [node, count]));
  if (missing === 0) return new Map();
  // An index may fail for good if each has retries of its own.
  const comesAgain = ({ status }: Pod) => status?.phase === 'Failed' && backoffLimitPerIndex === undefined;
  const there = new Set(
    pods
      .filter((pod) => !comesAgain(pod))
      .map(({ metadata }) => metadata.annotations?.[COMPLETION_INDEX_ANNOTATION]),
  );
  for (const index of endedIndexes(job.status)) there.add(String(index));
  const nodes = nodesOf(assignment).flatMap(({ node, pods: count }) => Array<string>(count).fill(node));
  return countBy(nodes.slice(0, completions).filter((_, index) => !there.has(String(index))));
}

/** Also of those whose pods somebody has deleted. */
function endedIndexes(status: WatchedJob['status'] = {}): readonly number[] {
  const { completedIndexes = '', failedIndexes = '' } = status;
  return [...parseIdset(completedIndexes), ...parseIdset(failedIndexes)];
}

/** Pods that have no node yet go to any slot. */
function addUntil(
  atOnce: number,
  slots: readonly { readonly node: string; readonly pods: number }[],
  needed: Map<string, number>,
): void {
  let missing = atOnce - [...needed.values()].reduce((sum, count) => sum + count, 0);
  for (const { node, pods } of slots) {
    const known = needed.get(node) ?? 0;
    const more = Math.min(Math.max(0, missing), Math.max(0, pods - known));
    needed.set(node, known + more);
    missing -= more;
  }
}

/** Tasks of an indexed array that have not succeeded, by the node to which admission pins their pods. */
function pinnedTasks({ spec, status }: WatchedJob, pods: readonly Pod[]): ReadonlyMap<string, number> {
  const { completions = 0, completionMode, template } = spec;
  if (completionMode !== 'Indexed') return new Map();
  const assignment = template.metadata?.annotations?.[ASSIGNMENT_ANNOTATION] ?? '';
  const succeeded = new Set(
    pods
      .filter((pod) => pod.status?.phase === 'Succeeded')
      .map(({ metadata }) => metadata.annotations?.[COMPLETION_INDEX_ANNOTATION]),
  );
  for (const index of endedIndexes(status)) succeeded.add(String(index));
  // An assignment lists its nodes in the order of the indexes.
  const nodes = nodesOf(assignment).flatMap(({ node, pods: count }) => Array<string>(count).fill(node));
  return countBy(nodes.slice(0, completions).filter((_, index) => !succeeded.has(String(index))));
}

function countBy(nodes: readonly (string | undefined)[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const node of nodes) if (node !== undefined) counts.set(node, (counts.get(node) ?? 0) + 1);
  return counts;
}
