/**
 * Runs a reconcile function for keys: several keys at the same time, but each key only once at a time. A key that is
 * added while it waits is not added again; a key that is added while it runs is run once more afterwards.
 */

import { type Backoff, backoff, type Clock, type Random, systemClock, TimeSlice } from '../clock';
import { FluxqError, messageOf } from '../errors';
import { GroupSlots } from '../group-slots';
import type { Logger } from '../observability/log';
import { FairKeys } from './fair-keys';

/** Milliseconds until the key runs again; undefined: when it is added again. */
export type ReconcileResult = { readonly after: number } | undefined;

export function earliest(a: ReconcileResult, b: ReconcileResult): ReconcileResult {
  if (a === undefined || b === undefined) return a ?? b;
  return a.after < b.after ? a : b;
}

/** A key that `failed` is retried. A `dropped` key had an error that is not retryable. */
export type Outcome = 'done' | 'again' | 'failed' | 'dropped';

export interface WorkQueueOptions {
  /** For logs. */
  readonly name: string;
  readonly reconcile: (key: string) => Promise<ReconcileResult> | Promise<void>;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** The number of keys that run at the same time. @default 8 */
  readonly concurrency?: number;
  /**
   * The group of a key. Groups take turns, and one of them gets at most half of the runs at the same time: slow requests for
   * the objects of one namespace must not keep those of all others waiting. @default - all keys are one group without limit
   */
  readonly groupOf?: (key: string) => string;
  /** Milliseconds before a failed key runs again. @default 250 to 60000 */
  readonly backoff?: Backoff;
  readonly onOutcome?: (key: string, outcome: Outcome, seconds: number) => void;
  readonly clock?: Clock;
  readonly random?: Random;
}

const DEFAULT_BACKOFF: Backoff = { first: 250, most: 60_000 };

export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #ready: FairKeys;
  readonly #running = new Set<string>();
  readonly #slots: GroupSlots;
  readonly #groupOf: (key: string) => string;
  /** Added while running. */
  readonly #again = new Set<string>();
  readonly #delayed = new Map<string, { readonly at: number; readonly cancel: () => void }>();
  readonly #failures = new Map<string, number>();
  /** Who waits for runs: how many each key still has to end. */
  readonly #awaited = new Set<{ readonly left: Map<string, number>; readonly resolve: () => void }>();
  /**
   * In which runs may follow each other. Runs that never wait for an answer would otherwise keep timers, probes and the
   * renewals of the Lease waiting until the last key is done.
   */
  readonly #slice: TimeSlice;
  #cancelRest: (() => void) | undefined;
  #stopped = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#slice = new TimeSlice(this.#clock);
    this.#random = options.random ?? Math.random;
    const { concurrency = 8, groupOf } = options;
    this.#groupOf = groupOf ?? (() => '');
    this.#slots = new GroupSlots(
      concurrency,
      groupOf === undefined ? concurrency : Math.ceil(concurrency / 2),
    );
    this.#ready = new FairKeys(this.#groupOf);
  }

  /** The number of keys that wait to run, without delayed ones. */
  get waiting(): number {
    return this.#ready.size;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Runs the key as soon as possible, and cancels its delay: the run determines the next one. */
  add(key: string): void {
    if (this.#stopped) return;
    this.#undelay(key);
    if (this.#running.has(key)) this.#again.add(key);
    else this.#ready.add(key);
    this.#pump();
  }

  /** Runs every key that runs now once more: it may have read what has changed since. */
  repeatRunning(): void {
    if (this.#stopped) return;
    for (const key of this.#running) this.#again.add(key);
  }

  /** Runs the key after so many milliseconds, or earlier if an earlier run was requested. */
  addAfter(key: string, milliseconds: number): void {
    if (milliseconds <= 0) {
      this.add(key);
      return;
    }
    if (this.#stopped || this.#ready.has(key)) return;
    const at = this.#clock.now() + milliseconds;
    const known = this.#delayed.get(key);
    if (known !== undefined && known.at <= at) return;
    known?.cancel();
    const cancel = this.#clock.after(milliseconds, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { at, cancel });
  }

  /** Removes the key with its delay and its failures. A run in progress is not stopped. */
  forget(key: string): void {
    this.#undelay(key);
    this.#ready.delete(key);
    this.#again.delete(key);
    this.#failures.delete(key);
    this.#report(key, () => (this.#running.has(key) ? 1 : 0));
  }

  /**
   * Resolves when the keys that wait or run now have run. Those that are added meanwhile do not count, because there may always be
   * some, nor do delayed ones.
   */
  async caughtUp(): Promise<void> {
    const left = new Map<string, number>();
    for (const key of this.#ready) left.set(key, 1);
    for (const key of this.#running) left.set(key, this.#again.has(key) ? 2 : 1);
    if (left.size > 0) await new Promise<void>((resolve) => this.#awaited.add({ left, resolve }));
  }

  /** Starts no further runs. Resolves when the current ones have ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#ready.clear();
    this.#again.clear();
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#cancelRest?.();
    for (const { left } of this.#awaited)
      for (const key of left.keys()) if (!this.#running.has(key)) this.#report(key, () => 0);
    await this.caughtUp();
  }

  #undelay(key: string): void {
    this.#delayed.get(key)?.cancel();
    this.#delayed.delete(key);
  }

  #pump(): void {
    while (this.#ready.size > 0 && !this.#slots.isFull && !this.#rests()) {
      const key = this.#ready.take(this.#slots.isFree);
      if (key === undefined) return;
      this.#running.add(key);
      this.#slots.use(this.#groupOf(key));
      void this.#run(key);
    }
  }

  /** Whether other work comes first, because runs have followed each other for a slice. */
  #rests(): boolean {
    if (this.#cancelRest !== undefined) return true;
    if (this.#running.size === 0) this.#slice.begin();
    if (!this.#slice.isOver) return false;
    this.#cancelRest = this.#clock.after(0, () => {
      this.#cancelRest = undefined;
      this.#slice.begin();
      this.#pump();
    });
    return true;
  }

  async #run(key: string): Promise<void> {
    const started = this.#clock.now();
    let outcome: Outcome;
    try {
      const again = await this.#options.reconcile(key);
      outcome = this.#succeeded(key, typeof again === 'object' ? again : undefined);
    } catch (error) {
      outcome = this.#failed(key, error);
    }
    this.#running.delete(key);
    this.#slots.free(this.#groupOf(key));
    this.#options.onOutcome?.(key, outcome, (this.#clock.now() - started) / 1000);
    if (this.#again.delete(key)) this.add(key);
    this.#pump();
    this.#report(key, (runs) => (this.#stopped ? 0 : runs - 1));
  }

  /** Tells those who wait for this key how many of its runs are left. */
  #report(key: string, runsLeft: (before: number) => number): void {
    for (const awaited of this.#awaited) {
      const { left, resolve } = awaited;
      const runs = left.get(key);
      if (runs === undefined) continue;
      if (runsLeft(runs) > 0) left.set(key, runsLeft(runs));
      else left.delete(key);
      if (left.size > 0) continue;
      this.#awaited.delete(awaited);
      resolve();
    }
  }

  #succeeded(key: string, again: ReconcileResult): Outcome {
    this.#failures.delete(key);
    if (again === undefined) return 'done';
    this.addAfter(key, Math.max(1, again.after));
    return 'again';
  }

  #failed(key: string, error: unknown): Outcome {
    const { name, logger } = this.#options;
    if (error instanceof FluxqError && !error.retryable) {
      this.#failures.delete(key);
      logger.error({ queue: name, key, err: error }, `dropped: ${error.message}`);
      return 'dropped';
    }
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const wait = backoff(this.#options.backoff ?? DEFAULT_BACKOFF, failures, this.#random);
    const fields = { queue: name, key, failures, retryMs: Math.round(wait) };
    // The stack is the same each time.
    logger.warn(failures === 1 ? { ...fields, err: error } : fields, messageOf(error));
    this.addAfter(key, wait);
    return 'failed';
  }
}
