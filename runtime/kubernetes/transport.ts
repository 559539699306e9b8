/**
 * HTTP/1.1 over node:https with keep-alive, one pool of connections per lane:
 * a watch never shares one with a burst of writes (with one HTTP/2 connection
 * for both, the apiserver ends watches that are read slowly), and the leader's
 * renewals never queue behind either.
 *
 * The TLS context is made once and given to the agents: otherwise Node parses
 * the CA for every connection and builds a pool key out of all PEM texts for
 * every request.
 */
import http from 'node:http';
import https from 'node:https';
import type { SecureContext } from 'node:tls';
import { FluxqError } from '../errors';
import type { Credential, Credentials } from './credentials';
import { closed, timedOut, unreachable } from './errors';
import type { Access } from './kubeconfig';

export type Dimension = 'read' | 'write' | 'urgent' | 'watch';

/** Per lane; more requests wait for a connection. */
const MOST_CONNECTIONS = 64;

export interface Call {
  readonly method: string;
  /** With query. */
  readonly path: string;
  readonly lane: Dimension;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Reply {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
  readonly credential: Credential;
}

export interface Streaming {
  /** Ends the stream: the promise resolves. */
  readonly signal: AbortSignal;
  /** Milliseconds without a byte until the connection counts as dead. */
  readonly idle: number;
  /** Milliseconds the whole stream may last. */
  readonly lifetime: number;
  /** Complete lines, without the line end. */
  readonly onLine: (line: string) => void;
}

type Agents = Readonly<Record<Dimension, http.Agent>>;

/** A connection that broke before it carried anything back: the request can be sent again if it may happen twice. */
export class BrokenConnection extends Error {
  constructor(
    readonly error: FluxqError,
    /** The apiserver had closed it while it was idle: no sign of trouble. */
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
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          body += part;
        });
        response.on('error', fail);
        response.on('end', () => resolve(replyOf(response, body, credential)));
      });
      request.end(call.body);
    });
  }

  /**
   * Hands over the lines of an endless answer. Resolves when the server ended
   * it or the signal was aborted; a reply other than 200 is returned.
   * @throws as {@link request}
   */
  async stream(call: Call, streaming: Streaming): Promise<Reply | undefined> {
    const credential = await this.credentials.current();
    const { signal, idle, lifetime } = streaming;
    if (signal.aborted) return undefined;
    const request = this.#start(call, credential);
    const deadline = setTimeout(() => request.destroy(timedOut(nameOf(call), lifetime)), lifetime);
    request.setTimeout(idle, () => request.destroy(timedOut(nameOf(call), idle)));
    return new Promise((resolve, reject) => {
      const stop = () => {
        resolve(undefined);
        request.destroy();
      };
      const fail = (error: Error) => {
        // Settled first: what destroy reports would be taken for a broken connection.
        reject(this.#failure(call, request, error));
        request.destroy();
      };
      signal.addEventListener('abort', stop, { once: true });
      request.on('close', () => {
        clearTimeout(deadline);
        signal.removeEventListener('abort', stop);
      });
      request.on('error', fail);
      request.on('response', (response) => readStream(response, streaming, credential).then(resolve, fail));
      request.end();
    });
  }

  /** Breaks everything that is under way. */
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
      agent: this.#agentsFor(credential.secureContext)[call.lane],
    });
    this.#open.add(request);
    request.on('close', () => this.#open.delete(request));
    return request;
  }

  #agentsFor(context: SecureContext): Agents {
    if (this.#agents !== undefined && this.#context === context) return this.#agents;
    for (const agent of Object.values(this.#agents ?? {})) {
      // New credentials: what runs may end, idle connections go.
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

  #agent(lane: Dimension, secureContext: SecureContext): http.Agent {
    const { cluster } = this.access;
    const options = {
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
      maxFreeSockets: 32,
      ...(lane !== 'watch' && { maxSockets: MOST_CONNECTIONS }),
      // Most recently used first: surplus connections of a burst become idle and go.
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

/** What Node's sockets and HTTP parser report has a code; a consumer's own exception passes as it is. */
function isConnectionError(error: Error): boolean {
  return !(error instanceof FluxqError) && ('code' in error || error instanceof CutShort);
}

class CutShort extends Error {
  constructor() {
    super('the stream ended in the middle of an event');
  }
}

function replyOf(response: http.IncomingMessage, body: string, credential: Credential): Reply {
  return { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], body, credential };
}

/** Rejects with what the connection or onLine threw. */
function readStream(
  response: http.IncomingMessage,
  { onLine }: Streaming,
  credential: Credential,
): Promise<Reply | undefined> {
  const refused = response.statusCode !== 200;
  const lines = new Lines(refused ? undefined : onLine);
  return new Promise((resolve, reject) => {
    response.on('data', (part: Buffer) => {
      try {
        lines.push(part);
      } catch (error) {
        response.removeAllListeners('data');
        reject(error);
      }
    });
    response.on('error', reject);
    response.on('end', () => {
      if (refused) resolve(replyOf(response, lines.rest, credential));
      else if (lines.rest === '') resolve(undefined);
      else reject(new CutShort());
    });
  });
}

/** Node's agents tunnel through a proxy by themselves; loopback is never proxied, as with kubectl. */
function proxyOf(given: string | undefined, server: URL): { proxyEnv?: Record<string, string> } {
  if (given !== undefined) return { proxyEnv: { HTTPS_PROXY: given, HTTP_PROXY: given } };
  const loopback =
    server.hostname === 'localhost' || server.hostname === '[::1]' || server.hostname.startsWith('127.');
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'NO_PROXY', 'no_proxy'];
  const set = names.flatMap((name) => (process.env[name] ? [[name, process.env[name]] as const] : []));
  return loopback || set.length === 0 ? {} : { proxyEnv: Object.fromEntries(set) };
}

/** Cuts a stream of bytes into lines; one of 200 kB comes in many parts and is put together once. */
class Lines {
  #parts: Buffer[] = [];

  constructor(private readonly onLine: ((line: string) => void) | undefined) {}

  push(chunk: Buffer): void {
    let from = 0;
    if (this.onLine !== undefined) {
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
        const line =
          this.#parts.length === 0
            ? chunk.toString('utf8', from, end)
            : Buffer.concat([...this.#parts, chunk.subarray(from, end)]).toString('utf8');
        this.#parts = [];
        from = end + 1;
        if (line !== '') this.onLine(line);
      }
    }
    if (from < chunk.length) this.#parts.push(chunk.subarray(from));
  }

  /** What came after the last line end. */
  get rest(): string {
    return Buffer.concat(this.#parts).toString('utf8');
  }
}
