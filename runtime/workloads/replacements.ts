/**
 * Pods of services that are lost and made again under the same name, as a StatefulSet does: the replacement takes the place
 * of the lost pod in the queue before the units of that one are free, so that nothing comes between.
 */
import type { Clock } from '../clock';
import { controllerOf } from '../kubernetes/owner';
import type { KubernetesObject } from '../kubernetes/types';
import { askedBy, type Predecessor, type WorkloadRow } from '../queue/workload';
import type { ActiveWorkload } from './adapter';
import { REPLACEMENT_SECONDS } from './group-adapter';

const POLL_MS = 250;

export class Replacements {
  /** UID of a pod -> UID of the StatefulSet that makes it again. */
  private readonly controllers = new Map<string, string>();
  /** UID of a pod -> when it was first seen to be gone, in milliseconds of the clock. */
  private readonly goneSince = new Map<string, number>();
  /** UIDs of groups of pods that controllers make again, all of which may be gone for a moment. */
  private readonly groups = new Set<string>();

  constructor(private readonly options: { readonly clock: Clock }) {}

  /** A pod that is gone says nothing of its controller. */
  note({ object, adapter, row }: Pick<ActiveWorkload, 'object' | 'adapter' | 'row'>): void {
    const owner = row.kind === 'Pod' ? controllerOf(object) : undefined;
    if (owner?.kind === 'StatefulSet') this.controllers.set(row.uid, owner.uid);
    const members = adapter.membersOf(object);
    if (members === undefined) return;
    if (members.some((pod) => controllerOf(pod) !== undefined)) this.groups.add(row.uid);
  }

  forget({ uid }: WorkloadRow): void {
    this.controllers.delete(uid);
    this.goneSince.delete(uid);
    this.groups.delete(uid);
  }

  /**
   * A StatefulSet that was scaled down or deleted makes none, so units are kept for a bounded time.
   * @returns when to look again for the replacement of a pod that ran; undefined: none is expected
   */
  awaited(row: WorkloadRow): { readonly after: number } | undefined {
    const isGroup = row.phase !== 'Waiting' && this.groups.has(row.uid);
    if (!isGroup && !this.isReplaceable(row)) return undefined;
    const now = this.options.clock.now();
    const since = this.goneSince.get(row.uid) ?? now;
    this.goneSince.set(row.uid, since);
    return now - since < REPLACEMENT_SECONDS * 1000 ? { after: POLL_MS } : undefined;
  }

  /** The place that this object takes over; undefined if it is no replacement of the row's pod. */
  placeFor(object: KubernetesObject, row: WorkloadRow): Predecessor | undefined {
    const controller = this.controllers.get(row.uid);
    if (!this.isReplaceable(row) || controllerOf(object)?.uid !== controller) return undefined;
    const { uid, submittedAt, requeues, clusterRequeues, avoid, after: metAfter } = row;
    const place = { submittedAt, requeues, clusterRequeues, avoid, metAfter };
    return { uid, ...place, message: null, notBefore: null, asked: askedBy(row) };
  }

  private isReplaceable({ uid, phase, evictionReason }: WorkloadRow): boolean {
    return this.controllers.has(uid) && phase === 'Running' && evictionReason === null;
  }
}
