/** What `why` and `when` say of a workload, from the FluxJobs that its user may see. Pure functions. */

import type { FluxJobStatus } from '../../imports/jobs.converged-computing.org-status';
import { inLine, NOT_JUDGED, nameOf, notesOf, scheduled } from '../fluxjobs/reading';
import { NOT_FREE } from '../jobspec/explain';
import { isTrue } from '../kubernetes/conditions';
import type { FluxJobObject } from '../kubernetes/custom-resources';
import { HANDED_BACK, IN_LINE, STOPPED_OUTSIDE } from '../queue/workload';
import { toldEnd } from '../resources/told-end';
import { nameInUse } from '../workloads/name-in-use';
import { POD_GROUP } from '../workloads/pod-group';
import { adviceFor } from './advice';
import { ageOf, rfc3339, spanText } from './durations';
import { likelySentence } from './likely-start';

export interface Asked {
  readonly fluxJob: FluxJobObject;
  /** All FluxJobs of its namespace: those ahead of it, and those that hold nodes. */
  readonly all: readonly FluxJobObject[];
  /** Milliseconds. */
  readonly now: number;
  /** What is free on which nodes, as a sentence. @default - its user cannot see nodes */
  readonly free?: string;
  /** The points by which it is ordered, as a sentence. @default - its user cannot see them */
  readonly priority?: string;
  /** Whether its workload is deleted, and another object of its name waits until its pods have ended. @default false */
  readonly isNameInUse?: boolean;
  /** That its object is deleted, and what ends its pods. @default - it is there */
  readonly deletion?: { readonly said: string; readonly remedy?: string };
  /** Whether its namespace is known to have not the label of the queue. @default false */
  readonly hasLeft?: boolean;
}

/** Why a workload waits, or what became of it; each line is a sentence. */
export function whyLines(asked: Asked): string[] {
  const { fluxJob } = asked;
  const { reason } = scheduled(fluxJob);
  const advice =
    asked.deletion?.remedy ?? adviceFor(fluxJob, reason, nameOf(fluxJob)) ?? adviceOfOverrun(asked);
  return [
    ...nameInUseLines(asked),
    ...evidenceOf(asked.deletion?.said),
    ...stateLines(asked),
    ...noteLines(fluxJob),
    ...(asked.hasLeft === true ? [`${LEFT_LINE} once it is released`] : []),
    ...(advice === undefined ? [] : [`what to do: ${advice}`]),
  ];
}

/** Milliseconds after its walltime in which a kubelet has asked a pod to end. */
const OVERRUN_MS = 60_000;

/** Only kubelets end single pods; of all others the queue says what it does. */
function adviceOfOverrun({ fluxJob, now }: Asked): string | undefined {
  const { metadata, spec, status = {} } = fluxJob;
  const isLone = spec.workload.kind === 'Pod' || spec.workload.kind === POD_GROUP;
  if (!isLone || status.phase !== 'Running' || endTime({ spec, status }, now) + OVERRUN_MS > now)
    return undefined;
  return `kubectl fluxqueue cancel ${nameOf(fluxJob)} -n ${metadata.namespace} ends it. Its kubelet should have done so: ask your administrator about its node`;
}

function nameInUseLines({ fluxJob, isNameInUse = false }: Asked): readonly string[] {
  const { metadata, spec, status = {} } = fluxJob;
  if (!isNameInUse) return [];
  const problem = nameInUse(spec.workload.kind, status.nodes ?? 'its nodes');
  return [`${metadata.namespace}/${nameOf(fluxJob)} is not in the queue yet: ${problem}`];
}

/** Only the stack knows whether it is cluster-wide. */
export const LEFT_LINE =
  'its namespace has not the label fluxqueue/enabled: "true", so unless the queue is cluster-wide, Kubernetes runs it without the queue';

function stateLines(asked: Asked): string[] {
  const { metadata, spec, status = {} } = asked.fluxJob;
  const { reason, message } = scheduled(asked.fluxJob);
  const said = reasonSentence(asked.fluxJob);
  const name = `${asked.isNameInUse ? 'the deleted ' : ''}${metadata.namespace}/${nameOf(asked.fluxJob)}`;
  const nodes = status.nodes ?? 'its nodes';
  if (message === HANDED_BACK || message.endsWith(STOPPED_OUTSIDE))
    return [`${name} is in the queue no more: ${message}`, ...gatedAgain(asked)];
  if (status.phase === 'Finished') return [`${name} has ended: ${status.result ?? reason}; ${message}`];
  if (reason === 'Evicting') return [`${name} has to leave ${nodes}`, said];
  if (status.phase === 'Running')
    return [`${name} runs on ${nodes}`, ...evidenceOf(besidesRunning(message)), runSentence(asked)];
  if (status.phase === 'Ready') return [`${name} was granted ${nodes}, and ${podsDoNotRun(status)}`, said];
  const place = status.position === undefined ? '' : `, position ${status.position}`;
  return [
    `${name} waits in queue ${spec.queue}${place}`,
    said,
    startSentence(asked),
    ...(waitsForOthers(asked.fluxJob)
      ? [
          ...evidenceOf(asked.priority),
          ...aheadLines(asked),
          ...endLines(asked),
          ...keptLines(asked),
          ...evidenceOf(asked.free),
        ]
      : []),
  ];
}

/** Between two tasks of an array none of its pods may run. */
function podsDoNotRun({ startTime }: FluxJobStatus): string {
  return startTime === undefined ? 'its pods do not run yet' : 'its pods do not run now';
}

/** A Job that was handed back stays outside when its namespace comes back; its new pods are workloads themselves then. */
function gatedAgain({ fluxJob, all }: Asked): readonly string[] {
  const { kind, name } = fluxJob.spec.workload;
  const isOwn = ({ spec: { workload }, status = {} }: FluxJobObject) =>
    workload.kind === 'Pod' &&
    status.phase !== 'Finished' &&
    workload.name.startsWith(`${name}-`) &&
    /^([0-9]+-)?[a-z0-9]{5}$/.test(workload.name.slice(name.length + 1));
  const [first, ...more] = kind === 'Job' ? all.filter(isOwn) : [];
  if (first === undefined) return [];
  const others = more.length === 0 ? 'is' : `and ${more.length} more of its pods are`;
  return [
    `its namespace has come back since, and ${nameOf(first)} ${others} in the queue: kubectl fluxqueue why ${nameOf(first)} -n ${fluxJob.metadata.namespace}`,
  ];
}

/** What its FluxJob says of the pods of a workload that runs: a list of nodes has no such separator. */
function besidesRunning(message: string): string | undefined {
  const [, ...rest] = message.split('; ');
  return rest.length === 0 ? undefined : rest.join('; ');
}

function evidenceOf(sentence: string | undefined): readonly string[] {
  return sentence === undefined ? [] : [sentence];
}

/** When a workload starts; where that is not known, why it waits. */
export function whenLines(asked: Asked): string[] {
  const { phase, estimatedStart, plannedStart } = asked.fluxJob.status ?? {};
  const isKnown = phase !== 'Waiting' || (estimatedStart ?? plannedStart) !== undefined;
  const start = `${asked.isNameInUse ? 'the deleted one: ' : ''}${startSentence(asked)}`;
  return [
    ...nameInUseLines(asked),
    ...evidenceOf(asked.deletion?.said),
    start,
    ...(isKnown ? [] : [reasonSentence(asked.fluxJob)]),
  ];
}

function reasonSentence(fluxJob: FluxJobObject): string {
  const { reason, message } = scheduled(fluxJob);
  return message === reason ? reason : `${reason}: ${withoutPrefix(message, `${reason}: `)}`;
}

/** Whether it waits in line for what others hold. */
export function waitsForOthers(fluxJob: FluxJobObject): boolean {
  const { phase } = fluxJob.status ?? {};
  return phase === 'Waiting' && IN_LINE.has(scheduled(fluxJob).reason) && !isStalled(fluxJob);
}

/** The kubelet's sentences begin with the reason already. */
function withoutPrefix(message: string, prefix: string): string {
  return message.startsWith(prefix) ? message.slice(prefix.length) : message;
}

function noteLines(fluxJob: FluxJobObject): readonly string[] {
  const notes = notesOf(fluxJob);
  const failed = fluxJob.status?.requeues ?? 0;
  if (failed === 0) return notes;
  return [...notes, `${failed} of its grants ${failed === 1 ? 'has' : 'have'} failed so far`];
}

/** Why no start is known, by reason. */
const UNKNOWN_START: Readonly<Record<string, string>> = {
  Held: 'it does not start while it is held',
  DependencyPending: 'no start is known before the other one has ended',
  NamespaceLeft: 'the queue does not start it any more',
  KindNotListed: 'no start is known before the queue can list objects of its kind again',
  GroupIncomplete: 'no start is known before all pods of its group are there',
  SchedulingGated: 'no start is known before its scheduling gate is gone',
  Requeued: 'no start is known before it is tried again',
  Reserved: 'no start is known: it depends on the end of one that runs past its walltime',
};

/** Milliseconds after which a plan with it should have been made, if a plan can have it. */
const PLANNED_MS = 30_000;
const NOT_PLANNED = 'no start is known yet: the plan is made again every few seconds';
const UNPLANNED =
  'no start is known: the plan does not reach so far, or it waits for something that has no time';

/** Milliseconds after which a workload should have been judged. */
const JUDGED_MS = 60_000;

/** When a workload starts, as one sentence. */
function startSentence(asked: Omit<Asked, 'all'>): string {
  const { likelyStart } = asked.fluxJob.status ?? {};
  const said = startByWalltimes(asked);
  return likelyStart === undefined ? said : `${said}; ${likelySentence(likelyStart)}`;
}

function startByWalltimes({ fluxJob, now }: Omit<Asked, 'all'>): string {
  const { status = {}, metadata } = fluxJob;
  const { reason } = scheduled(fluxJob);
  const isJudged = status.phase !== undefined && reason !== NOT_JUDGED;
  if (!isJudged && now - Date.parse(metadata.creationTimestamp ?? '') > JUDGED_MS)
    return `no pass has judged it for ${ageOf(metadata.creationTimestamp, now)}: the controller or Fluxion may be down`;
  if (!isJudged) return 'the next pass will tell';
  if (status.startTime !== undefined) return `it started at ${status.startTime}`;
  if (status.estimatedStart !== undefined)
    return `it starts at ${status.estimatedStart} at the latest: nodes are reserved for it`;
  if (status.plannedStart !== undefined)
    return `it would start at about ${status.plannedStart} if nothing else were submitted; this is no promise`;
  if (status.phase === 'Finished') return 'it has ended without a start';
  if (status.phase !== 'Waiting') return 'its nodes are granted, and its first pod does not run yet';
  if (isStalled(fluxJob)) return 'it cannot start as things are';
  const isNew = now - Date.parse(metadata.creationTimestamp ?? '') < PLANNED_MS;
  return UNKNOWN_START[reason] ?? (isNew && IN_LINE.has(reason) ? NOT_PLANNED : UNPLANNED);
}

/** By what a promise moved, for a watch that showed the one before. */
export function movedLines(before: string | undefined, { fluxJob, all, now }: Asked): string[] {
  const { phase, estimatedStart, startTime } = fluxJob.status ?? {};
  const start = phase === 'Waiting' ? estimatedStart : startTime;
  if (before === undefined || start === undefined || Date.parse(start) <= Date.parse(before)) return [];
  const late = all.filter((other) => hasOverrun(other, Date.parse(before), now)).map(nameOf);
  const cause =
    late.length === 0
      ? `something that namespace ${fluxJob.metadata.namespace} does not show: a node, a priority, a late start, or an end elsewhere`
      : `${late.join(', ')}, past the walltime`;
  return [`it was promised for ${before} before; that moved by ${cause}`];
}

/** Whether its walltime was over by then, or is now, and it ran on. */
function hasOverrun({ spec, status = {} }: FluxJobObject, then: number, now: number): boolean {
  if (status.startTime === undefined) return false;
  const end = endTime({ spec, status }, now);
  if (status.phase !== 'Finished') return end < now;
  return end <= then && Date.parse(status.finishTime ?? '') > then;
}

function isHolder({ status = {} }: FluxJobObject): boolean {
  return status.phase === 'Running' || status.phase === 'Ready';
}

function isStalled({ status = {} }: FluxJobObject): boolean {
  return isTrue(status.conditions, 'Stalled');
}

function runSentence({ fluxJob, now }: Asked): string {
  return `it started at ${fluxJob.status?.startTime ?? 'an unknown time'}, and ${endOf(fluxJob, now)}`;
}

/** When the walltime of a workload that has started ends. */
function endOf({ spec, status = {} }: FluxJobObject, now: number): string {
  if (spec.walltimeSeconds === undefined) return 'it runs until it is deleted';
  if (status.startTime === undefined)
    return `its pods do not run yet; it may use its walltime of ${spanText(spec.walltimeSeconds)} from their start`;
  const end = endTime({ spec, status }, now);
  if (end < now) return `its walltime ended at ${rfc3339(end)}`;
  if (status.endTime !== undefined) return `it ends at ${rfc3339(end)} at the latest`;
  return `its walltime ends at ${rfc3339(end)}`;
}

/** Of a workload that has not started: as if it started now. */
function endTime({ spec, status = {} }: Pick<FluxJobObject, 'spec' | 'status'>, now: number): number {
  return toldEnd({ spec, status }) ?? now + (spec.walltimeSeconds ?? Infinity) * 1000;
}

/** A line names so many workloads. */
const MOST_NAMED = 3;
/** Positions are written after the starts that change them, and FluxJobs after their workloads. */
const UNSEEN = 'in other namespaces, without a FluxJob yet, or no longer waiting';

function aheadLines({ fluxJob, all }: Asked): readonly string[] {
  const { position } = fluxJob.status ?? {};
  if (position === undefined || position === 1) return [];
  const before = inLine(all).filter(
    ({ spec, status }) =>
      spec.queue === fluxJob.spec.queue && status?.position !== undefined && status.position < position,
  );
  const names = before
    .slice(-MOST_NAMED)
    .map((other) => `${nameOf(other)} (position ${other.status!.position})`);
  const hidden = position - 1 - before.length;
  const shown = names.length === 0 ? [] : [`just ahead of it: ${names.join(', ')}`];
  return hidden > 0 ? [...shown, `its position counts ${hidden} more: ${UNSEEN}`] : shown;
}

/** A longer hostlist is counted. */
const LONGEST_HOSTLIST = 40;

/** Who holds nodes and until when: of its namespace, which is what its user may see. */
function endLines({ fluxJob, all, now }: Asked): readonly string[] {
  const holders = all
    .filter(isHolder)
    .toSorted((a, b) => endTime(a, now) - endTime(b, now) || nameOf(a).localeCompare(nameOf(b), 'en'));
  if (holders.length === 0) return [];
  const named = holders
    .slice(0, MOST_NAMED)
    .map((holder) => `${nameOf(holder)} has ${nodesOf(holder)}, ${endOf(holder, now)}`);
  const more = holders.length - named.length;
  const rest = more > 0 ? [`${more} more ${more === 1 ? 'runs' : 'run'}`] : [];
  return [`in namespace ${fluxJob.metadata.namespace}: ${[...named, ...rest].join('; ')}`];
}

/** For whom of its namespace free nodes are kept from it, because it would hold them for too long. */
function keptLines({ fluxJob, all, now }: Asked): readonly string[] {
  const { message } = scheduled(fluxJob);
  const ends = now + (fluxJob.spec.walltimeSeconds ?? Infinity) * 1000;
  const kept = inLine(all).filter(
    (other) =>
      other.status?.phase === 'Waiting' &&
      (other.status.estimatedStart === undefined
        ? scheduled(other).reason === 'Reserved'
        : Date.parse(other.status.estimatedStart) < ends),
  );
  if (!message.includes(NOT_FREE) || kept.length === 0) return [];
  const named = kept.slice(0, MOST_NAMED).map((other) => {
    const { position, estimatedStart } = other.status!;
    const from = estimatedStart === undefined ? ', whose start is not known' : ` from ${estimatedStart} on`;
    return `${nameOf(other)} (position ${position})${from}`;
  });
  const more = kept.length - named.length;
  const rest = more > 0 ? [`${more} more`] : [];
  return [
    `nodes are reserved for ${[...named, ...rest].join('; ')}: those of them that are free are only for what ends before`,
  ];
}

function nodesOf({ status = {} }: FluxJobObject): string {
  const { nodes = 'its nodes', nodeCount } = status;
  return nodes.length <= LONGEST_HOSTLIST ? nodes : `${nodeCount} nodes`;
}
