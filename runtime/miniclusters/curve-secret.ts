/**
 * Creates the Secret with the CURVE certificate of a MiniCluster. The
 * controller has the right to create Secrets and no other right on them, so an
 * attacker who takes over the controller cannot read any Secret.
 */
import { hostname } from 'node:os';
import { CERTIFICATE_KEY } from '../../constructs/api/labels';
import type { KubernetesClient } from '../kubernetes/client';
import { isStatus } from '../kubernetes/errors';
import { secrets } from '../kubernetes/paths';
import { checkCertificate, makeCertificate } from './curve';
import { ownerReference } from './manifests';
import type { MiniCluster } from './resource';

/** `exists`: a Secret of that name already exists, with any owner. */
export type CertificateOutcome = 'created' | 'exists';

/** @throws FluxqError FLUXQ_CURVE_INVALID for an invalid `spec.flux.curveCert`, and errors of the client */
export async function createCertificate(
  client: Pick<KubernetesClient, 'create'>,
  cluster: MiniCluster,
  secretName: string,
): Promise<CertificateOutcome> {
  const { name, namespace = '', uid } = cluster.metadata;
  const given = cluster.spec.flux?.curveCert;
  if (given !== undefined) checkCertificate(given, 'spec.flux.curveCert');
  const text = given ?? makeCertificate({ name, hostname: hostname(), madeAt: new Date() });
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: secretName, namespace, ownerReferences: [ownerReference({ name, uid })] },
    type: 'Opaque',
    // Brokers with different certificates cannot communicate, so the certificate must never change.
    immutable: true,
    data: { [CERTIFICATE_KEY]: Buffer.from(text).toString('base64') },
  };
  try {
    await client.create(secrets(namespace), body, { metadataOnly: true });
    return 'created';
  } catch (error) {
    if (isStatus(error, 409)) return 'exists';
    throw error;
  }
}
