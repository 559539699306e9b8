/**
 * Workloads of a kind whose objects cannot be listed: its rights are missing, or the apiserver serves it in another version than
 * the queue knows. Their objects may be as they were, so nothing ends. What waits is not started (scheduler/pass/eligibility.ts),
 * and what runs keeps its nodes. Once the kind is listed, all rows are reconciled.
 */
import type { WorkloadKey } from '../shared/workload-key';
import type { Eviction } from './eviction';
import type { WorkloadReconcilerOptions } from './reconciler-options';

/** A grant that nobody can release would keep its nodes for nothing. */
export async function keepUnlisted(
  { workloadCache, podsOf }: Pick<WorkloadReconcilerOptions, 'workloadCache' | 'podsOf'>,
  eviction: Pick<Eviction, 'takeBack'>,
  { kind, namespace, name }: WorkloadKey,
): Promise<undefined> {
  const message = `the queue cannot list objects of the kind ${kind}`;
  for (const row of workloadCache.byName(kind, namespace, name))
    if (row.phase === 'Ready' && row.releasedAt === null && podsOf(row).length === 0)
      await eviction.takeBack(row, { cause: 'cluster', message });
}
