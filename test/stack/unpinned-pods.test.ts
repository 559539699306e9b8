// Own cluster: admission is taken away.
/** Pods that are created while admission is not active, so that nothing pins them to the nodes of their Job. */
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import { assignedNode } from '../../runtime/workloads/pod';
import { waitFor } from '../cluster/wait';
import { describeOwnStack, inOneNamespace } from './suite';
import type { Namespace } from './workloads';

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

    test('is requeued, and runs on its allocated nodes once admission is active again', async () => {
      const { client, stack } = getFixture();
      const { apiVersion, kind, metadata, spec } = await stack.cluster.get<
        KubernetesObject & { spec: object }
      >(BINDING);
      await client.delete(BINDING);
      await untilPodsAre(false);
      // Both pods are granted one node, but kube-scheduler spreads unpinned pods over two.
      const job = await science.job('lost', { pods: 2, cores: 2, runs: '10m' });
      const waiting = await science.phase(job, 'Waiting', 'Requeued');
      expect(waiting).toMatchObject({ allocation: null, requeues: 1 });
      expect(waiting.message).toMatch(
        /^pod lost-\d-\w+ was created while admission was not active and is not pinned to an allocated node; requeued, retrying in 5s$/,
      );
      expect(await science.podsOf(job)).toEqual([]);
      expect(await science.recordedEvents(job, 1)).toEqual([
        expect.stringMatching(/^Requeued: pod lost-\d-\w+ was created/),
      ]);

      const { name, labels } = metadata;
      await stack.cluster.apply({ apiVersion, kind, metadata: { name, ...(labels && { labels }) }, spec });
      await untilPodsAre(true);
      const row = await science.phase(job, 'Running');
      const pods = await science.podsOf(job);
      const granted = row.allocation!.nodes.map((node) => node.name);
      expect(pods.map(assignedNode)).toEqual([granted[0], granted[0]]);
      for (const { spec: podSpec } of pods) expect(podSpec.affinity?.nodeAffinity).toBeDefined();
    });
  },
  { createsMiniClusters: false, cluster: { nodes: 2, nodeShape: { cpu: '4', memory: '64Gi' } } },
);
