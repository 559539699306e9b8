/**
 * Keeps a copy of one resource: it lists once and then watches for ever. Every end of a watch is normal: the server's
 * timeout, a reset, silence, 410, 429 and 5xx, a restarted apiserver. After a gap the list is compared with the copy,
 * so that deletions in the gap are reported too.
 *
 * Consumers get hints in order, but may not see every intermediate state.
 */

import { type Backoff, backoff, type Clock, pause, type Random, systemClock } from '../clock';
import { messageOf } from '../errors';
import { Absence, type AbsenceOptions } from './absence';
import { type IndexFunction, keyOf, ObjectCache } from './cache';
import type { Encoding, KubernetesClient, WatchEvent } from './client';
import { isStatus } from './errors';
import { isSameHistory } from './history-check';
import { pagesOf } from './list-pages';
import type { Selection } from './query';
import type { KubernetesObject } from './types';

/**
 * The end of a watch. `expired`: 410, so the list is read again. `silent`: no data came for the idle time. That is
 * normal for a resource that does not change: the apiserver sends no bookmark that is not newer than the list, and etcd
 * reports newer versions of an unchanged resource only every 10 minutes by default.
 */
export type WatchEnd = 'closed' | 'expired' | 'failed' | 'silent';

interface ReflectorHooks {
  /** Called when listing or watching failed; another attempt follows. */
  readonly onFailure?: (error: unknown) => void;
  /** Called with each answer: a list, an event, or that the history is the same after a failure. */
  readonly onAnswer?: () => void;
  readonly onWatchEnd?: (end: WatchEnd) => void;
}

export interface ReflectorOptions<K extends KubernetesObject, T>
  extends Selection,
    Encoding,
    ReflectorHooks,
    AbsenceOptions {
  readonly client: KubernetesClient;
  /** The part of an object that the cache keeps, also of what it kept of it before. @default - everything but managedFields */
  readonly project?: (object: K, before: T | undefined) => T;
  /** Indexes that find objects by other names than their key. */
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /**
   * `now` is undefined for a deleted object, `before` for a new one. An object that was replaced by another one of the
   * same name is reported as deleted and then as new. `isMissed`: it is gone, and a list says so, which may hide its last
   * changes. If it throws, as `project` and `indexes` may, that is logged and the
   * next object follows: one object must not keep all others from being seen.
   */
  readonly onChange: (key: string, now: T | undefined, before: T | undefined, isMissed: boolean) => void;
  /**
   * Everything was listed again, because the apiserver has another history than before, as after a restore of etcd; or it is
   * known only now what there is.
   */
  readonly onRewritten?: () => void;
  /** Objects per page of a list. @default 500 */
  readonly pageSize?: number;
  /** Milliseconds without data after which the watch is opened again. @default 90000 */
  readonly idle?: number;
  /** Milliseconds between two attempts. @default 500 to 30000 */
  readonly backoff?: Backoff;
  readonly clock?: Clock;
  readonly random?: Random;
}

const FORBIDDEN_POLL_MILLISECONDS = 1_000;
const DEFAULT_BACKOFF: Backoff = { first: 500, most: 30_000 };
/** A watch that was open for so long was healthy, even if it delivered nothing. */
const HEALTHY_MILLISECONDS = 5_000;
/** The server ends watches after 240 to 480 s, so that they do not end at the same time. */
const WATCH_SECONDS = 240;

export class Reflector<K extends KubernetesObject, T = K> {
  /**
   * Resolves when the first list is in the cache and was reported, or is not allowed and dispensable. It never rejects,
   * because listing is retried.
   */
  readonly synced: Promise<void>;
  readonly #options: ReflectorOptions<K, T>;
  readonly #cache: ObjectCache<T>;
  readonly #clock: Clock;
  readonly #random: Random;
  #markSynced: () => void = () => undefined;
  #resourceVersion: string | undefined;
  #failures = 0;
  #attemptedAt = 0;
  #lastSync: number | undefined;
  /** Whether a list has been read, and the apiserver has not refused these objects since for too long. */
  #hasListed = false;
  /** Whether the connection broke, so that the apiserver may come back with another history. */
  #isSuspect = false;
  /** Whether versions are given a second time, so that a known one says nothing about an object. */
  #isRewritten = false;
  readonly #absence: Absence;
  readonly #stop = new AbortController();
  #started = false;

  constructor(options: ReflectorOptions<K, T>) {
    this.#options = options;
    this.#cache = new ObjectCache(options.indexes);
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#absence = new Absence(options, this.#clock);
    this.synced = new Promise((resolve) => {
      this.#markSynced = resolve;
    });
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    void this.#run(this.#stop.signal);
  }

  /** No change is reported any more. The cache keeps its contents. */
  stop(): void {
    this.#stop.abort();
  }

  /**
   * Whether a list has been read, and changes are reported since, so that what the cache has not was created a moment ago, or there are
   * no such objects at all.
   */
  get isComplete(): boolean {
    return this.#hasListed || this.#absence.haveGone;
  }

  get(key: string): T | undefined {
    return this.#cache.entry(key)?.object;
  }

  keys(): string[] {
    return [...this.#cache.keys()];
  }

  list(): T[] {
    return [...this.#cache.objects()];
  }

  byIndex(index: string, name: string): T[] {
    return this.#cache.byIndex(index, name);
  }

  get size(): number {
    return this.#cache.size;
  }

  /** The time of the last list, event or bookmark, in milliseconds of the clock. */
  get lastSync(): number | undefined {
    return this.#lastSync;
  }

  /** Ends only with the signal: every error is followed by another attempt. */
  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const resourceVersion = this.#resourceVersion;
      this.#attemptedAt = this.#clock.now();
      try {
        if (resourceVersion === undefined) await this.#relist(signal);
        else if (this.#isSuspect) await this.#compareHistory(resourceVersion);
        else await this.#watch(resourceVersion, signal);
      } catch (error) {
        if (!signal.aborted) await this.#recover(error, resourceVersion !== undefined, signal);
      }
    }
  }

  async #recover(error: unknown, watching: boolean, signal: AbortSignal): Promise<void> {
    const { logger, path, onWatchEnd } = this.#options;
    const expired = isStatus(error, 410);
    if (this.#clock.now() - this.#attemptedAt > HEALTHY_MILLISECONDS && watching) this.#failures = 0;
    if (watching) onWatchEnd?.(expired ? 'expired' : 'failed');
    if (expired) this.#resourceVersion = undefined;
    this.#isSuspect = watching && !expired;
    this.#failures += 1;
    await this.#goOnWithout(error);
    const wait = this.#waitAfter(expired);
    const fields = { path, failures: this.#failures, retryMs: Math.round(wait), error: messageOf(error) };
    if (this.#absence.isUnserved(error) && !this.#hasListed)
      logger.debug(fields, 'the apiserver does not serve these objects');
    else if (expired) logger.info(fields, 'the watch expired, listing again');
    else {
      logger.warn(fields, watching ? 'the watch failed, resuming' : 'listing failed, retrying');
      this.#options.onFailure?.(error);
    }
    if (wait > 0) await pause(this.#clock, wait, signal);
  }

  async #compareHistory(resourceVersion: string): Promise<void> {
    const { client, path, logger } = this.#options;
    const newest = this.#cache.newest();
    const isSame = await isSameHistory(client, path, this.#request(), { resourceVersion, newest });
    this.#isSuspect = false;
    this.#answered();
    if (isSame) return;
    logger.warn({ path, resourceVersion }, 'the history of the apiserver is another one, listing again');
    this.#resourceVersion = undefined;
    this.#isRewritten = true;
  }

  /** The first 410 is normal and retried at once; repeated ones are retried with backoff. */
  #waitAfter(expired: boolean): number {
    if (expired && this.#failures === 1) return 0;
    const wait = backoff(this.#options.backoff ?? DEFAULT_BACKOFF, this.#failures, this.#random);
    return this.#decidesSoon ? Math.min(wait, FORBIDDEN_POLL_MILLISECONDS) : wait;
  }

  /** @param error of the last attempt */
  async #goOnWithout(error: unknown): Promise<void> {
    const { logger, path, onRewritten } = this.#options;
    const wasComplete = this.isComplete;
    const reason = await this.#absence.decide(error);
    if (reason === undefined || this.#stop.signal.aborted) return;
    const isFirst = this.#lastSync === undefined;
    if (isFirst || this.#hasListed)
      logger[this.#absence.haveGone ? 'info' : 'warn']({ path }, `${reason}, going on without them`);
    if (this.#hasListed) this.#lose();
    if (this.#absence.haveGone) for (const key of this.keys()) this.#remove(key, true);
    if (isFirst) {
      this.#lastSync = this.#clock.now();
      this.#markSynced();
    } else if (this.isComplete && !wasComplete) onRewritten?.();
  }

  /** What was listed may change unseen until it is listed again, also by an apiserver of another history. */
  #lose(): void {
    this.#hasListed = false;
    this.#resourceVersion = undefined;
    this.#isSuspect = false;
    this.#isRewritten = true;
  }

  #answered(): void {
    this.#absence.end();
    this.#options.onAnswer?.();
  }

  /** Whether nothing is known yet, and it is not decided whether to go on without. */
  get #decidesSoon(): boolean {
    return this.#lastSync === undefined && this.#absence.isForbidden;
  }

  async #relist(signal: AbortSignal): Promise<void> {
    const started = this.#clock.now();
    const seen = new Set<string>();
    const resourceVersion = await this.#readList(seen, signal);
    if (signal.aborted) return;
    for (const key of [...this.#cache.keys()]) if (!seen.has(key)) this.#remove(key, true);
    this.#resourceVersion = resourceVersion;
    // What was not known until now may have been deleted.
    const isRewritten = this.#isRewritten || (this.#lastSync !== undefined && !this.isComplete);
    this.#lastSync = this.#clock.now();
    this.#hasListed = true;
    this.#isRewritten = false;
    const seconds = (this.#lastSync - started) / 1000;
    this.#answered();
    this.#options.logger.debug({ path: this.#options.path, objects: seen.size, seconds }, 'listed');
    this.#markSynced();
    if (isRewritten) this.#options.onRewritten?.();
  }

  /** Resolves to the resource version of the list. */
  async #readList(seen: Set<string>, signal: AbortSignal): Promise<string> {
    try {
      return await this.#readPages(seen, this.#options.pageSize ?? 500, signal);
    } catch (error) {
      if (!isStatus(error, 410)) throw error;
      // The version of the first page was compacted meanwhile. A list in one page can't expire.
      seen.clear();
      return this.#readPages(seen, undefined, signal);
    }
  }

  async #readPages(seen: Set<string>, limit: number | undefined, signal: AbortSignal): Promise<string> {
    const { client, path } = this.#options;
    let resourceVersion = '';
    for await (const { items, metadata } of pagesOf<K>(client, path, this.#request(), limit)) {
      resourceVersion = metadata.resourceVersion;
      if (signal.aborted) break;
      for (const item of items) {
        seen.add(keyOf(item.metadata));
        this.#guard(item, () => this.#upsert(item));
      }
    }
    return resourceVersion;
  }

  #request(): Selection & Encoding {
    const { labelSelector, fieldSelector, protobuf } = this.#options;
    return {
      ...(protobuf !== undefined && { protobuf }),
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
    };
  }

  async #watch(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { client, path, idle, onWatchEnd, logger } = this.#options;
    let events = 0;
    const end = await client.watch<K>(
      path,
      {
        resourceVersion,
        signal,
        timeoutSeconds: Math.round(WATCH_SECONDS * (1 + this.#random())),
        ...this.#request(),
        ...(idle !== undefined && { idle }),
      },
      (event) => {
        if (signal.aborted) return;
        events += 1;
        this.#apply(event);
      },
    );
    if (signal.aborted) return;
    // The connection may be dead as well as quiet: only a new one shows it, and fails if there is no answer.
    if (end === 'silent') {
      logger.debug({ path }, 'the watch was silent, opening it again');
      onWatchEnd?.('silent');
      return;
    }
    // A server that ends every watch at once is retried with backoff.
    if (events === 0 && this.#clock.now() - this.#attemptedAt < 1_000)
      throw new Error('the watch ended immediately');
    onWatchEnd?.('closed');
  }

  #apply({ type, object }: WatchEvent<K>): void {
    if (type === 'DELETED') this.#guard(object, () => this.#remove(keyOf(object.metadata), false));
    else if (type !== 'BOOKMARK') this.#guard(object, () => this.#upsert(object));
    this.#resourceVersion = object.metadata.resourceVersion;
    this.#lastSync = this.#clock.now();
    this.#failures = 0;
    this.#answered();
  }

  /** An error would end the watch, and the same object would end the next one. */
  #guard({ metadata }: K, apply: () => void): void {
    try {
      apply();
    } catch (error) {
      const { logger, path } = this.#options;
      logger.warn({ path, key: keyOf(metadata), err: error }, 'an object cannot be read, skipping it');
    }
  }

  #upsert(raw: K): void {
    const { metadata } = raw;
    const key = keyOf(metadata);
    const known = this.#cache.entry(key);
    if (known !== undefined && known.uid !== metadata.uid) this.#remove(key, true);
    else if (known?.resourceVersion === metadata.resourceVersion && !this.#isRewritten) return;
    const before = this.#cache.entry(key)?.object;
    const now = this.#options.project?.(raw, before) ?? withoutManagedFields<K, T>(raw);
    this.#cache.set(key, metadata, now);
    this.#options.onChange(key, now, before, false);
  }

  #remove(key: string, isMissed: boolean): void {
    const known = this.#cache.entry(key);
    if (known === undefined) return;
    this.#cache.delete(key);
    this.#options.onChange(key, undefined, known.object, isMissed);
  }
}

/** managedFields take up to half of an object and are not read. Nobody else has a reference to the parsed object. */
function withoutManagedFields<K extends KubernetesObject, T>(raw: K): T {
  delete (raw.metadata as { managedFields?: unknown }).managedFields;
  return raw as unknown as T;
}
