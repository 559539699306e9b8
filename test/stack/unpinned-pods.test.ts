// Own cluster: admission is taken away.
/** Pods that are created while admission is not active, so that nothing pins them to the nodes of their Job. */
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import { describeOwnStack, inOneNamespace } from './suite';
import { type Namespace, UNTIL_ENDED } from './workloads';

const BINDING = '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings/fluxqueue-pods';

describeOwnStack(
  'a Job whose pods bypassed admission',
  (getFixture) => {
    let science: Namespace;

    inOneNamespace(getFixture, (namespace) => {
      science = namespace;
    });

    /** The apiserver uses a policy a moment after it has stored it. */
    const untilPodsAre = (gated: boolean) =>
      waitFor(
        `pods ${gated ? 'to be gated' : 'to bypass admission'}`,
        async () => (await getFixture().stack.gatesPods('science')) === gated,
      );

    test('goes on where they are, and nobody else is granted what they use', async () => {
      const { client, stack } = getFixture();
      const { apiVersion, kind, metadata, spec } = await stack.cluster.get<
        KubernetesObject & { spec: object }
      >(BINDING);
      await client.delete(BINDING);
      await untilPodsAre(false);
      // Both pods are granted one node, but kube-scheduler spreads unpinned pods over two.
      const job = await science.job('lost', { pods: 2, cores: 2, runs: UNTIL_ENDED });
      await science.phase(job, 'Running');
      const pods = await waitFor('both pods to run', async () => {
        const all = await science.podsOf(job);
        return all.length === 2 && all.every(({ status }) => status?.phase === 'Running') ? all : undefined;
      });
      expect(new Set(pods.map(({ spec: { nodeName } }) => nodeName)).size).toBe(2);

      const { name, labels } = metadata;
      await stack.cluster.apply({ apiVersion, kind, metadata: { name, ...(labels && { labels }) }, spec });
      await untilPodsAre(true);
      // On the node that was granted, and on the other one, 2 of 4 cores are in use.
      const wide = await science.job('wide', { cores: 4 });
      await science.phase(wide, 'Waiting');
      const small = await science.job('small', { cores: 2 });
      await science.phase(small, 'Finished');
      expect(await science.row(job)).toMatchObject({ phase: 'Running', requeues: 0 });
      await science.end(job);
      await science.phase(wide, 'Finished');
    });
  },
  { createsMiniClusters: false, cluster: { nodes: 2, nodeShape: { cpu: '4', memory: '64Gi' } } },
);
