/** Kubernetes Events on the objects that users created. */
import type { EventNote, EventRecorder } from '../kubernetes/events';
import type { KubernetesObject } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import { GROUP_LATE } from '../scheduler/pass/wait-reasons';
import type { WorkloadKey } from '../shared/workload-key';
import { namesOf, type WorkloadAdapter } from './adapter';
import { adapters } from './index';

export interface WorkloadEventsOptions {
  readonly events: Pick<EventRecorder, 'record'>;
  /** The object as the watch last delivered it. */
  readonly objectOf: (key: WorkloadKey) => KubernetesObject | undefined;
}

export class WorkloadEvents {
  constructor(private readonly options: WorkloadEventsOptions) {}

  /** Nobody can describe a group of pods: its first pods say what is true of all. */
  recordEvent(object: KubernetesObject, adapter: WorkloadAdapter, event: EventNote): void {
    const members = adapter.membersOf(object);
    for (const pod of members?.slice(0, MOST_MEMBERS) ?? [])
      this.recordEvent(pod, adapters.get('Pod')!, event);
    if (members !== undefined) return;
    const { apiVersion, kind } = adapter;
    const { namespace = '', name, uid } = object.metadata;
    this.options.events.record({ apiVersion, kind, namespace, name, uid }, event);
  }

  /** Records only what needs action by the user, of the reasons that a scheduling pass sets. */
  rowChanged(row: WorkloadRow): void {
    const isLate = row.reason === 'GroupIncomplete' && row.message?.startsWith(GROUP_LATE) === true;
    if ((row.reason !== 'Unsatisfiable' && !isLate) || row.phase !== 'Waiting') return;
    const object = this.options.objectOf(row);
    if (object?.metadata.uid !== row.uid) return;
    const message = row.message ?? 'can never be scheduled on this cluster';
    this.recordEvent(object, adapters.get(row.kind)!, { type: 'Warning', reason: row.reason!, message });
  }
}

/** Events of one group at once. */
const MOST_MEMBERS = 8;

const NOTABLE_WAIT_SECONDS = 5;

/**
 * Says where a granted workload runs and how long it waited. kube-scheduler already records an Event for each pod, so a short wait
 * for a single node needs no other; nor does a longer one while many workloads start and end: the FluxJob has both, and an Event
 * costs as much as the release.
 */
export function scheduledNote(
  row: WorkloadRow,
  { now, isBusy }: { readonly now: number; readonly isBusy: boolean },
): EventNote | undefined {
  const waited = Math.max(0, Math.round((row.allocatedAt ?? now) - row.submittedAt));
  const nodes = namesOf(row.allocation!.nodes);
  if (nodes.length === 1 && (waited < NOTABLE_WAIT_SECONDS || isBusy)) return undefined;
  const pods = row.pods === 1 ? '1 pod' : `${row.pods} pods`;
  const message = `${pods} on ${listNames(nodes)} after ${waited}s in queue ${row.queue}`;
  return { type: 'Normal', reason: 'Scheduled', message };
}

/** Names as part of a message, at most three of them. */
export function listNames(names: readonly string[]): string {
  return names.length <= 3
    ? names.join(', ')
    : `${names.slice(0, 2).join(', ')} and ${names.length - 2} more`;
}
