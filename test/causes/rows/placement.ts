/** What kube-scheduler checks beside the units of a node: affinity between pods, host ports, spreads. */
import { GANG_SIZE } from '../../../constructs/api/labels';
import { apart, deployment, job, spread, statefulSet, together } from '../../stack/manifests';
import { nodes, type Row } from '../row';

const HOSTNAME = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';
const inZone = (zone: string, cpu = '4') => ({ cpu, memory: '16Gi', labels: { [ZONE]: zone } });
const port = { ports: [{ containerPort: 80, hostPort: 8080 }] };

/** An array runs as many pods as fit. */
const gang = (pods: number) => ({ [GANG_SIZE]: String(pods) });

export const PLACEMENT_ROWS: readonly Row[] = [
  {
    name: 'a Job with anti-affinity between its pods runs one pod on each node',
    async run(cluster) {
      await cluster.apply(job('apart', { pods: 3, pod: apart('apart') }));
      await cluster.runs('apart', 3, { perNode: 1 });
    },
  },
  {
    name: 'a Deployment with anti-affinity between its pods runs one pod on each node',
    async run(cluster) {
      await cluster.apply(deployment('apart', { pods: 3, pod: apart('apart') }));
      await cluster.runs('apart', 3, { perNode: 1 });
    },
  },
  {
    name: 'a StatefulSet with anti-affinity between its pods runs one pod on each node',
    async run(cluster) {
      const parallel = { podManagementPolicy: 'Parallel' };
      await cluster.apply(statefulSet('apart', { pods: 3, pod: apart('apart'), spec: parallel }));
      await cluster.runs('apart', 3, { perNode: 1 });
    },
  },
  {
    name: 'a gang with more pods than nodes and anti-affinity between them says why and holds nothing',
    async run(cluster) {
      await cluster.apply(job('apart', { pods: 4, annotations: gang(4), pod: apart('apart') }));
      await cluster.saysAndFrees('apart', /podAntiAffinity/);
    },
  },
  {
    name: 'a Job with anti-affinity against a service runs beside it, on another node',
    async run(cluster) {
      await cluster.apply(deployment('noisy'));
      const [noisy] = await cluster.runs('noisy', 1);
      await cluster.apply(job('quiet', { pods: 2, requests: { cpu: '3' }, pod: apart('noisy') }));
      await cluster.runs('quiet', 2, { not: [noisy!.spec.nodeName!] });
    },
  },
  {
    name: 'a Job that a running service repels by its own anti-affinity runs on another node',
    async run(cluster) {
      await cluster.apply(deployment('shy', { pod: apart('loud') }));
      const [shy] = await cluster.runs('shy', 1);
      await cluster.apply(job('loud', { pods: 2, requests: { cpu: '3' } }));
      await cluster.runs('loud', 2, { not: [shy!.spec.nodeName!] });
    },
  },
  {
    name: 'a Job with anti-affinity by zone runs one pod in each zone',
    nodes: [inZone('a', '16'), inZone('b'), inZone('c')],
    async run(cluster) {
      await cluster.apply(job('zones', { pods: 3, pod: apart('zones', ZONE) }));
      await cluster.runs('zones', 3, { perNode: 1 });
    },
  },
  {
    name: 'a Job with a host port runs one pod on each node',
    async run(cluster) {
      await cluster.apply(job('ports', { pods: 3, container: port }));
      await cluster.runs('ports', 3, { perNode: 1 });
    },
  },
  {
    name: 'a Job with host network and a container port runs one pod on each node',
    async run(cluster) {
      const shape = {
        pods: 3,
        pod: { hostNetwork: true },
        container: { ports: [{ containerPort: 8080, hostPort: 8080 }] },
      };
      await cluster.apply(job('ports', shape));
      await cluster.runs('ports', 3, { perNode: 1 });
    },
  },
  {
    name: 'a Job with a host port that a service uses runs on the other nodes',
    async run(cluster) {
      await cluster.apply(deployment('web', { container: port }));
      const [web] = await cluster.runs('web', 1);
      await cluster.apply(job('ports', { pods: 2, container: port }));
      await cluster.runs('ports', 2, { not: [web!.spec.nodeName!], perNode: 1 });
    },
  },
  {
    name: 'a Deployment with a host port rolls from node to node',
    nodes: nodes(2),
    async run(cluster) {
      await cluster.apply(deployment('web', { container: port }));
      const [old] = await cluster.runs('web', 1);
      await cluster.apply(deployment('web', { container: port, podAnnotations: { version: '2' } }));
      await cluster.until('the new pod alone', 60_000, async () => {
        const pods = await cluster.pods('web');
        return pods.length === 1 && pods[0]!.metadata.uid !== old!.metadata.uid;
      });
      await cluster.runs('web', 1, { not: [old!.spec.nodeName!] });
    },
  },
  {
    name: 'a Deployment with a host port and one node rolls in place without surge',
    nodes: nodes(1),
    async run(cluster) {
      const rolling = {
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
      };
      await cluster.apply(deployment('web', { container: port, spec: rolling }));
      const [old] = await cluster.runs('web', 1);
      await cluster.apply(
        deployment('web', { container: port, spec: rolling, podAnnotations: { version: '2' } }),
      );
      await cluster.until('the new pod', 60_000, async () => {
        const pods = await cluster.pods('web');
        return pods.length === 1 && pods[0]!.metadata.uid !== old!.metadata.uid;
      });
      await cluster.runs('web', 1);
    },
  },
  {
    name: 'a Job that spreads over nodes has the same number of pods on each',
    async run(cluster) {
      await cluster.apply(job('even', { pods: 6, pod: spread('even', HOSTNAME) }));
      await cluster.runs('even', 6, { perNode: 2 });
    },
  },
  {
    name: 'a Job that spreads over zones has the same number of pods in each',
    nodes: [inZone('a', '16'), inZone('b'), inZone('b')],
    async run(cluster) {
      await cluster.apply(job('even', { pods: 4, pod: spread('even', ZONE) }));
      const pods = await cluster.runs('even', 4);
      expect(pods.filter(({ spec }) => spec.nodeName === cluster.nodes[0])).toHaveLength(2);
    },
  },
  {
    name: 'a Job that spreads over racks of any label has the same number of pods in each',
    nodes: ['x', 'y', 'y'].map((rack) => ({
      cpu: '8',
      memory: '16Gi',
      labels: { 'example.com/rack': rack },
    })),
    async run(cluster) {
      await cluster.apply(job('even', { pods: 4, pod: spread('even', 'example.com/rack') }));
      const pods = await cluster.runs('even', 4);
      expect(pods.filter(({ spec }) => spec.nodeName === cluster.nodes[0])).toHaveLength(2);
    },
  },
  {
    name: 'a Deployment that spreads over nodes has the same number of pods on each',
    async run(cluster) {
      await cluster.apply(deployment('even', { pods: 6, pod: spread('even', HOSTNAME) }));
      await cluster.runs('even', 6, { perNode: 2 });
    },
  },
  {
    name: 'a gang whose spread no zone can satisfy says so and holds nothing',
    nodes: [inZone('a'), inZone('b', '1')],
    async run(cluster) {
      await cluster.apply(job('even', { pods: 4, annotations: gang(4), pod: spread('even', ZONE) }));
      await cluster.saysAndFrees('even', /spread|topology/);
    },
  },
  {
    name: 'a Job with affinity to its own zone runs in one zone',
    nodes: [inZone('a'), inZone('a', '2'), inZone('b'), inZone('b')],
    async run(cluster) {
      await cluster.apply(job('close', { pods: 8, pod: together('close', ZONE) }));
      await cluster.runs('close', 8, { not: cluster.nodes.slice(0, 2) });
    },
  },
  {
    name: 'a Job with affinity to its own host runs on one node',
    nodes: [...nodes(2, { cpu: '2' }), ...nodes(1)],
    async run(cluster) {
      await cluster.apply(job('close', { pods: 3, pod: together('close') }));
      await cluster.runs('close', 3, { not: cluster.nodes.slice(0, 2) });
    },
  },
  {
    name: 'a Job with affinity to the pods of a service runs beside them',
    nodes: nodes(4),
    async run(cluster) {
      await cluster.apply(deployment('cache', { pod: { nodeSelector: { [HOSTNAME]: cluster.nodes[2] } } }));
      await cluster.runs('cache', 1);
      await cluster.apply(job('reader', { pods: 2, pod: together('cache') }));
      await cluster.runs('reader', 2, { not: cluster.nodes.filter((_, i) => i !== 2) });
    },
  },
  {
    name: 'a Job with affinity to pods that do not exist says so and holds nothing',
    async run(cluster) {
      await cluster.apply(job('reader', { pod: together('nothing') }));
      await cluster.saysAndFrees('reader', /podAffinity/);
    },
  },
  {
    name: 'a Job with what the model cannot express has the condition PartiallyModeled with its fields',
    async run(cluster) {
      const term = {
        topologyKey: ZONE,
        labelSelector: {},
        namespaceSelector: { matchLabels: { team: 'a' } },
      };
      const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
      await cluster.apply(job('reader', { pod: { affinity: { podAffinity } } }));
      const field = /spec\.affinity\.podAffinity/;
      await cluster.until('the condition', 60_000, async () =>
        (await cluster.fluxJobs('reader')).some(({ status }) =>
          status?.conditions?.some(
            ({ type, status: holds, message }) =>
              type === 'PartiallyModeled' && holds === 'True' && field.test(message),
          ),
        ),
      );
    },
  },
];
