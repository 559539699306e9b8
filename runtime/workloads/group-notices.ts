/** What a group and its members are told of those that have no place in it, and when the group has to be looked at again. */
import type { EventNote } from '../kubernetes/events';
import type { KubernetesObject } from '../kubernetes/types';
import type { ReconcileResult } from '../kubernetes/work-queue';
import type { WorkloadRow } from '../queue/workload';
import { GROUP_LATE } from '../scheduler/pass/wait-reasons';
import type { GrantReason, GrantWait } from '../shared/grant-waits';
import type { ActiveWorkload, WorkloadAdapter } from './adapter';
import { REPLACEMENT_SECONDS } from './group-adapter';
import { membershipOf } from './group-member';
import { asGroup, groupEnd, type PodGroup, placesOf } from './pod-group';
import { olderMembersText } from './rollout';

export interface GroupNoticesOptions {
  readonly adapters: ReadonlyMap<string, WorkloadAdapter>;
  readonly recordEvent: (object: KubernetesObject, adapter: WorkloadAdapter, event: EventNote) => void;
  /** Called when the next scheduling pass has something new to say. */
  readonly onQueueChanged: () => void;
  /** Unix seconds. */
  readonly now: () => number;
}

/** What a group that runs says of pods that have no place in it. */
export function refusedWait(object: KubernetesObject): GrantWait | undefined {
  const group = asGroup(object);
  if (group === undefined) return undefined;
  const { refused, live } = placesOf(group);
  const [first] = refused;
  if (first === undefined) return undefined;
  const [pod, told] = first;
  const count = refused.size - 1;
  const others = count === 0 ? [] : [`and ${count} more ${count === 1 ? 'pod waits' : 'pods wait'}`];
  const message = [told, ...others, olderMembersText(pod, live) ?? []].flat().join('; ');
  const reason: GrantReason = 'Pending';
  return { reason, pod: pod.metadata.name, message, isPartial: true };
}

export class GroupNotices {
  /** uid of a group -> uid of a pod -> what it was told. */
  private readonly told = new Map<string, Map<string, string>>();

  constructor(private readonly options: GroupNoticesOptions) {}

  forget({ uid }: Pick<WorkloadRow, 'uid'>): void {
    this.told.delete(uid);
  }

  /** @returns when its time to become complete, or to get the pods again that it lacks, is over */
  follow({ object, row }: Pick<ActiveWorkload, 'object' | 'row'>): ReconcileResult {
    const group = asGroup(object);
    if (group === undefined) return undefined;
    this.tellRefused(row, group);
    const { live, ...places } = placesOf(group);
    const now = this.options.now();
    if (row.phase === 'Waiting') return this.untilLate(row, now);
    const isAwaited = live.length === 0 && group.members.some((pod) => membershipOf(pod) !== undefined);
    const end = groupEnd({ live, ...places }, now) + REPLACEMENT_SECONDS;
    return isAwaited && end > now ? inSeconds(end - now) : undefined;
  }

  private untilLate({ jobspec, message }: WorkloadRow, now: number): ReconcileResult {
    const { incomplete } = jobspec.attributes.user ?? {};
    if (incomplete === undefined) return undefined;
    if (now < incomplete.until) return inSeconds(incomplete.until - now);
    if (message?.startsWith(GROUP_LATE) !== true) this.options.onQueueChanged();
    return undefined;
  }

  private tellRefused({ uid }: WorkloadRow, group: PodGroup): void {
    const { refused } = placesOf(group);
    if (refused.size === 0) {
      this.forget({ uid });
      return;
    }
    const before = this.told.get(uid);
    this.told.set(uid, new Map([...refused].map(([pod, message]) => [pod.metadata.uid, message])));
    for (const [pod, message] of refused)
      if (before?.get(pod.metadata.uid) !== message)
        this.options.recordEvent(pod, this.options.adapters.get('Pod')!, {
          type: 'Warning',
          reason: 'NotInGroup',
          message,
        });
  }
}

function inSeconds(seconds: number): ReconcileResult {
  return { after: Math.max(1, Math.ceil(seconds * 1000)) };
}
