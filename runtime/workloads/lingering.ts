/**
 * Pods that do not end. Kubernetes has asked a pod to end and has waited for its grace period, and its containers still run: a kubelet
 * that does not answer, a container that cannot be killed; or it was deleted with a grace period that hardly ends. Its units stay
 * granted and charged; after a bound its user and the administrator are told, whatever else its workload waits for.
 */
import { forcedEnd } from '../../constructs/api/lingering';
import { DEFAULT_GRACE_SECONDS } from '../jobspec/jobspec';
import type { Pod } from '../kubernetes/types';
import type { ReconcileResult } from '../kubernetes/work-queue';
import type { WorkloadRow } from '../queue/workload';
import { isTerminal, secondsOf } from './adapter';
import { lookAgainIn } from './deadlines';
import { listNames } from './events';
import { belongsToGrant } from './pod';

/** Seconds after the end of its grace period. */
const LATE_SECONDS = 300;
/** Seconds of a grace period. */
const LONG_SECONDS = 3_600;

export interface LingeringOptions {
  /** Called with what is said of the pods of a granted workload that do not end; undefined: all end in time. */
  readonly onLingering: (uid: string, sentence: string | undefined) => void;
  /** Unix seconds. */
  readonly now: () => number;
}

export class Lingering {
  constructor(private readonly options: LingeringOptions) {}

  forget({ uid }: Pick<WorkloadRow, 'uid'>): void {
    this.options.onLingering(uid, undefined);
  }

  /** Tells of those that belong to the grant, and says when that changes by itself. */
  follow({ uid, jobid }: Pick<WorkloadRow, 'uid' | 'jobid'>, pods: readonly Pod[]): ReconcileResult {
    const now = this.options.now();
    const own = pods.filter((pod) => pod.metadata.uid === uid || belongsToGrant(pod, jobid));
    this.options.onLingering(uid, lingeringSentence(own, now));
    const changes = own.flatMap((pod) => secondsUntilLingerChange(pod, now) ?? []);
    return changes.length === 0 ? undefined : lookAgainIn(Math.min(...changes));
  }
}

export function isLingering(pod: Pod, now: number): boolean {
  const end = endOf(pod);
  return end !== undefined && (hasLongGrace(pod) || now >= end + LATE_SECONDS);
}

/** Seconds until it counts as one that does not end, or until what is said of it changes. Undefined: never. */
export function secondsUntilLingerChange(pod: Pod, now: number): number | undefined {
  const end = endOf(pod);
  if (end === undefined) return undefined;
  const left = end + (hasLongGrace(pod) ? 0 : LATE_SECONDS) - now;
  return left > 0 ? left : undefined;
}

/** The Unix second at which its grace period ends. Undefined: nobody has asked it to end, or it has ended. */
function endOf(pod: Pod): number | undefined {
  const { deletionTimestamp } = pod.metadata;
  if (deletionTimestamp === undefined || pod.spec.nodeName === undefined || isTerminal(pod)) return undefined;
  return secondsOf(deletionTimestamp);
}

/** Whether it was deleted with a grace period that hardly ends and that it does not ask for itself. */
function hasLongGrace({ metadata, spec }: Pod): boolean {
  const { deletionGracePeriodSeconds: given = 0 } = metadata;
  const { terminationGracePeriodSeconds: own = DEFAULT_GRACE_SECONDS } = spec;
  return given > Math.max(LONG_SECONDS, own);
}

/** What is said of those of these pods that do not end. */
export function lingeringSentence(pods: readonly Pod[], now: number): string | undefined {
  const lingering = pods.filter((pod) => isLingering(pod, now));
  const [first] = lingering;
  if (first === undefined) return undefined;
  const { name, deletionTimestamp } = first.metadata;
  const isOne = lingering.length === 1;
  const others = isOne ? '' : ` and ${lingering.length - 1} more`;
  const isLate = secondsOf(deletionTimestamp!) <= now;
  const verb = isLate ? 'should have ended at' : `${isOne ? 'was' : 'were'} deleted, and may run until`;
  const nodes = [...new Set(lingering.map(({ spec }) => spec.nodeName!))];
  const used = `${isOne ? 'uses' : 'use'} ${listNames(nodes)}, which ${nodes.length === 1 ? 'is' : 'are'} charged`;
  return `pod ${name}${others} ${verb} ${deletionTimestamp} and still ${used} until ${isOne ? 'it has' : 'they have'} ended`;
}

const SENTENCE =
  /\bpod (\S+)( and \d+ more)? (should have ended at|(was|were) deleted, and may run until) \S+ and still uses? /;

/** What the user of the workload can do about the pod of such a sentence; undefined: the text has none. */
export function lingeringAdvice(text: string, namespace: string): string | undefined {
  const pod = SENTENCE.exec(text)?.[1];
  return pod === undefined ? undefined : `ask your administrator: if ${forcedEnd(namespace, pod)}`;
}
