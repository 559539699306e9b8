import type { WaitReason, WorkloadRow } from '../../runtime/queue/workload';

/** Whether a workload waits for an event that does not occur in the simulation. */
export function waitsForever(row: WorkloadRow): boolean {
  const { phase, reason, pods } = row;
  return phase === 'Waiting' && (pods === 0 || (reason !== null && ENDLESS_REASONS.has(reason)));
}

const ENDLESS_REASONS: ReadonlySet<WaitReason> = new Set(['Unsatisfiable', 'DependencyPending', 'Invalid']);
