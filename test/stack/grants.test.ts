/** Grants whose pods do not run: each is requeued with the reason that Kubernetes gave, and runs on other nodes. */
import { GANG_SIZE } from '../../constructs/api/labels';
import { fluxJobs } from '../../runtime/kubernetes/custom-resources';
import { jobs, pods } from '../../runtime/kubernetes/paths';
import type { Job, Node, Pod } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { waitFor } from '../cluster/wait';
import { type Share, SideBySide } from './side-by-side';
import { describeStack } from './suite';
import { containerStatus, type Namespace, type Shape } from './workloads';

/** Seconds. */
const UNSCHEDULABLE = 3;
const NODE = { cpu: '4', memory: '64Gi' };
/** A gang on two nodes that outlives the test. */
const annotations = { [GANG_SIZE]: '2' };
const GANG: Shape = { pods: 2, cores: 4, runs: '5m', annotations, spec: { backoffLimit: 10 } };

/** One term of node affinity for each node. */
function affinityTo(...names: readonly string[]) {
  const nodeSelectorTerms = names.map((name) => ({
    matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }],
  }));
  return {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  };
}

describeStack(
  'a grant whose pods do not run',
  (getFixture) => {
    const together = new SideBySide(getFixture, [NODE, NODE, NODE]);

    const nodesIn = ({ allocation }: WorkloadRow) => allocation!.nodes.map(({ name }) => name).sort();
    const patchNode = (name: string, body: object) =>
      getFixture().client.patch(`/api/v1/nodes/${name}`, body, 'merge');
    const history = async (job: Job) =>
      (await getFixture().queue.history(job.metadata.uid)).map(({ event, why }) => `${event}: ${why}`);

    const podOn = async (science: Namespace, job: Job, node: string): Promise<Pod> => {
      const found = (await science.podsOf(job)).find(({ spec }) => spec.nodeName === node);
      if (found === undefined) throw new Error(`no pod of ${job.metadata.name} on ${node}`);
      return found;
    };

    async function end(science: Namespace, job: Job): Promise<void> {
      await science.delete(job, 'Job');
      await science.phase(job, 'Finished');
    }

    together.test(
      'is requeued with the sentence of kube-scheduler after its node was cordoned and its pod evicted',
      async ({ science, podSpec }) => {
        const gang = await science.job('drained', { ...GANG, podSpec });
        const before = await science.phase(gang, 'Running');
        const [drained] = nodesIn(before);
        const total = (await getFixture().client.list<Node>('/api/v1/nodes')).items.length;
        await patchNode(drained!, { spec: { unschedulable: true } });
        await science.delete(await podOn(science, gang, drained!), 'Pod');
        const after = await science.regranted(gang, before);
        expect(nodesIn(after)).not.toContain(drained);
        expect(after).toMatchObject({
          requeues: 1,
          submittedAt: before.submittedAt,
          avoid: { [drained!]: expect.any(Number) },
        });
        const events = await science.recordedEvents(gang, 1);
        expect(events.filter((event) => event.startsWith('Requeued'))).toEqual([
          expect.stringMatching(
            new RegExp(
              `^Requeued: pod drained-\\d-\\w+ did not run on ${drained}: 0/${total} nodes are available: .*unschedulable.*; requeued(, retrying in 5s)?$`,
            ),
          ),
        ]);
        expect(await history(gang)).toContainEqual(
          expect.stringMatching(/^EvictionRequested: pod drained-\d-\w+ did not run on/),
        );
        await patchNode(drained!, { spec: { unschedulable: null } });
        await end(science, gang);
      },
    );

    together.test(
      'is requeued with the sentence of the Job controller that it cannot create a pod',
      async ({ science, podSpec }) => {
        const { stack } = getFixture();
        const quota = {
          apiVersion: 'v1',
          kind: 'ResourceQuota',
          metadata: { name: 'one-pod', namespace: science.name },
        };
        await stack.cluster.apply({ ...quota, spec: { hard: { pods: '1' } } });
        const limited = `/api/v1/namespaces/${science.name}/resourcequotas/one-pod`;
        await waitFor('the quota to be in force', async () => {
          const { status } = await getFixture().client.get<Job & { status: { hard?: object } }>(limited);
          return status.hard !== undefined;
        });
        const job = await science.job('refused', { ...GANG, cores: 1, podSpec });
        const waiting = await science.phase(job, 'Waiting', 'Requeued');
        expect(waiting.message).toMatch(
          /^the Job controller cannot create its pods: pods "refused-\d-\w+" is forbidden: exceeded quota: one-pod.*; requeued, retrying in 5s$/,
        );
        expect(waiting).toMatchObject({ allocation: null, requeues: 1, avoid: {} });
        const shown = await science.shown('refused-job', 'Waiting', 'Requeued');
        expect(shown.status!.nodes).toBeUndefined();
        await getFixture().client.delete(limited);
        await science.phase(job, 'Running');
        await end(science, job);
      },
    );

    together.test(
      'frees its nodes while it waits for a PersistentVolumeClaim that does not exist',
      async ({ science, podSpec }) => {
        const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'missing' } }];
        const job = await science.job('no-volume', { runs: '5m', podSpec: { ...podSpec, volumes } });
        const waiting = await science.phase(job, 'Waiting', 'Requeued');
        expect(waiting.message).toContain('persistentvolumeclaim "missing" not found');
        await end(science, job);
      },
    );

    together.test(
      'gets new nodes when a pod of higher priority from outside the queue takes one',
      async ({ science, nodes, podSpec }) => {
        const { stack, client } = getFixture();
        await stack.cluster.apply({
          apiVersion: 'scheduling.k8s.io/v1',
          kind: 'PriorityClass',
          metadata: { name: 'urgent' },
          value: 1000,
        });
        const gang = await science.job('preempted', { ...GANG, podSpec });
        const before = await science.phase(gang, 'Running');
        const [taken] = nodesIn(before);
        await client.create<Pod>(pods('others'), {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'urgent' },
          spec: {
            priorityClassName: 'urgent',
            nodeSelector: { 'kubernetes.io/hostname': taken },
            terminationGracePeriodSeconds: 0,
            containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '4' } } }],
          },
        });
        const after = await science.regranted(gang, before);
        expect(nodesIn(after)).toEqual(nodes.filter((name) => name !== taken).sort());
        await client.delete(pods('others', 'urgent'));
        await end(science, gang);
      },
    );

    together.test(
      'gets new nodes when one is tainted with NoExecute',
      async ({ science, nodes, podSpec }) => {
        const gang = await science.job('tainted', { ...GANG, podSpec });
        const before = await science.phase(gang, 'Running');
        const [tainted] = nodesIn(before);
        const taint = { key: 'example.com/broken', value: 'yes', effect: 'NoExecute' };
        await patchNode(tainted!, { spec: { taints: [taint] } });
        const after = await science.regranted(gang, before);
        expect(nodesIn(after)).toEqual(nodes.filter((name) => name !== tainted).sort());
        await patchNode(tainted!, { spec: { taints: null } });
        await end(science, gang);
      },
    );

    together.test(
      'is Ready with what the kubelet says until its pod runs, and is requeued if it never starts',
      async ({ science, podSpec }) => {
        const { client } = getFixture();
        const template = {
          metadata: { annotations: { 'fluxqueue.test/never-starts': 'true' } },
          spec: {
            ...podSpec,
            restartPolicy: 'Never',
            containers: [{ name: 'main', image: 'registry.example/nothing:1' }],
          },
        };
        const job = await client.create<Job>(jobs(science.name), {
          apiVersion: 'batch/v1',
          kind: 'Job',
          metadata: { name: 'no-image' },
          spec: { template },
        });
        const granted = await science.phase(job, 'Ready');
        const pod = await waitFor('its pod to be bound', async () =>
          (await science.podsOf(job)).find(({ spec }) => spec.nodeName !== undefined),
        );
        const state = { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image' } };
        await science.podStatus(pod, { containerStatuses: [containerStatus(state)] });
        const shown = await science.shown('no-image-job', 'Ready', 'ImagePullBackOff');
        expect(shown.status!.conditions![0]!.message).toBe('ImagePullBackOff: registry.example/nothing:1');
        expect(shown.status!.startTime).toBeUndefined();
        const waiting = await science.phase(job, 'Waiting', 'Requeued');
        expect(waiting.message).toBe(
          `pod ${pod.metadata.name} did not run on ${nodesIn(granted)[0]}: ImagePullBackOff: registry.example/nothing:1; requeued, retrying in 5s`,
        );
        expect(waiting).toMatchObject({ startedAt: null, allocation: null });
        await end(science, job);
      },
    );

    together.test(
      'evicts a pod of a Deployment that cannot run on its node, and its successor avoids that node',
      async ({ science, podSpec }) => {
        const { client, queue } = getFixture();
        const template = {
          metadata: { labels: { app: 'web' } },
          spec: {
            ...podSpec,
            terminationGracePeriodSeconds: 0,
            containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '1' } } }],
            volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'missing' } }],
          },
        };
        await client.create(`/apis/apps/v1/namespaces/${science.name}/deployments`, {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name: 'web' },
          spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template },
        });
        const first = await waitFor('its first grant', async () =>
          (await queue.active()).find(
            ({ name, allocation }) => name.startsWith('web-') && allocation !== null,
          ),
        );
        const successor = await waitFor('its successor', async () =>
          (await queue.active()).find(({ name, uid }) => name.startsWith('web-') && uid !== first.uid),
        );
        const [node] = nodesIn(first);
        expect(successor).toMatchObject({
          requeues: 1,
          submittedAt: first.submittedAt,
          avoid: { [node!]: expect.any(Number) },
        });
        const again = await waitFor('its second grant', async () => {
          const [row] = await queue.byUid([successor.uid]);
          return row!.allocation === null ? undefined : row;
        });
        expect(nodesIn(again)).not.toContain(node);
        await client.delete(`/apis/apps/v1/namespaces/${science.name}/deployments/web`, {
          propagationPolicy: 'Background',
        });
        await waitFor('its rows to be finished', async () =>
          (await queue.active()).every(({ name }) => !name.startsWith('web-')),
        );
      },
    );

    together.test(
      'frees the nodes of a deleted Job whose pods are gone while a finalizer keeps it',
      async ({ science, podSpec }) => {
        const { client } = getFixture();
        const job = await science.job('kept', { pods: 2, cores: 4, runs: '5m', podSpec });
        await client.patch(
          jobs(science.name, 'kept'),
          { metadata: { finalizers: ['example.com/archive'] } },
          'merge',
        );
        await science.phase(job, 'Running');
        await science.delete(job, 'Job');
        for (const pod of await science.podsOf(job)) await science.delete(pod, 'Pod');
        expect(await science.phase(job, 'Finished')).toMatchObject({ result: 'Cancelled' });
        const kept = await client.get<Job>(jobs(science.name, 'kept'));
        expect(kept.metadata.deletionTimestamp).toBeDefined();
        const next = await science.job('next', { pods: 3, cores: 4, podSpec });
        await science.phase(next, 'Finished');
        await client.patch(jobs(science.name, 'kept'), { metadata: { finalizers: null } }, 'merge');
      },
    );

    const placements: readonly [string, (nodes: readonly string[]) => Share['podSpec'], number][] = [
      ['nodeName', ([, node]) => ({ nodeName: node }), 1],
      ['two terms of node affinity', ([, ...others]) => affinityTo(...others), 2],
    ];
    for (const [field, specOf, count] of placements)
      together.test(`grants the nodes that a pod template names by ${field}`, async ({ science, nodes }) => {
        const expected = nodes.slice(1, 1 + count).sort();
        const podSpec = specOf(nodes);
        const job = await science.job(`named-${count}`, { pods: count, cores: 4, runs: '5m', podSpec });
        const row = await science.phase(job, 'Running');
        expect(nodesIn(row)).toEqual(expected);
        await waitFor('all pods to run', async () =>
          (await science.podsOf(job)).every(({ status }) => status?.phase === 'Running'),
        );
        const placed = (await science.podsOf(job)).map(({ spec }) => spec.nodeName!);
        expect(placed.sort()).toEqual(expected);
        expect(await science.row(job)).toMatchObject({
          phase: 'Running',
          requeues: 0,
          evictionReason: null,
        });
        await end(science, job);
      });

    together.test('shows in the FluxJob what a pod waits for', async ({ science, podSpec }) => {
      const node = (await getFixture().client.list<Node>('/api/v1/nodes')).items[0]!;
      expect(node.metadata.name).toBe('node-0');
      const template = {
        metadata: { annotations: { 'fluxqueue.test/never-starts': 'true' } },
        spec: { ...podSpec, restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] },
      };
      const pod = await getFixture().client.create<Pod>(pods(science.name), {
        metadata: { name: 'alone', annotations: template.metadata.annotations },
        spec: template.spec,
      });
      const shown = await science.shown('alone-pod', 'Ready', 'ContainerCreating');
      expect(shown.status!.conditions!.find(({ type }) => type === 'Ready')?.status).toBe('False');
      await science.delete(pod, 'Pod');
      await waitFor('its FluxJob to be gone', async () => {
        const { items } = await getFixture().client.list<Job>(fluxJobs(science.name));
        return items.every(({ metadata }) => metadata.name !== 'alone-pod');
      });
    });

    together.declare(async () => {
      const grants = { unschedulableSeconds: UNSCHEDULABLE, startSeconds: 10 };
      await getFixture().stack.startController({ fluxion: { address: 'embedded' }, grants });
      await getFixture().stack.namespace('others', false);
    });
  },
  { nodes: 1, nodeShape: NODE },
);
