/** The rights of the controller and of the keygen role on the objects of MiniClusters. */
import { CONTROLLER_SERVICE_ACCOUNT, REPORT_AUDIENCE, STACK_NAMESPACE } from '../../constructs/api/labels';
import { type ManifestObject, renderMiniCluster } from '../../constructs/minicluster/index';
import { createClient } from '../../runtime/kubernetes/client';
import { secrets } from '../../runtime/kubernetes/paths';
import type { Job, KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import { checkCertificate } from '../../runtime/miniclusters/curve';
import { waitFor } from '../cluster/wait';
import { NUMBERS, send } from '../miniclusters/reporting';
import type { MiniClusters } from './minicluster-objects';
import { useMiniClusters } from './minicluster-suite';
import { podToken } from './pod-token';
import { describeStack } from './suite';

describeStack(
  'rights on objects of MiniClusters',
  (getFixture) => {
    let clusters: MiniClusters;
    useMiniClusters(getFixture, (given) => {
      ({ clusters } = given);
    });

    test('the controller creates no other Secrets than certificates and deletes no other objects than its own', async () => {
      const { stack } = getFixture();
      const kubeconfig = await stack.cluster.kubeconfigForServiceAccount(
        CONTROLLER_SERVICE_ACCOUNT,
        STACK_NAMESPACE,
      );
      const client = createClient({ kubeconfig });
      const metadata = {
        name: 'token',
        annotations: { 'kubernetes.io/service-account.name': 'default' },
        ownerReferences: [
          { apiVersion: 'flux-framework.org/v1alpha2', kind: 'MiniCluster', name: 'x', uid: 'x' },
        ],
      };
      const token = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata,
        type: 'kubernetes.io/service-account-token',
      };
      for (const namespace of ['science', 'kube-system', STACK_NAMESPACE])
        await expect(client.create(secrets(namespace), token)).rejects.toMatchObject({
          message: expect.stringContaining('can only create Secrets with certificates of MiniClusters'),
        });
      await expect(client.get(secrets('science', 'x'))).rejects.toMatchObject({ status: 403 });
      await expect(client.delete('/api/v1/namespaces/default/services/kubernetes')).rejects.toMatchObject({
        message: expect.stringContaining('can only delete objects of MiniClusters'),
      });
      client.close();
    });

    test('the keygen role creates the certificate once, with its own rights', async () => {
      const { cluster, roles } = getFixture().stack;
      const resource = { metadata: { name: 'static', namespace: 'science' }, spec: { containers: [{}] } };
      const manifests = renderMiniCluster(resource, { keygen: {} });
      const job = manifests.find(
        ({ metadata, kind }) => kind === 'Job' && metadata.name === 'static-keygen',
      ) as (ManifestObject & Job) | undefined;
      await cluster.apply(manifests.filter(({ kind }) => !/Job|ConfigMap|Service$/.test(kind)));
      const KUBECONFIG = await cluster.kubeconfigForServiceAccount('static-keygen', 'science');
      // In place of the kubelet: substitutes the variable.
      const command = job!.spec.template.spec.containers[0]!.command!;
      const args = command
        .slice(command.indexOf('/app/runtime.js') + 1)
        .map((word) => word.replace('$(NAMESPACE)', 'science'));
      const environment = { KUBECONFIG };
      expect(await roles.once(args, environment)).toBe('certificate made: Secret science/static-curve\n');
      const text = async () => {
        const all = await clusters.list<KubernetesObject & { data: Record<string, string> }>('Secret');
        const secret = all.find(({ metadata }) => metadata.name === 'static-curve')!;
        return Buffer.from(secret.data['curve.cert']!, 'base64').toString();
      };
      const first = await text();
      expect(() => checkCertificate(first, 'test')).not.toThrow();
      expect(await roles.once(args, environment)).toBe('certificate kept: Secret science/static-curve\n');
      expect(await text()).toBe(first);
      const other = args.map((arg) => (arg === 'static-curve' ? 'hello-curve' : arg));
      await expect(roles.once(other, environment)).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^FLUXQ_KUBERNETES_FORBIDDEN: .*hello-curve/m),
      });
    });

    test('the report of the lead broker is in the status, and no other token can write it', async () => {
      await clusters.create('open', { size: 2, flux: { report: true } });
      const [lead, worker] = await clusters.running('open', 2);
      const contact = await clusters.reportContact('open');
      const tokenOf = (pod: Pod, audience?: string) => podToken(getFixture().client, pod, audience);
      const token = await tokenOf(lead!, REPORT_AUDIENCE);
      expect(await send(contact, { token: await tokenOf(worker!, REPORT_AUDIENCE) })).toBe(403);
      expect(await send(contact, { token: await tokenOf(lead!) })).toBe(401);
      // The controller's watch may show the pod a moment later, and takes five connections a second.
      await waitFor('the report', async () => (await send(contact, { token })) === 204, { everyMs: 500 });
      const numbers = await waitFor('the numbers', async () => (await clusters.get('open'))?.status?.flux);
      expect(numbers).toEqual(NUMBERS);
      // The apiserver accepts this token for nothing.
      const { stack } = getFixture();
      const asPod = stack.cluster.clientFor(token).request('GET', '/api/v1/namespaces');
      await expect(asPod).rejects.toThrow('got 401');
      const printed = await stack.roles.once(['mc', 'open', '--namespace', 'science'], {
        KUBECONFIG: stack.cluster.kubeconfigFor('admin'),
      });
      expect(printed).toContain('3 pending, 2 running, 10 done (1 failed)');
    });
  },
  { nodes: 4, nodeShape: { cpu: '4', memory: '64Gi' } },
);
