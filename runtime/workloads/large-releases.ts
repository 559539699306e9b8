/**
 * The releases of large objects follow each other, with pauses. One write of such an object takes the apiserver up to
 * seconds of its processor, and the Job controller, the scheduler and the kubelet write it ten times more after its
 * release. Meanwhile all watches are late, those of other namespaces too: the pauses bound the share of large objects.
 */
import type { Clock } from '../clock';
import { FairKeys } from '../kubernetes/fair-keys';
import { formatKey, parseKey, type WorkloadKey } from '../shared/workload-key';
import type { ActiveWorkload } from './adapter';

interface LargeReleasesOptions {
  readonly clock: Clock;
  /** Reconciles this workload again: its turn has come. */
  readonly enqueue: (key: WorkloadKey) => void;
}

/** A pause takes this many times as long as the release before it: the apiserver answers late when it is busy. */
const PAUSES = 3;
/** Milliseconds. */
const LONGEST_PAUSE_MS = 20_000;
/** Milliseconds after which the next one has its turn, if nobody comes: the workload was deleted meanwhile. */
const ABSENT_MS = 1_000;

export class LargeReleases {
  /** The namespaces take turns. */
  private readonly waiting = new FairKeys((key) => parseKey(key).namespace);
  private isBusy = false;
  private isStopped = false;
  private cancelNext = () => {};

  constructor(private readonly options: LargeReleasesOptions) {}

  /** Releases the object, or returns undefined and enqueues it when its turn has come. */
  async run<T>(
    { row, object, adapter }: Pick<ActiveWorkload, 'row' | 'object' | 'adapter'>,
    release: () => Promise<T>,
  ): Promise<T | undefined> {
    if (!adapter.isLarge(object)) return release();
    const key = formatKey(row);
    if (this.isBusy) {
      this.waiting.add(key);
      return undefined;
    }
    this.isBusy = true;
    this.cancelNext();
    this.waiting.delete(key);
    const { clock } = this.options;
    const began = clock.now();
    try {
      return await release();
    } finally {
      this.nextAfter(Math.min(LONGEST_PAUSE_MS, PAUSES * (clock.now() - began)));
    }
  }

  /** Nobody has a turn any more. */
  stop(): void {
    this.isStopped = true;
    this.cancelNext();
    this.waiting.clear();
  }

  private nextAfter(milliseconds: number): void {
    if (this.isStopped) return;
    this.cancelNext = this.options.clock.after(milliseconds, () => this.next());
  }

  private next(): void {
    this.isBusy = false;
    const key = this.waiting.take(() => true);
    if (key === undefined) return;
    this.nextAfter(ABSENT_MS);
    this.options.enqueue(parseKey(key));
  }
}
