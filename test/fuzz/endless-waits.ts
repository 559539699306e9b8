import type { WaitReason, WorkloadRow } from '../../runtime/queue/workload';
import type { ObjectStore } from './object-store';

/** Whether a workload waits for an event that does not occur in the simulation. */
function waitsForever(row: WorkloadRow): boolean {
  const { phase, reason, pods } = row;
  return phase === 'Waiting' && (pods === 0 || (reason !== null && ENDLESS_REASONS.has(reason)));
}

const ENDLESS_REASONS: ReadonlySet<WaitReason> = new Set(['Unsatisfiable', 'DependencyPending', 'Invalid']);

/** Workloads that can finish and have not. */
export function unfinished(rows: readonly WorkloadRow[], store: ObjectStore): readonly string[] {
  return rows
    .filter((row) => row.phase !== 'Finished' && !waitsForever(row) && !isStranded(row, store))
    .map(({ name, phase, reason, message }) => `${name} is ${phase} ${reason ?? ''}: ${message ?? ''}`);
}

/** A plain pod whose required node was removed before the pod was bound: Kubernetes leaves it pending, too. */
function isStranded({ kind, phase, allocation }: WorkloadRow, store: ObjectStore): boolean {
  const node = allocation?.nodes[0]?.name ?? '';
  return kind === 'Pod' && phase === 'Ready' && store.get('nodes', node) === undefined;
}
