/** The life of a MiniCluster on the real control plane: queued, placed, running, finished, deleted. */
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import { checkCertificate } from '../../runtime/miniclusters/curve';
import type { MiniCluster } from '../../runtime/miniclusters/resource';
import { placementOf } from '../../runtime/workloads/assignment';
import { waitFor } from '../cluster/wait';
import { conditionOf, MiniClusters, podsPerNode, trueConditions } from './minicluster-objects';
import { useMiniClusters } from './minicluster-suite';
import type { RoleProcess } from './roles';
import { describeStack } from './suite';
import type { Namespace } from './workloads';

describeStack(
  'the life of a MiniCluster',
  (getFixture) => {
    let science: Namespace;
    let clusters: MiniClusters;
    let controller: RoleProcess;
    useMiniClusters(getFixture, (given) => {
      ({ science, clusters, controller } = given);
    });

    /** Deletes a cluster and waits until all its objects are deleted. */
    async function deleteCompletely(name: string): Promise<void> {
      const cluster = await clusters.get(name);
      if (cluster === undefined) return;
      await clusters.delete(name);
      await waitFor(`the objects of ${name} to be deleted`, async () => {
        const left = await clusters.ownedObjects(cluster);
        if (left.length === 0) return true;
        throw new Error(`left: ${left.join(', ')}`);
      });
    }

    const owns = async (cluster: MiniCluster, parts: readonly string[]) => {
      const owned = await clusters.ownedObjects(cluster);
      return parts.every((part) => owned.includes(part));
    };

    test('is queued, runs on its allocated nodes, resolves its brokers by name, and finishes with its lead broker', async () => {
      const created = await clusters.create('hello');
      const up = await clusters.phase('hello', 'Running');
      expect(trueConditions(up)).toEqual(['JobRequested', 'JobRunning', 'JobMiniClusterReady', 'Ready']);
      expect(up.status).toMatchObject({
        size: 4,
        readyBrokers: 4,
        maximumSize: 4,
        jobid: 'hello-job',
        selector: 'hpa-selector=hello',
        observedGeneration: 1,
      });
      const job = await clusters.job('hello');
      const brokers = await clusters.running('hello', 4);
      const row = await science.phase(job, 'Running');
      expect(row.pods).toBe(4);
      const places = placementOf(row).map(({ node, pods }) => [node, pods]);
      expect(podsPerNode(brokers)).toEqual(Object.fromEntries(places));

      // A headless Service and the host names of the pods give each broker a DNS name.
      const [service] = await clusters.list<KubernetesObject & { spec: object }>('Service');
      expect(service).toMatchObject({ spec: { clusterIP: 'None', publishNotReadyAddresses: true } });
      for (const [index, { spec }] of brokers.entries())
        expect(spec).toMatchObject({ hostname: `hello-${index}`, subdomain: 'hello' });
      await waitFor('the addresses of the brokers', async () => {
        type Slice = KubernetesObject & { endpoints: { hostname?: string; addresses: string[] }[] };
        const slices = await clusters.list<Slice>('EndpointSlice');
        const named = slices.flatMap(({ endpoints }) => endpoints.map(({ hostname }) => hostname));
        return named.sort().join() === 'hello-0,hello-1,hello-2,hello-3';
      });
      const parts = ['FluxJob/hello-job', 'Job/hello', 'Secret/hello-curve', 'Service/hello'];
      await waitFor('all of its objects', () => owns(created, parts));

      await clusters.finishPod(brokers[0]!);
      const over = await clusters.phase('hello', 'Finished');
      expect(over.status).toMatchObject({ result: 'Succeeded', finishTime: expect.any(String) });
      expect(trueConditions(over)).toEqual(['JobRequested', 'JobFinished', 'Ready']);
      expect((await science.phase(job, 'Finished')).result).toBe('Succeeded');
      expect(await clusters.brokers('hello')).toEqual([]);
      expect(await science.recordedEvents(created, 2)).toEqual([
        'BrokersUp: 4 of 4 brokers are up',
        'Succeeded: the lead broker succeeded',
      ]);
    });

    test('has a valid certificate, which only its Secret contains', async () => {
      const created = await clusters.create('secretive', { size: 1 });
      await clusters.phase('secretive', 'Running');
      type Secret = KubernetesObject & { immutable?: boolean; data: Record<string, string> };
      const all = await clusters.list<Secret>('Secret');
      const secret = all.find(({ metadata }) => metadata.name === 'secretive-curve');
      expect(secret).toMatchObject({ immutable: true });
      const text = Buffer.from(secret!.data['curve.cert']!, 'base64').toString();
      expect(() => checkCertificate(text, 'test')).not.toThrow();
      const key = /secret-key = "(.{40})"/.exec(text)![1]!;
      const everything = JSON.stringify([
        await clusters.list('ConfigMap'),
        await clusters.get('secretive'),
        await clusters.list('Job'),
        await science.events(created),
        controller.process.logTail(),
      ]);
      for (const secretText of [key, secret!.data['curve.cert']!])
        expect(everything).not.toContain(secretText);
    });

    test('fails with the exit code of its command', async () => {
      await clusters.create('failing', { size: 2, backoffLimit: 0 });
      const [lead] = await clusters.running('failing', 2);
      await clusters.finishPod(lead!, 3);
      const over = await clusters.phase('failing', 'Finished');
      expect(over.status!.result).toBe('Failed');
      expect(trueConditions(over)).toEqual(['JobRequested', 'JobFinished', 'Stalled']);
      expect(conditionOf(over, 'JobFinished')).toMatchObject({
        reason: 'Failed',
        message: 'the lead broker exited with code 3',
      });
    });

    test('runs until it is deleted if its workload is a StatefulSet', async () => {
      await clusters.create('lasting', { size: 2, maxSize: 3, workload: 'StatefulSet', interactive: true });
      const up = await clusters.phase('lasting', 'Running');
      expect(up.status).toMatchObject({ size: 2, readyBrokers: 2, maximumSize: 3 });
      await clusters.patch('lasting', { size: 3 });
      const brokers = await clusters.running('lasting', 3);
      for (const pod of brokers)
        expect((await science.phase(pod, 'Running')).allocation!.nodes[0]!.name).toBe(pod.spec.nodeName);
    });

    test('replaces an evicted worker without counting a failure', async () => {
      const { client } = getFixture();
      await clusters.create('evicted', { size: 2, backoffLimit: 0 });
      const [, worker] = await clusters.running('evicted', 2);
      const { name, uid } = worker!.metadata;
      await client.create(`/api/v1/namespaces/science/pods/${name}/eviction`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name },
      });
      // In place of the kubelet: the broker exits with the code of its script on SIGTERM.
      await clusters.finishPod(worker!, 143);
      const replaced = await waitFor('another worker', async () => {
        const [, other] = await clusters.running('evicted', 2);
        return other!.metadata.uid !== uid && other!;
      });
      expect(replaced.spec).toMatchObject({ hostname: 'evicted-1', nodeName: worker!.spec.nodeName });
      expect((await clusters.job('evicted')).status!.failed ?? 0).toBe(0);
      await clusters.phase('evicted', 'Running');
    });

    test('times out with reason QuorumNotReached if its brokers never start', async () => {
      await clusters.create('lonely', { deadlineSeconds: 2, pod: { schedulerName: 'no-such-scheduler' } });
      const over = await clusters.phase('lonely', 'Finished');
      expect(over.status).toMatchObject({ result: 'TimedOut' });
      expect(conditionOf(over, 'JobFinished')).toMatchObject({
        reason: 'QuorumNotReached',
        message: 'the Job exceeded its deadline of 2s; the quorum of 4 brokers was never reached',
      });
    });

    test('does not start while it is suspended, and stops when it is suspended', async () => {
      await clusters.create('held', { size: 1, suspend: true });
      await clusters.condition('held', 'Ready', 'False', 'Held');
      await clusters.patch('held', { suspend: false });
      await clusters.phase('held', 'Running');
      await clusters.patch('held', { suspend: true });
      await clusters.condition('held', 'Ready', 'False', 'Held');
      expect(await clusters.brokers('held')).toEqual([]);
      await clusters.patch('held', { suspend: null });
      await clusters.phase('held', 'Running');
    });

    test('reports an invalid spec and creates no Job for it', async () => {
      const flux = { curveCert: 'curve\n public-key = "hunter2"\n' };
      const created = await clusters.create('wrong', { size: 1, flux });
      const { message } = await clusters.condition('wrong', 'Stalled', 'True', 'Invalid');
      expect(message).toContain('spec.flux.curveCert');
      expect(message).not.toContain('hunter2');
      expect((await clusters.ownedObjects(created)).filter((name) => name.startsWith('Job/'))).toEqual([]);
    });

    test('runs in a namespace outside the queue', async () => {
      const { stack } = getFixture();
      await stack.namespace('plain', false);
      const plain = new MiniClusters(getFixture, 'plain');
      await plain.create('free', { size: 2, suspend: true });
      await plain.condition('free', 'Ready', 'False', 'Suspended');
      expect(await plain.brokers('free')).toEqual([]);
      await plain.patch('free', { suspend: false });
      const up = await plain.phase('free', 'Running');
      expect(up.status!.jobid).toBeUndefined();
      await plain.finishPod((await plain.running('free', 2))[0]!);
      expect((await plain.phase('free', 'Finished')).status!.result).toBe('Succeeded');
    });

    test('leaves no objects behind if it is deleted while it waits', async () => {
      const wall = await science.job('wall', { pods: 4, cores: 4, runs: '10m' });
      await science.phase(wall, 'Running');
      const created = await clusters.create('patient');
      const waits = await clusters.phase('patient', 'Waiting');
      expect(trueConditions(waits)).toEqual(['JobRequested', 'JobWaitingForResources', 'Reconciling']);
      await clusters.condition('patient', 'Ready', 'False', 'Reserved');
      const job = await clusters.job('patient');
      expect(job.spec.suspend).toBe(true);
      // While the cluster waits, every field can change.
      await clusters.patch('patient', { size: 6, priority: 7 });
      await waitFor('the new submission', async () => {
        const row = await science.row(job);
        return row?.pods === 6 && row.priority === 7;
      });
      await deleteCompletely('patient');
      expect(await science.phase(job, 'Finished')).toMatchObject({ result: 'Cancelled', startedAt: null });
      expect(await science.events(created)).toEqual([]);
      await science.delete(wall, 'Job');
      await science.phase(wall, 'Finished');
    });

    test('is deleted after its end if its spec has cleanup', async () => {
      const created = await clusters.create('tidy', { size: 1, cleanup: true });
      const [lead] = await clusters.running('tidy', 1);
      await clusters.finishPod(lead!);
      await waitFor('the MiniCluster to be deleted', async () => (await clusters.get('tidy')) === undefined);
      await waitFor(
        'its objects to be deleted',
        async () => (await clusters.ownedObjects(created)).length === 0,
      );
    });

    test('gets new objects if it is recreated with the same name immediately', async () => {
      await clusters.create('phoenix', { size: 1 });
      await clusters.running('phoenix', 1);
      await clusters.delete('phoenix');
      const second = await clusters.create('phoenix', { size: 1 });
      await clusters.phase('phoenix', 'Running');
      const parts = ['Job/phoenix', 'Secret/phoenix-curve', 'Service/phoenix', 'FluxJob/phoenix-job'];
      await waitFor('new objects', () => owns(second, parts));
    });
  },
  { nodes: 4, nodeShape: { cpu: '4', memory: '64Gi' } },
);
