/** Kubernetes Events on the objects that users created. */
import type { EventNote, EventRecorder } from '../kubernetes/events';
import type { KubernetesObject } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadKey } from '../shared/workload-key';
import type { WorkloadAdapter } from './adapter';
import { adapters } from './index';

export interface WorkloadEventsOptions {
  readonly events: Pick<EventRecorder, 'record'>;
  /** The object as the watch last delivered it. */
  readonly objectOf: (key: WorkloadKey) => KubernetesObject | undefined;
}

export class WorkloadEvents {
  constructor(private readonly options: WorkloadEventsOptions) {}

  recordEvent({ metadata }: KubernetesObject, { apiVersion, kind }: WorkloadAdapter, event: EventNote): void {
    const { namespace = '', name, uid } = metadata;
    this.options.events.record({ apiVersion, kind, namespace, name, uid }, event);
  }

  /** Records only Unsatisfiable: of the reasons that a scheduling pass sets, it alone needs action by the user. */
  rowChanged(row: WorkloadRow): void {
    if (row.reason !== 'Unsatisfiable' || row.phase !== 'Waiting') return;
    const object = this.options.objectOf(row);
    if (object?.metadata.uid !== row.uid) return;
    const message = row.message ?? 'can never be scheduled on this cluster';
    this.recordEvent(object, adapters.get(row.kind)!, { type: 'Warning', reason: 'Unsatisfiable', message });
  }
}

/** Names as part of a message, at most three of them. */
export function listNames(names: readonly string[]): string {
  return names.length <= 3
    ? names.join(', ')
    : `${names.slice(0, 2).join(', ')} and ${names.length - 2} more`;
}
