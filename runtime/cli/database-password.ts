/**
 * The command `password` creates the password and the certificate of the stack's own Postgres in the cluster, so that they
 * are never in Git. It runs before Postgres starts. A repeated run keeps what the first one made. A Secret that was deleted
 * is created again with another password and another CA, which Postgres takes over at its start
 * (constructs/fluxqueue/postgres.sh). The URL in the Secret always follows the option `url`, so that an upgrade of the
 * stack can change the role and the address of the database.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDue, makeCertificate, type ServingCertificate } from '../admission/certificates';
import { FluxqError } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import { ifFound, isStatus } from '../kubernetes/errors';
import { secrets } from '../kubernetes/paths';
import { createSecret } from '../kubernetes/secrets';
import type { KubernetesObject } from '../kubernetes/types';

export interface PasswordOptions {
  readonly client: KubernetesClient;
  readonly namespace: string;
  /** The Secret whose keys `password`, `url`, `ca.crt`, `tls.crt` and `tls.key` are filled. */
  readonly secret: string;
  /** postgres:// URL without a password. */
  readonly url: string;
  /** The folder for the files of Postgres: password, tls.crt and tls.key. */
  readonly folder: string;
}

interface Secret extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** What the Secret holds, decoded. */
interface Credentials {
  readonly password: string;
  readonly certificate: ServingCertificate;
}

/**
 * Days until the certificate expires. Postgres and the controllers read it at their start only, so it outlives every pod;
 * a start of the database's pod after two thirds of them renews it.
 */
const DAYS = 3650;

/** @throws FluxqError FLUXQ_DATABASE_URL, FLUXQ_SECRET_MISSING, and the errors of the client */
export async function ensurePassword(options: PasswordOptions): Promise<void> {
  const { password, certificate } = await ensureCredentials(options);
  mkdirSync(options.folder, { recursive: true });
  const files = { password, 'tls.crt': certificate.cert, 'tls.key': certificate.key };
  for (const [name, text] of Object.entries(files)) {
    const file = join(options.folder, name);
    // The file of an earlier run is read-only.
    rmSync(file, { force: true });
    writeFileSync(file, text, { mode: 0o400 });
  }
}

/** Fills the Secret if necessary and returns what it holds. */
async function ensureCredentials(options: PasswordOptions): Promise<Credentials> {
  const { client, namespace, secret, url } = options;
  const path = secrets(namespace, secret);
  for (;;) {
    const found = await ifFound(client.get<Secret>(path));
    const credentials = await completed(found?.data ?? {}, url);
    const data = { ...found?.data, ...encoded(credentials, url) };
    if (Object.entries(data).every(([key, value]) => found?.data?.[key] === value)) return credentials;
    try {
      if (found === undefined) await createSecret(client, { namespace, name: secret, data });
      // The resourceVersion of the read object makes the first of several writers win.
      else await client.update(path, { ...found, data });
      return credentials;
    } catch (error) {
      if (!isStatus(error, 409)) throw error;
    }
  }
}

/** What the Secret has, and a new password or certificate where it has none that can be used. */
async function completed(data: Readonly<Record<string, string>>, url: string): Promise<Credentials> {
  const [key, cert, bundle] = ['tls.key', 'tls.crt', 'ca.crt'].map((name) => decode(data[name])) as [
    string,
    string,
    string,
  ];
  const names = namesOf(parseUrl(url).hostname);
  const now = new Date();
  const known = decode(data.password);
  const isComplete = key !== '' && bundle !== '' && !isDue({ cert }, names, now);
  return {
    password: known === '' ? randomBytes(32).toString('base64url') : known,
    certificate: isComplete
      ? { key, cert, bundle }
      : await makeCertificate({ names, now, days: DAYS, trusted: bundle }),
  };
}

function encoded({ password, certificate: { key, cert, bundle } }: Credentials, url: string) {
  const texts = {
    password,
    url: urlWithPassword(url, password),
    'tls.key': key,
    'tls.crt': cert,
    'ca.crt': bundle,
  };
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
  );
}

const decode = (text = ''): string => Buffer.from(text, 'base64').toString();

/** NAME.NAMESPACE.svc and the other names of that Service. */
function namesOf(host: string): string[] {
  const [service, namespace, svc] = host.split('.');
  if (svc !== 'svc') return [host];
  return [host, service!, `${service}.${namespace}`, `${service}.${namespace}.svc.cluster.local`];
}

function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol) || url.username === '')
    throw new FluxqError('FLUXQ_DATABASE_URL', 'is not a postgres:// URL with a user', {
      field: '--url',
      remedy: 'give postgres://USER@HOST:PORT/DATABASE',
    });
  return url;
}

function urlWithPassword(text: string, password: string): string {
  const url = parseUrl(text);
  url.password = password;
  return url.toString();
}
