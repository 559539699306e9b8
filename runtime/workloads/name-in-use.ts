/**
 * Objects that are not queued yet because pods of a deleted workload of their name still run (`kubectl delete --cascade=orphan`).
 * The FluxJob of that name is the one of the pods that run, so only an Event on the new object says so.
 */
import type { EventNote } from '../kubernetes/events';
import type { KubernetesObject } from '../kubernetes/types';
import type { WorkloadCache } from '../queue/workload-cache';
import { hostlistOf } from '../resources/hostlist';
import type { WorkloadKey } from '../shared/workload-key';
import { namesOf, type WorkloadAdapter } from './adapter';

export interface NameInUseOptions {
  readonly workloadCache: Pick<WorkloadCache, 'byName' | 'byUid'>;
  readonly objectOf: (key: WorkloadKey) => KubernetesObject | undefined;
  readonly recordEvent: (object: KubernetesObject, adapter: WorkloadAdapter, event: EventNote) => void;
}

/** @param nodes a hostlist */
export function nameInUse(kind: string, nodes: string): string {
  return `pods of a deleted ${kind} of this name still run on ${nodes}: it is queued once they have ended, as of its creation`;
}

export class NameInUse {
  /** UID of the object that was told -> its key. */
  private readonly told = new Map<string, WorkloadKey>();

  constructor(private readonly options: NameInUseOptions) {}

  /** Says once what the object waits for. */
  tell(key: WorkloadKey, object: KubernetesObject, adapter: WorkloadAdapter): void {
    const { workloadCache, objectOf, recordEvent } = this.options;
    for (const [uid, known] of this.told)
      if (objectOf(known)?.metadata.uid !== uid || workloadCache.byUid(uid) !== undefined)
        this.told.delete(uid);
    if (this.told.has(object.metadata.uid)) return;
    this.told.set(object.metadata.uid, key);
    const rows = [...workloadCache.byName(key.kind, key.namespace, key.name)];
    const nodes = hostlistOf(rows.flatMap(({ allocation }) => namesOf(allocation?.nodes ?? [])));
    const message = nameInUse(key.kind, nodes);
    recordEvent(object, adapter, { type: 'Warning', reason: 'NameInUse', message });
  }
}
