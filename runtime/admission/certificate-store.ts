/**
 * Where the webhook's certificate lives: a Secret that all replicas share, and
 * the caBundle of the webhook configuration, by which the apiserver trusts it.
 * Every call looks at both and puts right what is missing, so it may be
 * repeated at any time, by any number of replicas at once.
 */
import type { KubernetesClient } from '../kubernetes/client';
import { ApiError } from '../kubernetes/errors';
import { clusterWide, secrets } from '../kubernetes/paths';
import { createSecret } from '../kubernetes/secrets';
import type { KubernetesObject } from '../kubernetes/types';
import { isDue, makeCertificate, type ServingCertificate } from './certificates';

export interface CertificateStoreOptions {
  readonly client: Pick<KubernetesClient, 'get' | 'create' | 'update' | 'patch'>;
  readonly namespace: string;
  readonly secretName: string;
  /** Name of the MutatingWebhookConfiguration. */
  readonly configurationName: string;
  /** What the apiserver calls the webhook by; see {@link serviceNames}. */
  readonly names: readonly string[];
  /** What is served now: put back when the Secret has lost it, so that nobody notices. @default - a new one is made */
  readonly serving?: () => ServingCertificate;
  /** @default - the system's clock */
  readonly now?: () => Date;
}

export interface StoredCertificate extends ServingCertificate {
  /** The apiserver trusted it already before this call: it may be served in place of an older one. */
  readonly trusted: boolean;
}

interface Secret extends KubernetesObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

interface WebhookConfiguration extends KubernetesObject {
  readonly webhooks?: readonly {
    readonly name: string;
    readonly clientConfig: { readonly caBundle?: string; readonly url?: string };
  }[];
}

export const webhookConfigurations = clusterWide(
  'admissionregistration.k8s.io',
  'v1',
  'mutatingwebhookconfigurations',
);

/** Replicas that lose a race read again what the winner wrote: more than a few times means something else is wrong. */
const TRIES = 5;

/** The names of a Service that the apiserver uses, and the ones that people try. */
export function serviceNames(service: string, namespace: string): string[] {
  return [
    `${service}.${namespace}.svc`,
    `${service}.${namespace}`,
    `${service}.${namespace}.svc.cluster.local`,
  ];
}

/**
 * The current certificate: the stored one, or a new one where none is stored or
 * the stored one is due. The apiserver is told before anything serves it.
 * @throws ApiError, and what else the client throws
 */
export function ensureCertificate(options: CertificateStoreOptions): Promise<StoredCertificate> {
  return retried(async () => {
    const configuration = await orUndefined(
      options.client.get<WebhookConfiguration>(webhookConfigurations(options.configurationName)),
    );
    const pair = await storedPair(options, [...options.names, ...urlHosts(configuration)]);
    // A configuration that is not there yet is no error: it comes later.
    const trusted = configuration !== undefined && (await trustBundle(options, configuration, pair.bundle));
    return { ...pair, trusted };
  });
}

/** A webhook outside the cluster is called by the host of its URL. */
function urlHosts(configuration: WebhookConfiguration | undefined): string[] {
  const urls = (configuration?.webhooks ?? []).flatMap(({ clientConfig: { url } }) =>
    url === undefined ? [] : [url],
  );
  return [...new Set(urls.map((url) => new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')))];
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
    // The resourceVersion that was read makes a later writer's update a conflict.
    await client.update(secrets(namespace, secretName), { ...secret, data: { ...secret.data, ...data } });
  }
  return pair;
}

function pairOf({ data = {} }: Secret): ServingCertificate | undefined {
  const [key, cert, bundle] = ['tls.key', 'tls.crt', 'ca.crt'].map((name) => decoded(data[name]));
  if (key === undefined || cert === undefined || bundle === undefined) return undefined;
  return { key, cert, bundle };
}

/** Resolves to whether the apiserver had it already. */
async function trustBundle(
  { client, configurationName }: CertificateStoreOptions,
  { webhooks = [] }: WebhookConfiguration,
  bundle: string,
): Promise<boolean> {
  const caBundle = encoded(bundle);
  const patch = webhooks.flatMap(({ name, clientConfig }, i) =>
    clientConfig.caBundle === caBundle
      ? []
      : [
          { op: 'test', path: `/webhooks/${i}/name`, value: name },
          { op: 'add', path: `/webhooks/${i}/clientConfig/caBundle`, value: caBundle },
        ],
  );
  if (patch.length > 0) await client.patch(webhookConfigurations(configurationName), patch, 'json');
  return patch.length === 0;
}

/** Another replica was faster, or the list of webhooks changed under the patch (422): look again. */
async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (tries === TRIES || !(error instanceof ApiError) || ![409, 422].includes(error.status)) throw error;
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
