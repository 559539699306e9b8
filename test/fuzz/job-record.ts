/** What the Job controller knows of the pods of a Job that are over, also after their deletion (in Kubernetes: finalizers and status). */
import { COMPLETION_INDEX_ANNOTATION } from '../../constructs/api/labels';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { FAILS, FAILURES, LENGTHS, RUNS } from './pod-annotations';

/** Seconds until a pod that failed is made again, times the number of failures: 10 and more in Kubernetes. */
const RETRY_SECONDS = 3;

export class JobRecord {
  /** Completion indexes, or uids of pods without an index. */
  readonly succeeded = new Set<string>();
  /** uids of pods. */
  readonly failed = new Set<string>();
  /** uids of pods that the Job controller deleted itself: it counts them no more. */
  readonly removed = new Set<string>();
  /** Pods that were made. */
  made = 0;
  /** Index -> how many of its pods failed. */
  private readonly failures = new Map<string, number>();
  /** Pods that failed since the last one that succeeded. */
  private inRow = 0;
  /** Index, or none for the whole Job -> when its next pod may come. Unix seconds. */
  private readonly retries = new Map<string | undefined, number>();

  /** @param task completion index, or uid of a pod without an index */
  succeed(task: string): void {
    if (this.succeeded.has(task)) return;
    this.succeeded.add(task);
    this.inRow = 0;
    this.retries.delete(undefined);
  }

  fail(pod: Pod, now: number): void {
    if (this.failed.has(pod.metadata.uid)) return;
    this.failed.add(pod.metadata.uid);
    this.inRow += 1;
    this.retries.set(undefined, now + RETRY_SECONDS * this.inRow);
    const index = pod.metadata.annotations?.[COMPLETION_INDEX_ANNOTATION];
    if (index === undefined) return;
    const count = this.failuresOf(index) + 1;
    this.failures.set(index, count);
    this.retries.set(index, now + RETRY_SECONDS * count);
  }

  /** Indexes that get no further pod. */
  failedIndexes({ spec: { backoffLimitPerIndex: limit } }: Job): readonly string[] {
    if (limit === undefined) return [];
    return [...this.failures]
      .filter(([index, count]) => count > limit && !this.succeeded.has(index))
      .map(([index]) => index);
  }

  /** Whether the next pod may come. After a failure the whole Job waits, unless each index has retries of its own. */
  mayRetry({ spec: { backoffLimitPerIndex } }: Job, index: string | undefined, now: number): boolean {
    return (this.retries.get(backoffLimitPerIndex === undefined ? undefined : index) ?? 0) <= now;
  }

  /** How the next pod of the index ends, if the template says so of its pods one by one. */
  endOf({ spec: { template } }: Job, index: string | undefined): Readonly<Record<string, string>> {
    const annotations = template.metadata?.annotations ?? {};
    const lengths = annotations[LENGTHS]?.split(',') ?? [];
    const ordinal = index === undefined ? this.made : Number(index);
    const length = lengths[ordinal % lengths.length];
    const failures = annotations[FAILURES]?.split(',').find((each) => each.startsWith(`${ordinal}:`));
    const fails = this.failuresOf(index) < Number(failures?.split(':')[1] ?? 0);
    return { ...(length !== undefined && { [RUNS]: length }), ...(fails && { [FAILS]: 'true' }) };
  }

  private failuresOf(index: string | undefined): number {
    return index === undefined ? this.failed.size : (this.failures.get(index) ?? 0);
  }
}
