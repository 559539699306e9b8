/**
 * TLS of database connections. A server on another machine must prove its name with a certificate; `sslmode=disable` in
 * the URL is the one switch that allows plain text. `pg` itself would connect in plain text unless the URL asks for TLS.
 */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { FluxqError, messageOf } from '../errors';

export interface DatabaseAccess {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  /** PEM certificates of the only CAs to trust. @default - the CAs of the system */
  readonly ca?: string;
}

interface Connection {
  readonly connectionString: string;
  readonly ssl: false | ConnectionOptions;
}

/** Parameters of libpq that name files. */
const FILES = { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' } as const;

/** Modes of libpq. Weaker ones that can end in plain text or skip a check count as the strongest. */
const VERIFIED = ['verify-full', 'verify-ca', 'require', 'prefer', 'allow'];

/** @throws FluxqError FLUXQ_DATABASE_URL, and errors of the files in the URL */
export function connectionOf({ url: text, ca }: DatabaseAccess): Connection {
  const url = URL.parse(text);
  if (url === null) throw wrongUrl('is not a URL', 'give postgres://USER:PASSWORD@HOST:PORT/DATABASE');
  const mode = take(url, 'sslmode') ?? (isLocal(url) ? 'disable' : 'verify-full');
  const options: ConnectionOptions = { ...(ca === undefined ? {} : { ca }) };
  for (const [parameter, option] of Object.entries(FILES)) {
    const file = take(url, parameter);
    if (file !== undefined) Object.assign(options, { [option]: readFileSync(file, 'utf8') });
  }
  return { connectionString: url.href, ssl: tlsOf(mode, options) };
}

function tlsOf(mode: string, options: ConnectionOptions): false | ConnectionOptions {
  if (mode === 'disable') return false;
  if (mode === 'no-verify') return { ...options, rejectUnauthorized: false };
  if (VERIFIED.includes(mode)) return options;
  throw wrongUrl(
    `has the sslmode ${mode}`,
    'use verify-full, which is the default, no-verify (TLS without a check of the server) or disable (plain text)',
  );
}

function wrongUrl(message: string, remedy: string): FluxqError {
  return new FluxqError('FLUXQ_DATABASE_URL', message, { field: 'database.url', remedy });
}

function take(url: URL, parameter: string): string | undefined {
  const value = url.searchParams.get(parameter) ?? undefined;
  url.searchParams.delete(parameter);
  return value;
}

/** Whether the server is on this machine: its address is a socket or of the loopback network. */
function isLocal(url: URL): boolean {
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname);
  return /^$|^\/|^localhost$|^127\.|^\[::1\]$/.test(host);
}

/** Codes of Node for certificates that are not trusted, expired or of another host. */
const UNTRUSTED = /CERT|LEAF_SIGNATURE|INVALID_CA|INVALID_PURPOSE/;

/** Whether the server's certificate was refused. */
export function isUntrusted(error: unknown): boolean {
  return UNTRUSTED.test((error as NodeJS.ErrnoException | undefined)?.code ?? '');
}

/** The message of `pg` when the server answers in plain text only. */
const NO_TLS = 'The server does not support SSL connections';

/** The error for a server without TLS or with a certificate that was refused. */
export function tlsError(error: unknown): FluxqError | undefined {
  const message = messageOf(error);
  if (!isUntrusted(error) && message !== NO_TLS) return undefined;
  return new FluxqError('FLUXQ_DATABASE_TLS', `no trusted TLS connection to the database: ${message}`, {
    field: 'database.url',
    remedy:
      'give the CA of the server in the key ca.crt of the Secret with the URL and its certified name in the URL; ' +
      'sslmode=disable in the URL allows plain text',
    retryable: true,
    cause: error,
  });
}
