/** A webhook of bench:floor: it pins Jobs to nodes while they are created, so they are never held back. */
import { setTimeout as sleep } from 'node:timers/promises';
import { makeCertificate } from '../../runtime/admission/certificates';
import { readBody, sendJson, startHttps } from '../../runtime/https/server';
import type { KubernetesClient } from '../../runtime/kubernetes/client';

const LOOPBACK = '127.0.0.1';
const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
const NAME = 'bench-floor';
/** Milliseconds in which an apiserver surely begins to call a new webhook. */
const KNOWN_MS = 2_000;

/** @param nextNodeSelector of the next Job */
export function pinAtAdmission(
  client: KubernetesClient,
  namespace: string,
  nextNodeSelector: () => Readonly<Record<string, string>>,
) {
  const started = start(client, namespace, nextNodeSelector);
  return {
    synced: started.then(() => sleep(KNOWN_MS)),
    stop: async () => {
      const server = await started;
      await client.delete(`${CONFIGURATIONS}/${NAME}`);
      await server.stop();
    },
  };
}

async function start(
  client: KubernetesClient,
  namespace: string,
  nextNodeSelector: () => Readonly<Record<string, string>>,
) {
  const tls = await makeCertificate({ names: [LOOPBACK], now: new Date() });
  const server = await startHttps({
    host: LOOPBACK,
    port: 0,
    tls,
    deadline: 4_000,
    setting: 'webhook',
    maxConnections: 1_024,
    onRequest: async (request, response, isStopping) => {
      const { request: review } = JSON.parse(await readBody(request, 4_194_304)) as {
        readonly request: { readonly uid: string };
      };
      const document = pinned(review.uid, nextNodeSelector());
      sendJson(request, response, { status: 200, document }, isStopping());
    },
  });
  await client.create(CONFIGURATIONS, configuration(namespace, server.port, tls.bundle));
  return server;
}

function pinned(uid: string, nodeSelector: Readonly<Record<string, string>>): object {
  const patch = [{ op: 'add', path: '/spec/template/spec/nodeSelector', value: nodeSelector }];
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid,
      allowed: true,
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
    },
  };
}

function configuration(namespace: string, port: number, bundle: string): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: NAME },
    webhooks: [
      {
        name: 'jobs.bench.example',
        clientConfig: {
          url: `https://${LOOPBACK}:${port}/`,
          caBundle: Buffer.from(bundle).toString('base64'),
        },
        rules: [{ apiGroups: ['batch'], apiVersions: ['v1'], resources: ['jobs'], operations: ['CREATE'] }],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        failurePolicy: 'Fail',
      },
    ],
  };
}
