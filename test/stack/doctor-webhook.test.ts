// Own cluster: admission by the webhook.
/** `fluxqueue doctor` where the webhook admits, and the controller runs outside the cluster. */
import { STACK_NAMESPACE, WEBHOOK_CONFIGURATION, WEBHOOK_SERVICE_ACCOUNT } from '../../constructs/api/labels';
import { makeCertificate } from '../../runtime/admission/certificates';
import { resourcePath, secrets } from '../../runtime/kubernetes/paths';
import { freePorts } from '../cluster/ports';
import { waitFor } from '../cluster/wait';
import { stackObjects } from '../constructs/manifests';
import { examine, trouble, troubles } from './doctor-report';
import type { RoleProcess } from './roles';
import { describeOwnStack } from './suite';

const CONFIGURATION = resourcePath({
  group: 'admissionregistration.k8s.io',
  resource: 'mutatingwebhookconfigurations',
  name: WEBHOOK_CONFIGURATION,
});

describeOwnStack(
  'fluxqueue doctor, with admission by the webhook',
  (getFixture) => {
    let webhook: RoleProcess;
    const doctor = () => examine(getFixture(), getFixture().stack.cluster.kubeconfig);

    beforeAll(async () => {
      const { stack } = getFixture();
      const [port = 0] = await freePorts(1);
      const externalRuntime = { webhookUrl: `https://127.0.0.1:${port}` };
      const objects = stackObjects({ kubernetesVersion: '1.37.1', admission: 'both', externalRuntime });
      await stack.cluster.apply([...objects]);
      const account = stack.cluster.kubeconfigForServiceAccount(WEBHOOK_SERVICE_ACCOUNT, STACK_NAMESPACE);
      webhook = await stack.roles.start('webhook', {
        kubernetes: { kubeconfig: await account },
        webhook: { host: '127.0.0.1', port, drainSeconds: 0 },
      });
      await stack.startController();
      await stack.namespace('science');
    });

    test('finds nothing wrong; what runs outside the cluster is unknown', async () => {
      const report = await waitFor('no error', async () => {
        const seen = await doctor();
        return seen.code === 0 ? seen : undefined;
      });
      expect(troubles(report).map(({ level, check }) => `${level} ${check}`)).toEqual([
        'unknown database',
        'unknown fluxion',
      ]);
      const said = report.findings.map(({ message }) => message);
      expect(said).toEqual(
        expect.arrayContaining([
          'the controller runs, and not as a Deployment of this cluster',
          'Jobs and pods come into the queue by policies and the webhook',
          'the certificate of the webhook (Secret fluxqueue-webhook-tls) is valid for another 364 days',
          'a new Job and a new pod would wait in the queue in 1 namespace: science',
        ]),
      );
    });

    test('a webhook that does not answer keeps namespaces from new Jobs', async () => {
      await webhook.crash();
      const found = await waitFor('the apiserver to notice', async () =>
        trouble(await doctor(), 'namespaces'),
      );
      expect(found.message).toMatch(
        /^no Job can be created in namespace science: Internal error occurred: failed calling webhook "jobs\.fluxqueue\.converged-computing\.org"/,
      );
      expect(found).toMatchObject({ level: 'error', remedy: expect.stringContaining('are Ready') });
    });

    test('a CA that did not sign the certificate, and a Secret without one', async () => {
      const { client } = getFixture();
      const { bundle } = await makeCertificate({ names: ['elsewhere'], now: new Date() });
      const value = Buffer.from(bundle).toString('base64');
      await client.patch(
        CONFIGURATION,
        [{ op: 'replace', path: '/webhooks/0/clientConfig/caBundle', value }],
        'json',
      );
      expect(trouble(await doctor(), 'certificates')).toEqual({
        check: 'certificates',
        level: 'error',
        message:
          'the apiserver does not trust the certificate of the webhook: no CA in the caBundle of jobs.fluxqueue.converged-computing.org signed it',
        remedy: expect.stringContaining('rollout restart deployment/fluxqueue-webhook'),
      });
      await client.patch(
        secrets(STACK_NAMESPACE, 'fluxqueue-webhook-tls'),
        { data: { 'tls.crt': '' } },
        'merge',
      );
      expect(trouble(await doctor(), 'certificates')).toMatchObject({
        message: `Secret fluxqueue-webhook-tls in ${STACK_NAMESPACE} has no certificate for the webhook`,
      });
    });
  },
  { cluster: { nodes: 1 }, createsMiniClusters: false },
);
