/** What granted workloads wait for while none of their pods runs. Observed, not stored: a new leader sees it again. */
import { Signal } from '../signal';

export interface GrantWait {
  /** In the words of Kubernetes: `Unschedulable`, `ImagePullBackOff`, `ContainerCreating`, `FailedCreate`. */
  readonly reason: string;
  /** `ImagePullBackOff: IMAGE`, or the sentence of kube-scheduler or the Job controller. */
  readonly message: string;
  /** Name of a pod that waits. */
  readonly pod?: string;
}

export class GrantWaits {
  /** The uid of the workload whose wait changed. */
  readonly changed = new Signal<string>();
  private readonly byUid = new Map<string, GrantWait>();

  of(uid: string): GrantWait | undefined {
    return this.byUid.get(uid);
  }

  /** @param wait undefined: a pod runs, or the workload has no grant */
  set(uid: string, wait: GrantWait | undefined): void {
    const before = this.byUid.get(uid);
    if (before?.reason === wait?.reason && before?.message === wait?.message) return;
    if (wait === undefined) this.byUid.delete(uid);
    else this.byUid.set(uid, wait);
    this.changed.emit(uid);
  }
}
