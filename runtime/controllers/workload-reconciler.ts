/**
 * Follows one workload through its life. Called with a key (`Job/namespace/name`);
 * reads the object, its pods and its row; does the next thing; says when to
 * look again. What it does is safe to do twice, so a crash anywhere is followed
 * by the same step again.
 */
import type { AllocatedNode } from '../fluxion/types';
import type { KubernetesClient } from '../kubernetes/client';
import type { KubernetesObject, Pod } from '../kubernetes/types';
import { applyPatch } from '../kubernetes/writes';
import type { Ledger } from '../queue/ledger';
import type { WorkloadRow } from '../queue/types';
import { isTerminal, namesOf, type WorkloadAdapter } from '../workloads/adapter';
import { isGated, pinPatch } from '../workloads/pod';
import type { Intake } from './intake';
import { nodesForGated } from './slots';

export interface WorkloadReconcilerOptions {
  readonly client: KubernetesClient;
  readonly ledger: Ledger;
  readonly intake: Intake;
  readonly adapters: ReadonlyMap<string, WorkloadAdapter>;
  /** The object of a key, as last seen. */
  readonly objectOf: (key: WorkloadKey) => KubernetesObject | undefined;
  /** The pods of the workload with this uid, as last seen. */
  readonly podsOf: (uid: string) => readonly Pod[];
  readonly nodeExists: (name: string) => boolean;
  /** Units of a job are free from now on. */
  readonly onFreed: (jobid: number) => void;
  /** Units on some nodes of a job are free from now on. */
  readonly onShrunk: (jobid: number, nodes: readonly string[]) => void;
  /** Something changed that the next pass should see. */
  readonly onQueueChanged: () => void;
  readonly tell: (object: KubernetesObject, adapter: WorkloadAdapter, event: UserEvent) => void;
  /** Unix seconds. */
  readonly now: () => number;
}

export interface UserEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface WorkloadKey {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** When to look again; nothing: when something changes. */
type Next = { readonly after: number } | undefined;

/** A released workload whose object is gone may still have a pod on the way into our cache. */
const GONE_GRACE_MS = 500;

export class WorkloadReconciler {
  private readonly goneSince = new Map<string, number>();

  constructor(private readonly options: WorkloadReconcilerOptions) {}

  async reconcile(key: WorkloadKey): Promise<Next> {
    const { ledger, objectOf, adapters } = this.options;
    const object = objectOf(key);
    const row = ledger.byName(key.kind, key.namespace, key.name);
    if (row !== undefined && row.uid !== object?.metadata.uid) {
      const next = await this.cancelGone(row);
      if (next !== undefined) return next;
    }
    if (object === undefined) return undefined;
    const adapter = adapters.get(key.kind)!;
    const current = ledger.byUid(object.metadata.uid);
    if (current === undefined) return this.enter(object, adapter);
    if (current.phase === 'Waiting') return this.attend(object, adapter, current);
    return this.follow(object, adapter, current);
  }

  /** Not in the queue yet (or finished: then it is no longer held back). */
  private async enter(object: KubernetesObject, adapter: WorkloadAdapter): Promise<Next> {
    if (object.metadata.deletionTimestamp !== undefined || !adapter.isHeldBack(object)) return undefined;
    const row = await this.options.intake.submit(object, adapter);
    if (row !== undefined) this.options.onQueueChanged();
    return undefined;
  }

  /** Waiting: gone, ended by its user, or edited. */
  private async attend(object: KubernetesObject, adapter: WorkloadAdapter, row: WorkloadRow): Promise<Next> {
    const { ledger, now, intake, onQueueChanged } = this.options;
    const outcome = adapter.outcome(object, this.options.podsOf(row.uid), now());
    if (outcome !== undefined) {
      await this.finish(row, outcome.result, outcome.finishedAt);
      return undefined;
    }
    if (object.metadata.deletionTimestamp !== undefined) {
      await this.finish(row, 'Cancelled', now());
      return undefined;
    }
    const update = intake.changeOf(object, adapter, row);
    if (update === undefined) return undefined;
    await ledger.update(update);
    onQueueChanged();
    return undefined;
  }

  /** Ready or Running: release it, place its pods, see it end. */
  private async follow(object: KubernetesObject, adapter: WorkloadAdapter, row: WorkloadRow): Promise<Next> {
    const pods = this.options.podsOf(row.uid);
    const outcome = adapter.outcome(object, pods, this.options.now());
    if (outcome !== undefined) {
      await this.finish(row, outcome.result, outcome.finishedAt);
      return undefined;
    }
    if (this.hasLostNode(row)) return this.requeue(object, adapter, row, pods);
    if (row.releasedAt === null) await this.release(object, adapter, row);
    if (row.phase === 'Ready' && pods.some(hasStarted)) await this.started(object, adapter, row);
    await this.placeGated(row, pods);
    await this.shrink(object, adapter, row, pods);
    return undefined;
  }

  private async release(object: KubernetesObject, adapter: WorkloadAdapter, row: WorkloadRow): Promise<void> {
    const { client, ledger, now } = this.options;
    // After a crash between patch and commit the object is released already.
    if (adapter.isHeldBack(object)) {
      const path = adapter.path(row.namespace, row.name);
      if ((await applyPatch(client, path, adapter.release(object, row))) === 'gone') {
        await this.finish(row, 'Cancelled', now());
        return;
      }
    }
    await ledger.released(row.uid);
  }

  private async started(object: KubernetesObject, adapter: WorkloadAdapter, row: WorkloadRow): Promise<void> {
    const { ledger, now, tell } = this.options;
    const started = await ledger.running(row.uid, now());
    if (started === undefined) return;
    const waited = Math.max(0, Math.round((row.allocatedAt ?? now()) - row.submittedAt));
    const nodes = namesOf(row.allocation!.nodes);
    tell(object, adapter, {
      type: 'Normal',
      reason: 'Scheduled',
      message: `${row.pods} ${row.pods === 1 ? 'pod' : 'pods'} on ${listed(nodes)} after ${waited} s in queue ${row.queue}`,
    });
  }

  /** Pods that admission could not pin for sure carry our gate: the free places of the allocation are theirs. */
  private async placeGated(row: WorkloadRow, pods: readonly Pod[]): Promise<void> {
    const gated = pods.filter((pod) => isGated(pod) && pod.metadata.uid !== row.uid);
    if (gated.length === 0) return;
    const { client } = this.options;
    for (const { pod, node } of nodesForGated(row, pods, gated))
      await applyPatch(client, `/api/v1/namespaces/${row.namespace}/pods/${pod.metadata.name}`, {
        type: 'json',
        body: pinPatch(pod, node),
      });
  }

  /** Frees the nodes on which nothing of it runs again. */
  private async shrink(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    row: WorkloadRow,
    pods: readonly Pod[],
  ): Promise<void> {
    const current = this.options.ledger.byUid(row.uid);
    if (current?.allocation == null) return;
    const done = new Set(adapter.doneOn(object, current, pods));
    if (done.size === 0 || done.size === current.allocation.nodes.length) return;
    const left: readonly AllocatedNode[] = current.allocation.nodes.filter(({ name }) => !done.has(name));
    const shrunk = await this.options.ledger.shrink(row.uid, { ...current.allocation, nodes: left });
    if (shrunk !== undefined) this.options.onShrunk(row.jobid, [...done]);
  }

  private hasLostNode({ allocation }: WorkloadRow): boolean {
    return allocation?.nodes.some(({ name }) => !this.options.nodeExists(name)) ?? false;
  }

  /** A node of it was deleted: back to its place in the queue once its pods are gone. */
  private async requeue(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    row: WorkloadRow,
    pods: readonly Pod[],
  ): Promise<Next> {
    const { client, ledger, nodeExists, onFreed, onQueueChanged, tell } = this.options;
    const lost = namesOf(row.allocation!.nodes).filter((name) => !nodeExists(name));
    if (!adapter.isHeldBack(object)) {
      const patch = adapter.recall(object);
      if (patch === undefined) return undefined;
      await applyPatch(client, adapter.path(row.namespace, row.name), patch);
      return undefined;
    }
    if (pods.some((pod) => !isTerminal(pod) && !isGated(pod))) return undefined;
    const message = `lost ${listed(lost)}, waits again in its place`;
    if ((await ledger.requeue(row.uid, message)) === undefined) return undefined;
    onFreed(row.jobid);
    onQueueChanged();
    tell(object, adapter, { type: 'Warning', reason: 'Requeued', message });
    return undefined;
  }

  /** The object of this row no longer exists; its units are free once its pods don't either. */
  private async cancelGone(row: WorkloadRow): Promise<Next> {
    if (this.options.podsOf(row.uid).some((pod) => !isTerminal(pod) && pod.metadata.uid !== row.uid))
      return { after: GONE_GRACE_MS };
    if (row.phase !== 'Waiting' && row.kind !== 'Pod') {
      const since = this.goneSince.get(row.uid) ?? performance.now();
      this.goneSince.set(row.uid, since);
      if (performance.now() - since < GONE_GRACE_MS) return { after: GONE_GRACE_MS };
    }
    this.goneSince.delete(row.uid);
    await this.finish(row, 'Cancelled', this.options.now());
    return undefined;
  }

  private async finish(row: WorkloadRow, result: WorkloadRow['result'], finishedAt: number): Promise<void> {
    await this.options.ledger.finish(row.uid, result!, finishedAt);
    this.options.onFreed(row.jobid);
    this.options.onQueueChanged();
  }
}

function hasStarted({ status }: Pod): boolean {
  return status?.phase === 'Running' || status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** At most three names in a sentence. */
function listed(names: readonly string[]): string {
  return names.length <= 3
    ? names.join(', ')
    : `${names.slice(0, 2).join(', ')} and ${names.length - 2} more`;
}
