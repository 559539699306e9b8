/** The name, spec and status of a row's FluxJob. Pure functions. */
import { createHash } from 'node:crypto';
import type { FluxJobProps } from '../../imports/jobs.converged-computing.org';
import type {
  FluxJobStatus,
  FluxJobStatusConditions,
  FluxJobStatusConditionsStatus,
} from '../../imports/jobs.converged-computing.org-status';
import { rfc3339, stamped } from '../kubernetes/conditions';
import {
  HANDED_BACK,
  type Phase,
  RESULTS,
  WAIT_REASONS,
  type WaitReason,
  type WorkloadRow,
  waitReasonOf,
} from '../queue/workload';
import { isEndless } from '../resources/endless';
import { hostlistOf as hostlistOfNames } from '../resources/hostlist';
import { END_TOLERANCE_SECONDS } from '../resources/told-end';
import type { AllocatedNode } from '../resources/types';
import { NEVER_MET } from '../scheduler/pass/dependencies';
import { GROUP_LATE } from '../scheduler/pass/wait-reasons';
import { GRANT_REASONS, type GrantWait, LEAVING } from '../shared/grant-waits';
import type { Surpluses } from '../shared/surplus';
import { namesOf } from '../workloads/adapter';
import { placementOf } from '../workloads/assignment';
import { listNames } from '../workloads/events';
import { boundedAllocation, boundedHostlist, boundedMessage, mayShowAllocation } from './bounds';

/** The longest name that Kubernetes accepts for most objects. */
const MAX_NAME_LENGTH = 253;

/** `<workload>-<kind>`: unique for workloads of different kinds with the same name. A name that is too long ends in a hash. */
export function fluxJobName(kind: string, name: string): string {
  const full = `${name}-${kind.toLowerCase()}`;
  if (full.length <= MAX_NAME_LENGTH) return full;
  const hash = createHash('sha256').update(full).digest('hex').slice(0, 10);
  return `${full.slice(0, MAX_NAME_LENGTH - hash.length - 1).replace(/[^a-z0-9]+$/, '')}-${hash}`;
}

export function fluxJobSpec(row: WorkloadRow, apiVersion: string): FluxJobProps['spec'] {
  return {
    workload: { apiVersion, kind: row.kind, name: row.name, uid: row.uid },
    queue: row.queue,
    priority: row.priority,
    ...(isEndless({ start: 0, end: row.walltime }) ? {} : { walltimeSeconds: Math.ceil(row.walltime) }),
    pods: row.pods,
    jobspec: JSON.stringify(row.jobspec),
  };
}

export interface StatusContext {
  /** The position in the queue while Waiting; 1 is next. */
  readonly position: number | undefined;
  /** When it would start by the latest plan of the queue; Unix seconds. @default - not planned */
  readonly plannedStart?: number | undefined;
  /** The same if workloads ran as long as those of their users usually do; Unix seconds. @default - not known */
  readonly likelyStart?: number | undefined;
  /** What a granted workload waits for while none of its pods runs. */
  readonly wait: GrantWait | undefined;
  /** What is said of its pods that do not end. @default - all end in time */
  readonly lingering?: string | undefined;
  /** What its pods use beyond its grant, by node. @default - nothing */
  readonly surplus?: ReturnType<Surpluses['of']>;
  /** What the user of a started Job changed without an effect, as clauses. @default - nothing */
  readonly ignored?: readonly string[];
  /** Which older pods of its Deployment a waiting pod waits behind. @default - behind none */
  readonly olderPods?: string | undefined;
  /** Whether its user lowered its size since its grant: what was freed by that is none of it any more. @default false */
  readonly isLowered?: boolean;
  /** The current status. Transition times and nodes that were freed early are kept from it. */
  readonly previous: FluxJobStatus;
  /** Unix seconds. */
  readonly now: number;
}

/** The phase as users see it: a workload whose pods were replaced and do not run yet is Ready again. */
export function shownPhase({ phase }: WorkloadRow, wait: GrantWait | undefined): Phase {
  return phase === 'Running' && wait !== undefined && wait.isPartial !== true ? 'Ready' : phase;
}

export function fluxJobStatus(stored: WorkloadRow, context: StatusContext): FluxJobStatus {
  const { position, plannedStart, likelyStart, wait, previous, isLowered = false, now } = context;
  const row = { ...stored, phase: shownPhase(stored, wait) };
  const waiting = row.phase === 'Waiting';
  const planned = plannedMinute(row, minuteAhead(plannedStart, now));
  const start = startOf(row, planned);
  return {
    phase: row.phase,
    ...(waiting && position !== undefined ? { position } : {}),
    ...(row.allocation === null ? {} : allocationStatus(row, isLowered ? {} : previous)),
    ...(start === undefined ? {} : { start }),
    ...optionalTime('estimatedStart', waiting ? row.estimatedStart : null),
    ...optionalTime('plannedStart', planned),
    ...optionalTime('likelyStart', likelyMinute(row, minuteAhead(likelyStart, now), planned)),
    submitTime: rfc3339(row.submittedAt),
    ...optionalTime('startTime', row.startedAt),
    ...optionalTime('endTime', endOf(row)),
    ...optionalTime('finishTime', row.finishedAt),
    jobID: row.jobid,
    ...(row.result === null ? {} : { result: row.result }),
    requeues: row.requeues,
    conditions: [...conditionsOf(row, context), ...notes(context)].map((condition) =>
      stamped(condition, previous.conditions, now),
    ),
  };
}

type GrantStatus = Pick<FluxJobStatus, 'nodes' | 'nodeCount' | 'allocation'>;

function allocationStatus(row: WorkloadRow, previous: FluxJobStatus): GrantStatus {
  const { nodes } = row.allocation!;
  if (previous.jobID === row.jobid && (previous.nodeCount ?? 0) > nodes.length) {
    const { nodes: names, nodeCount, allocation } = previous;
    return {
      ...(names && { nodes: names }),
      ...(nodeCount && { nodeCount }),
      ...(allocation && { allocation }),
    };
  }
  const allocation = mayShowAllocation(nodes.length) ? shownAllocation(row) : undefined;
  return {
    nodes: boundedHostlist(hostlistOf(nodes)),
    nodeCount: nodes.length,
    ...(allocation && { allocation }),
  };
}

function shownAllocation(row: WorkloadRow): FluxJobStatus['allocation'] {
  const pods = new Map(placementOf(row).map(({ node, pods }) => [node, pods]));
  return boundedAllocation(
    row.allocation!.nodes.map(({ name, units, exclusive }) => ({
      node: name,
      ...(pods.has(name) ? { pods: pods.get(name)! } : {}),
      units,
      ...(exclusive ? { exclusive } : {}),
    })),
  );
}

/** Several conditions and fields name the nodes, each time that the status is written. */
const hostlists = new WeakMap<readonly AllocatedNode[], string>();

function hostlistOf(nodes: readonly AllocatedNode[]): string {
  const known = hostlists.get(nodes) ?? hostlistOfNames(namesOf(nodes));
  hostlists.set(nodes, known);
  return known;
}

/** Only where start and walltime do not say it: a late start, or a deadline that its user changed. */
function endOf({ phase, startedAt, allocation, walltime, evictionReason }: WorkloadRow): number | null {
  if (phase !== 'Running' || startedAt === null || allocation === null) return null;
  if (evictionReason !== null || isEndless(allocation)) return null;
  return Math.abs(allocation.end - startedAt - walltime) > END_TOLERANCE_SECONDS ? allocation.end : null;
}

/** The seconds of a plan mean nothing. A start that has passed was wrong, and nobody knows a better one until the next plan. */
function minuteAhead(seconds: number | undefined, now: number): number | null {
  const minute = Math.ceil((seconds ?? Number.NEGATIVE_INFINITY) / 60) * 60;
  return minute < now ? null : minute;
}

/** A plan is no promise. A promise is better than a plan. A plan may be older than the pass that found that it can never start. */
function plannedMinute(row: WorkloadRow, minute: number | null): number | null {
  return row.phase === 'Waiting' && row.estimatedStart === null && !needsIntervention(row) ? minute : null;
}

/** Shown where it is sooner than the promise or the plan. Later than a plan says only that others may be backfilled. */
function likelyMinute(row: WorkloadRow, minute: number | null, planned: number | null): number | null {
  const start = row.estimatedStart ?? planned;
  if (row.phase !== 'Waiting' || minute === null || start === null) return null;
  return minute < start ? minute : null;
}

function startOf(row: WorkloadRow, planned: number | null): string | undefined {
  if (row.startedAt !== null) return rfc3339(row.startedAt);
  if (row.phase === 'Waiting' && row.estimatedStart !== null) return `~${rfc3339(row.estimatedStart)}`;
  if (planned !== null) return `?${rfc3339(planned)}`;
  return undefined;
}

type Condition = Omit<FluxJobStatusConditions, 'lastTransitionTime'>;

function conditionsOf(row: WorkloadRow, { wait, lingering }: StatusContext): Condition[] {
  const scheduled = row.allocation !== null;
  const { reason, message } = summaryOf(row, wait);
  // A pod that does not end is said in every phase: it holds nodes in each of them.
  const told = lingering === undefined || row.allocation === null ? message : `${message}; ${lingering}`;
  const summary = { reason, message: boundedMessage(told) };
  const stalled = needsIntervention(row) || row.result === 'Failed' || row.result === 'TimedOut';
  const ready = row.phase === 'Running' || row.result === 'Succeeded';
  const condition = (type: string, holds: boolean): Condition => ({
    type,
    status: (holds ? 'True' : 'False') satisfies FluxJobStatusConditionsStatus,
    ...summary,
  });
  return [
    condition('Scheduled', scheduled),
    condition('Ready', ready),
    condition('Reconciling', !ready && !stalled && row.phase !== 'Finished'),
    condition('Stalled', stalled),
    ...partiallyModeled(row),
    ...settingsReduced(row),
  ];
}

/** Names what only kube-scheduler checks: it may refuse nodes that the queue grants. */
function partiallyModeled({ jobspec }: WorkloadRow): Condition[] {
  const { unmodeled = [] } = jobspec.attributes.user ?? {};
  if (unmodeled.length === 0) return [];
  const message = `kube-scheduler may refuse a granted node because of fields that the queue does not model: ${unmodeled.join(', ')}`;
  return [
    {
      type: 'PartiallyModeled',
      status: 'True',
      reason: 'FieldsNotModeled',
      message: boundedMessage(message),
    },
  ];
}

/** Says what the user asked for and does not get. */
function settingsReduced({ jobspec }: WorkloadRow): Condition[] {
  const { reduced = [] } = jobspec.attributes.user ?? {};
  if (reduced.length === 0) return [];
  const message = boundedMessage(reduced.join('; '));
  return [{ type: 'SettingsReduced', status: 'True', reason: 'LimitedByQueue', message }];
}

/** What only some workloads have. */
function notes({ surplus = [], ignored = [], olderPods }: StatusContext): Condition[] {
  return [...moreThanGranted(surplus), ...changeIgnored(ignored), ...rolloutWaits(olderPods)];
}

function rolloutWaits(olderPods: string | undefined): Condition[] {
  if (olderPods === undefined) return [];
  return [
    { type: 'RolloutWaits', status: 'True', reason: 'OlderPodsRun', message: boundedMessage(olderPods) },
  ];
}

/** Says what its pods use that nobody granted, and how that comes about. */
function moreThanGranted(surplus: ReturnType<Surpluses['of']>): Condition[] {
  if (surplus.length === 0) return [];
  const parts = surplus.map(([node, { amounts, pods }]) => {
    const used = Object.entries(amounts).map(([resource, amount]) => `${amount} ${resource}`);
    return `${used.join(' and ')} of ${node} (pod${pods.length === 1 ? '' : 's'} ${listNames(pods)})`;
  });
  const message = boundedMessage(
    `its pods use more than was granted: ${parts.join(', ')}; another pod runs beside the granted ones or where nothing was granted, or one is larger than its template (a resize, a sidecar or a LimitRange)`,
  );
  return [{ type: 'MoreThanGranted', status: 'True', reason: 'SurplusInUse', message }];
}

/** Says what the user changed too late. */
function changeIgnored(ignored: readonly string[]): Condition[] {
  if (ignored.length === 0) return [];
  const message = boundedMessage(ignored.join('; '));
  return [{ type: 'ChangeIgnored', status: 'True', reason: 'AlreadyStarted', message }];
}

const STALLED_REASONS: ReadonlySet<WaitReason> = new Set([
  'Unsatisfiable',
  'Invalid',
  'NoFluxSetup',
  'RequeueLimit',
]);

/** With these the message says whether it can ever start. */
const NEVER_REASONS: ReadonlySet<WaitReason> = new Set(['DependencyPending', 'QuotaExceeded']);

/** Whether the row waits for something that only its user or the cluster's administrator can change. */
function needsIntervention({ phase, reason, message }: WorkloadRow): boolean {
  if (phase !== 'Waiting' || reason === null) return false;
  if (STALLED_REASONS.has(reason)) return true;
  if (reason === 'GroupIncomplete') return message?.startsWith(GROUP_LATE) === true;
  return NEVER_REASONS.has(reason) && message?.startsWith(NEVER_MET) === true;
}

/** Every reason of a FluxJob, but those of grants that are words of kube-scheduler or the kubelet (`ImagePullBackOff`). */
export const REASONS = [
  ...WAIT_REASONS,
  'Granted',
  ...GRANT_REASONS,
  'Running',
  'Evicting',
  ...RESULTS,
] as const;

export type Reason = (typeof REASONS)[number];

type Summary = Readonly<{ reason: Reason; message: string }> | GrantWait;

function summaryOf(row: WorkloadRow, wait: GrantWait | undefined): Summary {
  const { evictionReason } = row;
  if (evictionReason !== null)
    return { reason: 'Evicting', message: `${evictionReason}; leaving ${nodesOf(row)}` };
  if (wait?.reason === LEAVING)
    return { reason: LEAVING, message: `${wait.message}; leaving ${nodesOf(row)}` };
  switch (row.phase) {
    case 'Waiting':
      return waitSummary(row);
    case 'Ready':
      if (wait !== undefined) return wait;
      return { reason: 'Granted', message: `granted ${nodesOf(row)}, waiting for the first pod to start` };
    case 'Running':
      return { reason: 'Running', message: `running on ${nodesOf(row)}${wait ? `; ${wait.message}` : ''}` };
    case 'Finished':
      return { reason: row.result!, message: endText(row) };
  }
}

function waitSummary(row: WorkloadRow): Summary {
  const { incomplete } = row.jobspec.attributes.user ?? {};
  // A group that lacks pods is held by nobody, though its row is until the first pass.
  if (row.message === null && incomplete !== undefined)
    return { reason: 'GroupIncomplete', message: incomplete.message };
  const message = row.message ?? 'waiting for the next scheduling pass';
  return { reason: waitReasonOf(row), message: `${message}${evictionsOf(row)}` };
}

/** What was handed back has not finished. */
function endText(row: WorkloadRow): string {
  const { message } = row;
  if (message === null) return runTimeOf(row);
  return message === HANDED_BACK ? message : `${runTimeOf(row)}; ${message}`;
}

/** A user who saw it run wants to know why it waits again; the message of its requeue says so until the next pass. */
function evictionsOf({ preemptions, reason }: WorkloadRow): string {
  if (preemptions === 0 || reason === 'Requeued') return '';
  return `; evicted ${preemptions === 1 ? 'once' : `${preemptions} times`} for other workloads`;
}

function nodesOf({ allocation }: WorkloadRow): string {
  return allocation === null ? 'no nodes' : hostlistOf(allocation.nodes);
}

function runTimeOf(row: WorkloadRow): string {
  if (row.startedAt === null || row.finishedAt === null) return 'finished before any pod started';
  return `ran for ${Math.max(0, Math.round(row.finishedAt - row.startedAt))} s on ${nodesOf(row)}`;
}

function optionalTime<Key extends string>(key: Key, seconds: number | null): Partial<Record<Key, string>> {
  return seconds === null ? {} : ({ [key]: rfc3339(seconds) } as Partial<Record<Key, string>>);
}
