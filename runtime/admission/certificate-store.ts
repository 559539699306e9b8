/**
 * Stores a role's certificate in a Secret that all replicas share, and its CA in
 * the object by which the apiserver trusts it (ca-trust.ts). Every call checks both objects and repairs them, so it is idempotent and
 * any number of replicas can call it at the same time.
 */
import type { KubernetesClient } from '../kubernetes/client';
import { ApiError } from '../kubernetes/errors';
import { secrets } from '../kubernetes/paths';
import { createSecret } from '../kubernetes/secrets';
import type { KubernetesObject } from '../kubernetes/types';
import type { CaTrust } from './ca-trust';
import { isDue, makeCertificate, type ServingCertificate } from './certificates';

export interface CertificateStoreOptions {
  readonly client: Pick<KubernetesClient, 'get' | 'create' | 'update' | 'patch'>;
  readonly namespace: string;
  readonly secretName: string;
  readonly trust: CaTrust;
  /** The host names by which the apiserver calls the role; see {@link serviceNames}. */
  readonly names: readonly string[];
  /** The certificate that is served now, which restores a lost Secret without a change for clients. @default - a new one is created */
  readonly serving?: () => ServingCertificate;
  /** @default - the system's clock */
  readonly now?: () => Date;
}

export interface StoredCertificate extends ServingCertificate {
  /** Whether the apiserver trusted it before this call, so that it can be served instead of an older one. */
  readonly trusted: boolean;
}

interface Secret extends KubernetesObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

/** A replica that loses a race reads what the winner wrote. More than a few conflicts have another cause. */
const MAX_ATTEMPTS = 5;

/** The DNS name of a Service that the apiserver uses, and the other names of that Service. */
export function serviceNames(service: string, namespace: string): string[] {
  return [
    `${service}.${namespace}.svc`,
    `${service}.${namespace}`,
    `${service}.${namespace}.svc.cluster.local`,
  ];
}

/**
 * Returns the stored certificate, else stores the one that is served. Creates a
 * new one if there is neither, or if it is due for renewal. The apiserver is told
 * of the CA before any replica serves the certificate.
 * @throws ApiError, and other errors of the client
 */
export function ensureCertificate(options: CertificateStoreOptions): Promise<StoredCertificate> {
  return retryConflicts(async () => {
    const { client, trust, names } = options;
    const object = await orUndefined(client.get<KubernetesObject>(trust.path));
    const hosts = object === undefined ? [] : trust.hosts(object);
    const pair = await storedPair(options, [...names, ...hosts]);
    // The object may be created after the role has started.
    const trusted = object !== undefined && (await trustBundle(options, object, pair.bundle));
    return { ...pair, trusted };
  });
}

async function storedPair(
  { client, namespace, secretName, serving, now = () => new Date() }: CertificateStoreOptions,
  names: readonly string[],
): Promise<ServingCertificate> {
  const secret = await orUndefined(client.get<Secret>(secrets(namespace, secretName)));
  const stored = secret === undefined ? undefined : pairOf(secret);
  if (stored !== undefined && !isDue(stored, names, now())) return stored;
  const known = stored ?? serving?.();
  const pair =
    known !== undefined && !isDue(known, names, now())
      ? known
      : await makeCertificate({ names, now: now(), trusted: known?.bundle ?? '' });
  const data = {
    'tls.key': encoded(pair.key),
    'tls.crt': encoded(pair.cert),
    'ca.crt': encoded(pair.bundle),
  };
  if (secret === undefined) {
    await createSecret(client, { namespace, name: secretName, data });
  } else {
    // With the resourceVersion that was read, a concurrent update is a conflict.
    await client.update(secrets(namespace, secretName), { ...secret, data: { ...secret.data, ...data } });
  }
  return pair;
}

function pairOf({ data = {} }: Secret): ServingCertificate | undefined {
  const [key, cert, bundle] = ['tls.key', 'tls.crt', 'ca.crt'].map((name) => decoded(data[name]));
  if (key === undefined || cert === undefined || bundle === undefined) return undefined;
  return { key, cert, bundle };
}

/** Resolves to whether the apiserver trusted the bundle already. */
async function trustBundle(
  { client, trust }: CertificateStoreOptions,
  object: KubernetesObject,
  bundle: string,
): Promise<boolean> {
  const patch = trust.patch(object, encoded(bundle));
  if (patch.length > 0) await client.patch(trust.path, patch, 'json');
  return patch.length === 0;
}

/** Retries if another replica was faster (409) or the list of webhooks changed during the patch (422). */
async function retryConflicts<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (attempts === MAX_ATTEMPTS || !(error instanceof ApiError) || ![409, 422].includes(error.status))
        throw error;
    }
  }
}

async function orUndefined<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

const encoded = (text: string): string => Buffer.from(text).toString('base64');
const decoded = (base64: string | undefined): string | undefined =>
  base64 === undefined || base64 === '' ? undefined : Buffer.from(base64, 'base64').toString();
