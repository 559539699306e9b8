import { GANG_SIZE } from '../../constructs/api/labels';
import type { Job, Node, Pod } from '../../runtime/kubernetes/types';
import type { WaitReason, WorkloadRow } from '../../runtime/queue/workload';
import { coresOf } from '../invariants/pod-cores';
import type { ObjectStore } from './object-store';

/** Workloads that can finish and have not. */
export function unfinished(rows: readonly WorkloadRow[], store: ObjectStore): readonly string[] {
  return rows
    .filter((row) => row.phase !== 'Finished' && !waitsForever(row, store) && !isStranded(row, store))
    .map(({ name, phase, reason, message }) => `${name} is ${phase} ${reason ?? ''}: ${message ?? ''}`);
}

/** That the cluster cannot run it. */
const REFUSALS: ReadonlySet<WaitReason> = new Set(['Unsatisfiable', 'Invalid']);

/** Whether a workload waits for an event that does not occur in the simulation. */
function waitsForever(row: WorkloadRow, store: ObjectStore): boolean {
  const { phase, reason, pods } = row;
  if (phase !== 'Waiting') return false;
  if (pods === 0 || reason === 'DependencyPending') return true;
  return reason !== null && REFUSALS.has(reason) && !canRun(row, store);
}

/** Whether its pods fit the nodes as they are: of an array as many run at once as fit, of a gang all. */
function canRun({ kind, namespace, name, uid, pods }: WorkloadRow, store: ObjectStore): boolean {
  const object = store.get<Job | Pod>(`${kind.toLowerCase()}s`, `${namespace}/${name}`);
  if (object?.metadata.uid !== uid) return false;
  const pod = 'template' in object.spec ? (object.spec.template as Pod) : (object as Pod);
  const places = store
    .list<Node>('nodes')
    .map(({ status }) => Math.floor(Number(status?.allocatable?.cpu ?? 0) / coresOf(pod)));
  const least = object.metadata.annotations?.[GANG_SIZE] === undefined ? 1 : pods;
  return places.reduce((sum, count) => sum + count, 0) >= least;
}

/** A plain pod whose required node was removed before the pod was bound: Kubernetes leaves it pending, too. */
function isStranded({ kind, phase, allocation }: WorkloadRow, store: ObjectStore): boolean {
  const node = allocation?.nodes[0]?.name ?? '';
  return kind === 'Pod' && phase === 'Ready' && store.get('nodes', node) === undefined;
}
