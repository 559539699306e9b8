/**
 * The certificate of a live MiniCluster: a Secret that is made once and belongs
 * to it. The controller may create Secrets and do nothing else with them, so
 * that whoever takes it over reads none.
 */
import { hostname } from 'node:os';
import { CERTIFICATE_KEY } from '../../constructs/api/labels';
import type { KubernetesClient } from '../kubernetes/client';
import { isStatus } from '../kubernetes/errors';
import { secrets } from '../kubernetes/paths';
import { checkCertificate, makeCertificate } from './curve';
import { ownerReference } from './manifests';
import type { MiniCluster } from './resource';

/** there: one of that name is there already, whosever it is. */
export type CertificateOutcome = 'made' | 'there';

/** @throws FluxqError FLUXQ_CURVE_INVALID, and what the client throws */
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
    // Brokers that started with different certificates can't talk to each other.
    immutable: true,
    data: { [CERTIFICATE_KEY]: Buffer.from(text).toString('base64') },
  };
  try {
    await client.create(secrets(namespace), body, { metadataOnly: true });
    return 'made';
  } catch (error) {
    if (isStatus(error, 409)) return 'there';
    throw error;
  }
}
