/**
 * The command `keygen` creates the certificate of one MiniCluster in the cluster, so that it is never in Git. It needs
 * `get` and `create` of that Secret (or `update`, if the Secret exists without a certificate). A repeated run keeps the
 * first certificate. The kubelet does not start the brokers before the key exists.
 */
import { hostname } from 'node:os';
import { CERTIFICATE_KEY } from '../../constructs/api/labels';
import type { KubernetesClient } from '../kubernetes/client';
import { ifFound, isStatus } from '../kubernetes/errors';
import { secrets } from '../kubernetes/paths';
import type { KubernetesObject } from '../kubernetes/types';
import { checkCertificate, makeCertificate } from '../miniclusters/curve';

interface Secret extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}

export interface KeygenOptions {
  readonly client: Pick<KubernetesClient, 'get' | 'create' | 'update'>;
  readonly namespace: string;
  readonly secret: string;
  /** The name of the MiniCluster, which appears in the brokers' logs. */
  readonly cluster: string;
}

/** made: this call created the certificate. kept: a valid certificate existed. */
export type KeygenOutcome = 'made' | 'kept';

/** @throws FluxqError FLUXQ_CURVE_INVALID for a Secret with another value, and the errors of the client */
export async function ensureCurve(options: KeygenOptions): Promise<KeygenOutcome> {
  const { client, namespace, secret } = options;
  for (;;) {
    const found = await current(options);
    const text = Buffer.from(found?.data?.[CERTIFICATE_KEY] ?? '', 'base64').toString();
    if (text !== '') {
      checkCertificate(text, `Secret ${namespace}/${secret}, key ${CERTIFICATE_KEY}`);
      return 'kept';
    }
    try {
      if (found === undefined) await client.create(secrets(namespace), newSecret(options));
      // The resourceVersion of the read object makes the first of several writers win.
      else
        await client.update(secrets(namespace, secret), {
          ...found,
          data: { ...found.data, ...data(options) },
        });
      return 'made';
    } catch (error) {
      if (!isStatus(error, 409)) throw error;
    }
  }
}

function current({ client, namespace, secret }: KeygenOptions): Promise<Secret | undefined> {
  return ifFound(client.get<Secret>(secrets(namespace, secret)));
}

function newSecret(options: KeygenOptions): object {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: options.secret, namespace: options.namespace },
    type: 'Opaque',
    // Brokers with different certificates can't connect to each other.
    immutable: true,
    data: data(options),
  };
}

function data({ cluster }: KeygenOptions): Record<string, string> {
  const text = makeCertificate({ name: cluster, hostname: hostname(), madeAt: new Date() });
  return { [CERTIFICATE_KEY]: Buffer.from(text).toString('base64') };
}
