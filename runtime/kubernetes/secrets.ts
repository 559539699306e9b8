/** Creates a Secret of the stack again that somebody deleted. */
import { FluxqError } from '../errors';
import type { KubernetesClient } from './client';
import { isStatus } from './errors';
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
}

/** Key of the certificates of the CAs, next to the URL. */
const CA_KEY = 'ca.crt';

/**
 * The URL of the database, and the CAs to trust if the Secret has them.
 * @throws FluxqError FLUXQ_SECRET_MISSING (retryable) if the key has no value yet, and the errors of the client
 */
export async function readDatabaseAccess(
  client: Pick<KubernetesClient, 'get'>,
  { namespace, name, key }: SecretKey,
): Promise<{ url: string; ca?: string }> {
  const path = secrets(namespace, name);
  const secret = await client.get<{ data?: Readonly<Record<string, string>> }>(path).catch((error) => {
    if (isStatus(error, 404)) return undefined;
    throw error;
  });
  const read = (name: string) => Buffer.from(secret?.data?.[name] ?? '', 'base64').toString();
  const [url, ca] = [read(key), read(CA_KEY)];
  if (url !== '') return { url, ...(ca === '' ? {} : { ca }) };
  throw new FluxqError('FLUXQ_SECRET_MISSING', `has no value for the key ${key}`, {
    field: `Secret ${namespace}/${name}`,
    remedy:
      "the init container of the stack's own database fills it; an existing database needs its URL there",
    retryable: true,
  });
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
