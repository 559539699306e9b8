/** MiniClusters on the real control plane: through the queue to the exact nodes, up, resized, over, gone. */

import { CONTROLLER_SERVICE_ACCOUNT, STACK_NAMESPACE } from '../../constructs/api/labels';
import { type ManifestObject, renderMiniCluster } from '../../constructs/minicluster/index';
import { createClient } from '../../runtime/kubernetes/client';
import { jobs, secrets } from '../../runtime/kubernetes/paths';
import type { Job, KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import { checkCertificate } from '../../runtime/miniclusters/curve';
import { miniClusters } from '../../runtime/miniclusters/resource';
import { placementOf } from '../../runtime/workloads/assignment';
import { waitFor } from '../cluster/wait';
import { conditionOf, holding, MiniClusters } from './minicluster-objects';
import type { RoleProcess } from './roles';
import { describeStack } from './suite';
import { Namespace } from './workloads';

describeStack(
  'MiniClusters',
  (getFixture) => {
    let science: Namespace;
    let clusters: MiniClusters;
    let controller: RoleProcess;

    beforeAll(async () => {
      const { stack } = getFixture();
      controller = await stack.startController({ fluxion: { address: 'embedded' } });
      science = await Namespace.create(getFixture, 'science');
      clusters = new MiniClusters(getFixture, 'science');
    }, 60_000);

    // What one test leaves must not fill the nodes of the next. Kubernetes' garbage collector learns of a new kind of
    // owner within half a minute, so Jobs are deleted too, and what needs the collector comes last.
    afterEach(async () => {
      await clusters.clear();
      await waitFor('no pod to be left', async () => (await clusters.list('Pod')).length === 0);
    }, 60_000);

    /** Deletes it and waits until nothing of it is left. */
    async function gone(name: string): Promise<void> {
      const cluster = await clusters.get(name);
      if (cluster === undefined) return;
      await clusters.delete(name);
      await waitFor(
        `all of ${name} to be gone`,
        async () => {
          const left = await clusters.belongings(cluster);
          if (left.length === 0) return true;
          throw new Error(`left: ${left.join(', ')}`);
        },
        { timeoutMs: 60_000 },
      );
    }

    /** Pods per node. */
    const spread = (pods: readonly Pod[]) => {
      const nodes = new Map<string, number>();
      for (const { spec } of pods) nodes.set(spec.nodeName!, (nodes.get(spec.nodeName!) ?? 0) + 1);
      return Object.fromEntries(nodes);
    };

    test('goes through the queue: placed exactly, resolvable, up, done with its lead, free', async () => {
      const made = await clusters.create('hello');
      const up = await clusters.phase('hello', 'Running');
      expect(holding(up)).toEqual(['JobRequested', 'JobRunning', 'JobMiniClusterReady', 'Ready']);
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
      expect(spread(brokers)).toEqual(Object.fromEntries(places));

      // Names: a headless Service, and pods that say who they are in it.
      const [service] = await clusters.list<KubernetesObject & { spec: object }>('Service');
      expect(service).toMatchObject({ spec: { clusterIP: 'None', publishNotReadyAddresses: true } });
      for (const [index, { spec }] of brokers.entries())
        expect(spec).toMatchObject({ hostname: `hello-${index}`, subdomain: 'hello' });
      await waitFor('addresses by name', async () => {
        type Slice = KubernetesObject & { endpoints: { hostname?: string; addresses: string[] }[] };
        const slices = await clusters.list<Slice>('EndpointSlice');
        const named = slices.flatMap(({ endpoints }) => endpoints.map(({ hostname }) => hostname));
        return named.sort().join() === 'hello-0,hello-1,hello-2,hello-3';
      });
      expect(await clusters.belongings(made)).toEqual(
        expect.arrayContaining(['FluxJob/hello-job', 'Job/hello', 'Secret/hello-curve', 'Service/hello']),
      );

      await clusters.end(brokers[0]!);
      const over = await clusters.phase('hello', 'Finished');
      expect(over.status).toMatchObject({ result: 'Succeeded', finishTime: expect.any(String) });
      expect(holding(over)).toEqual(['JobRequested', 'JobFinished']);
      expect((await science.phase(job, 'Finished')).result).toBe('Succeeded');
      expect(await clusters.brokers('hello')).toEqual([]);
      expect(await science.events(made)).toEqual([
        'BrokersUp: 4 of 4 brokers are up',
        'Succeeded: the lead is done',
      ]);
    });

    test('its certificate is one that brokers take, and stands in its Secret only', async () => {
      const made = await clusters.create('secretive', { size: 1 });
      await clusters.phase('secretive', 'Running');
      type Secret = KubernetesObject & { immutable?: boolean; data: Record<string, string> };
      const all = await clusters.list<Secret>('Secret');
      const secret = all.find(({ metadata }) => metadata.name === 'secretive-curve');
      expect(secret).toMatchObject({ immutable: true });
      const text = Buffer.from(secret!.data['curve.cert']!, 'base64').toString();
      expect(() => checkCertificate(text, 'it')).not.toThrow();
      const key = /secret-key = "(.{40})"/.exec(text)![1]!;
      const everything = JSON.stringify([
        await clusters.list('ConfigMap'),
        await clusters.get('secretive'),
        await clusters.list('Job'),
        await science.events(made),
        controller.process.logTail(),
      ]);
      for (const secretText of [key, secret!.data['curve.cert']!])
        expect(everything).not.toContain(secretText);
    });

    test("fails with the exit code of its user's command", async () => {
      await clusters.create('failing', { size: 2, backoffLimit: 0 });
      const [lead] = await clusters.running('failing', 2);
      await clusters.end(lead!, 3);
      const over = await clusters.phase('failing', 'Finished');
      expect(over.status!.result).toBe('Failed');
      expect(holding(over)).toEqual(['JobRequested', 'JobFinished', 'Stalled']);
      expect(conditionOf(over, 'JobFinished')).toMatchObject({
        reason: 'Failed',
        message: 'the lead ended with exit code 3',
      });
    });

    test('4 to 8 and back, as kubectl scales it: what it grows by is granted, what it shrinks by is free', async () => {
      const { stack } = getFixture();
      const scale = async (replicas: number) => {
        const args = ['scale', 'miniclusters/band', `--replicas=${replicas}`, '-n', 'science'];
        expect(await stack.cluster.kubectl(args)).toMatchObject({ code: 0 });
      };
      const made = await clusters.create('band', { maxSize: 8, interactive: true });
      const four = await clusters.running('band', 4);
      await scale(8);
      const eight = await clusters.running('band', 8);
      expect(Object.values(spread(eight))).toEqual([2, 2, 2, 2]);
      for (const pod of eight.slice(4)) {
        const row = await science.phase(pod, 'Running');
        expect(row.allocation!.nodes.map(({ name }) => name)).toEqual([pod.spec.nodeName]);
      }
      // The queue ends it with its walltime, whatever was applied to the Job since.
      const deadline = (await clusters.job('band')).spec.activeDeadlineSeconds;
      expect(deadline).toBe((await science.row(await clusters.job('band')))!.walltime);
      const grown = await clusters.condition('band', 'Reconciling', 'False');
      expect(grown.message).toBe('8 of 8 brokers are up');
      expect((await clusters.get('band'))!.status).toMatchObject({ size: 8, maximumSize: 8 });

      // The cluster is full: somebody waits for what it gives back.
      const late = await science.job('late', { pods: 4, cores: 2 });
      await science.phase(late, 'Waiting', 'Reserved');
      await scale(4);
      await science.phase(late, 'Finished');
      const uids = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.uid);
      expect(uids(await clusters.running('band', 4))).toEqual(uids(four));
      expect((await clusters.get('band'))!.status!.phase).toBe('Running');

      // Nine were never registered with Flux.
      await clusters.patch('band', { size: 9, maxSize: 9 });
      const refused = await clusters.condition('band', 'Stalled', 'True', 'MaximumFixed');
      expect(refused.message).toMatch(/^spec.size: its brokers were started with at most 8 ranks \(got 9\)/);
      expect(uids(await clusters.running('band', 4))).toEqual(uids(four));
      await clusters.patch('band', { size: 5, maxSize: 8 });
      await clusters.running('band', 5);
      await clusters.condition('band', 'Stalled', 'False');
      expect(await science.events(made)).toContainEqual(expect.stringMatching(/^MaximumFixed: /));
    });

    test('a HorizontalPodAutoscaler scales it by its scale subresource', async () => {
      const { stack } = getFixture();
      await clusters.create('breathing', { size: 2, minSize: 2, maxSize: 6, interactive: true });
      await clusters.running('breathing', 2);
      // Nothing measures pods here; its lower bound needs no measure.
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

    test('starts with as many brokers as it needs, and the others come as there is room', async () => {
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

    test('as a StatefulSet it is there until it is deleted', async () => {
      await clusters.create('lasting', { size: 2, maxSize: 3, workload: 'StatefulSet', interactive: true });
      const up = await clusters.phase('lasting', 'Running');
      expect(up.status).toMatchObject({ size: 2, readyBrokers: 2, maximumSize: 3 });
      await clusters.patch('lasting', { size: 3 });
      const brokers = await clusters.running('lasting', 3);
      for (const pod of brokers)
        expect((await science.phase(pod, 'Running')).allocation!.nodes[0]!.name).toBe(pod.spec.nodeName);
    });

    test('an edit that Kubernetes refuses is said, and taken back', async () => {
      await clusters.create('fixed', { size: 2 });
      const before = await clusters.running('fixed', 2);
      await clusters.phase('fixed', 'Running');
      const containers = [{ image: 'other', command: 'hostname', resources: { requests: { cpu: 2 } } }];
      await clusters.patch('fixed', { containers });
      const refused = await clusters.condition('fixed', 'Stalled', 'True', 'Immutable');
      expect(refused.message).toContain('(refused: spec.template); delete the MiniCluster and apply it anew');
      expect(holding((await clusters.get('fixed'))!)).toContain('Ready');
      await clusters.patch('fixed', { containers: [{ ...containers[0], image: 'none' }] });
      await clusters.condition('fixed', 'Stalled', 'False');
      expect((await clusters.running('fixed', 2))[0]!.metadata.uid).toBe(before[0]!.metadata.uid);
    });

    test('services beside it come and go with its spec', async () => {
      const services = [{ name: 'db', image: 'none', ports: [5432] }];
      const made = await clusters.create('served', { size: 1, services });
      await clusters.phase('served', 'Running');
      const parts = ['Deployment/served-services', 'Service/served-db'];
      expect(await clusters.belongings(made)).toEqual(expect.arrayContaining(parts));
      const db = await waitFor('the services pod', async () =>
        (await clusters.list<Pod>('Pod')).find(({ spec }) => spec.containers[0]!.name === 'db'),
      );
      expect(db.spec).toMatchObject({ hostname: 'served-services', subdomain: 'served' });
      await clusters.patch('served', { services: null });
      await waitFor('them to go', async () => {
        const left = await clusters.belongings(made);
        return !parts.some((part) => left.includes(part));
      });
      expect((await clusters.get('served'))!.status!.phase).toBe('Running');
    });

    test('an evicted worker is replaced, and that is no failure', async () => {
      const { client } = getFixture();
      await clusters.create('evicted', { size: 2, backoffLimit: 0 });
      const [, worker] = await clusters.running('evicted', 2);
      const { name, uid } = worker!.metadata;
      await client.create(`/api/v1/namespaces/science/pods/${name}/eviction`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name },
      });
      // The kubelet's part: it ends as its script does when it is told to stop.
      await clusters.end(worker!, 143);
      const replaced = await waitFor('another worker', async () => {
        const [, other] = await clusters.running('evicted', 2);
        return other!.metadata.uid !== uid && other!;
      });
      expect(replaced.spec).toMatchObject({ hostname: 'evicted-1', nodeName: worker!.spec.nodeName });
      expect((await clusters.job('evicted')).status!.failed ?? 0).toBe(0);
      await clusters.phase('evicted', 'Running');
    });

    test('that never reaches its quorum ends by its deadline, and says so', async () => {
      await clusters.create('lonely', { deadlineSeconds: 2, pod: { schedulerName: 'nobody' } });
      const over = await clusters.phase('lonely', 'Finished');
      expect(over.status).toMatchObject({ result: 'TimedOut' });
      expect(conditionOf(over, 'JobFinished')).toMatchObject({
        reason: 'QuorumNotReached',
        message: 'ended by its deadline of 2 s; the 4 brokers that it needs were never up together',
      });
    });

    test('held, it waits until its user lets it go', async () => {
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

    test('what is wrong with it is said, all at once, and nothing is made of it', async () => {
      const flux = { curveCert: 'curve\n public-key = "hunter2"\n' };
      const made = await clusters.create('wrong', { size: 1, flux });
      const { message } = await clusters.condition('wrong', 'Stalled', 'True', 'Invalid');
      expect(message).toContain('spec.flux.curveCert');
      expect(message).not.toContain('hunter2');
      expect((await clusters.belongings(made)).filter((name) => name.startsWith('Job/'))).toEqual([]);
    });

    test('outside the queue it is a cluster all the same', async () => {
      const { stack } = getFixture();
      await stack.namespace('plain', false);
      const plain = new MiniClusters(getFixture, 'plain');
      await plain.create('free', { size: 2, suspend: true });
      await plain.condition('free', 'Ready', 'False', 'Suspended');
      expect(await plain.brokers('free')).toEqual([]);
      await plain.patch('free', { suspend: false });
      const up = await plain.phase('free', 'Running');
      expect(up.status!.jobid).toBeUndefined();
      await plain.end((await plain.running('free', 2))[0]!);
      expect((await plain.phase('free', 'Finished')).status!.result).toBe('Succeeded');
    });

    test('the controller makes no Secret but certificates, and deletes nothing but its own', async () => {
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

    test('without the controller, the keygen role makes the certificate, with its own rights, once', async () => {
      const { cluster, roles } = getFixture().stack;
      const resource = { metadata: { name: 'static', namespace: 'science' }, spec: { containers: [{}] } };
      const manifests = renderMiniCluster(resource, { keygen: {} });
      const job = manifests.find(
        ({ metadata, kind }) => kind === 'Job' && metadata.name === 'static-keygen',
      ) as (ManifestObject & Job) | undefined;
      await cluster.apply(manifests.filter(({ kind }) => !/Job|ConfigMap|Service$/.test(kind)));
      const KUBECONFIG = await cluster.kubeconfigForServiceAccount('static-keygen', 'science');
      // The kubelet's part: it fills in the variable.
      const [, , ...args] = job!.spec.template.spec.containers[0]!.command!.map((word) =>
        word.replace('$(NAMESPACE)', 'science'),
      );
      const environment = { KUBECONFIG };
      expect(await roles.once(args, environment)).toBe('certificate made: Secret science/static-curve\n');
      const text = async () => {
        const all = await clusters.list<KubernetesObject & { data: Record<string, string> }>('Secret');
        const secret = all.find(({ metadata }) => metadata.name === 'static-curve')!;
        return Buffer.from(secret.data['curve.cert']!, 'base64').toString();
      };
      const first = await text();
      expect(() => checkCertificate(first, 'it')).not.toThrow();
      expect(await roles.once(args, environment)).toBe('certificate kept: Secret science/static-curve\n');
      expect(await text()).toBe(first);
      const other = args.map((arg) => (arg === 'static-curve' ? 'hello-curve' : arg));
      await expect(roles.once(other, environment)).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^FLUXQ_KUBERNETES_FORBIDDEN: .*hello-curve/m),
      });
    });

    test('a restart of the controller disturbs nobody', async () => {
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

    test('deleted while it waits, it leaves nothing and was never started', async () => {
      const wall = await science.job('wall', { pods: 4, cores: 4, runs: '10m' });
      await science.phase(wall, 'Running');
      const made = await clusters.create('patient');
      const waits = await clusters.phase('patient', 'Waiting');
      expect(holding(waits)).toEqual(['JobRequested', 'JobWaitingForResources', 'Reconciling']);
      await clusters.condition('patient', 'Ready', 'False', 'Reserved');
      const job = await clusters.job('patient');
      expect(job.spec.suspend).toBe(true);
      // While it waits everything may change, its size too.
      await clusters.patch('patient', { size: 6, priority: 7 });
      await waitFor('the queue to know', async () => {
        const row = await science.row(job);
        return row?.pods === 6 && row.priority === 7;
      });
      await gone('patient');
      expect(await science.phase(job, 'Finished')).toMatchObject({ result: 'Cancelled', startedAt: null });
      expect(await science.events(made)).toEqual([]);
      await science.delete(wall, 'Job');
      await science.phase(wall, 'Finished');
    });

    test('cleanup: it goes by itself when it is over', async () => {
      const made = await clusters.create('tidy', { size: 1, cleanup: true });
      const [lead] = await clusters.running('tidy', 1);
      await clusters.end(lead!);
      await waitFor('it to be gone', async () => (await clusters.get('tidy')) === undefined);
      await waitFor('all of it to be gone', async () => (await clusters.belongings(made)).length === 0);
    });

    test('made anew at once under its old name, it is new all through', async () => {
      await clusters.create('phoenix', { size: 1 });
      await clusters.running('phoenix', 1);
      await clusters.delete('phoenix');
      const second = await clusters.create('phoenix', { size: 1 });
      await clusters.phase('phoenix', 'Running');
      const owned = await clusters.belongings(second);
      for (const name of ['Job/phoenix', 'Secret/phoenix-curve', 'Service/phoenix', 'FluxJob/phoenix-job'])
        expect(owned).toContain(name);
    });
  },
  { cluster: { nodes: 4, nodeShape: { cpu: '4', memory: '64Gi' } } },
);
