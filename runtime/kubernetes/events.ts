/**
 * Records Kubernetes Events, which `kubectl describe` shows under an object. Events are hints: recording one never
 * waits and never fails its caller, repeated Events are counted, and if the apiserver can't keep up, the oldest Events
 * are dropped.
 *
 * The API is events.k8s.io/v1 and not core/v1: both are the same objects in storage (kubectl describe shows both), but
 * this one has series and validation.
 */
import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../clock';
import { messageOf } from '../errors';
import type { Logger } from '../observability/log';
import type { KubernetesClient } from './client';
import { isStatus } from './errors';
import { events } from './paths';

/** Identifies the object that an Event is about. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
}

export interface EventRecorderOptions {
  readonly client: KubernetesClient;
  /** The reporting controller, e.g. `fluxqueue-controller`; at most 128 characters. */
  readonly component: string;
  /** The replica of the controller. */
  readonly instance: string;
  readonly logger: Pick<Logger, 'warn' | 'debug'>;
  /** The number of Events that wait to be sent; further ones drop the oldest. @default 1000 */
  readonly capacity?: number;
  /** Milliseconds in which a repeated Event is counted instead of created again. @default 600000 */
  readonly window?: number;
  /** `sent`: the Event was created or its count raised. `dropped`: too many Events waited, or it was refused. */
  readonly onEvent?: (outcome: 'sent' | 'dropped') => void;
  readonly clock?: Clock;
}

export interface EventNote {
  readonly type: 'Normal' | 'Warning';
  /** UpperCamelCase, at most 128 characters: `Unsatisfiable`. */
  readonly reason: string;
  /** One sentence; cut at 1024 characters. */
  readonly message: string;
  /** The action that the controller took, in UpperCamelCase. @default the reason */
  readonly action?: string;
}

interface Pending {
  readonly key: string;
  readonly about: ObjectReference;
  readonly note: EventNote;
  /** How often the Event was recorded since it waits. */
  count: number;
  at: Date;
}

/** An Event that was sent within the window. */
interface Sent {
  readonly path: string;
  readonly until: number;
  count: number;
}

const LONGEST_MESSAGE = 1024;
/** The number of sent Events that are remembered; older ones would be created again. */
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
  record(about: ObjectReference, note: EventNote): void {
    if (this.#stopped) return;
    const message = note.message.slice(0, LONGEST_MESSAGE);
    const key = [about.uid, note.type, note.reason, message].join('\n');
    const known = this.#pending.get(key);
    if (known !== undefined) {
      known.count += 1;
      known.at = new Date();
      return;
    }
    this.#makeRoom();
    this.#pending.set(key, { key, about, note: { ...note, message }, count: 1, at: new Date() });
    this.#sending ??= this.#send();
  }

  /** Resolves when every Event recorded so far was sent or dropped. */
  async flushed(): Promise<void> {
    await this.#sending;
  }

  /** Drops the waiting Events and accepts no further ones. Resolves when no request is in flight any more. */
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

  /** One at a time, so that Events do not delay the writes that start jobs. */
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
          { reason: next.note.reason, error: messageOf(error) },
          'an Event was dropped',
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

  async #create({ key, about, note, count, at }: Pending): Promise<void> {
    const { client, component, instance, window = 600_000 } = this.#options;
    // Events about objects without a namespace are in `default`.
    const namespace = about.namespace ?? 'default';
    const name = `${about.name.slice(0, 220)}.${Date.now().toString(16)}${randomBytes(4).toString('hex')}`;
    const body = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name, namespace },
      eventTime: microTime(at),
      reportingController: component,
      reportingInstance: instance.slice(0, 128),
      action: note.action ?? note.reason,
      reason: note.reason,
      regarding: about,
      note: note.message,
      type: note.type,
      ...(count > 1 && { series: { count, lastObservedTime: microTime(at) } }),
    };
    await client.create(events(namespace), body, { priority: 'low', metadataOnly: true });
    this.#remember(key, { path: events(namespace, name), until: this.#clock.now() + window, count });
  }

  /** @returns false if the Event was deleted meanwhile */
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
