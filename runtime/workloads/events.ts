/** What users are told of their workloads: Kubernetes Events on the objects that they made. */
import type { EventNote, EventRecorder } from '../kubernetes/events';
import type { KubernetesObject } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadKey } from '../shared/workload-key';
import type { WorkloadAdapter } from './adapter';
import { adapters } from './index';

export interface WorkloadEventsOptions {
  readonly events: Pick<EventRecorder, 'record'>;
  /** As last seen. */
  readonly objectOf: (key: WorkloadKey) => KubernetesObject | undefined;
}

export class WorkloadEvents {
  constructor(private readonly options: WorkloadEventsOptions) {}

  recordEvent({ metadata }: KubernetesObject, { apiVersion, kind }: WorkloadAdapter, news: EventNote): void {
    const { namespace = '', name, uid } = metadata;
    this.options.events.record({ apiVersion, kind, namespace, name, uid }, news);
  }

  /** That it can never start is the one thing that a pass finds out and a user must act on. */
  rowChanged(row: WorkloadRow): void {
    if (row.reason !== 'Unsatisfiable' || row.phase !== 'Waiting') return;
    const object = this.options.objectOf(row);
    if (object?.metadata.uid !== row.uid) return;
    const message = row.message ?? 'can never be placed on this cluster';
    this.recordEvent(object, adapters.get(row.kind)!, { type: 'Warning', reason: 'Unsatisfiable', message });
  }
}
