// Own cluster: whole stacks are applied to it.
/** The guard of the controller's token on apiservers without mutating policies; test/attacks tries the complete one. */
import {
  CONTROLLER_SERVICE_ACCOUNT,
  MINICLUSTER_LABEL,
  NAMESPACE_LABEL,
  STACK_NAMESPACE,
} from '../../../constructs/api/labels';
import { renderMiniCluster } from '../../../constructs/minicluster';
import { createClient } from '../../../runtime/kubernetes/client';
import { manifestToApply, pathOf } from '../../../runtime/miniclusters/manifests';
import type { MiniCluster } from '../../../runtime/miniclusters/resource';
import { describeOwnCluster } from '../../cluster/suite';
import { stackObjects } from '../manifests';

describeOwnCluster('the guard of the controller without mutating policies', (getCluster) => {
  const path = '/apis/apps/v1/namespaces/default/deployments';
  const deployment = (pod: object, namespace = 'default') => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'x-services',
      namespace,
      labels: { [MINICLUSTER_LABEL]: 'x' },
      ownerReferences: [
        {
          apiVersion: 'flux-framework.org/v1alpha2',
          kind: 'MiniCluster',
          name: 'x',
          uid: 'no-such-uid',
          controller: true,
        },
      ],
    },
    spec: {
      selector: { matchLabels: { app: 'x' } },
      template: {
        metadata: { labels: { app: 'x' } },
        spec: { containers: [{ name: 'main', image: 'none' }], ...pod },
      },
    },
  });

  test('refuses access to the node, because it cannot look for a MiniCluster that asks for it', async () => {
    const cluster = getCluster();
    await cluster.apply(
      stackObjects({ kubernetesVersion: '1.35.2', externalRuntime: { webhookUrl: 'https://127.0.0.1:9' } }),
    );
    const kubeconfig = await cluster.kubeconfigForServiceAccount(CONTROLLER_SERVICE_ACCOUNT, STACK_NAMESPACE);
    const client = createClient({ kubeconfig });
    const attempt = async (pod: object) => {
      const answer = client.create(path, deployment(pod), { dryRun: true });
      return answer.then(() => 'accepted', String);
    };
    const denied = 'FLUXQ_RESERVED: spec.template.spec: MiniClusters can have no access to the node';
    const main = { name: 'main', image: 'none' };
    await cluster.waitFor('the guard', async () => (await attempt({ hostPID: true })).includes(denied));
    for (const pod of [
      { hostNetwork: true },
      { hostIPC: true },
      { volumes: [{ name: 'root', hostPath: { path: '/' } }] },
      { containers: [{ ...main, securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }] },
      {
        initContainers: [
          { ...main, name: 'first', securityContext: { capabilities: { add: ['SYS_ADMIN'] } } },
        ],
      },
    ])
      expect(await attempt(pod)).toContain(denied);
    const harmless = { volumes: [{ name: 'run', emptyDir: {} }], automountServiceAccountToken: false };
    expect(await attempt(harmless)).toBe('accepted');
    // Whatever a MiniCluster consists of otherwise is accepted.
    const metadata = {
      ...{ name: 'x', namespace: 'default', uid: 'no-such-uid' },
      ...{ resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    };
    const spec = { services: [{ name: 'db', image: 'db', ports: [80] }], containers: [{ image: 'flux' }] };
    for (const manifest of renderMiniCluster({ metadata, spec })) {
      const object = manifestToApply(manifest, { metadata, spec } satisfies MiniCluster, undefined);
      const options = { dryRun: true, fieldManager: 'test' };
      await client.patch(pathOf(manifest, 'default'), object, 'apply', options);
    }
    client.close();
  });

  test('leaves the token nothing of a namespace that does not take part', async () => {
    const cluster = getCluster();
    const kubeconfig = await cluster.kubeconfigForServiceAccount(CONTROLLER_SERVICE_ACCOUNT, STACK_NAMESPACE);
    const client = createClient({ kubeconfig });
    for (const [name, labels] of [
      ['argocd', {}],
      ['team', { [NAMESPACE_LABEL]: 'true' }],
    ] as const)
      await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
    const attempt = (pod: object, namespace = 'argocd', apiVersion = 'flux-framework.org/v1alpha2') => {
      const object = deployment({ automountServiceAccountToken: false, ...pod }, namespace);
      const [owner] = object.metadata.ownerReferences;
      const body = {
        ...object,
        metadata: { ...object.metadata, ownerReferences: [{ ...owner!, apiVersion }] },
      };
      return client
        .create(path.replace('default', namespace), body, { dryRun: true })
        .then(() => 'accepted', String);
    };
    const account = {
      serviceAccountName: 'argocd-application-controller',
      automountServiceAccountToken: true,
    };
    expect(await attempt({}, 'argocd', 'flux-framework.org/v9')).toContain(
      'FLUXQ_RESERVED: metadata.ownerRef',
    );
    const main = { name: 'main', image: 'none' };
    const secretKeyRef = { name: 'argocd-secret', key: 'k' };
    for (const pod of [
      account,
      { serviceAccountName: 'argocd-application-controller' },
      { automountServiceAccountToken: true },
      { volumes: [{ name: 's', secret: { secretName: 'argocd-secret' } }] },
      { volumes: [{ name: 's', projected: { sources: [{ secret: { name: 'argocd-secret' } }] } }] },
      { volumes: [{ name: 's', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }] },
      { volumes: [{ name: 's', persistentVolumeClaim: { claimName: 'redis' } }] },
      { containers: [{ ...main, env: [{ name: 'X', valueFrom: { secretKeyRef } }] }] },
      { containers: [{ ...main, envFrom: [{ secretRef: { name: 'argocd-secret' } }] }] },
    ]) {
      expect(await attempt(pod)).toContain('only in namespaces that are enabled for the queue');
      expect(await attempt(pod, 'team')).toBe('accepted');
    }
    const certificate = { volumes: [{ name: 's', secret: { secretName: 'x-curve' } }] };
    expect(await attempt(certificate)).toBe('accepted');
    client.close();
  });
});
