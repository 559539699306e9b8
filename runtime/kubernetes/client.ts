/**
 * The Kubernetes API as the runtime uses it: JSON objects by path (./paths). The generated API classes of
 * @kubernetes/client-node are not used, because their serializers take more time than the request itself.
 */
import { FIELD_MANAGER } from '../../constructs/api/labels';
import { type Clock, type Random, systemClock } from '../clock';
import { messageOf } from '../errors';
import { ConcurrencyLimiter } from './concurrency-limiter';
import { Credentials } from './credentials';
import { apiError, watchError } from './errors';
import { type KubeconfigOptions, loadAccess } from './kubeconfig';
import { patchText } from './patch-text';
import { namespaceOf } from './paths';
import { MalformedMessage, type Message } from './protobuf';
import { ProtobufAnswers, type SentEvent } from './protobuf-answers';
import { type Selection, search, selection } from './query';
import { type ApiCall, type OnRequest, RequestSender, type Verb } from './request-sender';
import { type Body, type Call, type ConnectionPool, PROTOBUF, type StreamEnd, Transport } from './transport';
import type { KubernetesList } from './types';

type PatchType = 'json' | 'merge' | 'apply';

export interface ClientOptions extends KubeconfigOptions {
  /** @default 'fluxqueue' */
  readonly userAgent?: string;
  readonly onRequest?: OnRequest;
  /** The number of writes in flight, of one namespace half of it; further ones wait. @default 64 */
  readonly maxWrites?: number;
  /** Milliseconds that one request may take. @default 30000 */
  readonly timeout?: number;
  readonly clock?: Clock;
  readonly random?: Random;
}

export interface RequestOptions {
  /** Milliseconds that one attempt may take. @default the client's */
  readonly timeout?: number;
  /** How often 429 and 503 are answered with another attempt. @default 3 */
  readonly retries?: number;
  /** `urgent` has separate connections and no limit; `low` runs while no other write waits. @default 'normal' */
  readonly priority?: 'urgent' | 'normal' | 'low';
  /** The answer has only apiVersion, kind and metadata, so that no large object is written and parsed. @default false */
  readonly metadataOnly?: boolean;
}

interface WriteOptions extends RequestOptions {
  /** @default 'fluxqueue' */
  readonly fieldManager?: string;
  /** Server-side apply takes over fields that another field manager owns. @default false */
  readonly force?: boolean;
  /** Validates and admits the object, but does not store it. @default false */
  readonly dryRun?: boolean;
}

export interface DeleteOptions extends RequestOptions {
  /** Deletes only the object with this UID; another one is a conflict. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

export interface Encoding {
  /**
   * The fields that are read of an object in protobuf, for which the apiserver is then asked. Whatever answers may use JSON
   * all the same, and JSON has all fields. @default - the apiserver is asked for JSON
   */
  readonly protobuf?: Message;
}

interface ListOptions extends Selection, Encoding, RequestOptions {
  /** Objects per page. @default - all objects in one page */
  readonly limit?: number;
  /** Bytes of the answer, of objects that users can make as large as they like; a larger one is an error. @default - any size */
  readonly mostBytes?: number;
  /** `metadata.continue` of the previous page. */
  readonly continue?: string;
  readonly resourceVersion?: string;
}

interface WatchOptions extends Selection, Encoding {
  readonly resourceVersion: string;
  /** Aborting it ends the watch. */
  readonly signal: AbortSignal;
  /** The server ends the watch after this time. */
  readonly timeoutSeconds: number;
  /**
   * Milliseconds without data after which the watch ends as `silent`. The server sends a bookmark about once a minute, but
   * only if the resource has changed since the last one. @default 90000
   */
  readonly idle?: number;
}

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

/**
 * Every method throws an ApiError if the server refuses the request, and a retryable FluxqError
 * `FLUXQ_KUBERNETES_UNREACHABLE` or `FLUXQ_KUBERNETES_TIMEOUT` if there is no answer: the write may or may not have
 * happened then. A list that is larger than its limit throws FLUXQ_KUBERNETES_TOO_LARGE.
 */
export interface KubernetesClient {
  /** Address of the apiserver. */
  readonly server: string;
  /** The namespace of the kubeconfig context, or of the pod that this process runs in. */
  readonly namespace: string | undefined;
  /** The number of writes that wait for others to finish. */
  readonly waitingWrites: number;
  get<T>(path: string, options?: RequestOptions): Promise<T>;
  /** Reads one page. */
  list<T>(path: string, options?: ListOptions): Promise<KubernetesList<T>>;
  create<T>(path: string, body: object, options?: WriteOptions): Promise<T>;
  /** Replaces the object. A metadata.resourceVersion in the body makes a later version a conflict. */
  update<T>(path: string, body: object, options?: WriteOptions): Promise<T>;
  patch<T>(path: string, body: object, type: PatchType, options?: WriteOptions): Promise<T>;
  delete(path: string, options?: DeleteOptions): Promise<void>;
  /** Resolves to the kind of its end. An error event is thrown as ApiError. */
  watch<T>(path: string, options: WatchOptions, onEvent: (event: WatchEvent<T>) => void): Promise<StreamEnd>;
  /** Breaks off everything that is in flight; every later call throws. */
  close(): void;
}

const CONTENT_TYPES: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

const metadataAs = (kind: string) => `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;
const METADATA_ONLY = metadataAs('PartialObjectMetadata');
const METADATA_ONLY_LIST = metadataAs('PartialObjectMetadataList');
const PROTOBUF_LIST = `${PROTOBUF}, application/json`;
const PROTOBUF_WATCH = `${PROTOBUF};stream=watch, application/json`;

/** @throws FluxqError FLUXQ_KUBECONFIG */
export function createClient(options: ClientOptions = {}): KubernetesClient {
  return new Client(options);
}

class Client implements KubernetesClient {
  readonly server: string;
  readonly namespace: string | undefined;
  readonly #sender: RequestSender;
  readonly #writes: ConcurrencyLimiter;
  readonly #timeout: number;
  readonly #answers = new ProtobufAnswers();

  constructor(options: ClientOptions) {
    const access = loadAccess(options);
    this.server = access.cluster.server;
    this.namespace = access.namespace;
    this.#timeout = options.timeout ?? 30_000;
    this.#writes = new ConcurrencyLimiter(options.maxWrites ?? 64);
    const { clock = systemClock, random = Math.random, userAgent = 'fluxqueue', onRequest } = options;
    const credentials = new Credentials(access, clock);
    const transport = new Transport(access, credentials, userAgent);
    this.#sender = new RequestSender(transport, credentials, clock, random, onRequest);
  }

  get waitingWrites(): number {
    return this.#writes.waiting;
  }

  async get<T>(path: string, options: RequestOptions = {}): Promise<T> {
    return parseAnswer<T>(await this.#read('get', path, options), path);
  }

  async list<T>(path: string, options: ListOptions = {}): Promise<KubernetesList<T>> {
    const query = search({
      ...selection(options),
      limit: options.limit?.toString(),
      continue: options.continue,
      resourceVersion: options.resourceVersion,
    });
    const { protobuf } = options;
    const body = await this.#read('list', path + query, options, listAccept(options));
    if (protobuf !== undefined && typeof body !== 'string')
      return wellFormed(path, () => this.#answers.list<T>(body, protobuf));
    const list = parseAnswer<KubernetesList<T>>(body, path);
    // An empty list of metadata has null.
    return { ...list, items: list.items ?? [] };
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
    const call: ApiCall = {
      verb: 'delete',
      method: 'DELETE',
      path,
      pool: poolOf(options),
      // The answer is the deleted object, which is not needed.
      headers: { 'content-type': 'application/json', accept: METADATA_ONLY },
      body: JSON.stringify(body),
      repeatable: true,
    };
    await this.#limited(options, call);
  }

  async watch<T>(
    path: string,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<StreamEnd> {
    const query = search({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: options.resourceVersion,
      timeoutSeconds: options.timeoutSeconds.toString(),
      ...selection(options),
    });
    const { protobuf } = options;
    const headers: Call['headers'] = protobuf === undefined ? {} : { accept: PROTOBUF_WATCH };
    const call: Call = { method: 'GET', path: path + query, pool: 'watch', headers };
    const name = `WATCH ${path}`;
    return this.#sender.stream(call, path, {
      signal: options.signal,
      idle: options.idle ?? 90_000,
      lifetime: options.timeoutSeconds * 1000 + 30_000,
      onEvent: (event) => onEvent(this.#event<T>(event, protobuf, name)),
    });
  }

  close(): void {
    this.#sender.close();
  }

  /** @throws ApiError of an ERROR event */
  #event<T>(body: Body, protobuf: Message | undefined, name: string): WatchEvent<T> {
    const event: SentEvent<T> =
      protobuf === undefined || typeof body === 'string'
        ? parseAnswer(body, name)
        : wellFormed(name, () => this.#answers.event(body, protobuf));
    if (event.type === 'ERROR') throw watchError(event.object, name);
    return event;
  }

  #read(verb: Verb, path: string, options: ListOptions, headers = acceptOf(options)): Promise<Body> {
    const pool: ConnectionPool = options.priority === 'urgent' ? 'urgent' : 'read';
    const { mostBytes } = options;
    return this.#send({ verb, method: 'GET', path, pool, headers, mostBytes, repeatable: true }, options);
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
      // The bodies are typed; a search for unknown fields would cost the apiserver a second, stricter decoding.
      fieldValidation: 'Ignore',
    });
    const call: ApiCall = {
      verb,
      method,
      path: path + query,
      pool: poolOf(options),
      headers: {
        'content-type': patch === undefined ? 'application/json' : CONTENT_TYPES[patch],
        ...acceptOf(options),
      },
      body: patch === 'json' ? patchText(body) : JSON.stringify(body),
      // A create whose answer was lost fails when it is repeated, and an update conflicts with itself.
      repeatable: patch === 'merge' || patch === 'apply',
    };
    return parseAnswer<T>(await this.#limited(options, call), path);
  }

  #limited(options: RequestOptions, call: ApiCall): Promise<Body> {
    const { priority = 'normal' } = options;
    if (priority === 'urgent') return this.#send(call, options);
    return this.#writes.run(priority, namespaceOf(call.path) ?? '', () => this.#send(call, options));
  }

  #send(call: ApiCall, { timeout = this.#timeout, retries = 3 }: RequestOptions): Promise<Body> {
    return this.#sender.send(call, { timeout, retries });
  }
}

type Accept = Readonly<Record<string, string>>;

function acceptOf({ metadataOnly }: RequestOptions): Accept {
  return metadataOnly === true ? { accept: METADATA_ONLY } : {};
}

function listAccept({ metadataOnly, protobuf }: ListOptions): Accept {
  if (metadataOnly === true) return { accept: METADATA_ONLY_LIST };
  return protobuf === undefined ? {} : { accept: PROTOBUF_LIST };
}

function poolOf({ priority }: RequestOptions): ConnectionPool {
  return priority === 'urgent' ? 'urgent' : 'write';
}

function parseAnswer<T>(body: Body, path: string): T {
  if (typeof body !== 'string') throw apiError(502, 'the answer is not JSON', undefined, path);
  try {
    return JSON.parse(body) as T;
  } catch (error) {
    throw apiError(502, `the answer is not JSON: ${messageOf(error)}`, undefined, path);
  }
}

/** @throws ApiError if the bytes are not what `read` expects */
function wellFormed<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    throw apiError(502, `the answer in protobuf is malformed: ${error.message}`, undefined, path);
  }
}
