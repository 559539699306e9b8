/** Webhooks of controllers that run as processes of this machine: a server certificate, and the configurations of their manifests. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeCertificate } from '../../runtime/admission/certificates';
import type { KubeObject } from '../cluster/api';
import { manifestsOf } from './go-module';

/** Where controller-runtime looks for it, below the folder for temporary files. */
const CERTIFICATES = join('k8s-webhook-server', 'serving-certs');

interface WebhookConfiguration extends KubeObject {
  readonly webhooks: readonly { readonly clientConfig: { readonly service: { readonly path: string } } }[];
}

/** Writes a certificate of this machine for the controllers that have one of these folders for temporary files. @returns its authority in base64 */
export async function writeServingCertificate(...folders: readonly string[]): Promise<string> {
  const { cert, key, bundle } = await makeCertificate({ names: ['127.0.0.1'], now: new Date() });
  for (const folder of folders.map((parent) => join(parent, CERTIFICATES))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'tls.crt'), cert);
    writeFileSync(join(folder, 'tls.key'), key);
  }
  return Buffer.from(bundle).toString('base64');
}

/**
 * The webhook configurations of a file of the module, which lead to a port of this machine.
 * @param name of all of them: a controller may replace the authority in one of the name of its manifests
 */
export function localWebhooks(
  module: string,
  file: string,
  { name, port, caBundle }: { readonly name: string; readonly port: number; readonly caBundle: string },
): readonly KubeObject[] {
  return (manifestsOf(module, file) as WebhookConfiguration[]).map((manifest) => {
    const webhooks = manifest.webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: { url: `https://127.0.0.1:${port}${webhook.clientConfig.service.path}`, caBundle },
    }));
    return { ...manifest, metadata: { name }, webhooks } as KubeObject;
  });
}
