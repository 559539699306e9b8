/**
 * The Kubernetes API as the runtime uses it: JSON in, JSON out, by path
 * (./paths). Thin on purpose: the generated API classes of the client package
 * spend more time in their serializers than the request takes.
 */
import { FIELD_MANAGER } from '../../constructs/api/labels';
import { backoff, type Clock, pause, type Random, systemClock } from '../clock';
import { messageOf } from '../errors';
import { ConcurrencyLimiter } from './concurrency-limiter';
import { Credentials } from './credentials';
import { ApiError, apiError, watchError } from './errors';
import { type KubeconfigOptions, loadAccess } from './kubeconfig';
import { resourceOf } from './paths';
import { BrokenConnection, type Call, type Dimension, type Reply, Transport } from './transport';
import type { KubernetesList, KubernetesObject, Status } from './types';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'apply' | 'delete';
type PatchType = 'json' | 'merge' | 'apply';

/**
 * Called once per answered or failed request.
 * @param resource e.g. `jobs` or `fluxjobs/status`
 * @param status HTTP status; 0 when there was no answer
 */
type OnRequest = (verb: Verb, resource: string, status: number, seconds: number) => void;

export interface ClientOptions extends KubeconfigOptions {
  /** @default 'fluxqueue' */
  readonly userAgent?: string;
  readonly onRequest?: OnRequest;
  /** Writes in flight at most; more wait their turn. @default 32 */
  readonly maxWrites?: number;
  /** Milliseconds one request may take. @default 30000 */
  readonly timeout?: number;
  readonly clock?: Clock;
  readonly random?: Random;
}

interface RequestOptions {
  /** Milliseconds one attempt may take. @default the client's */
  readonly timeout?: number;
  /** How often 429 and 503 are answered with another attempt. @default 3 */
  readonly retries?: number;
  /** `urgent` has connections of its own and no limit; `low` goes when no other write waits. @default 'normal' */
  readonly priority?: 'urgent' | 'normal' | 'low';
}

interface WriteOptions extends RequestOptions {
  /** @default 'fluxqueue' */
  readonly fieldManager?: string;
  /** Server-side apply: take fields that another manager owns. @default false */
  readonly force?: boolean;
  /** Validate and admit, store nothing. @default false */
  readonly dryRun?: boolean;
  /** Answer with apiVersion, kind and metadata only: spares parsing a large object back. @default false */
  readonly metadataOnly?: boolean;
}

export interface DeleteOptions extends RequestOptions {
  /** Only this very object: another UID is a conflict. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

export interface Selection {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

interface ListOptions extends Selection, RequestOptions {
  /** Objects per page. @default all at once */
  readonly limit?: number;
  /** `metadata.continue` of the page before. */
  readonly continue?: string;
  readonly resourceVersion?: string;
}

interface WatchOptions extends Selection {
  readonly resourceVersion: string;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  /** The server ends the watch after so long. */
  readonly timeoutSeconds: number;
  /** Milliseconds without a byte until the connection counts as dead. @default 90000: the server sends bookmarks about once a minute */
  readonly idle?: number;
}

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

/**
 * Every method throws an ApiError when the server refuses, and retryable
 * FluxqErrors `FLUXQ_KUBERNETES_UNREACHABLE` or `FLUXQ_KUBERNETES_TIMEOUT`
 * when there is no answer: the write may or may not have happened then.
 */
export interface KubernetesClient {
  /** Address of the apiserver. */
  readonly server: string;
  /** Namespace of the context or of the pod we run in. */
  readonly namespace: string | undefined;
  /** Writes that wait for their turn. */
  readonly waitingWrites: number;
  get<T>(path: string, options?: RequestOptions): Promise<T>;
  /** One page. */
  list<T>(path: string, options?: ListOptions): Promise<KubernetesList<T>>;
  create<T>(path: string, body: object, options?: WriteOptions): Promise<T>;
  /** Replaces the object; with metadata.resourceVersion only if it is still that one. */
  update<T>(path: string, body: object, options?: WriteOptions): Promise<T>;
  patch<T>(path: string, body: object, type: PatchType, options?: WriteOptions): Promise<T>;
  delete(path: string, options?: DeleteOptions): Promise<void>;
  /** Resolves when the server ends the watch or the signal is aborted. An error event throws its ApiError. */
  watch<T>(path: string, options: WatchOptions, onEvent: (event: WatchEvent<T>) => void): Promise<void>;
  /** Breaks off what is under way; every later call throws. */
  close(): void;
}

const CONTENT_TYPES: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

/** A server that asks us to come back much later is asked by the caller's own backoff instead. */
const LONGEST_RETRY_MILLISECONDS = 10_000;
const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

/** @throws FluxqError FLUXQ_KUBECONFIG */
export function createClient(options: ClientOptions = {}): KubernetesClient {
  return new Client(options);
}

interface Attempt extends Call {
  readonly verb: Verb;
  /** Doing it twice is the same as once. */
  readonly repeatable: boolean;
}

class Client implements KubernetesClient {
  readonly server: string;
  readonly namespace: string | undefined;
  readonly #credentials: Credentials;
  readonly #transport: Transport;
  readonly #slots: ConcurrencyLimiter;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #timeout: number;
  readonly #onRequest: OnRequest | undefined;
  readonly #closed = new AbortController();

  constructor(options: ClientOptions) {
    const access = loadAccess(options);
    this.server = access.cluster.server;
    this.namespace = access.namespace;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#timeout = options.timeout ?? 30_000;
    this.#onRequest = options.onRequest;
    this.#slots = new ConcurrencyLimiter(options.maxWrites ?? 32);
    this.#credentials = new Credentials(access, this.#clock);
    this.#transport = new Transport(access, this.#credentials, options.userAgent ?? 'fluxqueue');
  }

  get waitingWrites(): number {
    return this.#slots.waiting;
  }

  async get<T>(path: string, options: RequestOptions = {}): Promise<T> {
    return this.#read<T>('get', path, options);
  }

  async list<T>(path: string, options: ListOptions = {}): Promise<KubernetesList<T>> {
    const query = search({
      ...selection(options),
      limit: options.limit?.toString(),
      continue: options.continue,
      resourceVersion: options.resourceVersion,
    });
    return this.#read<KubernetesList<T>>('list', path + query, options);
  }

  async create<T>(path: string, body: object, options: WriteOptions = {}): Promise<T> {
    return this.#write<T>('create', 'POST', path, body, options);
  }

  async update<T>(path: string, body: object, options: WriteOptions = {}): Promise<T> {
    return this.#write<T>('update', 'PUT', path, body, options);
  }

  async patch<T>(path: string, body: object, type: PatchType, options: WriteOptions = {}): Promise<T> {
    return this.#write<T>(type === 'apply' ? 'apply' : 'patch', 'PATCH', path, body, options, type);
  }

  async delete(path: string, options: DeleteOptions = {}): Promise<void> {
    const preconditions = { uid: options.uid, resourceVersion: options.resourceVersion };
    const body = {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions,
      propagationPolicy: options.propagationPolicy,
      gracePeriodSeconds: options.gracePeriodSeconds,
      ...(options.dryRun === true && { dryRun: ['All'] }),
    };
    const call: Attempt = {
      verb: 'delete',
      method: 'DELETE',
      path,
      lane: laneOf(options),
      // The answer is the object as it was: nobody reads it.
      headers: { 'content-type': 'application/json', accept: METADATA_ONLY },
      body: JSON.stringify(body),
      repeatable: true,
    };
    await this.#inSlot(options, call);
  }

  async watch<T>(
    path: string,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<void> {
    const query = search({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: options.resourceVersion,
      timeoutSeconds: options.timeoutSeconds.toString(),
      ...selection(options),
    });
    const call: Call = { method: 'GET', path: path + query, lane: 'watch', headers: {} };
    const name = `WATCH ${path}`;
    const started = this.#clock.now();
    let status = 0;
    try {
      const refusal = await this.#transport.stream(call, {
        signal: options.signal,
        idle: options.idle ?? 90_000,
        lifetime: options.timeoutSeconds * 1000 + 30_000,
        onLine: (line) => onEvent(parseEvent<T>(line, name)),
      });
      status = refusal?.status ?? 200;
      if (refusal !== undefined) throw this.#refusal(refusal, name);
    } catch (error) {
      if (error instanceof ApiError) status = error.status;
      throw error instanceof BrokenConnection ? error.error : error;
    } finally {
      this.#observe('watch', path, status, started);
    }
  }

  close(): void {
    this.#closed.abort();
    this.#transport.close();
  }

  async #read<T>(verb: Verb, path: string, options: RequestOptions): Promise<T> {
    const lane: Dimension = options.priority === 'urgent' ? 'urgent' : 'read';
    const body = await this.#call(
      { verb, method: 'GET', path, lane, headers: {}, repeatable: true },
      options,
    );
    return parseAnswer<T>(body, path);
  }

  async #write<T>(
    verb: Verb,
    method: string,
    path: string,
    body: object,
    options: WriteOptions,
    patch?: PatchType,
  ): Promise<T> {
    const query = search({
      fieldManager: options.fieldManager ?? FIELD_MANAGER,
      force: options.force === true ? 'true' : undefined,
      dryRun: options.dryRun === true ? 'All' : undefined,
      // Our bodies are typed; looking for unknown fields would cost the apiserver a second, stricter decoding.
      fieldValidation: 'Ignore',
    });
    const call: Attempt = {
      verb,
      method,
      path: path + query,
      lane: laneOf(options),
      headers: {
        'content-type': patch === undefined ? 'application/json' : CONTENT_TYPES[patch],
        ...(options.metadataOnly === true && { accept: METADATA_ONLY }),
      },
      body: JSON.stringify(body),
      // A create that succeeded unseen fails when repeated, an update conflicts with itself.
      repeatable: patch === 'merge' || patch === 'apply',
    };
    return parseAnswer<T>(await this.#inSlot(options, call), path);
  }

  #inSlot(options: RequestOptions, call: Attempt): Promise<string> {
    if (options.priority === 'urgent') return this.#call(call, options);
    return this.#slots.run(options.priority === 'low', () => this.#call(call, options));
  }

  /** Resolves to the body of the first answer below 300. */
  async #call(call: Attempt, options: RequestOptions): Promise<string> {
    const retries = options.retries ?? 3;
    let renewed = false;
    for (let attempt = 0; ; ) {
      const reply = await this.#once(call, options.timeout ?? this.#timeout);
      if (reply.status < 300) return reply.body;
      const error = this.#refusal(reply, `${call.method} ${call.path}`);
      if (reply.status === 401 && !renewed) {
        renewed = true;
        continue;
      }
      attempt += 1;
      if (attempt > retries || !mayRepeat(error, call)) throw error;
      await pause(this.#clock, this.#retryDelay(error, attempt), this.#closed.signal);
    }
  }

  /** One request; a connection that the server had closed while idle is replaced without a word. */
  async #once(call: Attempt, timeout: number): Promise<Reply> {
    const started = this.#clock.now();
    const { verb, path, repeatable } = call;
    for (let again = true; ; again = false) {
      try {
        const reply = await this.#transport.request(call, timeout);
        this.#observe(verb, path, reply.status, started);
        return reply;
      } catch (error) {
        if (error instanceof BrokenConnection && error.stale && repeatable && again) continue;
        this.#observe(verb, path, 0, started);
        throw error instanceof BrokenConnection ? error.error : error;
      }
    }
  }

  #refusal(reply: Reply, request: string): ApiError {
    if (reply.status === 401) this.#credentials.refused(reply.credential);
    return apiError(reply.status, reply.body, reply.retryAfter, request);
  }

  #retryDelay(error: ApiError, attempt: number): number {
    const jittered = backoff({ first: 250, most: LONGEST_RETRY_MILLISECONDS }, attempt, this.#random);
    const asked = (error.retryAfterSeconds ?? 0) * 1000;
    return Math.min(LONGEST_RETRY_MILLISECONDS, Math.max(asked, jittered));
  }

  #observe(verb: Verb, path: string, status: number, started: number): void {
    this.#onRequest?.(verb, resourceOf(path), status, (this.#clock.now() - started) / 1000);
  }
}

/** 429 was refused before anything happened; 503 may come from in between. */
function mayRepeat(error: ApiError, call: Attempt): boolean {
  return error.status === 429 || (error.status === 503 && call.repeatable);
}

function laneOf({ priority }: RequestOptions): Dimension {
  return priority === 'urgent' ? 'urgent' : 'write';
}

function selection({ labelSelector, fieldSelector }: Selection): Record<string, string | undefined> {
  return { labelSelector, fieldSelector };
}

function search(parameters: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, value);
  return query.size === 0 ? '' : `?${query}`;
}

function parseAnswer<T>(body: string, path: string): T {
  try {
    return JSON.parse(body) as T;
  } catch (error) {
    throw apiError(502, `the answer is no JSON: ${messageOf(error)}`, undefined, path);
  }
}

function parseEvent<T>(line: string, name: string): WatchEvent<T> {
  const event = parseAnswer<WatchEvent<T & KubernetesObject> | { type: 'ERROR'; object: Status }>(line, name);
  if (event.type === 'ERROR') throw watchError(event.object, name);
  return event;
}
