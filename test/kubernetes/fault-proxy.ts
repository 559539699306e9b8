/**
 * A proxy in front of a real apiserver that injects faults of networks and busy servers: it resets connections, goes
 * silent, answers 429 or 500, and ends a watch in the middle of an event. It terminates TLS with the certificate of the
 * apiserver (both are 127.0.0.1), so clients need only another port. Bearer tokens pass through.
 */
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import type { Cluster } from '../cluster/cluster';
import { writeKubeconfig } from '../cluster/credentials';

export interface ProxyRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
}

export type Match = (request: ProxyRequest) => boolean;

export type Fault =
  /** The proxy answers itself and forwards nothing. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly retryAfter?: number;
      readonly reason?: string;
    }
  /** The proxy resets the connection and forwards nothing. */
  | { readonly kind: 'reset' }
  /** The apiserver handles the request, and the proxy resets the connection instead of answering. */
  | { readonly kind: 'lose-answer' }
  /** The proxy neither forwards nor answers. */
  | { readonly kind: 'silence' }
  /** The answer of the apiserver stops after its first half. */
  | { readonly kind: 'half-answer' }
  /** The proxy forwards the request after so many milliseconds. */
  | { readonly kind: 'delay'; readonly milliseconds: number }
  /** A watch begins normally and ends immediately with an event `410 Expired`. */
  | { readonly kind: 'expire' };

interface Rule {
  readonly match: Match;
  readonly fault: Fault;
  left: number;
}

interface Exchange {
  readonly request: ProxyRequest;
  readonly response: ServerResponse;
  upstream?: IncomingMessage;
  /** From now on no data of the apiserver is passed on. */
  muted: boolean;
  /** Half of the next data is passed on, then the connection is reset or goes silent. */
  cut: 'reset' | 'silence' | undefined;
}

export const isWatch: Match = ({ path }) => path.includes('watch=true');
export const everything: Match = () => true;

/** Starts a proxy in front of the apiserver of this cluster. */
export async function startFaultProxy(cluster: Cluster): Promise<FaultProxy> {
  const certificate = (ending: string) =>
    readFileSync(join(cluster.directory, 'certificates', `apiserver.${ending}`));
  const proxy = new FaultProxy(cluster);
  await proxy.listen({ cert: certificate('crt'), key: certificate('key') });
  return proxy;
}

export class FaultProxy {
  /** Every request that has reached the proxy. */
  readonly requests: ProxyRequest[] = [];
  /** Called with all open requests whenever a request arrives. */
  onRequest: (open: readonly ProxyRequest[]) => void = () => undefined;
  readonly #rules: Rule[] = [];
  readonly #exchanges = new Set<Exchange>();
  readonly #sockets = new Set<Socket>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #agent: https.Agent;
  #server: https.Server | undefined;
  #stalled = false;
  #port = 0;

  constructor(private readonly cluster: Cluster) {
    this.#agent = new https.Agent({ ca: readFileSync(cluster.caFile), keepAlive: true });
  }

  /** Writes a kubeconfig of the admin through this proxy and returns its path. */
  get kubeconfig(): string {
    return this.kubeconfigOf(this.cluster.token('admin'));
  }

  /** Writes a kubeconfig with this token through this proxy and returns its path. */
  kubeconfigOf(token: string): string {
    const { directory, caFile } = this.cluster;
    return writeKubeconfig(directory, 'fault-proxy', { server: this.server, caFile, token });
  }

  get server(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  /** The number of open watches. */
  get openWatches(): number {
    return [...this.#exchanges].filter(({ request }) => isWatch(request)).length;
  }

  async listen(pair: { cert: Buffer; key: Buffer }): Promise<void> {
    const server = https.createServer(pair, (request, response) => this.#handle(request, response));
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
  }

  /**
   * Injects this fault into matching requests.
   * @param times the number of requests; later ones pass
   * @returns a function that ends the fault earlier
   */
  inject(match: Match, fault: Fault, times = Number.POSITIVE_INFINITY): () => void {
    const rule = { match, fault, left: times };
    this.#rules.push(rule);
    return () => {
      rule.left = 0;
    };
  }

  /** Resets every connection. */
  resetConnections(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Matching open answers go silent, but their connections stay open. New requests pass. */
  mute(match: Match): void {
    for (const exchange of this.#exchanges) if (match(exchange.request)) exchange.muted = true;
  }

  /** Matching open answers are reset in the middle of their next data. */
  cut(match: Match): void {
    for (const exchange of this.#exchanges) if (match(exchange.request)) exchange.cut = 'reset';
  }

  /** Matching open answers end as if the apiserver had ended them. */
  end(match: Match): void {
    for (const exchange of this.#exchanges) {
      if (!match(exchange.request)) continue;
      exchange.upstream?.destroy();
      exchange.response.end();
    }
  }

  /** Passes on no data in either direction until {@link resume}; connections stay open. */
  stall(): void {
    this.#stalled = true;
    for (const exchange of this.#exchanges) exchange.muted = true;
  }

  /** New requests pass again; requests that were open stay silent. */
  resume(): void {
    this.#stalled = false;
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    const server = this.#server;
    const done = new Promise((resolve) =>
      server === undefined ? resolve(undefined) : server.close(resolve),
    );
    for (const socket of this.#sockets) socket.destroy();
    this.#agent.destroy();
    await done;
  }

  #handle(incoming: IncomingMessage, response: ServerResponse): void {
    const request = { method: incoming.method ?? '', path: incoming.url ?? '' };
    this.requests.push(request);
    const exchange: Exchange = { request, response, muted: false, cut: undefined };
    this.#exchanges.add(exchange);
    this.onRequest([...this.#exchanges].map((open) => open.request));
    response.on('close', () => {
      this.#exchanges.delete(exchange);
      exchange.upstream?.destroy();
    });
    if (this.#stalled) return;
    const fault = this.#faultFor(request);
    if (fault === undefined) this.#forward(incoming, exchange, false);
    else this.#harm(incoming, exchange, fault);
  }

  #faultFor(request: ProxyRequest): Fault | undefined {
    const rule = this.#rules.find(({ left, match }) => left > 0 && match(request));
    if (rule === undefined) return undefined;
    rule.left -= 1;
    return rule.fault;
  }

  #harm(incoming: IncomingMessage, exchange: Exchange, fault: Fault): void {
    switch (fault.kind) {
      case 'answer':
        incoming.resume();
        answer(exchange.response, fault.status, fault.reason ?? 'InjectedFault', fault.retryAfter);
        break;
      case 'reset':
        incoming.socket.destroy();
        break;
      case 'lose-answer':
        this.#forward(incoming, exchange, true);
        break;
      case 'half-answer':
        exchange.cut = 'silence';
        this.#forward(incoming, exchange, false);
        break;
      case 'delay': {
        const timer = setTimeout(() => {
          this.#timers.delete(timer);
          this.#forward(incoming, exchange, false);
        }, fault.milliseconds);
        this.#timers.add(timer);
        break;
      }
      case 'expire':
        exchange.response.end(`${JSON.stringify({ type: 'ERROR', object: expired })}\n`);
        break;
      case 'silence':
        incoming.resume();
    }
  }

  #forward(incoming: IncomingMessage, exchange: Exchange, loseAnswer: boolean): void {
    const { response } = exchange;
    const { hostname, port } = new URL(this.cluster.server);
    const upstream = https.request({
      hostname,
      port,
      method: incoming.method,
      path: incoming.url,
      headers: incoming.headers,
      agent: this.#agent,
    });
    // An apiserver that is down looks to the client as it does without the proxy.
    upstream.on('error', () => response.destroy());
    upstream.on('response', (answered) => {
      exchange.upstream = answered;
      answered.on('error', () => response.destroy());
      if (loseAnswer) {
        answered.on('end', () => response.destroy());
        answered.resume();
        return;
      }
      // A watch that was told meanwhile that it has expired has its answer.
      if (exchange.muted || response.headersSent) return;
      response.writeHead(answered.statusCode ?? 502, answered.headers);
      response.flushHeaders();
      answered.on('data', (part: Buffer) => pass(exchange, part));
      answered.on('end', () => {
        if (!exchange.muted) response.end();
      });
    });
    incoming.pipe(upstream);
  }
}

function pass(exchange: Exchange, part: Buffer): void {
  if (exchange.muted) return;
  const { cut, response } = exchange;
  if (cut === undefined) {
    response.write(part);
    return;
  }
  exchange.muted = true;
  response.write(part.subarray(0, Math.ceil(part.length / 2)), () => {
    if (cut === 'reset') response.destroy();
  });
}

const expired = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };

function answer(
  response: ServerResponse,
  status: number,
  reason: string,
  retryAfter: number | undefined,
): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(retryAfter !== undefined && { 'retry-after': `${retryAfter}` }),
  });
  response.end(JSON.stringify({ kind: 'Status', code: status, reason, message: `injected ${status}` }));
}
