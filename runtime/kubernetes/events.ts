/**
 * Kubernetes Events: what `kubectl describe` shows under an object. They are
 * news, not records: telling never waits and never fails the caller, the same
 * news twice becomes a count, and when the apiserver can't keep up the oldest
 * are left out and counted.
 *
 * events.k8s.io/v1, not core/v1: the two are the same objects in storage
 * (kubectl describe shows both), this one has series and validation.
 */
import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../clock';
import { messageOf } from '../errors';
import type { Logger } from '../observability/log';
import type { KubernetesClient } from './client';
import { isStatus } from './errors';
import { events } from './paths';
import type { ObjectReference } from './types';

export interface EventRecorderOptions {
  readonly client: KubernetesClient;
  /** Who tells, e.g. `fluxqueue-controller`; at most 128 characters. */
  readonly component: string;
  /** Which replica of it. */
  readonly instance: string;
  readonly logger: Pick<Logger, 'warn' | 'debug'>;
  /** News that wait to be sent; more drop the oldest. @default 1000 */
  readonly capacity?: number;
  /** Milliseconds in which the same news is counted instead of told again. @default 600000 */
  readonly window?: number;
  /** `sent`: created or counted up. `dropped`: no room, or refused. */
  readonly onEvent?: (outcome: 'sent' | 'dropped') => void;
  readonly clock?: Clock;
}

export interface EventNote {
  readonly type: 'Normal' | 'Warning';
  /** UpperCamelCase, at most 128 characters: `Unsatisfiable`. */
  readonly reason: string;
  /** One sentence; cut at 1024 characters. */
  readonly message: string;
  /** What was being done, UpperCamelCase. @default the reason */
  readonly action?: string;
}

interface Pending {
  readonly key: string;
  readonly about: ObjectReference;
  readonly news: EventNote;
  /** How often since it was queued. */
  count: number;
  at: Date;
}

/** An Event that was sent not long ago. */
interface Sent {
  readonly path: string;
  readonly until: number;
  count: number;
}

const LONGEST_MESSAGE = 1024;
/** Remembered for counting; beyond that the oldest news would be told anew. */
const MOST_REMEMBERED = 4096;

export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  /** In order of arrival. */
  readonly #pending = new Map<string, Pending>();
  readonly #sent = new Map<string, Sent>();
  #sending: Promise<void> | undefined;
  #stopped = false;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Returns at once. */
  record(about: ObjectReference, news: EventNote): void {
    if (this.#stopped) return;
    const message = news.message.slice(0, LONGEST_MESSAGE);
    const key = [about.uid, news.type, news.reason, message].join('\n');
    const known = this.#pending.get(key);
    if (known !== undefined) {
      known.count += 1;
      known.at = new Date();
      return;
    }
    this.#makeRoom();
    this.#pending.set(key, { key, about, news: { ...news, message }, count: 1, at: new Date() });
    this.#sending ??= this.#send();
  }

  /** Resolves when everything told so far was sent or dropped. */
  async flushed(): Promise<void> {
    await this.#sending;
  }

  /** Takes nothing more and drops what waits; resolves when the one under way was answered. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const _ of this.#pending.keys()) this.#options.onEvent?.('dropped');
    this.#pending.clear();
    await this.#sending;
  }

  #makeRoom(): void {
    if (this.#pending.size < (this.#options.capacity ?? 1000)) return;
    const [oldest] = this.#pending.keys();
    if (oldest !== undefined) this.#pending.delete(oldest);
    this.#options.onEvent?.('dropped');
  }

  /** One at a time: news must not crowd out what starts jobs. */
  async #send(): Promise<void> {
    for (;;) {
      const [next] = this.#pending.values();
      if (next === undefined) break;
      this.#pending.delete(next.key);
      try {
        await this.#sendOne(next);
        this.#options.onEvent?.('sent');
      } catch (error) {
        this.#options.onEvent?.('dropped');
        this.#options.logger.warn(
          { reason: next.news.reason, error: messageOf(error) },
          'an event was not recorded',
        );
      }
    }
    this.#sending = undefined;
  }

  async #sendOne(pending: Pending): Promise<void> {
    const sent = this.#sent.get(pending.key);
    if (sent !== undefined && sent.until > this.#clock.now()) {
      if (await this.#countUp(sent, pending)) return;
    }
    await this.#create(pending);
  }

  async #create({ key, about, news, count, at }: Pending): Promise<void> {
    const { client, component, instance, window = 600_000 } = this.#options;
    // Events about what has no namespace live in `default`.
    const namespace = about.namespace ?? 'default';
    const name = `${about.name.slice(0, 220)}.${Date.now().toString(16)}${randomBytes(4).toString('hex')}`;
    const body = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name, namespace },
      eventTime: microTime(at),
      reportingController: component,
      reportingInstance: instance.slice(0, 128),
      action: news.action ?? news.reason,
      reason: news.reason,
      regarding: about,
      note: news.message,
      type: news.type,
      ...(count > 1 && { series: { count, lastObservedTime: microTime(at) } }),
    };
    await client.create(events(namespace), body, { priority: 'low', metadataOnly: true });
    this.#remember(key, { path: events(namespace, name), until: this.#clock.now() + window, count });
  }

  /** @returns false when that Event was deleted meanwhile */
  async #countUp(sent: Sent, { count, at }: Pending): Promise<boolean> {
    sent.count += count;
    const series = { count: sent.count, lastObservedTime: microTime(at) };
    try {
      await this.#options.client.patch(sent.path, { series }, 'merge', {
        priority: 'low',
        metadataOnly: true,
      });
      return true;
    } catch (error) {
      if (isStatus(error, 404)) return false;
      throw error;
    }
  }

  #remember(key: string, sent: Sent): void {
    this.#sent.delete(key);
    this.#sent.set(key, sent);
    const now = this.#clock.now();
    for (const [oldest, { until }] of this.#sent) {
      if (until > now && this.#sent.size <= MOST_REMEMBERED) return;
      this.#sent.delete(oldest);
    }
  }
}

function microTime(at: Date): string {
  return at.toISOString().replace('Z', '000Z');
}
