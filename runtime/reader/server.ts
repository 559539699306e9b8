/**
 * The server of the read API. The apiserver passes requests on to it; whoever asks, a request is authenticated,
 * authorized and then answered by its resource.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, systemClock } from '../clock';
import { type HttpsServer, type JsonAnswer, sendJson, startHttps, type TlsPair } from '../https/server';
import type { KubernetesClient } from '../kubernetes/client';
import { Authenticator } from './authentication';
import { Authorizer } from './authorization';
import { objectOf } from './body';
import { discovery } from './discovery';
import type { FrontProxy } from './front-proxy';
import { RequestSlots } from './request-slots';
import type { Reader, ReadRequest, ReadResource, ReadVerb } from './resource';
import { Refusal, refusalOf, statusAnswer } from './status';
import { type Target, targetOf, verbOf } from './target';

/** Answers requests to `RESOURCE/NAME/proxy/...`, for as long as it likes. The request is authorized. */
type ProxyHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  given: {
    readonly reader: Reader;
    /** @default - all namespaces */
    readonly namespace?: string;
    readonly name: string;
    /** What follows `proxy`, with its slash, without the query. */
    readonly path: string;
  },
) => void | Promise<void>;

export interface ReaderServerOptions {
  readonly host: string;
  /** The port; 0 selects a free one. */
  readonly port: number;
  readonly tls: TlsPair;
  /** Asks the apiserver who someone is and what they may do. */
  readonly client: Pick<KubernetesClient, 'create'>;
  /** @default - the cluster has none: only bearer tokens are accepted */
  readonly frontProxy?: FrontProxy | undefined;
  readonly resources: readonly ReadResource[];
  /** By the name of the resource. @default - none */
  readonly proxies?: Readonly<Record<string, ProxyHandler>>;
  /** Milliseconds until an answer is given up, and then until it is taken. The apiserver waits 60 s. @default 30000 */
  readonly deadline?: number;
  /** @default - see LIMITS */
  readonly limits?: Partial<ReaderLimits>;
  /** @param resource of the API, `discovery` or `other`: metrics have a bounded number of labels */
  readonly onRequest?: (resource: string, status: number, seconds: number) => void;
  /** Called for errors that are not the client's. */
  readonly onError?: (error: Error) => void;
  /** Unix seconds. @default - the machine's clock */
  readonly now?: () => number;
  /** Measures the deadline. @default - the clock of the machine */
  readonly clock?: Clock;
}

interface ReaderLimits {
  /** Requests in progress, of all users and of one. */
  readonly requests: number;
  readonly requestsOfUser: number;
  /** Requests to `proxy` subresources, which may last for hours. */
  readonly proxied: number;
  readonly proxiedOfUser: number;
  /** Bytes. */
  readonly body: number;
}

export interface ReaderServer {
  readonly port: number;
  /** Uses another certificate for new connections. @throws FluxqError FLUXQ_CERTIFICATE_INVALID */
  setCertificate(tls: TlsPair): void;
  /** Connections that were made before are closed, because they keep what was found of their certificate; those in use with their answer. */
  setFrontProxy(proxy: FrontProxy | undefined): void;
  /** @param drain milliseconds for which it accepts requests still */
  stop(drain?: number): Promise<void>;
}

const LIMITS: ReaderLimits = {
  requests: 64,
  requestsOfUser: 8,
  proxied: 512,
  proxiedOfUser: 16,
  body: 1024 * 1024,
};
/** The headers name the groups of a user, of which there may be hundreds. */
const MAX_HEADERS = 128 * 1024;
const MAX_CONNECTIONS = 2_048;
/** Milliseconds to send a request. */
const RECEIVE = 10_000;
const HEALTH = new Set(['/healthz', '/livez', '/readyz']);

/** @throws FluxqError FLUXQ_PORT_IN_USE, FLUXQ_CERTIFICATE_INVALID */
export async function startReaderServer(options: ReaderServerOptions): Promise<ReaderServer> {
  let { tls, frontProxy } = options;
  const context = () => ({ ...tls, ...(frontProxy !== undefined && { clientCas: frontProxy.clientCas }) });
  const answers = new Answers(options, () => frontProxy);
  const server: HttpsServer = await startHttps({
    host: options.host,
    port: options.port,
    tls: context(),
    setting: 'reader',
    deadline: RECEIVE,
    asksForCertificates: true,
    maxHeaderBytes: MAX_HEADERS,
    maxConnections: MAX_CONNECTIONS,
    onRequest: (request, response, isStopping) => answers.handle(request, response, isStopping),
  });
  return {
    port: server.port,
    setCertificate(pair) {
      server.setTls({ ...context(), ...pair });
      tls = pair;
    },
    setFrontProxy(proxy) {
      frontProxy = proxy;
      server.setTls(context());
      server.closeIdleConnections();
    },
    stop: (drain) => server.stop(drain),
  };
}

class Answers {
  private readonly authenticator: Authenticator;
  private readonly authorizer: Authorizer;
  private readonly resources: ReadonlyMap<string, ReadResource>;
  private readonly documents: Readonly<Record<string, object>>;
  private readonly slots: RequestSlots;
  private readonly proxySlots: RequestSlots;
  private readonly limits: ReaderLimits;
  private readonly deadline: number;
  private readonly clock: Clock;

  constructor(
    private readonly options: ReaderServerOptions,
    private readonly frontProxy: () => FrontProxy | undefined,
  ) {
    const { client, resources, proxies = {}, now = () => Date.now() / 1000, deadline = 30_000 } = options;
    this.deadline = deadline;
    this.clock = options.clock ?? systemClock;
    this.limits = { ...LIMITS, ...options.limits };
    this.authenticator = new Authenticator({ client, frontProxy, now });
    this.authorizer = new Authorizer({ client, now });
    this.resources = new Map(resources.map((resource) => [resource.name, resource]));
    this.documents = discovery(resources, Object.keys(proxies));
    this.slots = new RequestSlots({ all: this.limits.requests, user: this.limits.requestsOfUser });
    this.proxySlots = new RequestSlots({ all: this.limits.proxied, user: this.limits.proxiedOfUser });
  }

  async handle(request: IncomingMessage, response: ServerResponse, isStopping: () => boolean): Promise<void> {
    const started = this.clock.now();
    const url = new UrlParts(request.url ?? '/');
    const left = new AbortController();
    const leave = () => left.abort(new Late(503, 'nobody waits for the answer'));
    response.once('close', leave);
    // Without a listener, a client that leaves while it is answered would end the process.
    response.on('error', leave);
    const proxy = this.frontProxy();
    const isOutdated = () => this.frontProxy() !== proxy;
    response.once('close', () => {
      if (isOutdated()) request.socket.end();
    });
    // Connections are limited: one that a stranger keeps open is one that the apiserver lacks.
    const closes = (isStranger: boolean) => isStranger || isOutdated() || isStopping();
    try {
      const answer = await this.answer(request, response, url, left);
      if (answer !== undefined) this.send(request, response, answer, closes(HEALTH.has(url.path)));
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal.isFailure && !response.destroyed) this.options.onError?.(causeOf(refusal));
      // A proxy handler may have begun its answer.
      if (response.headersSent) response.destroy();
      else this.send(request, response, statusAnswer(refusal), closes(refusal.status === 401));
    }
    this.options.onRequest?.(this.label(url), response.statusCode, (this.clock.now() - started) / 1000);
  }

  /** An answer that its reader does not take within the deadline is dropped. */
  private send(
    request: IncomingMessage,
    response: ServerResponse,
    answer: JsonAnswer,
    closes: boolean,
  ): void {
    sendJson(request, response, answer, closes);
    if (response.closed) return;
    response.once(
      'close',
      this.clock.after(this.deadline, () => response.destroy()),
    );
  }

  /** @returns undefined if a proxy handler has answered */
  private async answer(
    request: IncomingMessage,
    response: ServerResponse,
    { path, query }: UrlParts,
    left: AbortController,
  ): Promise<JsonAnswer | undefined> {
    if (HEALTH.has(path)) return { status: 200, document: { status: 'ok' } };
    const reader = await this.authenticator.readerOf(request);
    const document = Object.hasOwn(this.documents, path) ? this.documents[path] : undefined;
    if (document !== undefined) return { status: 200, document };
    const target = targetOf(path);
    if (target === undefined) throw notFound();
    if (target.proxied !== undefined) return this.proxy(request, response, reader, target, left);
    return this.read(request, reader, target, query, left);
  }

  private async read(
    request: IncomingMessage,
    reader: Reader,
    target: Target,
    query: URLSearchParams,
    left: AbortController,
  ): Promise<JsonAnswer> {
    const verb = verbOf(request.method ?? '', target, query);
    const resource = this.resourceOf(target, verb);
    const made = this.takeSlot(reader, left.signal);
    try {
      await this.authorizer.check(reader, { verb, ...target });
      const body = verb === 'create' ? { body: await objectOf(request, this.limits.body) } : {};
      const asked = { reader, ...placeOf(target), query, ...body };
      const document = await this.ask(resource, asked, left, made);
      return { status: verb === 'create' ? 201 : 200, document };
    } catch (error) {
      // An answer that is late has the slot until it ends.
      if (!(error instanceof Late)) made();
      throw error;
    }
  }

  /**
   * The slot is used until the answer is made and nobody takes it any more: whoever reads slowly has no more answers in memory than slots.
   * @returns says that the answer is made
   */
  private takeSlot({ username }: Reader, left: AbortSignal): () => void {
    const done = this.slots.take(username);
    let isMade = false;
    left.addEventListener('abort', () => {
      if (isMade) done();
    });
    return () => {
      isMade = true;
      if (left.aborted) done();
    };
  }

  /** @throws Refusal 404, 405 */
  private resourceOf({ resource: name, namespace }: Target, verb: ReadVerb): ReadResource {
    const resource = this.resources.get(name);
    if (resource === undefined || (!resource.namespaced && namespace !== undefined)) throw notFound();
    const isNowhere = verb === 'create' && resource.namespaced && namespace === undefined;
    if (resource.verbs.includes(verb) && !isNowhere) return resource;
    throw new Refusal(405, `the server does not support ${verb} of ${name} here`);
  }

  /** @param made called when the answer is made, even if nobody waits for it any more */
  private async ask(
    resource: ReadResource,
    asked: Omit<ReadRequest, 'signal'>,
    left: AbortController,
    made: () => void,
  ): Promise<object> {
    const { signal } = left;
    if (signal.aborted) {
      made();
      throw signal.reason;
    }
    const { deadline, clock } = this;
    const late = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
    const cancel = clock.after(deadline, () =>
      left.abort(new Late(504, `no answer within ${deadline / 1000} s`)),
    );
    try {
      const answer = (async () => resource.answer({ ...asked, signal }))();
      answer.then(made, made);
      return await Promise.race([answer, late]);
    } finally {
      cancel();
    }
  }

  private async proxy(
    request: IncomingMessage,
    response: ServerResponse,
    reader: Reader,
    { resource, namespace, name = '', proxied: path = '/' }: Target,
    left: AbortController,
  ): Promise<undefined> {
    const { proxies = {} } = this.options;
    const handler = Object.hasOwn(proxies, resource) ? proxies[resource] : undefined;
    if (handler === undefined) throw notFound();
    const place = { name, ...(namespace !== undefined && { namespace }) };
    const verb = verbOf(request.method ?? '', { resource, ...place });
    if (verb !== 'get') throw new Refusal(405, `the server does not support ${verb} here`);
    left.signal.throwIfAborted();
    const done = this.proxySlots.take(reader.username);
    response.once('close', done);
    await this.authorizer.check(reader, { verb, resource, subresource: 'proxy', ...place });
    await handler(request, response, { reader, ...place, path });
  }

  private label({ path }: UrlParts): string {
    if (Object.hasOwn(this.documents, path)) return 'discovery';
    const parts = path.split('/');
    const name = parts[4] === 'namespaces' ? parts[6] : parts[4];
    if (name !== undefined && this.resources.has(name)) return name;
    return name !== undefined && Object.hasOwn(this.options.proxies ?? {}, name) ? `${name}/proxy` : 'other';
  }
}

/** Nobody waits for an answer that is still made. */
class Late extends Refusal {}

class UrlParts {
  readonly path: string;
  readonly query: URLSearchParams;

  constructor(url: string) {
    const at = url.indexOf('?');
    this.path = at === -1 ? url : url.slice(0, at);
    this.query = new URLSearchParams(at === -1 ? '' : url.slice(at + 1));
  }
}

const notFound = () => new Refusal(404, 'the server could not find the requested resource');

const placeOf = ({ namespace, name }: Target) => ({
  ...(namespace !== undefined && { namespace }),
  ...(name !== undefined && { name }),
});

function causeOf(refusal: Refusal): Error {
  return refusal.cause instanceof Error ? refusal.cause : refusal;
}
