/**
 * Serves the dashboard to the browser of one person, on loopback. The page is read-only. Its address has a secret, because every program and
 * every other user of the machine can connect to a port of it, and what is shown was read with the rights of one of them.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FluxqError } from '../errors';
import { EventWriter } from './events';
import type { LiveView } from './live-view';
import { answerPage, type PageSource, refuse } from './page-server';
import type { Answers } from './read-api';

export interface DashboardServer {
  readonly url: string;
  stop(): Promise<void>;
}

export interface DashboardOptions {
  /** 0 selects a free port. */
  readonly port: number;
  readonly view: Pick<LiveView, 'listen'>;
  readonly answers: Answers;
}

const HOST = '127.0.0.1';

/** @throws FluxqError FLUXQ_PORT_IN_USE if another program listens on the port */
export async function serveDashboard({ port, view, answers }: DashboardOptions): Promise<DashboardServer> {
  const secret = randomBytes(24).toString('base64url');
  const writer = new EventWriter();
  const source: PageSource = {
    ...answers,
    events: (response) => response.once('close', view.listen(writer.open(response).tell)),
  };
  const server = createServer((request, response) => {
    const path = pathOf(request, secret);
    if (path === undefined) refuse(response, 404, 'Use the whole address that the command has printed.');
    else void answerPage(request, response, path, source);
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
