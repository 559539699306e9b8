/**
 * The command `password` creates the password of the stack's own Postgres in the cluster, so that it is never in Git.
 * It runs before Postgres starts. A repeated run keeps the first password. A Secret that was deleted is created again
 * with another password, which Postgres takes over at its start (constructs/fluxqueue/postgres.sh). The URL in the Secret
 * always follows the option `url`, so that an upgrade of the stack can change the address of the database.
 */
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { FluxqError } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import { isStatus } from '../kubernetes/errors';
import { secrets } from '../kubernetes/paths';
import { createSecret } from '../kubernetes/secrets';
import type { KubernetesObject } from '../kubernetes/types';

export interface PasswordOptions {
  readonly client: KubernetesClient;
  readonly namespace: string;
  /** The Secret whose keys `password` and `url` are filled. */
  readonly secret: string;
  /** postgres:// URL without a password. */
  readonly url: string;
  /** The file from which Postgres reads the password. */
  readonly file: string;
}

interface Secret extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** @throws FluxqError FLUXQ_DATABASE_URL, FLUXQ_SECRET_MISSING, and the errors of the client */
export async function ensurePassword(options: PasswordOptions): Promise<void> {
  const password = await storedPassword(options);
  // The file of an earlier run is read-only.
  rmSync(options.file, { force: true });
  writeFileSync(options.file, password, { mode: 0o400 });
}

/** Fills the Secret if necessary and returns its password. */
async function storedPassword({ client, namespace, secret, url }: PasswordOptions): Promise<string> {
  const path = secrets(namespace, secret);
  for (;;) {
    const found = await current(client, path);
    const known = decode(found?.data?.password);
    const password = known === '' ? randomBytes(32).toString('base64url') : known;
    const complete = urlWithPassword(url, password);
    if (password === known && decode(found?.data?.url) === complete) return password;
    const data = { ...found?.data, password: encode(password), url: encode(complete) };
    try {
      if (found === undefined) await createSecret(client, { namespace, name: secret, data });
      // The resourceVersion of the read object makes the first of several writers win.
      else await client.update(path, { ...found, data });
      return password;
    } catch (error) {
      if (!isStatus(error, 409)) throw error;
    }
  }
}

async function current(client: KubernetesClient, path: string): Promise<Secret | undefined> {
  try {
    return await client.get<Secret>(path);
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}

const encode = (text: string): string => Buffer.from(text).toString('base64');
const decode = (text = ''): string => Buffer.from(text, 'base64').toString();

function urlWithPassword(text: string, password: string): string {
  const url = URL.parse(text);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol) || url.username === '')
    throw new FluxqError('FLUXQ_DATABASE_URL', 'is not a postgres:// URL with a user', {
      field: '--url',
      remedy: 'give postgres://USER@HOST:PORT/DATABASE',
    });
  url.password = password;
  return url.toString();
}
