/**
 * The port to which lead brokers report. Any pod can reach it, so connections are counted before they cost a TLS
 * handshake, bodies are small, and the leader's other work has its own connections.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { FluxqError } from '../errors';
import { addressOf, Connections } from '../https/connections';
import type { TlsPair } from '../https/server';

export interface Answer {
  readonly status: number;
  /** Why the request was refused. */
  readonly problem?: string;
}

export interface ReportRequest {
  readonly path: string;
  readonly token: string;
  readonly body: string;
}

export interface ReportServerOptions {
  /** @default - all addresses */
  readonly host?: string;
  /** 0 selects a free one. */
  readonly port: number;
  readonly tls: TlsPair;
  readonly answer: (request: ReportRequest) => Promise<Answer>;
  readonly onError: (error: unknown) => void;
  /** Unix seconds. */
  readonly now: () => number;
}

export interface ReportServer {
  readonly port: number;
  setCertificate(tls: TlsPair): void;
  stop(): Promise<void>;
}

const MOST_BYTES = 1_024;
const MOST_CONNECTIONS = 100;
/** Connections in one second, of all pods and of one address. */
const MOST_PER_SECOND = { all: 100, address: 5 };
const DEADLINE_MS = 4_000;
const TLS = { minVersion: 'TLSv1.2' } as const;

/** @throws FluxqError FLUXQ_PORT_IN_USE */
export async function startReportServer(options: ReportServerOptions): Promise<ReportServer> {
  const server = createServer({
    ...options.tls,
    ...TLS,
    headersTimeout: DEADLINE_MS,
    requestTimeout: DEADLINE_MS,
    handshakeTimeout: DEADLINE_MS,
    connectionsCheckingInterval: 1_000,
  });
  const connections = new Connections(MOST_CONNECTIONS);
  const limit = new ConnectionLimit(options.now);
  server.prependListener('connection', (socket: Socket) => {
    if (limit.allows(addressOf(socket))) connections.add(socket);
    else socket.destroy();
  });
  server.on('request', (request, response) => void handle(options, request, response));
  await listen(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    setCertificate: (tls) => server.setSecureContext({ ...tls, ...TLS }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The addresses of this machine or pod that other pods can reach. */
export function ownAddresses(interfaces = networkInterfaces()): string[] {
  return Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .map(({ address }) => address);
}

class ConnectionLimit {
  private second = 0;
  private all = 0;
  private readonly byAddress = new Map<string, number>();

  constructor(private readonly now: () => number) {}

  allows(address: string): boolean {
    const second = Math.floor(this.now());
    if (second !== this.second) {
      this.second = second;
      this.all = 0;
      this.byAddress.clear();
    }
    const count = (this.byAddress.get(address) ?? 0) + 1;
    if (count > MOST_PER_SECOND.address || this.all >= MOST_PER_SECOND.all) return false;
    this.byAddress.set(address, count);
    this.all++;
    return true;
  }
}

async function handle(
  { answer, onError }: ReportServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { status, problem = '' } = await answerTo(request, answer).catch((error: unknown) => {
    // A client that went away gets no answer, and is no trouble of this process.
    if (request.complete) onError(error);
    return { status: 503, problem: 'the controller could not check the report' };
  });
  response.writeHead(status, { connection: 'close', 'content-type': 'text/plain; charset=utf-8' });
  response.end(problem);
}

async function answerTo(request: IncomingMessage, answer: ReportServerOptions['answer']): Promise<Answer> {
  if (request.method !== 'POST') return { status: 405, problem: 'must be sent with POST' };
  const [, token] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? [];
  if (token === undefined) return { status: 401, problem: 'has no bearer token' };
  const tooLarge = { status: 413, problem: `is larger than ${MOST_BYTES} bytes` };
  if (Number(request.headers['content-length'] ?? 0) > MOST_BYTES) return tooLarge;
  const body = await readBody(request);
  if (body === undefined) return tooLarge;
  return answer({ path: request.url ?? '', token, body });
}

/** Resolves to undefined if the body is too large. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MOST_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function listen(server: Server, { host, port }: ReportServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new FluxqError('FLUXQ_PORT_IN_USE', `cannot listen on ${host ?? 'any address'} (${cause.code})`, {
          field: 'miniClusters.reports.port',
          value: port,
          remedy: 'choose another port with miniClusters.reports.port',
          cause,
        }),
      ),
    );
    server.listen({ port, ...(host !== undefined && { host }) }, resolve);
  });
}
