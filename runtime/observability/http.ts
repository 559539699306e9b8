/**
 * The two HTTP ports of every role. Probes: /healthz and /readyz, for the kubelet. Metrics: /metrics, for Prometheus, on
 * loopback unless the configuration says otherwise (docs/decisions/0029-metrics.md).
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { FluxqError, messageOf } from '../errors';

interface Address {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
}

export interface ObservabilityOptions {
  readonly http: Address;
  readonly metrics: Address;
  readonly registry: Registry;
  /** The names of what is not ready; empty if the role can do its work. */
  readonly notReady: () => readonly string[];
}

export interface ObservabilityServer {
  /** Port of the probes. */
  readonly port: number;
  readonly metricsPort: number;
  stop(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly type?: string;
}

type Paths = Readonly<Record<string, () => Answer | Promise<Answer>>>;

/** @throws FluxqError FLUXQ_PORT_IN_USE if another program listens on one of the ports */
export async function serveObservability(options: ObservabilityOptions): Promise<ObservabilityServer> {
  const { registry, notReady } = options;
  const probes = await serve('http', options.http, {
    '/healthz': () => ({ status: 200, body: 'ok' }),
    '/readyz': () => readiness(notReady()),
  });
  const metrics = await serve('metrics', options.metrics, {
    '/metrics': async () => ({ status: 200, body: await registry.metrics(), type: registry.contentType }),
  }).catch(async (error: unknown) => {
    await close(probes);
    throw error;
  });
  return {
    port: portOf(probes),
    metricsPort: portOf(metrics),
    stop: async () => {
      await Promise.all([close(probes), close(metrics)]);
    },
  };
}

function readiness(missing: readonly string[]): Answer {
  return missing.length === 0
    ? { status: 200, body: 'ok' }
    : { status: 503, body: `not ready: ${missing.join(', ')}` };
}

/** @param setting the setting of the address, for the error */
async function serve(setting: string, address: Address, paths: Paths): Promise<Server> {
  const server = createServer(async (request, response) => {
    const { status, body, type = 'text/plain; charset=utf-8' } = await answer(paths, request.url);
    response.writeHead(status, { 'content-type': type }).end(`${body}\n`);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, setting, address)));
    server.listen(address.port, address.host, resolve);
  });
  return server;
}

async function answer(paths: Paths, url = ''): Promise<Answer> {
  const [path = ''] = url.split('?');
  const handler = Object.hasOwn(paths, path) ? paths[path] : undefined;
  if (handler === undefined) return { status: 404, body: 'not found' };
  try {
    return await handler();
  } catch (error) {
    return { status: 500, body: messageOf(error) };
  }
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function listenError(error: NodeJS.ErrnoException, setting: string, { host, port }: Address): Error {
  if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES' && error.code !== 'EADDRNOTAVAIL') return error;
  return new FluxqError('FLUXQ_PORT_IN_USE', `cannot listen on ${host || 'any address'} (${error.code})`, {
    field: `${setting}.port`,
    value: port,
    remedy: `choose another port with ${setting}.port or FLUXQUEUE_${setting}_port`,
    cause: error,
  });
}
