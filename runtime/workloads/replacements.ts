/**
 * Pods of services that are lost and made again under the same name, as a StatefulSet does: the replacement takes the place
 * of the lost pod in the queue before the units of that one are free, so that nothing comes between.
 */
import type { Clock } from '../clock';
import type { KubernetesClient } from '../kubernetes/client';
import { controllerOf } from '../kubernetes/owner';
import type { KubernetesObject, Pod } from '../kubernetes/types';
import { askedBy, type Predecessor, type WorkloadRow } from '../queue/workload';
import { type ActiveWorkload, isTerminal } from './adapter';
import { REPLACEMENT_SECONDS } from './group-adapter';
import { remember } from './remembered';
import { makerOf, makesAgain, type StatefulSetOwner } from './stateful-sets';

const POLL_MS = 250;
const KEPT_MS = REPLACEMENT_SECONDS * 1000;
/** A kubelet may take its time to unmount the volumes of a pod before its object goes. */
const PLACE_KEPT_MS = 120_000;
const MOST_HEIRS = 10_000;

export class Replacements {
  /** UID of a pod -> the StatefulSet that makes it again, if one does. */
  private readonly controllers = new Map<string, StatefulSetOwner | undefined>();
  /** UID of a pod -> when it was first seen to be gone, in milliseconds of the clock. */
  private readonly goneSince = new Map<string, number>();
  /** UID of a StatefulSet and name of its pod -> the place that its last pod has left, and until when it is kept. */
  private readonly left = new Map<string, { readonly place: Predecessor; readonly until: number }>();
  /** UIDs of pods that took over from one that held units, and wait for these. */
  private readonly heirs = new Map<string, true>();
  /** UIDs of groups of pods that controllers make again, all of which may be gone for a moment. */
  private readonly groups = new Set<string>();

  constructor(
    private readonly options: { readonly clock: Clock; readonly client: Pick<KubernetesClient, 'get'> },
  ) {}

  /** A pod that is gone says nothing of its controller. */
  note({ object, adapter, row }: Pick<ActiveWorkload, 'object' | 'adapter' | 'row'>): void {
    const pod = row.kind === 'Pod' ? (object as Pod) : undefined;
    if (pod !== undefined) this.controllers.set(row.uid, statefulSetOf(pod));
    // A relist may have missed it for a moment.
    if (pod === undefined || !isTerminal(pod)) this.goneSince.delete(row.uid);
    const members = adapter.membersOf(object) ?? [];
    if (members.some((member) => controllerOf(member) !== undefined)) this.groups.add(row.uid);
  }

  forget({ uid }: WorkloadRow): void {
    this.controllers.delete(uid);
    this.goneSince.delete(uid);
    this.heirs.delete(uid);
    this.groups.delete(uid);
  }

  /**
   * The pod is gone. Its units are kept for a bounded time, and not at all where its StatefulSet was scaled down or is deleted. The
   * place in the queue is kept for longer, also of what held nothing.
   * @returns when to look again for the replacement of a pod that was granted units; undefined: none is expected
   */
  async awaited(row: WorkloadRow): Promise<{ readonly after: number } | undefined> {
    const isGroup = row.phase !== 'Waiting' && this.groups.has(row.uid);
    if (row.kind === 'Pod' && !this.controllers.has(row.uid)) {
      // Without an answer the units are kept: that ends by itself.
      const maker = await makerOf(this.options.client, row).catch(() => null);
      if (maker === null) return row.phase === 'Waiting' ? undefined : this.keepUnits(row);
      this.controllers.set(row.uid, maker);
    }
    return isGroup ? this.keepUnits(row) : this.awaitedPod(row);
  }

  /** The same of a pod that has ended, and whose object is not gone yet. */
  async awaitedPod(row: WorkloadRow): Promise<{ readonly after: number } | undefined> {
    if (!this.isReplaceable(row)) return undefined;
    const kept = this.keepsUnits(row) && (await this.isMadeAgain(row)) ? this.keepUnits(row) : undefined;
    if (kept === undefined) this.keepPlace(row);
    return kept;
  }

  /** It is asked once for each pod. Without an answer its units are kept, too. */
  private async isMadeAgain(row: WorkloadRow): Promise<boolean> {
    if (this.goneSince.has(row.uid)) return true;
    return makesAgain(this.options.client, this.controllers.get(row.uid)!, row).catch(() => true);
  }

  private keepUnits({ uid }: WorkloadRow): { readonly after: number } | undefined {
    const now = this.options.clock.now();
    const since = this.goneSince.get(uid) ?? now;
    this.goneSince.set(uid, since);
    return now - since < KEPT_MS ? { after: POLL_MS } : undefined;
  }

  /**
   * The place that this object takes over: of the row's pod, or of one that is gone; undefined if it replaces none. It is noted as the
   * heir of a pod that holds units.
   */
  placeFor(object: KubernetesObject, row: WorkloadRow | undefined): Predecessor | undefined {
    if (row === undefined) return this.placeLeftFor(object);
    if (row.kind === 'Pod' && !this.controllers.has(row.uid))
      this.controllers.set(row.uid, statefulSetOf(object as Pod));
    if (!this.isReplaceable(row) || controllerOf(object)?.uid !== this.controllers.get(row.uid)?.uid)
      return undefined;
    if (this.keepsUnits(row)) remember(this.heirs, object.metadata.uid, true, MOST_HEIRS);
    return placeOf(row);
  }

  /** One that is lost again before it was granted them has to be the next that is, though nothing is there to run. */
  private keepsUnits({ uid, phase }: WorkloadRow): boolean {
    return phase !== 'Waiting' || this.heirs.has(uid);
  }

  private keepPlace(row: WorkloadRow): void {
    const now = this.options.clock.now();
    for (const [key, { until }] of this.left) if (until <= now) this.left.delete(key);
    this.left.set(`${this.controllers.get(row.uid)?.uid}/${row.name}`, {
      place: placeOf(row),
      until: now + PLACE_KEPT_MS,
    });
  }

  private placeLeftFor(object: KubernetesObject): Predecessor | undefined {
    const left = this.left.get(`${controllerOf(object)?.uid}/${object.metadata.name}`);
    return left !== undefined && this.options.clock.now() < left.until ? left.place : undefined;
  }

  private isReplaceable({ uid, evictionReason }: WorkloadRow): boolean {
    return this.controllers.get(uid) !== undefined && evictionReason === null;
  }
}

/** Only `Always` is allowed in its template. */
function statefulSetOf(pod: Pod): StatefulSetOwner | undefined {
  const owner = controllerOf(pod);
  const isBuiltIn = owner?.kind === 'StatefulSet' && owner.apiVersion.startsWith('apps/');
  return isBuiltIn && (pod.spec.restartPolicy ?? 'Always') === 'Always' ? owner : undefined;
}

/** A pod that backs off after failed starts, and is made again, is tried at once: it may have been corrected. */
function placeOf(row: WorkloadRow): Predecessor {
  const { uid, phase, submittedAt, seq, avoid, after } = row;
  const waits = phase === 'Waiting';
  const [requeues, clusterRequeues] = waits ? [0, 0] : [row.requeues, row.clusterRequeues];
  return {
    uid,
    submittedAt,
    seq,
    requeues,
    clusterRequeues,
    avoid,
    message: null,
    notBefore: null,
    asked: askedBy(row),
    ...((!waits || row.isAfterMet) && { metAfter: after }),
  };
}
