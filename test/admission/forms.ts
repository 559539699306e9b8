/** A control plane with both forms of admission side by side, each for namespaces of its own. */
import { Testing } from 'cdk8s';
import { AdmissionGuards } from '../../constructs/fluxqueue/admission/guards';
import { AdmissionPolicies } from '../../constructs/fluxqueue/admission/policies';
import { AdmissionWebhookConfiguration } from '../../constructs/fluxqueue/admission/webhook-configuration';
import { makeCertificate } from '../../runtime/admission/certificates';
import { startWebhook, type WebhookServer } from '../../runtime/admission/server';
import type { Cluster, KubeObject } from '../cluster/cluster';

export const FORMS = ['policies', 'webhook'] as const;
export type Form = (typeof FORMS)[number];

/** Not opted in, and out of the guards' sight: what Kubernetes alone makes of an object. */
export const PLAIN = 'plain';
const ENABLED = { 'fluxqueue/enabled': 'true' };

/**
 * Makes the namespaces `policies`, `webhook` and `plain`, and applies the guards for the first two.
 * Resolves when both forms are at work.
 */
export async function installForms(cluster: Cluster): Promise<WebhookServer> {
  const tls = makeCertificate({ names: ['127.0.0.1'], now: new Date() });
  const webhook = await startWebhook({ host: '127.0.0.1', port: 0, tls });
  const chart = Testing.chart();
  const of = (form: Form) => ({ namespaceLabels: { ...ENABLED, form } });
  new AdmissionPolicies(chart, 'policies', of('policies'));
  new AdmissionGuards(chart, 'guards', { excludedNamespaces: [PLAIN] });
  new AdmissionWebhookConfiguration(chart, 'webhook', {
    ...of('webhook'),
    url: `https://127.0.0.1:${webhook.port}`,
    caBundle: tls.bundle,
  });
  await cluster.apply(Testing.synth(chart) as KubeObject[]);
  for (const form of FORMS) await makeNamespace(cluster, form, { ...ENABLED, form });
  await makeNamespace(cluster, PLAIN, {});
  for (const form of FORMS) await untilAtWork(cluster, form);
  return webhook;
}

/** A namespace in which pods can be created. */
export async function makeNamespace(
  cluster: Cluster,
  name: string,
  labels: Record<string, string>,
): Promise<void> {
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
  await cluster.waitFor(`the ServiceAccount of ${name}`, async () => {
    const { status } = await cluster.api.send('GET', `/api/v1/namespaces/${name}/serviceaccounts/default`);
    return status === 200;
  });
}

/** The apiserver takes up new policies and webhooks a moment after it has stored them: mutation, settings and guards. */
async function untilAtWork(cluster: Cluster, namespace: string): Promise<void> {
  const path = `/apis/batch/v1/namespaces/${namespace}/jobs?dryRun=All`;
  const probe = (metadata: object, template: object = {}) =>
    cluster.api.send('POST', path, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'probe', ...metadata },
      spec: {
        template: { ...template, spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } },
      },
    });
  const assignment = { metadata: { annotations: { 'fluxqueue/assignment': '0/1:n1' } } };
  await cluster.waitFor(`admission in ${namespace}`, async () => {
    const [plain, wrong, reserved] = await Promise.all([
      probe({}),
      probe({ labels: { 'fluxqueue/hold': 'perhaps' } }),
      probe({}, assignment),
    ]);
    const suspended = plain.text.includes('"suspend":true');
    return (
      suspended && wrong.text.includes('FLUXQ_SETTING_INVALID') && reserved.text.includes('FLUXQ_RESERVED')
    );
  });
}
