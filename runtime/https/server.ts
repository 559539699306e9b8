/**
 * The HTTPS server of the roles that the apiserver calls: its certificate can be replaced while it serves, incomplete
 * requests are ended, and a stop first answers what has begun.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type Clock, pause, systemClock } from '../clock';
import { FluxqError, messageOf } from '../errors';
import { Connections } from './connections';

/** A certificate and its key in PEM format. */
export interface TlsPair {
  readonly key: string;
  readonly cert: string;
}

interface TlsContext extends TlsPair {
  /** PEM certificates of the CAs of clients, for a server that asks for client certificates. @default - none is valid */
  readonly clientCas?: string;
}

export interface HttpsOptions {
  readonly host: string;
  /** The port; 0 selects a free one. */
  readonly port: number;
  readonly tls: TlsContext;
  /** Section of the configuration that has the port, for errors. */
  readonly setting: string;
  /** Milliseconds until an incomplete handshake or request is aborted. */
  readonly deadline: number;
  /** Whether clients are asked for a certificate. A connection without a valid one is still accepted. @default false */
  readonly asksForCertificates?: boolean;
  /** Bytes of the headers of one request. @default - that of Node, 16384 */
  readonly maxHeaderBytes?: number;
  /** Most open connections: beyond them, the address with the most loses one, see ./connections. */
  readonly maxConnections: number;
  /** Measures the time until it has stopped. @default - the clock of the machine */
  readonly clock?: Clock | undefined;
  /** @param isStopping whether the response has to close the connection */
  readonly onRequest: (
    request: IncomingMessage,
    response: ServerResponse,
    isStopping: () => boolean,
  ) => Promise<void>;
}

export interface HttpsServer {
  readonly port: number;
  /**
   * Uses another certificate for new connections; open connections keep theirs.
   * @throws FluxqError FLUXQ_CERTIFICATE_INVALID; the server then keeps the previous certificate
   */
  setTls(tls: TlsContext): void;
  /** Closes the connections without a request, so that their clients connect again. */
  closeIdleConnections(): void;
  /**
   * Answers requests that have begun, then closes, within the deadline of a request.
   * @param drain milliseconds for which it accepts requests still: a Service sends them to a pod for a moment after its end has begun
   */
  stop(drain?: number): Promise<void>;
}

/**
 * The apiserver keeps idle connections for 90 s. If this server closed one
 * first, a request could reach the closing connection and fail, and with it the
 * user's request.
 */
const KEEP_ALIVE = 120_000;

/** @throws FluxqError FLUXQ_PORT_IN_USE, FLUXQ_CERTIFICATE_INVALID */
export async function startHttps(options: HttpsOptions): Promise<HttpsServer> {
  const { deadline, asksForCertificates = false, maxHeaderBytes, clock = systemClock } = options;
  const server = withValidCertificate(() =>
    createServer({
      ...contextOf(options.tls),
      ...(asksForCertificates && { requestCert: true, rejectUnauthorized: false }),
      ...(maxHeaderBytes !== undefined && { maxHeaderSize: maxHeaderBytes }),
      keepAliveTimeout: KEEP_ALIVE,
      // Else a connection that sends nothing at all counts for two minutes.
      handshakeTimeout: deadline,
      headersTimeout: deadline,
      requestTimeout: deadline,
      connectionsCheckingInterval: Math.min(deadline, 1_000),
    }),
  );
  const connections = new Connections(options.maxConnections);
  server.prependListener('connection', (socket: Socket) => connections.add(socket));
  let stopping = false;
  server.on('request', (request, response) => {
    response.once('close', connections.begin(request.socket));
    void options.onRequest(request, response, () => stopping);
  });
  await listen(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    setTls: (tls) => withValidCertificate(() => server.setSecureContext(contextOf(tls))),
    closeIdleConnections: () => server.closeIdleConnections(),
    stop: async (drain = 0) => {
      // A connection with a request in progress is not idle yet; its response closes it, or it would stay open.
      stopping = true;
      if (drain > 0) await pause(clock, drain);
      // One on which no request was ever begun is not idle for Node either, and would keep the process from ending.
      const cancel = clock.after(deadline, () => server.closeAllConnections());
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      });
      cancel();
    },
  };
}

/** Without `ca`, Node would take client certificates of every public CA for valid. */
function contextOf({ key, cert, clientCas }: TlsContext) {
  return { key, cert, ca: clientCas ?? [], minVersion: 'TLSv1.2' as const };
}

/** A body that was not read; `status` says why. */
export class BodyError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
    this.name = 'BodyError';
  }
}

/** @param limit bytes @throws BodyError */
export function readBody(request: IncomingMessage, limit: number): Promise<string> {
  const tooLarge = () => new BodyError(413, `is larger than ${limit} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > limit) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) {
        request.pause();
        reject(tooLarge());
      } else chunks.push(chunk);
    });
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    request.on('error', (error) => reject(new BodyError(400, `could not be read: ${error.message}`)));
    request.on('aborted', () => reject(new BodyError(400, 'is incomplete')));
  });
}

/**
 * Sends JSON. The rest of a body that was not read is never read, so its connection cannot be reused.
 * @param closes whether the response ends the connection in any case
 */
export function sendJson(
  request: IncomingMessage,
  response: ServerResponse,
  { status, document, headers = {} }: JsonAnswer,
  closes: boolean,
): void {
  const body = JSON.stringify(document);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
    ...(request.complete && !closes ? {} : { connection: 'close' }),
  });
  response.end(body);
}

export interface JsonAnswer {
  readonly status: number;
  readonly document: object;
  readonly headers?: Readonly<Record<string, string>>;
}

function withValidCertificate<T>(use: () => T): T {
  try {
    return use();
  } catch (cause) {
    throw new FluxqError('FLUXQ_CERTIFICATE_INVALID', `is not usable: ${messageOf(cause)}`, {
      field: 'tls',
      remedy: 'set a PEM certificate and its key',
      cause,
    });
  }
}

function listen(server: Server, { host, port, setting }: HttpsOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new FluxqError('FLUXQ_PORT_IN_USE', `cannot listen on ${host || 'any address'} (${cause.code})`, {
          field: `${setting}.port`,
          value: port,
          remedy: `choose another port with ${setting}.port or FLUXQUEUE_${setting}_port`,
          cause,
        }),
      ),
    );
    server.listen(port, host, resolve);
  });
}
