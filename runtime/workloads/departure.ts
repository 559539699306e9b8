/**
 * Workloads of a namespace that has left the queue: its label was removed, so admission pins and gates none of their pods
 * any more. What waits is handed back to Kubernetes (hand-over.ts), unless its user holds it. What runs keeps its grant
 * until it ends, and nothing evicts it: what Kubernetes creates for it now runs where kube-scheduler places it, and counts
 * as a pod outside the queue.
 */
import type { Clock } from '../clock';
import { messageOf } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import type { EventNote } from '../kubernetes/events';
import { namespaces as namespacePath, pods as podPath } from '../kubernetes/paths';
import type { KubernetesObject, Pod } from '../kubernetes/types';
import { applyPatch, type WriteOutcome } from '../kubernetes/writes';
import { STOPPED_OUTSIDE, type WorkloadRow } from '../queue/workload';
import { type DecisionLogger, logDecision } from '../shared/decision-log';
import { isEnabled, type Namespaces, type Scope } from '../shared/namespaces';
import type { WorkloadKey } from '../shared/workload-key';
import type { ActiveWorkload, WorkloadAdapter } from './adapter';
import { isAnswer } from './earlier-guard';
import type { EvictionReason } from './eviction';
import { isHeldByUser } from './hand-over';
import { isGated, podHandOver } from './pod';
import { resetStartTime } from './start-time';

export interface DepartureOptions {
  readonly client: KubernetesClient;
  readonly namespaces: Pick<Namespaces, 'hasLeft'>;
  readonly scope: Scope;
  readonly recordEvent: (object: KubernetesObject, adapter: WorkloadAdapter, event: EventNote) => void;
  readonly logger: DecisionLogger;
  readonly clock: Clock;
}

/** Why a workload whose grant its namespace has left gives its nodes back. */
export const NOT_TAKEN: EvictionReason = { cause: 'suspended', message: 'its namespace left the queue' };

interface Retry {
  /** Milliseconds. */
  readonly after: number;
  /** Whether Kubernetes does not take it back now: it must hold no nodes meanwhile. */
  readonly isRefused?: boolean;
}

/** `over`: the object belongs to the queue no more, so its row ends. Undefined: it is reconciled as any other. */
type Departed = 'over' | Retry | undefined;

/** The object has changed, or the watch of its namespace lags behind. */
const RETRY: Retry = { after: 5_000 };
/** Milliseconds for which a namespace may be away before anything is handed back: who writes labels anew may take them away for a moment. */
const GRACE_MS = 10_000;
/** Another policy may refuse it for days. */
const LONGEST_RETRY_MS = 60_000;

/** A pod that is left out of its group may be held alone. */
function mayStart(pod: Pod): boolean {
  return isGated(pod) && !isHeldByUser(pod);
}

export class Departure {
  /** UID of a workload -> how often Kubernetes refused to take it back. */
  private readonly refusals = new Map<string, number>();
  /** Namespace that has left -> when that was seen first, in milliseconds of the clock. */
  private readonly leftAt = new Map<string, number>();
  /** UIDs of workloads that ran until their users suspended them, and that were handed back since then. */
  private readonly stopped = new Set<string>();

  constructor(private readonly options: DepartureOptions) {}

  hasLeft(namespace = ''): boolean {
    const { namespaces, clock } = this.options;
    const hasLeft = namespaces.hasLeft(namespace);
    if (!hasLeft) this.leftAt.delete(namespace);
    else if (!this.leftAt.has(namespace)) this.leftAt.set(namespace, clock.now());
    return hasLeft;
  }

  forget({ uid }: WorkloadRow): void {
    this.refusals.delete(uid);
    this.stopped.delete(uid);
  }

  /** Why the row of a workload ends whose object is in the queue no more; undefined: it was deleted. */
  endOf({ uid }: WorkloadRow): string | undefined {
    return this.stopped.has(uid) ? STOPPED_OUTSIDE : undefined;
  }

  /** Only of a workload that has not ended. */
  async depart(workload: ActiveWorkload): Promise<Departed> {
    const { object, adapter, row } = workload;
    if (!this.hasLeft(row.namespace) || object.metadata.deletionTimestamp !== undefined) return undefined;
    if (row.releasedAt === null) return this.departWithoutNodes(workload);
    if (adapter.membersOf(object) !== undefined) return this.letGo(row, object, adapter);
    const isByUser =
      adapter.isSuspended(object) && adapter.isSuspendable(object) && row.evictionReason === null;
    if (!isByUser) return undefined;
    // Before that its template cannot change, and would name the nodes of the grant for ever.
    if (!adapter.canRelease(object)) return this.resetStartTime(workload);
    const departed = await this.patch(row, object, adapter, { starts: false });
    if (departed !== 'over') return departed;
    // The row ends as that of a deleted Job, once its pods are gone.
    this.stopped.add(row.uid);
    return RETRY;
  }

  private async departWithoutNodes(workload: ActiveWorkload): Promise<Departed> {
    const { object, adapter, row } = workload;
    if (adapter.isStaged(object)) return this.unstage(workload);
    const isSuspended = adapter.isSuspended(object);
    // What it was staged with is still in its template, which cannot change yet.
    if (isSuspended && !adapter.canRelease(object)) return this.resetStartTime(workload);
    // The release of a granted workload may not be recorded yet.
    return row.phase === 'Waiting' || isSuspended ? this.handOver(row, object, adapter) : undefined;
  }

  private async resetStartTime(workload: ActiveWorkload): Promise<Retry> {
    const { object, adapter, row } = workload;
    try {
      await resetStartTime(this.options, workload);
      return RETRY;
    } catch (error) {
      if (!isAnswer(error)) throw error;
      return this.refused(row, object, adapter, messageOf(error));
    }
  }

  /** Its pods carry the gate of the queue: without it they are made anew, and wait for the other controller alone. */
  private async unstage({ object, adapter, row }: ActiveWorkload): Promise<Retry> {
    const patch = adapter.suspendPatch(object);
    if (patch !== undefined)
      await applyPatch(this.options.client, adapter.path(row.namespace, row.name), patch);
    return RETRY;
  }

  /** What runs of a group goes on; pods that wait for a place in it start without the queue. */
  private async letGo(
    row: WorkloadRow,
    object: KubernetesObject,
    adapter: WorkloadAdapter,
  ): Promise<Departed> {
    const members = adapter.membersOf(object) ?? [];
    if (!members.some(mayStart) || isHeldByUser(object)) return undefined;
    const departed = await this.patch(row, object, adapter, { starts: true });
    // A refusal is no reason to take the nodes from the pods that run.
    return departed === 'over' ? undefined : { after: departed.after };
  }

  /** Hands a workload back that has no nodes. */
  async handOver(key: WorkloadKey, object: KubernetesObject, adapter: WorkloadAdapter): Promise<Departed> {
    const starts = adapter.isSuspended(object);
    if (starts && isHeldByUser(object)) return undefined;
    return this.patch(key, object, adapter, { starts });
  }

  private async patch(
    key: WorkloadKey,
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    { starts }: { readonly starts: boolean },
  ): Promise<Exclude<Departed, undefined>> {
    const left = (this.leftAt.get(key.namespace) ?? 0) + GRACE_MS - this.options.clock.now();
    if (left > 0) return { after: left };
    // The watch of a new namespace may be older than a workload that admission has taken in meanwhile.
    if (!(await this.hasLeftNow(key.namespace))) return RETRY;
    try {
      const outcome = await this.send(key, object, adapter, starts);
      this.log(key, 'its namespace left the queue: handed back to Kubernetes', { starts, outcome });
      if (outcome === 'conflict') return RETRY;
      this.refusals.delete(object.metadata.uid);
      return 'over';
    } catch (error) {
      if (!isAnswer(error)) throw error;
      return this.refused(key, object, adapter, messageOf(error));
    }
  }

  private async send(
    key: WorkloadKey,
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    starts: boolean,
  ): Promise<WriteOutcome> {
    const { client } = this.options;
    const members = adapter.membersOf(object);
    if (members === undefined)
      return applyPatch(client, adapter.path(key.namespace, key.name), adapter.handOverPatch(object, starts));
    for (const pod of members.filter(mayStart)) {
      const patch = { type: 'json', body: podHandOver(pod) } as const;
      const outcome = await applyPatch(client, podPath(key.namespace, pod.metadata.name), patch);
      if (outcome === 'conflict') return outcome;
    }
    return 'done';
  }

  private refused(
    key: WorkloadKey,
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    error: string,
  ): Retry {
    this.log(key, 'its namespace left the queue: not handed back yet', { error });
    const { uid } = object.metadata;
    const times = (this.refusals.get(uid) ?? 0) + 1;
    this.refusals.set(uid, times);
    // The first refusal is that of a policy that has not seen yet that the namespace left.
    const message = `its namespace left the queue, and Kubernetes does not take it back: ${error}`;
    if (times === 2)
      this.options.recordEvent(object, adapter, { type: 'Warning', reason: 'NotHandedBack', message });
    return { after: Math.min(LONGEST_RETRY_MS, RETRY.after * 2 ** (times - 1)), isRefused: true };
  }

  private async hasLeftNow(name: string): Promise<boolean> {
    const { client, scope } = this.options;
    const selection = { fieldSelector: `metadata.name=${name}` };
    const [namespace] = (await client.list<KubernetesObject>(namespacePath(), selection)).items;
    return namespace !== undefined && !isEnabled(namespace, scope);
  }

  private log(key: WorkloadKey, decision: string, detail: Readonly<Record<string, unknown>>): void {
    logDecision(this.options.logger, key, decision, detail);
  }
}
