// Own cluster: the apiserver allows privileged pods.
/** The policies that bind the controller's token let it create whatever the examples of MiniCluster ask for. */
import {
  APPLYING_LABEL,
  CONTROLLER_SERVICE_ACCOUNT,
  MINICLUSTER_LABEL,
  STACK_NAMESPACE,
} from '../../constructs/api/labels';
import { renderMiniCluster } from '../../constructs/minicluster';
import { messageOf } from '../../runtime/errors';
import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { manifestToApply, pathOf } from '../../runtime/miniclusters/manifests';
import { type MiniCluster, miniClusters } from '../../runtime/miniclusters/resource';
import type { KubeObject } from '../cluster/api';
import { describeOwnCluster } from '../cluster/suite';
import { stackObjects } from '../constructs/manifests';
import { example, FILES } from './miniclusters';

/** An object of a MiniCluster that does not exist. */
const GHOST = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'ghost-config', labels: { [MINICLUSTER_LABEL]: 'ghost' } },
};

describeOwnCluster(
  'the policies for the controller',
  (getCluster) => {
    let client: KubernetesClient;
    beforeAll(async () => {
      const cluster = getCluster();
      await cluster.apply(stackObjects({ kubernetesVersion: '1.37.1', externalRuntime: {} }));
      const names = new Set(FILES.flatMap((file) => example(file).resources.map(namespaceOf)));
      const namespaces = [...names].map((name) => ({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name },
      }));
      await cluster.apply(namespaces);
      const account = cluster.kubeconfigForServiceAccount(CONTROLLER_SERVICE_ACCOUNT, STACK_NAMESPACE);
      client = createClient({ kubeconfig: await account });
      // A policy is in force a moment after it was stored.
      await cluster.waitFor('the policies', async () => {
        const owner = { name: 'ghost', uid: 'no-such-uid' };
        const body = manifestToApply(
          GHOST,
          { metadata: { ...owner, namespace: 'default' } } as MiniCluster,
          undefined,
        );
        const options = { dryRun: true, force: true, fieldManager: 'test' };
        const answer = await client.patch(pathOf(GHOST, 'default'), body, 'apply', options).catch(messageOf);
        return typeof answer === 'string' && answer.includes('FLUXQ_MINICLUSTER_UNKNOWN');
      });
    });
    afterAll(() => client?.close());

    const namespaceOf = ({ metadata }: { metadata: { namespace?: string } }) =>
      metadata.namespace ?? 'default';

    test.each(FILES)('accept the objects of %s', async (file) => {
      const cluster = getCluster();
      for (const { metadata, spec } of example(file).resources) {
        const resource = { apiVersion: 'flux-framework.org/v1alpha2', kind: 'MiniCluster', metadata, spec };
        const [created] = (await cluster.apply(resource as KubeObject)) as unknown as [MiniCluster];
        const applying = { metadata: { labels: { [APPLYING_LABEL]: 'true' } } };
        await client.patch(miniClusters(namespaceOf(resource), metadata.name), applying, 'merge');
        for (const manifest of renderMiniCluster(created)) {
          const object = manifestToApply(manifest, created, undefined);
          const path = pathOf(manifest, namespaceOf(resource));
          // The apiserver compares with a cache, which shows a new MiniCluster a moment later.
          await cluster.waitFor(`${manifest.kind} ${manifest.metadata.name} to be accepted`, async () => {
            const options = { dryRun: true, force: true, fieldManager: 'test' };
            const answer = await client.patch(path, object, 'apply', options).catch(messageOf);
            if (typeof answer === 'string') throw new Error(answer);
            return true;
          });
        }
      }
    });
  },
  { scheduler: false, apiserverArgs: ['--allow-privileged=true'] },
);
