/** A webhook of the cluster beside the queue's, which adds a container of one core to new pods of a namespace. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { makeCertificate } from '../../runtime/admission/certificates';
import type { KubeObject } from '../cluster/api';

interface Review {
  readonly request: { readonly uid: string; readonly dryRun?: boolean };
}

const SIDECAR = { name: 'sidecar', image: 'none', resources: { requests: { cpu: '1' } } };
const PATCH = Buffer.from(
  JSON.stringify([{ op: 'add', path: '/spec/containers/-', value: SIDECAR }]),
).toString('base64');

export class SidecarWebhook {
  /** What becomes of a dry run. `hangs`: it gets no answer. */
  dryRuns: 'answered' | 'refused' | 'hangs' = 'answered';
  /** Dry runs so far. */
  count = 0;

  private constructor(
    private readonly server: Server,
    private readonly ca: string,
  ) {
    server.on('request', async (request, response) => {
      const {
        request: { uid, dryRun = false },
      } = (await json(request)) as Review;
      if (dryRun) this.count += 1;
      if (dryRun && this.dryRuns === 'hangs') return;
      const verdict =
        dryRun && this.dryRuns === 'refused'
          ? { allowed: false, status: { message: 'no dry runs here' } }
          : { allowed: true, patchType: 'JSONPatch', patch: PATCH };
      const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ ...review, response: { uid, ...verdict } }));
    });
  }

  static async start(): Promise<SidecarWebhook> {
    const { key, cert, bundle } = await makeCertificate({ names: ['127.0.0.1'], now: new Date() });
    const server = createServer({ key, cert });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new SidecarWebhook(server, bundle);
  }

  /** Without an answer a pod is created as it is. */
  configuration(namespace: string): KubeObject {
    const { port } = this.server.address() as AddressInfo;
    return {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: `sidecars-${namespace}` },
      webhooks: [
        {
          name: 'sidecars.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'NoneOnDryRun',
          failurePolicy: 'Ignore',
          timeoutSeconds: 30,
          clientConfig: {
            url: `https://127.0.0.1:${port}/`,
            caBundle: Buffer.from(this.ca).toString('base64'),
          },
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        },
      ],
    };
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }
}
