/** What a FluxJob says of its row. Pure: row in, object out. */
import { createHash } from 'node:crypto';
import type { FluxJobProps } from '../../imports/jobs.converged-computing.org';
import type {
  FluxJobStatus,
  FluxJobStatusConditions,
  FluxJobStatusConditionsStatus,
} from '../../imports/jobs.converged-computing.org-status';
import { rfc3339, stamped } from '../kubernetes/conditions';
import type { WaitReason, WorkloadRow } from '../queue/workload';
import { formatHostlist } from '../resources/hostlist';
import { NEVER_MET } from '../scheduler/pass/dependencies';
import { namesOf } from '../workloads/adapter';
import { placementOf } from '../workloads/assignment';

/** The longest name Kubernetes takes for most objects. */
const MAX_NAME = 253;

/** `<workload>-<kind>`, unique for equal names of different kinds; too long names end in a hash. */
export function fluxJobName(kind: string, name: string): string {
  const full = `${name}-${kind.toLowerCase()}`;
  if (full.length <= MAX_NAME) return full;
  const hash = createHash('sha256').update(full).digest('hex').slice(0, 10);
  return `${full.slice(0, MAX_NAME - hash.length - 1).replace(/[^a-z0-9]+$/, '')}-${hash}`;
}

export function fluxJobSpec(row: WorkloadRow, apiVersion: string): FluxJobProps['spec'] {
  return {
    workload: { apiVersion, kind: row.kind, name: row.name, uid: row.uid },
    queue: row.queue,
    priority: row.priority,
    walltimeSeconds: Math.ceil(row.walltime),
    pods: row.pods,
    jobspec: JSON.stringify(row.jobspec),
  };
}

export interface StatusContext {
  /** Place in the queue while Waiting, 1 is next. */
  readonly position: number | undefined;
  /** As it stands: for transition times, and nodes that were freed early stay shown. */
  readonly previous: FluxJobStatus;
  /** metadata.generation of the FluxJob. */
  readonly generation: number;
  /** Unix seconds. */
  readonly now: number;
}

export function fluxJobStatus(
  row: WorkloadRow,
  { position, previous, generation, now }: StatusContext,
): FluxJobStatus {
  const waiting = row.phase === 'Waiting';
  const start = startOf(row);
  return {
    phase: row.phase,
    ...(waiting && position !== undefined ? { position } : {}),
    ...(row.allocation === null ? {} : allocationStatus(row, previous)),
    ...(start === undefined ? {} : { start }),
    ...optionalTime('estimatedStart', waiting ? row.estimatedStart : null),
    ...optionalTime('startTime', row.startedAt),
    ...optionalTime('finishTime', row.finishedAt),
    jobID: row.jobid,
    ...(row.result === null ? {} : { result: row.result }),
    requeues: row.requeues,
    conditions: conditionsOf(row).map((condition) => stamped(condition, previous.conditions, now)),
    observedGeneration: generation,
  };
}

type Granted = Pick<FluxJobStatus, 'nodes' | 'nodeCount' | 'allocation'>;

function allocationStatus(row: WorkloadRow, previous: FluxJobStatus): Granted {
  const { nodes } = row.allocation!;
  if (previous.jobID === row.jobid && (previous.nodeCount ?? 0) > nodes.length) {
    const { nodes: names, nodeCount, allocation } = previous;
    return {
      ...(names && { nodes: names }),
      ...(nodeCount && { nodeCount }),
      ...(allocation && { allocation }),
    };
  }
  const pods = new Map(placementOf(row).map(({ node, pods }) => [node, pods]));
  return {
    nodes: formatHostlist(namesOf(nodes)),
    nodeCount: nodes.length,
    allocation: nodes.map(({ name, units, exclusive }) => ({
      node: name,
      ...(pods.has(name) ? { pods: pods.get(name)! } : {}),
      units,
      ...(exclusive ? { exclusive } : {}),
    })),
  };
}

function startOf(row: WorkloadRow): string | undefined {
  if (row.startedAt !== null) return rfc3339(row.startedAt);
  if (row.phase === 'Waiting' && row.estimatedStart !== null) return `~${rfc3339(row.estimatedStart)}`;
  return undefined;
}

type Condition = Omit<FluxJobStatusConditions, 'lastTransitionTime'>;

function conditionsOf(row: WorkloadRow): Condition[] {
  const scheduled = row.allocation !== null;
  const words = wordsOf(row);
  const stalled = isStuck(row) || row.result === 'Failed' || row.result === 'TimedOut';
  const ready = row.phase === 'Running' || row.result === 'Succeeded';
  const condition = (type: string, holds: boolean): Condition => ({
    type,
    status: (holds ? 'True' : 'False') satisfies FluxJobStatusConditionsStatus,
    ...words,
  });
  return [
    condition('Scheduled', scheduled),
    condition('Ready', ready),
    condition('Reconciling', !ready && !stalled && row.phase !== 'Finished'),
    condition('Stalled', stalled),
  ];
}

const STUCK: ReadonlySet<WaitReason> = new Set(['Unsatisfiable', 'Invalid', 'NoFluxSetup', 'RequeueLimit']);

/** Waits for what only somebody can change: its user, or who runs the cluster. */
function isStuck({ phase, reason, message }: WorkloadRow): boolean {
  if (phase !== 'Waiting' || reason === null) return false;
  return STUCK.has(reason) || (reason === 'DependencyPending' && message?.startsWith(NEVER_MET) === true);
}

function wordsOf(row: WorkloadRow): { reason: string; message: string } {
  switch (row.phase) {
    case 'Waiting':
      return { reason: row.reason ?? 'Submitted', message: row.message ?? 'waits for the next pass' };
    case 'Ready':
      return { reason: 'Granted', message: `${nodesOf(row)} granted, waits for its first pod` };
    case 'Running':
      return { reason: 'Running', message: `runs on ${nodesOf(row)}` };
    case 'Finished':
      return { reason: row.result ?? 'Finished', message: finishedWords(row) };
  }
}

function nodesOf({ allocation }: WorkloadRow): string {
  return allocation === null ? 'no nodes' : formatHostlist(namesOf(allocation.nodes));
}

function finishedWords(row: WorkloadRow): string {
  if (row.startedAt === null || row.finishedAt === null) return 'ended before it ran';
  return `ran ${Math.max(0, Math.round(row.finishedAt - row.startedAt))} s on ${nodesOf(row)}`;
}

function optionalTime<Key extends string>(key: Key, seconds: number | null): Partial<Record<Key, string>> {
  return seconds === null ? {} : ({ [key]: rfc3339(seconds) } as Partial<Record<Key, string>>);
}
