/** Changes of a running MiniCluster on the real control plane: its size, its spec, a restart of the controller. */
import { DEADLINE_ANNOTATION, MINICLUSTER_LABEL } from '../../constructs/api/labels';
import { jobs } from '../../runtime/kubernetes/paths';
import type { Job, KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import { miniClusters } from '../../runtime/miniclusters/resource';
import { waitFor } from '../cluster/wait';
import { conditionOf, type MiniClusters, podsPerNode, trueConditions } from './minicluster-objects';
import { useMiniClusters } from './minicluster-suite';
import type { RoleProcess } from './roles';
import { describeStack } from './suite';
import type { Namespace } from './workloads';

describeStack(
  'changes of a MiniCluster',
  (getFixture) => {
    let science: Namespace;
    let clusters: MiniClusters;
    let controller: RoleProcess;
    useMiniClusters(getFixture, (given) => {
      ({ science, clusters, controller } = given);
    });

    test('grows from 4 to 8 brokers through the queue, frees the nodes of brokers that it loses, and rejects 9', async () => {
      const { stack } = getFixture();
      const scale = async (replicas: number) => {
        const args = ['scale', 'miniclusters/band', `--replicas=${replicas}`, '-n', 'science'];
        expect(await stack.cluster.kubectl(args)).toMatchObject({ code: 0 });
      };
      const created = await clusters.create('band', { maxSize: 8, interactive: true });
      const four = await clusters.running('band', 4);
      await scale(8);
      const eight = await clusters.running('band', 8);
      expect(Object.values(podsPerNode(eight))).toEqual([2, 2, 2, 2]);
      for (const pod of eight.slice(4)) {
        const row = await science.phase(pod, 'Running');
        expect(row.allocation!.nodes.map(({ name }) => name)).toEqual([pod.spec.nodeName]);
      }
      // The walltime stays enforced although the Job was applied again.
      const { metadata, spec } = await clusters.job('band');
      const { walltime } = (await science.row({ metadata }))!;
      expect(metadata.annotations?.[DEADLINE_ANNOTATION]).toBe(`${walltime}+3600/none`);
      expect(spec.activeDeadlineSeconds).toBe(walltime + 3_600);
      const grown = await clusters.condition('band', 'Reconciling', 'False');
      expect(grown.message).toBe('8 of 8 brokers are up');
      expect((await clusters.get('band'))!.status).toMatchObject({ size: 8, maximumSize: 8 });

      // All nodes are full, so another Job waits until the cluster shrinks.
      const late = await science.job('late', { pods: 4, cores: 2 });
      await science.phase(late, 'Waiting', 'Reserved');
      await scale(4);
      await science.phase(late, 'Finished');
      const uids = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.uid);
      expect(uids(await clusters.running('band', 4))).toEqual(uids(four));
      expect((await clusters.get('band'))!.status!.phase).toBe('Running');

      // The brokers were configured with 8 ranks.
      await clusters.patch('band', { size: 9, maxSize: 9 });
      const refused = await clusters.condition('band', 'Stalled', 'True', 'MaximumFixed');
      expect(refused.message).toMatch(
        /^spec.size: must be at most 8, the maximum size at the start of the brokers \(got 9\)/,
      );
      expect(uids(await clusters.running('band', 4))).toEqual(uids(four));
      await clusters.patch('band', { size: 5, maxSize: 8 });
      await clusters.running('band', 5);
      await clusters.condition('band', 'Stalled', 'False');
      await waitFor('the Event', async () =>
        (await science.events(created)).some((event) => event.startsWith('MaximumFixed: ')),
      );
    });

    test('is scaled by a HorizontalPodAutoscaler through its scale subresource', async () => {
      const { stack } = getFixture();
      await clusters.create('breathing', { size: 2, minSize: 2, maxSize: 6, interactive: true });
      await clusters.running('breathing', 2);
      // There are no metrics here, but the lower bound takes effect without them.
      await stack.cluster.create({
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'breathing', namespace: 'science' },
        spec: {
          scaleTargetRef: {
            apiVersion: 'flux-framework.org/v1alpha2',
            kind: 'MiniCluster',
            name: 'breathing',
          },
          minReplicas: 4,
          maxReplicas: 6,
        },
      });
      for (const pod of (await clusters.running('breathing', 4)).slice(2))
        expect((await science.phase(pod, 'Running')).allocation!.nodes).toHaveLength(1);
      expect((await clusters.get('breathing'))!.spec.size).toBe(4);
    });

    test('starts with its minimum size and adds brokers when nodes become free', async () => {
      const wall = await science.job('wall', { pods: 3, cores: 4, runs: '10m' });
      await science.phase(wall, 'Running');
      await clusters.create('eager', { minSize: 2 });
      const up = await clusters.phase('eager', 'Running');
      expect(up.status).toMatchObject({ size: 4, readyBrokers: 2 });
      expect(conditionOf(up, 'Ready')!.message).toBe('2 of 4 brokers are up');
      expect(await science.phase(await clusters.job('eager'), 'Running')).toMatchObject({ pods: 2 });
      await science.delete(wall, 'Job');
      await clusters.running('eager', 4);
      await clusters.condition('eager', 'Reconciling', 'False');
    });

    test('is Stalled by an edit of an immutable field until the edit is reverted', async () => {
      await clusters.create('fixed', { size: 2 });
      const before = await clusters.running('fixed', 2);
      await clusters.phase('fixed', 'Running');
      const containers = [{ image: 'other', command: 'hostname', resources: { requests: { cpu: 2 } } }];
      await clusters.patch('fixed', { containers });
      const refused = await clusters.condition('fixed', 'Stalled', 'True', 'Immutable');
      expect(refused.message).toContain('(immutable: spec.template); delete and recreate the MiniCluster');
      expect(trueConditions((await clusters.get('fixed'))!)).toContain('Ready');
      await clusters.patch('fixed', { containers: [{ ...containers[0], image: 'none' }] });
      await clusters.condition('fixed', 'Stalled', 'False');
      expect((await clusters.running('fixed', 2))[0]!.metadata.uid).toBe(before[0]!.metadata.uid);
    });

    test('keeps the deadline that was granted, whatever its spec says later, and takes an earlier one', async () => {
      await clusters.create('limited', { size: 1, interactive: true, deadlineSeconds: 600 });
      await clusters.running('limited', 1);
      const deadline = async () => (await clusters.job('limited')).spec.activeDeadlineSeconds;
      for (const deadlineSeconds of [864_000, null]) {
        await clusters.patch('limited', { deadlineSeconds });
        const refused = await clusters.condition('limited', 'Stalled', 'True', 'DeadlineFixed');
        expect(refused.message).toContain('must be at most 600s, which the queue granted');
        await clusters.phase('limited', 'Running');
        expect(await deadline()).toBe(600);
        await clusters.patch('limited', { deadlineSeconds: 600 });
        await clusters.condition('limited', 'Stalled', 'False');
      }
      await clusters.patch('limited', { deadlineSeconds: 300 });
      await waitFor('the earlier deadline', async () => (await deadline()) === 300);

      // Without its label the watch of the controller does not show the Job, until the controller writes it again.
      const { client } = getFixture();
      await clusters.patch('limited', { deadlineSeconds: 864_000 });
      await clusters.condition('limited', 'Stalled', 'True', 'DeadlineFixed');
      const unlabelled = { metadata: { labels: { [MINICLUSTER_LABEL]: null } } };
      await client.patch(jobs('science', 'limited'), unlabelled, 'merge');
      await waitFor('the label', async () => {
        const { labels } = (await clusters.job('limited')).metadata;
        return labels?.[MINICLUSTER_LABEL] === 'limited';
      });
      expect(await deadline()).toBe(300);

      // As the condition says: it counts when the cluster starts again.
      await clusters.patch('limited', { deadlineSeconds: 1_200, suspend: true });
      await clusters.phase('limited', 'Waiting');
      await clusters.patch('limited', { suspend: false });
      await clusters.running('limited', 1);
      await waitFor('the later deadline', async () => (await deadline()) === 1_200);
      await clusters.condition('limited', 'Stalled', 'False');
    });

    test('creates and deletes services with its spec', async () => {
      const services = [{ name: 'db', image: 'none', ports: [5432] }];
      const created = await clusters.create('served', { size: 1, services });
      await clusters.phase('served', 'Running');
      const parts = ['Deployment/served-services', 'Service/served-db'];
      expect(await clusters.ownedObjects(created)).toEqual(expect.arrayContaining(parts));
      const db = await waitFor('the services pod', async () =>
        (await clusters.list<Pod>('Pod')).find(({ spec }) => spec.containers[0]!.name === 'db'),
      );
      expect(db.spec).toMatchObject({ hostname: 'served-services', subdomain: 'served' });
      await clusters.patch('served', { services: null });
      await waitFor('the services to be deleted', async () => {
        const left = await clusters.ownedObjects(created);
        return !parts.some((part) => left.includes(part));
      });
      expect((await clusters.get('served'))!.status!.phase).toBe('Running');
    });

    test('does not restart brokers or change the Job when the controller restarts', async () => {
      const { stack, client } = getFixture();
      await clusters.create('steady', { size: 2, maxSize: 4 });
      const before = await clusters.running('steady', 2);
      await clusters.phase('steady', 'Running');
      const versions = async () => {
        const job = await client.get<Job>(jobs('science', 'steady'));
        const cluster = await client.get<KubernetesObject>(miniClusters('science', 'steady'));
        return [job.metadata.generation, cluster.metadata.resourceVersion];
      };
      const seen = await versions();
      await controller.stop();
      controller = await stack.startController({ fluxion: { address: 'embedded' } });
      await clusters.patch('steady', { size: 3 });
      await clusters.running('steady', 3);
      expect((await clusters.brokers('steady'))[0]!.metadata.uid).toBe(before[0]!.metadata.uid);
      expect((await versions())[0]).toBe(Number(seen[0]) + 1);
    });
  },
  { nodes: 4, nodeShape: { cpu: '4', memory: '64Gi' } },
);
