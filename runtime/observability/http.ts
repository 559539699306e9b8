/** The HTTP port of every role, with /healthz, /readyz and /metrics for probes and Prometheus. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { FluxqError, messageOf } from '../errors';

export interface ObservabilityServer {
  readonly port: number;
  stop(): Promise<void>;
}

export interface ObservabilityOptions {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  readonly registry: Registry;
  /** The names of what is not ready; empty if the role can do its work. */
  readonly notReady: () => readonly string[];
}

/** @throws FluxqError FLUXQ_PORT_IN_USE if another program listens on the port */
export async function serveObservability(options: ObservabilityOptions): Promise<ObservabilityServer> {
  const server = createServer((request, response) => {
    answer(options, request, response).catch((error: unknown) => send(response, 500, messageOf(error)));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, options)));
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listenError(error: NodeJS.ErrnoException, { host, port }: ObservabilityOptions): Error {
  if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES' && error.code !== 'EADDRNOTAVAIL') return error;
  return new FluxqError('FLUXQ_PORT_IN_USE', `cannot listen on ${host} (${error.code})`, {
    field: 'http.port',
    value: port,
    remedy: 'choose another port with http.port or FLUXQUEUE_http_port',
    cause: error,
  });
}

async function answer(
  { registry, notReady }: ObservabilityOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  switch (request.url?.split('?')[0]) {
    case '/healthz':
      return send(response, 200, 'ok');
    case '/readyz': {
      const missing = notReady();
      return missing.length === 0
        ? send(response, 200, 'ok')
        : send(response, 503, `not ready: ${missing.join(', ')}`);
    }
    case '/metrics':
      return send(response, 200, await registry.metrics(), registry.contentType);
    default:
      return send(response, 404, 'not found');
  }
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  type = 'text/plain; charset=utf-8',
): void {
  response.writeHead(status, { 'content-type': type }).end(`${body}\n`);
}
