/** What granted workloads wait for while none of their pods runs, or some of their pods cannot. Observed, not stored: a new leader sees it again. */
import { Signal } from '../signal';

/** What the queue says of pods about which Kubernetes has not said more. */
export const GRANT_REASONS = [
  'ReleaseFailed',
  'PodsMissing',
  'Pending',
  'ContainerCreating',
  'PodInitializing',
  'VolumesUnbound',
  'ResourceClaimMissing',
  'SchedulingGated',
  'SchedulerMissing',
  'Unschedulable',
  'NodeLost',
  'NodeNotReady',
] as const;

/** Its pods end, because its user wants that: no eviction is stored, as nothing has to be remembered of it. */
export const LEAVING = 'Evicting';

export type GrantReason = (typeof GRANT_REASONS)[number];

/** What every grant waits for while its pods start. */
const STARTING: ReadonlySet<string> = new Set<GrantReason>([
  'PodsMissing',
  'Pending',
  'ContainerCreating',
  'PodInitializing',
]);

/** Whether the pods start as they should, as far as is known. */
export function isStarting({ reason }: GrantWait): boolean {
  return STARTING.has(reason);
}

export interface GrantWait {
  /** One of `GRANT_REASONS`, or a word of kube-scheduler or the kubelet: `SchedulerError`, `ImagePullBackOff`. */
  readonly reason: string;
  /** `ImagePullBackOff: IMAGE`, or the sentence of kube-scheduler. */
  readonly message: string;
  /** Name of a pod that waits. */
  readonly pod?: string;
  /** Whether other pods of the workload run. @default false */
  readonly isPartial?: boolean;
}

export class GrantWaits {
  /** The uid of the workload whose wait changed. */
  readonly changed = new Signal<string>();
  private readonly byUid = new Map<string, GrantWait>();
  private readonly lingering = new Map<string, string>();

  of(uid: string): GrantWait | undefined {
    return this.byUid.get(uid);
  }

  /** What is said of its pods that do not end, whatever else it waits for. */
  lingeringOf(uid: string): string | undefined {
    return this.lingering.get(uid);
  }

  /** @param sentence undefined: all of its pods end in time, or the workload has no grant */
  setLingering(uid: string, sentence: string | undefined): void {
    if (this.lingering.get(uid) === sentence) return;
    if (sentence === undefined) this.lingering.delete(uid);
    else this.lingering.set(uid, sentence);
    this.changed.emit(uid);
  }

  /** @param wait undefined: a pod runs, or the workload has no grant */
  set(uid: string, wait: GrantWait | undefined): void {
    const before = this.byUid.get(uid);
    const isSame = before?.reason === wait?.reason && before?.message === wait?.message;
    if (isSame && before?.isPartial === wait?.isPartial) return;
    if (wait === undefined) this.byUid.delete(uid);
    else this.byUid.set(uid, wait);
    this.changed.emit(uid);
  }
}
