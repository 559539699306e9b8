/** Pods that were made while admission was not in force: nothing holds them to the nodes that their Job was granted. */
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import { assignedNode } from '../../runtime/workloads/pod';
import { waitFor } from '../cluster/wait';
import { describeStack } from './suite';
import { Namespace } from './workloads';

const BINDING = '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings/fluxqueue-pods';

describeStack(
  'a Job whose pods admission did not see',
  (getFixture) => {
    let science: Namespace;

    beforeAll(async () => {
      await getFixture().stack.startController({ fluxion: { address: 'embedded' } });
      science = await Namespace.create(getFixture, 'science');
    }, 60_000);

    /** Policies are read by the apiserver some moments after they were written. */
    const untilPodsAre = (gated: boolean) =>
      waitFor(
        `pods ${gated ? 'to be gated' : 'to pass'}`,
        async () => (await getFixture().stack.gatesPods('science')) === gated,
      );

    test('is taken back, waits, and runs on its own nodes once admission is in force again', async () => {
      const { client, stack } = getFixture();
      const { apiVersion, kind, metadata, spec } = await stack.cluster.get<
        KubernetesObject & { spec: object }
      >(BINDING);
      await client.delete(BINDING);
      await untilPodsAre(false);
      // Granted the same node, they would spread: kube-scheduler prefers the emptier one.
      const job = await science.job('lost', { pods: 2, cores: 2, runs: '10m' });
      const waiting = await science.phase(job, 'Waiting', 'Requeued');
      expect(waiting).toMatchObject({ allocation: null, requeues: 1 });
      expect(waiting.message).toMatch(
        /^lost-\d-\w+ was made without being pinned to its node, as if admission was not in force, waits again in its place, for 5 s at least$/,
      );
      expect(await science.podsOf(job)).toEqual([]);
      expect(await science.events(job)).toEqual([expect.stringMatching(/^Requeued: lost-\d-\w+ was made/)]);

      const { name, labels } = metadata;
      await stack.cluster.apply({ apiVersion, kind, metadata: { name, ...(labels && { labels }) }, spec });
      await untilPodsAre(true);
      const row = await science.phase(job, 'Running');
      const pods = await science.podsOf(job);
      const granted = row.allocation!.nodes.map((node) => node.name);
      expect(pods.map(assignedNode)).toEqual([granted[0], granted[0]]);
      for (const { spec: own } of pods) expect(own.affinity?.nodeAffinity).toBeDefined();
    });
  },
  { cluster: { nodes: 2, nodeShape: { cpu: '4', memory: '64Gi' } } },
);
