/** Requests to a reader, with the headers and certificates of their client. */
import { type Agent, request } from 'node:https';
import type { TLSSocket } from 'node:tls';

export interface Client {
  readonly port: number;
  /** CA of the reader. */
  readonly ca: string;
  readonly servername: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
  /** Certificate of the client. @default - it has none */
  readonly cert?: string;
  readonly key?: string;
  /** Keeps connections. @default - each request has a connection of its own, and with it a certificate of its own */
  readonly agent?: Agent;
  /** Breaks off the request. */
  readonly signal?: AbortSignal;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Serial number of the reader's certificate. */
  readonly serial: string;
}

export function send(path: string, { method = 'GET', body, ...client }: Client): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', path, method, agent: false, ...client }, (incoming) => {
      const { serialNumber: serial } = (incoming.socket as TLSSocket).getPeerCertificate();
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text: Buffer.concat(chunks).toString('utf8'),
          serial,
        }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
