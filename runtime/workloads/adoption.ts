import { askOf } from '../jobspec/jobspec';
import { podSetsOf, setsOf } from '../jobspec/pod-sets';
import type { Jobspec } from '../jobspec/types';
import type { KubernetesObject, Pod } from '../kubernetes/types';
import type { Adoption, Submission, WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import { formatIdset, parseIdset } from '../resources/idset';
import type { AllocatedNode, GraphNode, UnitCounts } from '../resources/types';
import { addUnits } from '../resources/unit-counts';
import { logDecision } from '../shared/decision-log';
import { identityOf } from '../shared/pod-facts';
import type { WorkloadKey } from '../shared/workload-key';
import { firstStartTime, type PlacedSets, type RecordedGrant, type WorkloadAdapter } from './adapter';
import { belongsToGrant } from './pod';
import { hasRun } from './pod-end';
import type { WorkloadReconcilerOptions } from './reconciler-options';

/** Units that active workloads use: node -> type -> unit ids. */
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

  /** The lowest free unit ids. On an overcommitted node, ids beyond the node's own units make up the difference. */
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
 * The grant of a workload that is released and unfinished although the queue has no record of that grant; otherwise
 * undefined. A waiting row whose job id is higher than the object's was requeued after that release. A granted row whose
 * job id is lower than the object's is older than that release: the database has lost a requeue and a grant.
 */
export function unrecordedGrant(
  object: KubernetesObject,
  adapter: WorkloadAdapter,
  row: WorkloadRow | undefined,
  pods: readonly Pod[],
  now: number,
): RecordedGrant | undefined {
  if (object.metadata.deletionTimestamp !== undefined || adapter.isSuspended(object)) return undefined;
  const grant = adapter.recordedGrant(object, pods);
  if (grant === undefined || adapter.outcome(object, pods, now) !== undefined) return undefined;
  return row === undefined || isLaterThan(row, grant) ? grant : undefined;
}

/** A kind without job ids is granted once only, so a row that waits is older than the grant. */
function isLaterThan({ phase, jobid }: WorkloadRow, grant: RecordedGrant): boolean {
  return phase === 'Waiting' ? (grant.jobid ?? jobid) >= jobid : (grant.jobid ?? 0) > jobid;
}

export interface AdoptionRequests
  extends Pick<
    WorkloadReconcilerOptions,
    'namespaces' | 'adapters' | 'podsOf' | 'now' | 'logger' | 'onUnrecordedGrant'
  > {
  readonly workloadCache: Pick<WorkloadCache, 'unrecorded'>;
}

/**
 * Whether the workload runs under a grant without an active row. If the queue has no record of it, an audit is requested, which
 * adopts it.
 */
export async function requestAdoption(
  { namespaces, adapters, podsOf, now, logger, onUnrecordedGrant, workloadCache }: AdoptionRequests,
  key: WorkloadKey,
  object: KubernetesObject,
  row?: WorkloadRow,
): Promise<boolean> {
  if (namespaces.isExcluded(key.namespace)) return false;
  const pods = podsOf(identityOf(key.kind, object));
  if (unrecordedGrant(object, adapters.get(key.kind)!, row, pods, now()) === undefined) return false;
  const { uid } = object.metadata;
  // A row ends with the pods of its workload, before Kubernetes says so.
  if (row === undefined && !(await workloadCache.unrecorded([uid])).has(uid)) return true;
  logDecision(logger, row ?? key, 'runs under an unrecorded grant, requesting an audit');
  onUnrecordedGrant();
  return true;
}

/** What the queue takes a running workload over by. */
export interface RunningAdoption {
  readonly adoption: Adoption;
  /** Unix seconds at which the first container of the grant started; undefined: none has. */
  readonly startedAt: number | undefined;
}

interface AdoptionFacts {
  /** The pods of the workload, of any of its grants. */
  readonly pods: readonly Pod[];
  readonly nodes: ReadonlyMap<string, GraphNode>;
  /** Unix seconds. */
  readonly now: number;
}

/**
 * The row and allocation by which the queue takes over a running workload. Its walltime counts from its own start, not
 * from that of the adoption.
 * @param taken gains the units that are chosen here
 */
export function adoptionOf(
  submission: Submission,
  grant: RecordedGrant,
  taken: TakenUnits,
  { pods, nodes, now }: AdoptionFacts,
): RunningAdoption {
  const startedAt = startOf(grant, pods);
  const releasedAt = grant.releasedAt ?? startedAt ?? now;
  const start = Math.floor(startedAt ?? releasedAt);
  const allocation = {
    start,
    end: start + Math.max(1, Math.ceil(submission.walltime)),
    nodes: grant.placement.map((part) => allocatedNode(part, submission, taken, nodes.get(part.node))),
  };
  return { adoption: { ...submission, knownJobid: grant.jobid ?? 0, releasedAt, allocation }, startedAt };
}

/** Pods of an earlier grant may still be there. */
function startOf({ jobid, releasedAt = 0 }: RecordedGrant, pods: readonly Pod[]): number | undefined {
  const own = jobid === undefined || jobid === 0 ? pods : pods.filter((pod) => belongsToGrant(pod, jobid));
  const first = firstStartTime(own.filter(hasRun), Number.NaN);
  return Number.isNaN(first) ? undefined : Math.max(first, releasedAt);
}

/** @returns the rows of the adopted workloads, of those that have started with their start */
export async function adoptRunning(
  workloadCache: Pick<WorkloadCache, 'adopt' | 'running'>,
  adoptions: readonly RunningAdoption[],
): Promise<readonly WorkloadRow[]> {
  if (adoptions.length === 0) return [];
  const rows = await workloadCache.adopt(adoptions.map(({ adoption }) => adoption));
  const starts = new Map(adoptions.map(({ adoption: { uid }, startedAt }) => [uid, startedAt]));
  const started = async (row: WorkloadRow) => {
    const startedAt = starts.get(row.uid);
    return startedAt === undefined ? row : ((await workloadCache.running(row.uid, startedAt)) ?? row);
  };
  return Promise.all(rows.map(started));
}

function allocatedNode(
  placed: PlacedSets,
  { jobspec }: Submission,
  taken: TakenUnits,
  node: GraphNode | undefined,
): AllocatedNode {
  const { node: name } = placed;
  const { exclusive } = askOf(setsOf(jobspec)[0]!);
  const used = usedUnits(placed, jobspec);
  const amount = (type: string, count: number) => (exclusive ? (node?.units[type] ?? count) : count);
  const units = Object.entries({ ...(exclusive ? node?.units : {}), ...used }).map(
    ([type, count]) => [type, taken.take(name, type, amount(type, count))] as const,
  );
  const podSets = podSetsOf(jobspec) === undefined ? undefined : placed.podSets;
  return {
    name,
    units: Object.fromEntries(units),
    ...(exclusive && { exclusive }),
    ...(podSets && { podSets }),
  };
}

/** Of a gang of several pod sets, those of each that run there. */
function usedUnits({ pods, podSets = {} }: PlacedSets, jobspec: Jobspec): UnitCounts {
  const unitsOfPods = (set: Jobspec, count: number) =>
    Object.fromEntries(Object.entries(askOf(set).perPod).map(([type, each]) => [type, each * count]));
  const sets = podSetsOf(jobspec);
  if (sets === undefined) return unitsOfPods(jobspec, pods);
  return addUnits(sets.map((set) => unitsOfPods(set.jobspec, podSets[set.name] ?? 0)));
}
