/** Pods that request more than their template: by a LimitRange of their namespace, or by a policy of the cluster. */
import { GANG_SIZE } from '../../../constructs/api/labels';
import { job } from '../../stack/manifests';
import { sidecarPolicy } from '../../stack/sidecar-policy';
import { nodes, type Row } from '../row';
import type { RowCluster } from '../row-cluster';

const PROBE = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'probe' },
  spec: { containers: [{ name: 'main', image: 'none' }] },
};
const POOL_TAINT = { key: 'pool', value: 'fast', effect: 'NoSchedule' };
const bare = { resources: {} };

const limitRange = (cpu: string) => ({
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'defaults' },
  spec: { limits: [{ type: 'Container', defaultRequest: { cpu, memory: '128Mi' } }] },
});

/** A policy that looks at who creates a pod: a dry run does not show what the Job controller will get. */
const NOT_IN_DRY_RUNS = {
  matchConditions: [
    {
      name: 'of-the-job-controller',
      expression:
        'object.metadata.?name.orValue("") == "probe" || request.userInfo.username == "system:serviceaccount:kube-system:job-controller"',
    },
  ],
};

/** Adds a container of one core to each pod of the row's namespace, as service meshes do. */
async function addSidecars(cluster: RowCluster, more: object = {}): Promise<void> {
  await cluster.apply(...sidecarPolicy(cluster.namespace, more));
  await cluster.until('pods to get a sidecar', 60_000, async () => {
    const probe = await cluster.stored(PROBE);
    return (probe.spec as { containers: unknown[] }).containers.length === 2;
  });
}

export const INJECTED_ROWS: readonly Row[] = [
  {
    name: 'the pods of a Job without requests are charged what the LimitRange of their namespace gives them',
    async run(cluster) {
      await cluster.apply(limitRange('2'));
      await cluster.apply(job('tasks', { pods: 6, container: bare, spec: { backoffLimit: 0 } }));
      await cluster.runs('tasks', 6, { perNode: 2 });
      await cluster.keptItsGrant('tasks');
    },
  },
  {
    name: 'a Job that waits follows the LimitRange of its namespace',
    nodes: nodes(1),
    async run(cluster) {
      await cluster.apply(limitRange('3'));
      await cluster.apply(job('first', { container: bare }));
      await cluster.runs('first', 1);
      await cluster.apply(job('second', { container: bare }));
      await cluster.says('second', /reserved/);
      await cluster.apply(limitRange('1'));
      await cluster.runs('second', 1);
    },
  },
  {
    name: 'the very first grant of forty pods has room for the sidecars that a policy will add, and none is returned',
    nodes: nodes(5, { cpu: '16' }),
    async run(cluster) {
      await addSidecars(cluster);
      const requests = { cpu: '1', memory: '64Mi' };
      await cluster.apply(job('tasks', { pods: 40, requests, spec: { backoffLimit: 0 } }));
      await cluster.runs('tasks', 40, { perNode: 8 });
      await cluster.keptItsGrant('tasks');
      const [fluxJob] = await cluster.fluxJobs('tasks');
      expect(fluxJob?.status?.conditions?.find(({ type }) => type === 'MoreThanGranted')).toBeUndefined();
    },
  },
  {
    name: 'the very first grant is on the nodes to which a policy sends the pods, past their taint',
    nodes: [...nodes(2), ...nodes(1, { labels: { pool: 'fast' }, taints: [POOL_TAINT] })],
    async run(cluster) {
      const toleration = 'Object.spec.tolerations{key: "pool", operator: "Exists", effect: "NoSchedule"}';
      const expression =
        '[JSONPatch{op: "add", path: "/spec/nodeSelector/pool", value: "fast"}, ' +
        `JSONPatch{op: "add", path: "/spec/tolerations/-", value: ${toleration}}]`;
      await cluster.apply(
        ...sidecarPolicy(cluster.namespace, {
          mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
        }),
      );
      await cluster.until('pods to get a node selector', 60_000, async () => {
        const { spec } = await cluster.stored(PROBE);
        return (spec as { nodeSelector?: { pool?: string } }).nodeSelector?.pool === 'fast';
      });
      const [ordinary, other] = cluster.nodes;
      await cluster.apply(job('tasks', { pods: 2, requests: { cpu: '1' } }));
      await cluster.runs('tasks', 2, { not: [ordinary!, other!] });
      await cluster.keptItsGrant('tasks');
    },
  },
  {
    name: 'a Job that waits is charged for the sidecars that a policy adds since',
    nodes: nodes(1),
    async run(cluster) {
      const requests = { cpu: '4' };
      await cluster.apply(job('first', { requests }));
      await cluster.runs('first', 1);
      await cluster.apply(job('second', { requests }));
      await cluster.says('second', /reserved/);
      await addSidecars(cluster);
      await cluster.says('second', /asks for 1 node with 5 cores/);
    },
  },
  {
    name: 'a Job whose dry run a ResourceQuota refuses waits for that, and runs',
    async run(cluster) {
      await addSidecars(cluster);
      await cluster.apply(job('first', { requests: { cpu: '1' } }), {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'one' },
        spec: { hard: { pods: '1' } },
      });
      await cluster.runs('first', 1);
      await cluster.apply(job('second', { requests: { cpu: '2' } }));
      await cluster.says('second', /exceeded quota/);
      await cluster.delete(cluster.path('v1', 'resourcequotas', 'one'));
      await cluster.runs('second', 1, {}, 120_000);
    },
  },
  {
    name: 'the first pod with an injected sidecar says what the next Job with its template is charged',
    async run(cluster) {
      await addSidecars(cluster, NOT_IN_DRY_RUNS);
      const requests = { cpu: '2' };
      await cluster.apply(job('first', { requests }));
      const [first] = await cluster.runs('first', 1);
      await cluster.apply(job('second', { pods: 2, requests, spec: { backoffLimit: 0 } }));
      await cluster.runs('second', 2, { perNode: 1, not: [first!.spec.nodeName!] });
      await cluster.keptItsGrant('second');
    },
  },
  {
    name: 'what an injected sidecar uses beyond the grant is shown, and charged to the quota of its queue, at once',
    queue: { quota: { cores: '3' } },
    async run(cluster) {
      await addSidecars(cluster, NOT_IN_DRY_RUNS);
      await cluster.apply(job('first', { requests: { cpu: '2' } }));
      await cluster.runs('first', 1);
      await cluster.until('what its pod uses beyond its grant', 60_000, async () => {
        const [fluxJob] = await cluster.fluxJobs('first');
        const more = fluxJob?.status?.conditions?.find(({ type }) => type === 'MoreThanGranted');
        return more?.message?.includes('1 cpu of ') === true;
      });
      // One core of the quota is not granted, but used.
      await cluster.apply(job('second', { requests: { cpu: '1', memory: '64Mi' } }));
      await cluster.says('second', /quota/);
    },
  },
  {
    name: 'a gang that does not fit with its injected sidecars is charged for them when it is requeued',
    async run(cluster) {
      await addSidecars(cluster, NOT_IN_DRY_RUNS);
      const annotations = { [GANG_SIZE]: '2' };
      await cluster.apply(
        job('gang', { pods: 2, requests: { cpu: '1500m' }, annotations, spec: { backoffLimit: 20 } }),
      );
      await cluster.runs('gang', 2, { perNode: 1 }, 170_000);
      // Its FluxJob follows in a few seconds.
      await cluster.until('one requeue', 60_000, async () => {
        const [fluxJob] = await cluster.fluxJobs('gang');
        return fluxJob?.status?.phase === 'Running' && fluxJob.status.requeues === 1;
      });
    },
  },
];
