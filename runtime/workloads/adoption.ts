import { askOf } from '../jobspec/jobspec';
import type { NodePods } from '../jobspec/pods-per-node';
import type { KubernetesObject, Pod } from '../kubernetes/types';
import type { Adoption, Submission, WorkloadRow } from '../queue/workload';
import { formatIdset, parseIdset } from '../resources/idset';
import type { AllocatedNode, GraphNode } from '../resources/types';
import type { WorkloadAdapter, WrittenGrant } from './adapter';

/** Units that are taken: node -> type -> numbers. */
export class TakenUnits {
  private readonly taken = new Map<string, Set<number>>();

  constructor(rows: Iterable<Pick<WorkloadRow, 'allocation'>>) {
    for (const { allocation } of rows)
      for (const { name, units } of allocation?.nodes ?? [])
        for (const [type, ids] of Object.entries(units)) {
          const set = this.of(name, type);
          for (const id of parseIdset(ids)) set.add(id);
        }
  }

  /** The lowest that are free. A node that has too few is overfull: numbers beyond its own stand for the rest. */
  take(node: string, type: string, count: number): string {
    const set = this.of(node, type);
    const ids: number[] = [];
    for (let id = 0; ids.length < count; id++) {
      if (set.has(id)) continue;
      set.add(id);
      ids.push(id);
    }
    return formatIdset(ids);
  }

  private of(node: string, type: string): Set<number> {
    const key = `${node}/${type}`;
    const known = this.taken.get(key) ?? new Set<number>();
    this.taken.set(key, known);
    return known;
  }
}

/**
 * The grant of a workload that is released and not over, and that the queue does not know of; undefined when it is
 * none of that. A row that waits has been requeued since if its job id is higher than the one the workload carries.
 */
export function forgottenGrant(
  object: KubernetesObject,
  adapter: WorkloadAdapter,
  row: WorkloadRow | undefined,
  pods: readonly Pod[],
  now: number,
): WrittenGrant | undefined {
  if (row !== undefined && row.phase !== 'Waiting') return undefined;
  if (object.metadata.deletionTimestamp !== undefined || adapter.isHeldBack(object)) return undefined;
  const grant = adapter.grantOf(object);
  if (grant === undefined || adapter.outcome(object, pods, now) !== undefined) return undefined;
  return row !== undefined && (grant.jobid ?? Infinity) < row.jobid ? undefined : grant;
}

/** @param taken counts what is chosen here as taken from now on */
export function adoptionOf(
  submission: Submission,
  { jobid, places }: WrittenGrant,
  taken: TakenUnits,
  nodes: ReadonlyMap<string, GraphNode>,
  now: number,
): Adoption {
  const start = Math.floor(now);
  return {
    ...submission,
    knownJobid: jobid ?? 0,
    allocation: {
      start,
      end: start + Math.max(1, Math.ceil(submission.walltime)),
      nodes: places.map((place) => partOf(place, submission, taken, nodes.get(place.node))),
    },
  };
}

function partOf(
  { node: name, pods }: NodePods,
  { jobspec }: Submission,
  taken: TakenUnits,
  node: GraphNode | undefined,
): AllocatedNode {
  const { perPod, exclusive } = askOf(jobspec);
  const amount = (type: string, count: number) => (exclusive ? (node?.units[type] ?? count) : count * pods);
  const units = Object.entries({ ...(exclusive ? node?.units : {}), ...perPod }).map(
    ([type, count]) => [type, taken.take(name, type, amount(type, count))] as const,
  );
  return { name, units: Object.fromEntries(units), ...(exclusive ? { exclusive } : {}) };
}
