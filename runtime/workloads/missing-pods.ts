/** What a grant says of pods that nobody has created. */
import type { Config } from '../config';
import type { GrantReason, GrantWait } from '../shared/grant-waits';
import type { ActiveWorkload, WorkloadAdapter } from './adapter';
import type { EvictionReason } from './eviction';

/** What the Job controller says of missing pods ends the grant as soon as it is known. */
export function missingWait(missing: number, { kind, marksPods }: WorkloadAdapter): GrantWait | undefined {
  if (missing <= 0) return undefined;
  const reason: GrantReason = 'PodsMissing';
  const maker = marksPods ? `controller of its ${kind}` : 'Job controller';
  return { reason, message: `waiting for the ${maker} to create ${countPods(missing)}` };
}

/** No controller of Kubernetes says why a kind has none of its pods: its own may not be there. */
export function absenceOf(
  { adapter }: ActiveWorkload,
  isMissing: boolean,
  { unschedulableSeconds }: Config['grants'],
): EvictionReason | undefined {
  if (!adapter.marksPods || !isMissing) return undefined;
  const message = `the controller of its ${adapter.kind} has created no pod that fits its grant for ${unschedulableSeconds} s`;
  return { cause: 'cluster', message };
}

export function countPods(count: number): string {
  return count === 1 ? '1 pod' : `${count} pods`;
}
