/**
 * HTTP/1.1 over node:https with keep-alive and several pools of connections. A watch never shares a connection with a
 * burst of writes (with one HTTP/2 connection for both, the apiserver ends watches that are read slowly), and the
 * leader's renewals never wait for either.
 *
 * The TLS context is created once and given to the agents. Otherwise Node parses the CA for every connection and
 * builds a pool key out of all PEM texts for every request.
 */
import http from 'node:http';
import https from 'node:https';
import type { SecureContext } from 'node:tls';
import { FluxqError } from '../errors';
import type { Credential, Credentials } from './credentials';
import { closed, timedOut, tooLarge, unreachable } from './errors';
import { Frames, Lines } from './event-stream';
import type { Access } from './kubeconfig';

export type ConnectionPool = 'read' | 'write' | 'urgent' | 'watch';

/** The media type of objects in protobuf. */
export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** Per pool; further requests wait for a connection. */
const MOST_CONNECTIONS = 64;

export interface Call {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly pool: ConnectionPool;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Bytes that are read of the answer; a longer one is an error. @default - any number */
  readonly mostBytes?: number | undefined;
}

/** A text, or the bytes of an answer in protobuf. */
export type Body = string | Buffer;

export interface Reply {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: Body;
  readonly credential: Credential;
}

export interface Streaming {
  /** Aborting it ends the stream, and its promise resolves. */
  readonly signal: AbortSignal;
  /** Milliseconds without data after which the stream ends. Before the answer begins this is an error. */
  readonly idle: number;
  /** Milliseconds that the whole stream may last. */
  readonly lifetime: number;
  /** Called with each complete event: a line of JSON without its line end, or a frame of protobuf without its length. */
  readonly onEvent: (event: Body) => void;
}

/** `silent`: no data came for the `idle` time. `ended`: the server ended the stream or the signal was aborted. */
export type StreamEnd = 'ended' | 'silent';

type Agents = Readonly<Record<ConnectionPool, http.Agent>>;

/** A connection that broke before it returned any data. The request can be sent again if it is repeatable. */
export class BrokenConnection extends Error {
  constructor(
    readonly error: FluxqError,
    /** The apiserver had closed the connection while it was idle, which is normal. */
    readonly stale: boolean,
  ) {
    super(error.message);
  }
}

export class Transport {
  readonly #base: URL;
  readonly #prefix: string;
  #agents: Agents | undefined;
  #context: SecureContext | undefined;
  readonly #open = new Set<http.ClientRequest>();
  #closed = false;

  constructor(
    private readonly access: Access,
    private readonly credentials: Credentials,
    private readonly userAgent: string,
  ) {
    this.#base = new URL(access.cluster.server);
    this.#prefix = this.#base.pathname.replace(/\/$/, '');
  }

  /** @throws BrokenConnection, FluxqError FLUXQ_KUBERNETES_TIMEOUT, _CREDENTIALS, _CLOSED */
  async request(call: Call, timeout: number): Promise<Reply> {
    const credential = await this.credentials.current();
    const request = this.#start(call, credential);
    const timer = setTimeout(() => request.destroy(timedOut(nameOf(call), timeout)), timeout);
    request.on('close', () => clearTimeout(timer));
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => reject(this.#failure(call, request, error));
      request.on('error', fail);
      request.on('response', (response) => {
        limit(response, call);
        readReply(response, credential).then(resolve, fail);
      });
      request.end(call.body);
    });
  }

  /**
   * Reads the events of an endless answer. Resolves to the kind of its end, or to the reply if its status is not 200.
   * @throws as {@link request}
   */
  async stream(call: Call, streaming: Streaming): Promise<Reply | StreamEnd> {
    const credential = await this.credentials.current();
    const { signal, idle, lifetime } = streaming;
    if (signal.aborted) return 'ended';
    const request = this.#start(call, credential);
    const deadline = setTimeout(() => request.destroy(timedOut(nameOf(call), lifetime)), lifetime);
    return new Promise((resolve, reject) => {
      const end = (how: StreamEnd) => {
        resolve(how);
        request.destroy();
      };
      const stop = () => end('ended');
      let answered = false;
      request.setTimeout(idle, () => {
        if (answered) end('silent');
        else request.destroy(timedOut(nameOf(call), idle));
      });
      const fail = (error: Error) => {
        // The promise is settled first: the error that destroy reports would look like a broken connection.
        reject(this.#failure(call, request, error));
        request.destroy();
      };
      signal.addEventListener('abort', stop, { once: true });
      request.on('close', () => {
        clearTimeout(deadline);
        signal.removeEventListener('abort', stop);
      });
      request.on('error', fail);
      request.on('response', (response) => {
        answered = response.statusCode === 200;
        const read = answered
          ? readStream(response, streaming, nameOf(call))
          : readReply(response, credential);
        read.then(resolve, fail);
      });
      request.end();
    });
  }

  /** Breaks off everything that is in flight. */
  close(): void {
    this.#closed = true;
    for (const request of this.#open) request.destroy();
    for (const agent of Object.values(this.#agents ?? {})) agent.destroy();
  }

  #start(call: Call, credential: Credential): http.ClientRequest {
    if (this.#closed) throw closed(nameOf(call));
    const headers: http.OutgoingHttpHeaders = {
      accept: 'application/json',
      'user-agent': this.userAgent,
      ...call.headers,
      ...credential.headers,
    };
    if (call.body !== undefined) headers['content-length'] = Buffer.byteLength(call.body);
    const secure = this.#base.protocol === 'https:';
    const request = (secure ? https : http).request({
      host: this.#base.hostname.replace(/^\[|\]$/g, ''),
      port: this.#base.port === '' ? (secure ? 443 : 80) : this.#base.port,
      method: call.method,
      path: this.#prefix + call.path,
      headers,
      agent: this.#agentsFor(credential.secureContext)[call.pool],
    });
    this.#open.add(request);
    request.on('close', () => this.#open.delete(request));
    return request;
  }

  #agentsFor(context: SecureContext): Agents {
    if (this.#agents !== undefined && this.#context === context) return this.#agents;
    for (const agent of Object.values(this.#agents ?? {})) {
      // New credentials: requests in flight may finish, idle connections are closed.
      for (const sockets of Object.values(agent.freeSockets))
        for (const socket of sockets ?? []) socket.destroy();
    }
    this.#context = context;
    this.#agents = {
      read: this.#agent('read', context),
      write: this.#agent('write', context),
      urgent: this.#agent('urgent', context),
      watch: this.#agent('watch', context),
    };
    return this.#agents;
  }

  #agent(pool: ConnectionPool, secureContext: SecureContext): http.Agent {
    const { cluster } = this.access;
    const options = {
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
      maxFreeSockets: 32,
      ...(pool !== 'watch' && { maxSockets: MOST_CONNECTIONS }),
      // The most recently used connection comes first, so that surplus connections of a burst become idle and close.
      scheduling: 'lifo' as const,
      ...proxyOf(cluster.proxyUrl, this.#base),
    };
    if (this.#base.protocol === 'http:') return new http.Agent(options);
    return new https.Agent({
      ...options,
      secureContext,
      rejectUnauthorized: !cluster.skipTLSVerify,
      ...(cluster.tlsServerName !== undefined && { servername: cluster.tlsServerName }),
    });
  }

  #failure(call: Call, request: http.ClientRequest, error: Error): Error {
    if (this.#closed) return closed(nameOf(call));
    if (!isConnectionError(error)) return error;
    return new BrokenConnection(unreachable(nameOf(call), error), request.reusedSocket);
  }
}

function nameOf({ method, path }: Call): string {
  return `${method} ${path}`;
}

/** Errors of Node's sockets and HTTP parser have a code; an exception of the consumer is passed on. */
function isConnectionError(error: Error): boolean {
  return !(error instanceof FluxqError) && ('code' in error || error instanceof CutShort);
}

class CutShort extends Error {
  constructor() {
    super('the stream ended in the middle of an event');
  }
}

/** Ends an answer that is longer than its limit. */
function limit(response: http.IncomingMessage, call: Call): void {
  const { mostBytes } = call;
  if (mostBytes === undefined) return;
  let bytes = 0;
  response.on('data', (part: Buffer | string) => {
    bytes += Buffer.byteLength(part);
    if (bytes > mostBytes) response.destroy(tooLarge(nameOf(call), mostBytes));
  });
}

function isProtobuf(response: http.IncomingMessage): boolean {
  return response.headers['content-type']?.startsWith(PROTOBUF) === true;
}

/** Rejects with the error of the connection. */
function readReply(response: http.IncomingMessage, credential: Credential): Promise<Reply> {
  const { statusCode: status = 0, headers } = response;
  return new Promise((resolve, reject) => {
    const end = (body: Body) => resolve({ status, retryAfter: headers['retry-after'], body, credential });
    response.on('error', reject);
    if (isProtobuf(response)) {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => end(Buffer.concat(parts)));
      return;
    }
    let body = '';
    response.setEncoding('utf8');
    response.on('data', (part: string) => {
      body += part;
    });
    response.on('end', () => end(body));
  });
}

/** Rejects with the error of the connection or of onEvent. */
function readStream(
  response: http.IncomingMessage,
  { onEvent }: Streaming,
  name: string,
): Promise<StreamEnd> {
  const events = isProtobuf(response) ? new Frames(onEvent, name) : new Lines(onEvent);
  return new Promise((resolve, reject) => {
    response.on('data', (part: Buffer) => {
      try {
        events.push(part);
      } catch (error) {
        response.removeAllListeners('data');
        reject(error);
      }
    });
    response.on('error', reject);
    response.on('end', () => {
      if (events.isCut) reject(new CutShort());
      else resolve('ended');
    });
  });
}

/** Node's agents support proxies. As with kubectl, loopback addresses are never proxied. */
function proxyOf(given: string | undefined, server: URL): { proxyEnv?: Record<string, string> } {
  if (given !== undefined) return { proxyEnv: { HTTPS_PROXY: given, HTTP_PROXY: given } };
  const loopback =
    server.hostname === 'localhost' || server.hostname === '[::1]' || server.hostname.startsWith('127.');
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'NO_PROXY', 'no_proxy'];
  const set = names.flatMap((name) => (process.env[name] ? [[name, process.env[name]] as const] : []));
  return loopback || set.length === 0 ? {} : { proxyEnv: Object.fromEntries(set) };
}
