/**
 * How many pods of an array can still run at once on each of its nodes, once its user has lowered the parallelism. At the
 * end of an array, when fewer tasks are left than it had at once, only whole nodes are freed: each change is a write.
 */
import { ASSIGNMENT_ANNOTATION, COMPLETION_INDEX_ANNOTATION } from '../../constructs/api/labels';
import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import { parseRanges } from '../resources/idset';
import type { WatchedJob } from '../shared/job-projection';
import { isTerminal } from './adapter';
import { nodesOf, placementOf } from './assignment';
import { isReleasedAs } from './job-release';
import { assignedNode, belongsToGrant } from './pod';
import { hasSucceeded } from './pod-end';
import { tally } from './tally';

/** Undefined: it may need all of its slots. */
export function neededPods(
  job: WatchedJob,
  row: WorkloadRow,
  pods: readonly Pod[],
): ReadonlyMap<string, number> | undefined {
  const { parallelism: atOnce = 1, suspend } = job.spec;
  // The watch still shows the object before this release.
  if (suspend === true || !isReleasedAs(job, row.jobid)) return undefined;
  const slots = placementOf(row);
  const granted = slots.reduce((sum, { pods: count }) => sum + count, 0);
  if (atOnce < 1 || atOnce >= granted) return undefined;
  const needed = new Map<string, number>();
  const pinned = pinnedTasks(job, pods);
  const live = tally(pods.filter((pod) => !isTerminal(pod)).map(assignedNode));
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
  const { completionMode, backoffLimitPerIndex } = job.spec;
  if (completionMode !== 'Indexed') return new Map();
  // The watch of Jobs is behind that of pods: nobody knows yet which are pinned.
  if (!isReleasedAs(job, row.jobid) && pods.some((pod) => belongsToGrant(pod, row.jobid)))
    return new Map(placementOf(row).map(({ node, pods: count }) => [node, count]));
  if (missing === 0) return new Map();
  // An index fails for good at once if each has no retry of its own; of others the Job says so.
  const comesAgain = ({ status }: Pod) => status?.phase === 'Failed' && backoffLimitPerIndex !== 0;
  // A pod of an earlier grant ends on a dead node.
  const isReplaced = (pod: Pod) => !isTerminal(pod) && !belongsToGrant(pod, row.jobid);
  return tasksWithout(
    job,
    pods.filter((pod) => !comesAgain(pod) && !isReplaced(pod)),
  );
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
export function pinnedTasks(job: WatchedJob, pods: readonly Pod[]): ReadonlyMap<string, number> {
  if (job.spec.completionMode !== 'Indexed') return new Map();
  return tasksWithout(job, pods.filter(hasSucceeded));
}

/**
 * Tasks of an indexed array by the node to which admission pins their pods, without those of some pods and those that have ended,
 * whose pods somebody may have deleted.
 */
function tasksWithout({ spec, status }: WatchedJob, left: readonly Pod[]): ReadonlyMap<string, number> {
  const { completions = 0, template } = spec;
  const { completedIndexes = '', failedIndexes = '' } = status ?? {};
  const assignment = template.metadata?.annotations?.[ASSIGNMENT_ANNOTATION] ?? '';
  // An assignment lists its nodes in the order of the indexes.
  const nodes = nodesOf(assignment).flatMap(({ node, pods: count }) => Array<string>(count).fill(node));
  const indexes = new Set(
    left.map(({ metadata }) => Number(metadata.annotations?.[COMPLETION_INDEX_ANNOTATION])),
  );
  // An array may have ended many more tasks than it has pods at once.
  for (const [from, to] of [completedIndexes, failedIndexes].flatMap(parseRanges))
    for (let index = from; index < Math.min(to, nodes.length); index++) indexes.add(index);
  return tally(nodes.slice(0, completions).filter((_, index) => !indexes.has(index)));
}
