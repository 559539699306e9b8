/** A control plane with both forms of admission, each for one namespace. */
import { App, Chart, Testing } from 'cdk8s';
import { CreatorGuard } from '../../constructs/fluxqueue/admission/creators';
import { GraceGuard } from '../../constructs/fluxqueue/admission/grace-guard';
import { AdmissionGuards } from '../../constructs/fluxqueue/admission/guards';
import { KindGuards } from '../../constructs/fluxqueue/admission/kind-guards';
import { LeaderWorkerGuard } from '../../constructs/fluxqueue/admission/leader-worker-guard';
import { AdmissionPolicies } from '../../constructs/fluxqueue/admission/policies';
import { ReachGuard } from '../../constructs/fluxqueue/admission/reach-guard';
import { AdmissionWebhookConfiguration } from '../../constructs/fluxqueue/admission/webhook-configuration';
import { makeCertificate } from '../../runtime/admission/certificates';
import { startWebhook, type WebhookServer } from '../../runtime/admission/server';
import type { Cluster, KubeObject } from '../cluster/cluster';
import { job, pod } from './corpus-objects';
import { CONTROLLER, KUEUE, USER_RIGHTS, type Users, usersOf } from './users';

export const FORMS = ['policies', 'webhook'] as const;
export type Form = (typeof FORMS)[number];

/** A namespace without admission and guards, in which only Kubernetes itself changes objects. */
export const PLAIN = 'plain';
const ENABLED = { 'fluxqueue/enabled': 'true' };
/** A namespace with the guards alone: requests that no mutation has seen. */
export const GUARDED = 'guarded';

/**
 * Creates the namespaces `policies`, `webhook` and `plain`, and applies the guards for the first two.
 * Resolves when both forms are active.
 */
export async function installForms(cluster: Cluster): Promise<WebhookServer> {
  const tls = await makeCertificate({ names: ['127.0.0.1'], now: new Date() });
  const webhook = await startWebhook({
    host: '127.0.0.1',
    port: 0,
    tls,
    admission: { controllerUsers: [CONTROLLER] },
  });
  const chart = new Chart(new App(), 'test');
  // Updates are corrected in every namespace that is not excluded.
  const of = (form: Form) => ({
    namespaceLabels: { ...ENABLED, form },
    excludedNamespaces: [PLAIN, GUARDED, ...FORMS.filter((other) => other !== form)],
  });
  new AdmissionPolicies(chart, 'policies', of('policies'));
  new AdmissionGuards(chart, 'guards', { excludedNamespaces: [PLAIN], kueueUsers: [KUEUE] });
  new KindGuards(chart, 'kinds', { excludedNamespaces: [PLAIN] });
  new LeaderWorkerGuard(chart, 'leader-worker-sets', { excludedNamespaces: [PLAIN] });
  new CreatorGuard(chart, 'creators', { excludedNamespaces: [PLAIN] });
  new GraceGuard(chart, 'grace', { excludedNamespaces: [PLAIN] });
  new ReachGuard(chart, 'priorities', { excludedNamespaces: [PLAIN] });
  new AdmissionWebhookConfiguration(chart, 'webhook', {
    ...of('webhook'),
    url: `https://127.0.0.1:${webhook.port}`,
    caBundle: tls.bundle,
  });
  await cluster.apply([USER_RIGHTS, ...(Testing.synth(chart) as KubeObject[])]);
  await Promise.all([
    makeNamespace(cluster, PLAIN, {}),
    ...FORMS.map(async (form) => {
      await makeNamespace(cluster, form, { ...ENABLED, form });
      await untilActive(cluster, form);
      await untilUpdatesAreCorrected(cluster, form);
    }),
  ]);
  await untilGuardsAreInUse(cluster);
  return webhook;
}

/**
 * Installs both forms before the tests and stops them after.
 * @param group as of `usersOf`
 */
export function useForms(
  getCluster: () => Cluster,
  use: (users: Users) => void,
  group?: Parameters<typeof usersOf>[1],
): void {
  let webhook: WebhookServer | undefined;
  let users: Users | undefined;
  beforeAll(async () => {
    webhook = await installForms(getCluster());
    users = usersOf(getCluster(), group);
    use(users);
  });
  afterAll(async () => {
    users?.close();
    await webhook?.stop();
  });
}

/** Creates a namespace and waits until pods can be created in it. */
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

/** Waits until the apiserver uses the new policies, webhooks and guards, which happens a moment after it has stored them. */
export async function untilActive(cluster: Cluster, namespace: string): Promise<void> {
  const create = async (group: string, plural: string, object: KubeObject): Promise<string> =>
    (await cluster.api.send('POST', `${group}/namespaces/${namespace}/${plural}?dryRun=All`, object)).text;
  const wrong = { labels: { 'fluxqueue/hold': 'perhaps' } };
  const reserved = { annotations: { 'fluxqueue/assignment': '0/1:n1' } };
  const probes = (make: (metadata?: object) => Promise<string>, changed: string) => [
    make().then((text) => text.includes(changed)),
    make(wrong).then((text) => text.includes('FLUXQ_SETTING_INVALID')),
    make(reserved).then((text) => text.includes('FLUXQ_RESERVED')),
  ];
  await cluster.waitFor(`admission in ${namespace}`, async () => {
    const answers = await Promise.all([
      ...probes(
        (metadata = {}) => create('/apis/batch/v1', 'jobs', job({}, { ...metadata })),
        '"suspend":true',
      ),
      ...probes((metadata = {}) => create('/api/v1', 'pods', pod({}, { ...metadata })), '"schedulingGates"'),
    ]);
    return answers.every((answer) => answer);
  });
}

/** Denies a ConfigMap of its name. */
const CANARY = 'canary';
const CANARY_GUARD = [
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: CANARY },
    spec: {
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE'],
            resources: ['configmaps'],
            resourceNames: [CANARY],
          },
        ],
      },
      validations: [{ expression: 'false' }],
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: CANARY },
    spec: { policyName: CANARY, validationActions: ['Deny'] },
  },
] as unknown as KubeObject[];

/**
 * The apiserver takes new guards together, up to some seconds after it has stored them, so all are in use once one that was
 * stored after them is.
 */
async function untilGuardsAreInUse(cluster: Cluster): Promise<void> {
  await cluster.apply(CANARY_GUARD);
  const canary = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: CANARY } };
  await cluster.waitFor('the guards to be in use', async () => {
    const path = '/api/v1/namespaces/default/configmaps?dryRun=All';
    return (await cluster.api.send('POST', path, canary)).status === 422;
  });
}

async function untilUpdatesAreCorrected(cluster: Cluster, namespace: string): Promise<void> {
  const [probe] = await cluster.create({ ...job(), metadata: { name: 'probe', namespace } });
  const path = `/apis/batch/v1/namespaces/${namespace}/jobs/${probe!.metadata.name}`;
  await cluster.waitFor(`the correction of updates in ${namespace}`, async () => {
    const { status } = await cluster.api.send('PATCH', `${path}?dryRun=All`, { spec: { suspend: false } });
    return status === 200;
  });
  await cluster.request('DELETE', path);
}
