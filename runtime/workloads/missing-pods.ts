/** What a grant says of pods that nobody has created, and of those for which it has no place yet. */
import type { Config } from '../config';
import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { GrantReason, GrantWait } from '../shared/grant-waits';
import { type ActiveWorkload, isTerminal, type WorkloadAdapter } from './adapter';
import type { EvictionReason } from './eviction';
import type { NodeView } from './live-pods';
import { isGated } from './pod';
import { nodesForGatedPods } from './ungate';

/** What the Job controller says of missing pods ends the grant as soon as it is known. */
export function missingWait(missing: number, { kind, marksPods }: WorkloadAdapter): GrantWait | undefined {
  if (missing <= 0) return undefined;
  const reason: GrantReason = 'PodsMissing';
  const maker = marksPods ? `controller of its ${kind}` : 'Job controller';
  return { reason, message: `waiting for the ${maker} to create ${countPods(missing)}` };
}

/** Which limits of missing pods are reached. */
export interface Absence {
  /** Pods are missing. */
  readonly isMissing: boolean;
  /** There is none, and there was none in this grant. */
  readonly isWhole: boolean;
  /** Others wait for its nodes, and had to for long enough. */
  readonly isLate: boolean;
}

/**
 * No controller of Kubernetes says why a kind has none of its pods: its own may not be there. That of Jobs says nothing if it waits for
 * pods of an earlier Job of the same name, which it does until something changes the new one.
 */
export function absenceOf(
  { adapter }: ActiveWorkload,
  { isMissing, isWhole, isLate }: Absence,
  { unschedulableSeconds, startSeconds }: Config['grants'],
): EvictionReason | undefined {
  const { kind, marksPods } = adapter;
  if (marksPods && isMissing) {
    const message = `the controller of its ${kind} has created no pod that fits its grant for ${unschedulableSeconds} s`;
    return { cause: 'cluster', message };
  }
  if (!isWhole && !isLate) return undefined;
  return {
    cause: 'cluster',
    message: `the Job controller has created none of its pods${isLate ? '' : ` for ${startSeconds} s`}`,
  };
}

/** Milliseconds until a grant ends for which no pod was created: counted from its release, whoever leads. */
export function untilAbsent(
  { releasedAt }: Pick<WorkloadRow, 'releasedAt'>,
  { limits, now }: { readonly limits: Config['grants']; readonly now: () => number },
): number {
  return ((releasedAt ?? now()) + limits.startSeconds - now()) * 1000;
}

/** Pods of an array that was granted fewer than it may have at once. Undefined while a gated pod may get a node. */
export function turnWait(
  workload: ActiveWorkload,
  pods: readonly Pod[],
  nodes: NodeView,
): GrantWait | undefined {
  const gated = pods.filter((pod) => isGated(pod) && !isTerminal(pod));
  if (gated.length === 0 || nodesForGatedPods(workload, pods, gated, nodes).length > 0) return undefined;
  const verb = gated.length === 1 ? 'waits' : 'wait';
  const reason: GrantReason = 'Pending';
  return {
    reason,
    message: `${countPods(gated.length)} ${verb} until others of it have ended`,
    isPartial: true,
  };
}

function countPods(count: number): string {
  return count === 1 ? '1 pod' : `${count} pods`;
}
