/** Creates a Secret of the stack again that somebody deleted. */
import { FluxqError } from '../errors';
import type { KubernetesClient } from './client';
import { ifFound, isStatus } from './errors';
import { secrets } from './paths';

export interface NewSecret {
  readonly namespace: string;
  readonly name: string;
  /** Base64. */
  readonly data: Readonly<Record<string, string>>;
}

export interface SecretKey {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
  /** Secret with the CAs. @default name */
  readonly caName?: string | undefined;
}

/** Key of the certificates of the CAs, next to the URL. */
const CA_KEY = 'ca.crt';

/**
 * The URL of the database, and the CAs to trust if the Secret has them.
 * @throws FluxqError FLUXQ_SECRET_MISSING (retryable) if the key has no value yet, and the errors of the client
 */
export async function readDatabaseAccess(
  client: Pick<KubernetesClient, 'get'>,
  { namespace, name, key, caName = name }: SecretKey,
): Promise<{ url: string; ca?: string }> {
  const secret = await readSecret(client, namespace, name);
  const trusted = caName === name ? secret : await readSecret(client, namespace, caName);
  const [url, ca] = [secret(key), trusted(CA_KEY)];
  if (url !== '') return { url, ...(ca === '' ? {} : { ca }) };
  throw new FluxqError('FLUXQ_SECRET_MISSING', `has no value for the key ${key}`, {
    field: `Secret ${namespace}/${name}`,
    remedy:
      "the init container of the stack's own database fills it; an existing database needs its URL there",
    retryable: true,
  });
}

/** Reads the keys of a Secret; those of a Secret that does not exist are empty. */
async function readSecret(client: Pick<KubernetesClient, 'get'>, namespace: string, name: string) {
  const path = secrets(namespace, name);
  const secret = await ifFound(client.get<{ data?: Readonly<Record<string, string>> }>(path));
  return (key: string) => Buffer.from(secret?.data?.[key] ?? '', 'base64').toString();
}

/** @throws FluxqError FLUXQ_SECRET_MISSING if the ServiceAccount may not create it, and the errors of the client */
export async function createSecret(
  client: Pick<KubernetesClient, 'create'>,
  { namespace, name, data }: NewSecret,
): Promise<void> {
  try {
    const metadata = { name, namespace };
    await client.create(secrets(namespace), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      type: 'Opaque',
      data,
    });
  } catch (error) {
    if (!isStatus(error, 403)) throw error;
    throw new FluxqError(
      'FLUXQ_SECRET_MISSING',
      'does not exist, and this ServiceAccount may not create it',
      {
        field: `Secret ${namespace}/${name}`,
        remedy: `apply the stack again, or: kubectl -n ${namespace} create secret generic ${name}; it is filled then`,
        retryable: true,
        cause: error,
      },
    );
  }
}
