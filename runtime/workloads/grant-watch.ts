/**
 * Watches whether the pods of a grant run. Kubernetes says what they wait for (pod-wait.ts, and Events of the Job
 * controller about pods that it could not create, and resource-claims.ts); each cause has a time limit, and a wait beyond its limit is a failure
 * of the grant. Without such a sentence a grant fails only where no pod was ever created: an outage of kube-scheduler or of the Job
 * controller evicts nothing that has run.
 *
 * A wait begins when this process sees it first, by its own clock. A new leader starts to count again.
 */
import type { Clock } from '../clock';
import type { Config } from '../config';
import type { KubernetesClient } from '../kubernetes/client';
import type { Pod } from '../kubernetes/types';
import type { QueueSettings } from '../queue/settings';
import { isPastRequeueLimit, type WorkloadRow } from '../queue/workload';
import { startLimitOf } from '../scheduler/pass/planned-end';
import type { GrantReason, GrantWait } from '../shared/grant-waits';
import { type ActiveWorkload, isTerminal, type Outcome } from './adapter';
import type { EvictionReason } from './eviction';
import { refusedWait } from './group-notices';
import { explainedWait, UncreatedPods } from './kubelet-events';
import type { NodeView } from './live-pods';
import { absenceOf, missingWait, turnWait, untilAbsent } from './missing-pods';
import { belongsToGrant, isGated } from './pod';
import { RemovedPods } from './pod-end';
import {
  firstOf,
  type PodWait,
  type PodWaitCause,
  type PodWaitContext,
  podWait,
  type UnplacedPod,
  unplacedPods,
} from './pod-wait';
import { creationText, REREAD_MS, type Refusal, RefusedPods, shorten } from './refused-pods';
import { replacementWait, replacesOnlyEnded } from './replacement-policy';
import { causeOfRefusal, causeOfWait } from './requeue-cause';
import { ClaimLookup, mayLackClaims } from './resource-claims';
import { restartWait } from './restarts';
import { DEAD_NODE, partial, refusedPod, shownOf } from './shown-wait';

export interface GrantWatchOptions {
  readonly client: KubernetesClient;
  readonly limits: Config['grants'];
  readonly clock: Clock;
  readonly nodes: NodeView;
  /** Whether this scheduler has ever scheduled or refused a pod. */
  readonly schedulerRuns: PodWaitContext['schedulerRuns'];
  /** Whether the grant has not started within its walltime, and a reservation waits for its nodes. */
  readonly isAwaited: (row: WorkloadRow) => boolean;
  /** The requeue limit of a queue. */
  readonly requeueOf: (queue: string) => Pick<QueueSettings['requeue'], 'limit'>;
  /** Unix seconds. */
  readonly now: () => number;
}

export interface GrantState {
  /** What the workload waits for; undefined while a pod of the grant runs, or if nothing is known. */
  readonly wait: GrantWait | undefined;
  /** Set once a wait is longer than its limit, and no pod of an array runs. */
  readonly failure: EvictionReason | undefined;
  /** Whether the Job controller cannot create pods of an array of which others run. @default false */
  readonly isNarrowed?: boolean;
  /** Milliseconds until a wait reaches its limit. */
  readonly after: number | undefined;
}

/** A pod and what it waits for. */
interface Found {
  readonly pod: Pod;
  readonly wait: PodWait | undefined;
}

/** What keeps pods from running. */
interface Blocked {
  readonly unplaced: readonly UnplacedPod[];
  readonly refusal: Refusal;
  readonly waits: readonly PodWait[];
}

/** A wait with a time limit. */
interface Limited {
  readonly key: string;
  readonly wait: PodWait | undefined;
  /** Milliseconds until its limit; at most 0 once it is reached. */
  readonly left: number;
}

type Limit = 'unschedulableSeconds' | 'volumeSeconds' | 'startSeconds';

const LIMIT_OF: Readonly<Record<Exclude<PodWaitCause, 'pending'>, Limit>> = {
  unschedulable: 'unschedulableSeconds',
  claims: 'unschedulableSeconds',
  gated: 'startSeconds',
  volumes: 'volumeSeconds',
  starting: 'startSeconds',
  silent: 'startSeconds',
};
/** On every node volumes and claims are missing, and a gate keeps the pod. */
const EVERYWHERE: ReadonlySet<PodWaitCause> = new Set(['volumes', 'claims', 'gated']);
/** Pods are missing; none is there, and none was; nothing runs, and pods are missing or wait; nothing has started, and others wait. */
const [MISSING, ABSENT, IDLE, UNSTARTED] = ['missing', 'absent', 'idle', 'unstarted'];
const CLAIM_MISSING: GrantReason = 'ResourceClaimMissing';
const INITIALIZING: GrantReason = 'PodInitializing';
/** A gang that fails on more nodes at once has another problem than its nodes. */
const MOST_AVOIDED = 64;

export class GrantWatch {
  /** Job id -> wait -> when it was seen first, in milliseconds of the clock. */
  private readonly since = new Map<number, Map<string, number>>();

  private readonly uncreated: UncreatedPods;
  private readonly refused: RefusedPods;
  private readonly removed = new RemovedPods();

  constructor(private readonly options: GrantWatchOptions) {
    this.uncreated = new UncreatedPods(options);
    this.refused = new RefusedPods(options);
  }

  forget({ jobid }: WorkloadRow): void {
    this.since.delete(jobid);
    this.uncreated.forget(jobid);
    this.refused.forget(jobid);
    this.removed.forget(jobid);
  }

  /** The end of a workload with what is known of its pods. */
  told({ jobid }: WorkloadRow, outcome: Outcome): Outcome {
    return this.removed.told(jobid, outcome);
  }

  /** Only of a released workload. */
  async observe(workload: ActiveWorkload): Promise<GrantState> {
    const { object, adapter, row } = workload;
    const own = ownOf(workload);
    this.removed.see(row.jobid, own);
    const context = { ...this.options.nodes, schedulerRuns: this.options.schedulerRuns };
    const unplaced = unplacedPods(workload);
    const found = [
      ...(await this.withClaims(own.map((pod) => ({ pod, wait: podWait(pod, context) })))),
      ...unplaced,
    ];
    const waits = found.flatMap(({ wait }) => wait ?? []);
    const missing = adapter.missingPods(object, row, own);
    // A bound pod that cannot be moved takes its units in the view of kube-scheduler too.
    // What others wait for leaves although it is not moved.
    const isMovable = adapter.isSuspendable(object) || this.options.isAwaited(row);
    const isKept = ({ reason }: PodWait) => reason === DEAD_NODE && replacesOnlyEnded(adapter, object, row);
    const movable = waits.filter((wait) => (isMovable || !wait.isBound) && !isKept(wait));
    const runs = found.some(isRunning);
    const goesOn = found.some(isHealthy);
    const isAbsent = missing > 0 && own.length === 0 && row.startedAt === null;
    const limited = this.limited(row, movable, { isMissing: missing > 0, isAbsent, isIdle: !goesOn });
    const due = await this.explained(row, dueOf(limited));
    const refusal = await this.refused.explain(workload, this.since.get(row.jobid)?.get(MISSING));
    const failure = this.failureIn(workload, due, refusal);
    const first = firstOf(waits);
    const { wait: told, after: reread } = await this.uncreated.explain(row, runs ? undefined : first);
    const kept = replacementWait(workload, missing, this.options.nodes);
    const shown = shownOf(told ?? first, kept) ?? refusal.wait ?? missingWait(missing, adapter);
    const rereads = found.some(({ pod, wait }) => mayLackClaims(pod, wait)) ? [REREAD_MS] : [];
    const left = limited.filter((each) => each.left > 0).map((each) => each.left);
    const after = earliest([...left, ...refusal.after, ...rereads, ...reread]);
    if (failure === undefined || adapter.isGang(object) || hasEnded(found, due))
      return {
        wait: runs
          ? (partial(kept) ?? this.waitOfRunning(workload, own, { unplaced, refusal, waits }))
          : shown,
        failure,
        after,
      };
    const isNarrowed = refusal.sentence !== undefined && due.some(({ key }) => key === MISSING);
    const wait = goesOn && shown ? { ...shown, message: failure.message, isPartial: true } : shown;
    return { wait, failure: undefined, isNarrowed: goesOn && isNarrowed, after };
  }

  private failureIn(
    workload: ActiveWorkload,
    due: readonly Limited[],
    { sentence }: Refusal,
  ): EvictionReason | undefined {
    const { limits } = this.options;
    const isDue = (wanted: string) => due.some(({ key }) => key === wanted);
    const [isMissing, isWhole, isLate] = [isDue(MISSING), isDue(ABSENT), isDue(UNSTARTED)];
    const failure =
      this.failureOf(due, isMissing ? sentence : undefined) ??
      absenceOf(workload, { isMissing, isWhole, isLate }, limits);
    if (!isLate || failure === undefined) return failure;
    const message = `${failure.message}; it has not started within ${startLimitOf(workload.row)} s, and others wait for its nodes`;
    return { ...failure, message };
  }

  /** What a workload waits for of which a pod runs. */
  private waitOfRunning(
    workload: ActiveWorkload,
    pods: readonly Pod[],
    { unplaced, refusal, waits }: Blocked,
  ): GrantWait | undefined {
    const { nodes } = this.options;
    if (unplaced.length > 0) return refusedPod(unplaced.map(({ wait }) => wait));
    return (
      restartWait(pods) ??
      refusedWait(workload.object) ??
      turnWait(workload, pods, nodes) ??
      partial(refusal.wait) ??
      refusedPod(waits)
    );
  }

  /** One pod of a gang says enough. */
  private async explained({ namespace }: WorkloadRow, due: readonly Limited[]): Promise<readonly Limited[]> {
    const first = due.find(({ wait }) => wait !== undefined);
    if (first?.wait === undefined) return due;
    const wait = await explainedWait(this.options.client, namespace, first.wait);
    return due.map((each) => (each === first ? { ...each, wait } : each));
  }

  /** Names the resource claims that are missing: kube-scheduler does not. */
  private async withClaims(found: readonly Found[]): Promise<readonly Found[]> {
    const lookup = new ClaimLookup(this.options.client);
    const explain = async ({ pod, wait }: Found): Promise<Found> => {
      if (wait === undefined || !mayLackClaims(pod, wait)) return { pod, wait };
      const message = await lookup.lackOf(pod);
      return {
        pod,
        wait: message === undefined ? wait : { ...wait, cause: 'claims', reason: CLAIM_MISSING, message },
      };
    };
    return Promise.all(found.map(explain));
  }

  /** The waits that have a limit. Forgets those that are over. */
  private limited(
    row: WorkloadRow,
    waits: readonly PodWait[],
    { isMissing, isAbsent, isIdle }: Readonly<Record<'isMissing' | 'isAbsent' | 'isIdle', boolean>>,
  ): Limited[] {
    const { clock, limits } = this.options;
    const { jobid } = row;
    const before = this.since.get(jobid);
    const since = new Map<string, number>();
    const now = clock.now();
    const limitedTo = (key: string, seconds: number, wait?: PodWait): Limited => {
      const from = before?.get(key) ?? now;
      since.set(key, from);
      return { key, wait, left: from + seconds * 1000 - now };
    };
    const limitedBy = (key: string, limit: Limit, wait?: PodWait) => limitedTo(key, limits[limit], wait);
    const limited = waits.flatMap((wait) =>
      wait.cause === 'pending'
        ? []
        : [limitedBy(`${wait.cause}/${wait.uid}`, this.limitOf(row, wait, wait.cause), wait)],
    );
    if (isMissing) limited.push(limitedBy(MISSING, 'unschedulableSeconds'));
    // The release is of the clock of the database: this one may be ahead of it by more than the limit.
    const absent = isAbsent ? limitedBy(ABSENT, 'unschedulableSeconds') : undefined;
    if (absent) limited.push({ ...absent, left: Math.max(absent.left, untilAbsent(row, this.options)) });
    // Between the end of a pod and the start of the next no pod runs for a moment.
    if (isIdle && limited.length > 0) limited.push(limitedBy(IDLE, 'unschedulableSeconds'));
    const unstarted = row.startedAt === null ? limitedTo(UNSTARTED, startLimitOf(row)) : undefined;
    const isBlocked = isAbsent || limited.some(({ wait }) => wait !== undefined);
    if (unstarted && isBlocked && this.options.isAwaited(row)) limited.push(unstarted);
    if (since.size === 0) this.since.delete(jobid);
    else this.since.set(jobid, since);
    return limited;
  }

  /** What is tried once an hour holds its nodes for a moment only, where the cause is still its own. */
  private limitOf(row: WorkloadRow, wait: PodWait, cause: keyof typeof LIMIT_OF): Limit {
    const isShort =
      isPastRequeueLimit(row, this.options.requeueOf(row.queue)) && causeOfWait(wait) === 'failure';
    const usual = LIMIT_OF[cause];
    const { limits } = this.options;
    return isShort && limits.unschedulableSeconds < limits[usual] ? 'unschedulableSeconds' : usual;
  }

  private failureOf(due: readonly Limited[], creation: string | undefined): EvictionReason | undefined {
    const waits = due.flatMap(({ wait }) => wait ?? []);
    const [first] = waits;
    if (first === undefined)
      return creation === undefined
        ? undefined
        : {
            cause: causeOfRefusal(creation),
            message: creationText(creation),
          };
    const others = waits.length === 1 ? '' : ` and ${waits.length - 1} more`;
    const place = first.node === undefined ? '' : ` on ${first.node}`;
    const nodes = waits.flatMap(({ cause, node }) => (EVERYWHERE.has(cause) ? [] : (node ?? [])));
    return {
      // Of many pods one is explained: what is its own keeps all of them from running.
      cause: waits.some((wait) => causeOfWait(wait) === 'failure') ? 'failure' : 'cluster',
      message: `pod ${first.pod}${others} did not run${place}: ${shorten(first.message)}`,
      avoid: [...new Set(nodes)].slice(0, MOST_AVOIDED),
    };
  }
}

function ownOf({ row, pods }: ActiveWorkload): readonly Pod[] {
  return pods.filter((pod) => pod.metadata.uid === row.uid || belongsToGrant(pod, row.jobid));
}

function earliest(milliseconds: readonly number[]): number | undefined {
  return milliseconds.length === 0 ? undefined : Math.min(...milliseconds);
}

function isRunning({ pod, wait }: Found): boolean {
  return wait === undefined && pod.status?.phase === 'Running';
}

/** Whether the pod runs, or prepares to. */
function isHealthy(found: Found): boolean {
  return !isLeaving(found) && (isRunning(found) || found.wait?.reason === INITIALIZING);
}

/** Once others have waited for long enough for what has not started, all that keeps it from that counts. */
function dueOf(limited: readonly Limited[]): readonly Limited[] {
  const over = limited.filter(({ left }) => left <= 0);
  return over.some(({ key }) => key === UNSTARTED)
    ? limited.filter(({ left, wait }) => left <= 0 || wait)
    : over;
}

/** Whether no pod of an array runs or may still start: each of them has waited for too long. */
function hasEnded(found: readonly Found[], due: readonly Limited[]): boolean {
  if (due.some(({ key }) => key === UNSTARTED)) return true;
  if (!due.some(({ key }) => key === IDLE)) return false;
  const over = new Set(due.map(({ wait }) => wait?.uid));
  return found.every(
    (each) => isTerminal(each.pod) || isGated(each.pod) || over.has(each.pod.metadata.uid) || isLeaving(each),
  );
}

function isLeaving({ pod }: Found): boolean {
  return pod.metadata.deletionTimestamp !== undefined;
}
