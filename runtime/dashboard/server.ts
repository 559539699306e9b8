/**
 * Serves the dashboard to the browser of one person, on loopback. The page is read-only. Its address has a secret, because every program and
 * every other user of the machine can connect to a port of it, and what is shown was read with the rights of one of them.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FluxqError } from '../errors';
import type { LiveView } from './live-view';
import page from './page.json';

export interface DashboardServer {
  readonly url: string;
  stop(): Promise<void>;
}

export interface DashboardOptions {
  /** 0 selects a free port. */
  readonly port: number;
  readonly view: Pick<LiveView, 'listen'>;
}

const HOST = '127.0.0.1';
/** Bytes that wait to be sent to a browser that reads too slowly; it connects again and is told all there is. */
const MOST_WAITING = 64 * 1024 * 1024;

const FILES: Readonly<Record<string, { readonly type: string; readonly body: string }>> = {
  '': { type: 'text/html; charset=utf-8', body: page.html },
  'page.js': { type: 'text/javascript; charset=utf-8', body: page.script },
  'page.css': { type: 'text/css; charset=utf-8', body: page.style },
};

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** @throws FluxqError FLUXQ_PORT_IN_USE if another program listens on the port */
export async function serveDashboard({ port, view }: DashboardOptions): Promise<DashboardServer> {
  const secret = randomBytes(24).toString('base64url');
  const server = createServer((request, response) => {
    const path = pathOf(request, secret);
    if (path === undefined) refuse(response, 404, 'Use the whole address that the command has printed.');
    else if (request.method !== 'GET') refuse(response, 405, 'This page is read-only.');
    else if (path === 'events') sendEvents(request, response, view);
    else sendFile(response, path);
  });
  await listen(server, port);
  const { port: chosen } = server.address() as AddressInfo;
  return {
    url: `http://${HOST}:${chosen}/${secret}/`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The part of the path behind the secret; undefined without it, or if a page of another site asks by another name. */
function pathOf({ url = '', headers }: IncomingMessage, secret: string): string | undefined {
  const [, given = '', ...rest] = url.split('?')[0]!.split('/');
  const [host] = (headers.host ?? '').split(':');
  const isSecret = given.length === secret.length && timingSafeEqual(Buffer.from(given), Buffer.from(secret));
  return isSecret && (host === HOST || host === 'localhost') ? rest.join('/') : undefined;
}

function sendFile(response: ServerResponse, path: string): void {
  const file = FILES[path];
  if (file === undefined) {
    refuse(response, 404, 'There is no such file.');
    return;
  }
  response.writeHead(200, { ...HEADERS, 'content-type': file.type }).end(file.body);
}

function refuse(response: ServerResponse, status: number, sentence: string): void {
  response
    .writeHead(status, { ...HEADERS, 'content-type': 'text/plain; charset=utf-8' })
    .end(`${sentence}\n`);
}

function sendEvents(
  request: IncomingMessage,
  response: ServerResponse,
  view: Pick<LiveView, 'listen'>,
): void {
  response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream' });
  let isFirst = true;
  const end = view.listen((changes) => {
    if (response.writableLength > MOST_WAITING) response.destroy();
    else response.write(`event: ${isFirst ? 'all' : 'changes'}\ndata: ${JSON.stringify(changes)}\n\n`);
    isFirst = false;
  });
  request.on('close', end);
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error);
      reject(
        new FluxqError('FLUXQ_PORT_IN_USE', 'another program listens on it', {
          field: '--port',
          value: port,
          remedy: 'give another port, or none to take a free one',
        }),
      );
    });
    server.listen(port, HOST, () => resolve());
  });
}
