/** The objects that may be workloads, and their pods, as the watches last delivered them. */
import { type Clock, systemClock } from '../clock';
import type { KubernetesObject, Pod } from '../kubernetes/types';
import { Signal } from '../signal';
import type { Informers } from './informers';
import { makerOf } from './makers';
import type { GroupRow, PodFacts, WorkloadIdentity } from './pod-facts';
import { formatKey, type WorkloadKey } from './workload-key';

/** The row of this key that has not ended. */
type ActiveRow = (key: WorkloadKey) => GroupRow | undefined;

interface Assembled {
  readonly pods: readonly Pod[];
  readonly row: GroupRow | undefined;
  readonly object: KubernetesObject | undefined;
}

/** Milliseconds in which the garbage collector deletes what was made for a deleted object. What is left then was orphaned. */
const COLLECTED_MS = 60_000;

export class WorkloadObjects {
  /** The object of a workload or one of its pods changed. */
  readonly changed = new Signal<WorkloadKey>();
  /** Groups of pods as they were asked for last: who compares objects finds the same one until one of its pods changes. */
  private readonly groups = new Map<string, Assembled>();

  /** uids of objects of workload kinds whose pods may still be collected -> their last deletion. */
  private readonly deleted = new Map<string, object>();

  /** @param activeRow @default - no group of pods has a row */
  constructor(
    private readonly informers: Pick<Informers, 'jobs' | 'pods' | 'kinds' | 'makers'>,
    private readonly podFacts: PodFacts,
    private readonly activeRow: ActiveRow = () => undefined,
    private readonly clock: Clock = systemClock,
  ) {
    informers.jobs.changed.subscribe(({ now, before }) => this.changed.emit(keyOf('Job', (now ?? before)!)));
    for (const [kind, { changed }] of informers.kinds)
      changed.subscribe(({ now, before }) => {
        if (now === undefined) this.noteDeleted(before!.metadata.uid);
        this.changed.emit(keyOf(kind, (now ?? before)!));
      });
    for (const [kind, { changed }] of informers.makers)
      changed.subscribe(({ now, before }) => this.changed.emit(keyOf(kind, (now ?? before)!)));
    informers.pods.changed.subscribe(({ now, before }) => {
      const pod = (now ?? before)!;
      const owner = podFacts.owner(pod);
      if (owner !== undefined && this.isMadeFor(owner)) this.changed.emit(owner);
      const key = podFacts.workloadKey(pod);
      if (key !== undefined) this.changed.emit(key);
      // A pod may leave its group.
      const former =
        now && before && podFacts.group(before) !== podFacts.group(now) && podFacts.workloadKey(before);
      if (former) this.changed.emit(former);
    });
  }

  get(key: WorkloadKey): KubernetesObject | undefined {
    const { kind, namespace, name } = key;
    const at = `${namespace}/${name}`;
    if (kind === 'Job') return this.informers.jobs.get(at);
    const ofKind = this.informers.kinds.get(kind);
    if (ofKind !== undefined) return this.withMaker(key, ofKind.get(at));
    if (kind !== 'Pod') return this.groupOf(key);
    const pod = this.informers.pods.get(at);
    // The group, or the object that it was made for, is the workload.
    return pod === undefined || this.podFacts.group(pod) !== undefined || this.isPart(pod) ? undefined : pod;
  }

  /** Whether objects of this kind may exist that cannot be listed: then one that is not found is not gone. */
  isUnlisted({ kind }: Pick<WorkloadKey, 'kind'>): boolean {
    return this.informers.kinds.get(kind)?.isComplete === false;
  }

  /** The object, unless it has no row and nobody knows yet whose it is. */
  private withMaker(key: WorkloadKey, object: KubernetesObject | undefined): KubernetesObject | undefined {
    const isAwaited =
      object !== undefined &&
      makerOf(this.informers, key.kind, object) === 'awaited' &&
      this.activeRow(key)?.uid !== object.metadata.uid;
    return isAwaited ? undefined : object;
  }

  /** Whether the pod was made for an object of a workload kind that is, or was a moment ago, a workload of the queue. */
  private isPart(pod: Pod): boolean {
    const owner = this.podFacts.owner(pod);
    return owner !== undefined && this.isMadeFor(owner);
  }

  private isMadeFor(owner: WorkloadKey & { readonly uid: string }): boolean {
    return this.isWatched(owner) || this.activeRow(owner)?.uid === owner.uid || this.deleted.has(owner.uid);
  }

  private isWatched({ kind, namespace, name, uid }: WorkloadKey & { readonly uid: string }): boolean {
    return this.informers.kinds.get(kind)?.get(`${namespace}/${name}`)?.metadata.uid === uid;
  }

  private noteDeleted(uid: string): void {
    const deletion = {};
    this.deleted.set(uid, deletion);
    this.clock.after(COLLECTED_MS, () => {
      // It may have come back to its watch, and left it again.
      if (this.deleted.get(uid) !== deletion) return;
      this.deleted.delete(uid);
      this.reportLeft(uid);
    });
  }

  /** A row has ended: what an object of a workload kind that is gone has left is a workload of its own from now on. */
  ended(row: WorkloadKey & { readonly uid: string }): void {
    if (this.informers.kinds.has(row.kind) && !this.isWatched(row)) this.reportLeft(row.uid);
  }

  /** Nothing changes about these pods. */
  private reportLeft(uid: string): void {
    for (const pod of this.informers.pods.byIndex('workload', uid)) {
      const key = this.podFacts.workloadKey(pod);
      if (key !== undefined) this.changed.emit(key);
    }
  }

  /** The keys of all objects that may be workloads; each of them is there. */
  *keys(): Iterable<WorkloadKey> {
    for (const job of this.informers.jobs.list()) yield keyOf('Job', job);
    yield* this.kindKeys();
    const groups = new Set<string>();
    for (const pod of this.informers.pods.list()) {
      const key = this.podFacts.workloadKey(pod);
      if (key?.kind === 'Pod' && !this.isPart(pod)) yield key;
      if (key === undefined || this.podFacts.group(pod) === undefined) continue;
      const group = formatKey(key);
      // None of its pods may be one of the group that has the row.
      if (!groups.has(group) && this.get(key) !== undefined) yield key;
      groups.add(group);
    }
  }

  /** One that is awaited is of nobody yet. */
  private *kindKeys(): Iterable<WorkloadKey> {
    for (const [kind, objects] of this.informers.kinds)
      for (const object of objects.list()) {
        const key = keyOf(kind, object);
        if (this.get(key) !== undefined) yield key;
      }
  }

  /** The uids of all objects that may be workloads. */
  *uids(): Iterable<string> {
    for (const key of this.keys()) {
      const object = this.get(key);
      if (object !== undefined) yield object.metadata.uid;
    }
  }

  /** The pods of this workload. */
  podsOf(workload: WorkloadIdentity): readonly Pod[] {
    const group = this.podFacts.groupOf(workload);
    const { pods } = this.informers;
    const named = group === undefined ? pods.byIndex('workload', workload.uid) : pods.byIndex('group', group);
    return named.filter((pod) => this.podFacts.belongsTo(pod, workload));
  }

  private groupOf(key: WorkloadKey): KubernetesObject | undefined {
    const { namespace, name } = key;
    const pods = this.informers.pods.byIndex('group', `${namespace}/${name}`);
    const row = this.activeRow(key);
    const known = this.groups.get(formatKey(key));
    if (known !== undefined && isSameGrant(known.row, row) && isSame(known.pods, pods)) return known.object;
    const object = this.podFacts.assemble(key, pods, row);
    if (pods.length === 0) this.groups.delete(formatKey(key));
    else this.groups.set(formatKey(key), { pods, row, object });
    return object;
  }
}

function isSameGrant(a: GroupRow | undefined, b: GroupRow | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.uid === b.uid && a.jobspec === b.jobspec && (a.allocation === null) === (b.allocation === null);
}

function isSame(some: readonly Pod[], others: readonly Pod[]): boolean {
  return some.length === others.length && some.every((pod, i) => pod === others[i]);
}

function keyOf(kind: string, { metadata: { namespace = '', name } }: KubernetesObject): WorkloadKey {
  return { kind, namespace, name };
}
