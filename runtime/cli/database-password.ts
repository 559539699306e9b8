/**
 * The command `password` creates the password of the stack's own Postgres in the cluster, so that it is never in Git.
 * It runs before Postgres starts. A repeated run keeps the first password. A Secret that was deleted is created again
 * with another password, which Postgres takes over at its start (constructs/fluxqueue/postgres.sh).
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
  const { client, namespace, secret, file } = options;
  const path = secrets(namespace, secret);
  for (;;) {
    const found = await current(client, path);
    const known = found?.data?.password;
    if (known !== undefined && known !== '') {
      // The file of an earlier run is read-only.
      rmSync(file, { force: true });
      writeFileSync(file, Buffer.from(known, 'base64'), { mode: 0o400 });
      return;
    }
    const data = { ...found?.data, ...newCredentials(options.url) };
    try {
      if (found === undefined) await createSecret(client, { namespace, name: secret, data });
      // The resourceVersion of the read object makes the first of several writers win.
      else await client.update(path, { ...found, data });
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

function newCredentials(text: string): { password: string; url: string } {
  const password = randomBytes(32).toString('base64url');
  const url = URL.parse(text);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol) || url.username === '')
    throw new FluxqError('FLUXQ_DATABASE_URL', 'is not a postgres:// URL with a user', {
      field: '--url',
      remedy: 'give postgres://USER@HOST:PORT/DATABASE',
    });
  url.password = password;
  const base64 = (value: string) => Buffer.from(value).toString('base64');
  return { password: base64(password), url: base64(url.toString()) };
}
