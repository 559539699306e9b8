/** What kube-scheduler checks beside cores, memory and constraints: the queue grants nodes that it accepts. */
import { GANG_SIZE } from '../../constructs/api/labels';
import type { Pod } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import { SideBySide } from './side-by-side';
import { describeStack, eachInFreshNamespace } from './suite';
import type { Namespace, Shape } from './workloads';

const HOST = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';

const NODE_NAMES = ['node-0', 'node-1', 'node-2', 'node-3'];
const shape = (zone: string) => ({
  cpu: '4',
  memory: '64Gi',
  pods: 3,
  labels: { [ZONE]: zone },
  resources: { 'ephemeral-storage': '10Gi', 'hugepages-2Mi': '8Mi', 'example.com/dongle': '1' },
});

/** About the Job's own pods. */
const own = (name: string, topologyKey: string) => ({
  requiredDuringSchedulingIgnoredDuringExecution: [
    { topologyKey, labelSelector: { matchLabels: { 'job-name': name } } },
  ],
});
const spread = (name: string, topologyKey: string) => [
  {
    topologyKey,
    maxSkew: 1,
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: { matchLabels: { 'job-name': name } },
  },
];
const container = (more: object) => ({ name: 'main', image: 'none', ...more });
const asking = (requests: object) => ({
  containers: [container({ resources: { requests: { cpu: '1', ...requests }, limits: requests } })],
});
const port = { containers: [container({ ports: [{ containerPort: 80, hostPort: 8080 }] })] };

describeStack(
  'what kube-scheduler checks',
  (getFixture) => {
    beforeAll(async () => {
      const { stack } = getFixture();
      await stack.cluster.addNodes(2, shape('b'));
      await stack.namespace('plain', false);
      await stack.startController({ fluxion: { address: 'embedded' } });
    });

    /** Numbers of pods by node, and zones. @param nodes two of zone a, two of zone b */
    function placesOf(pods: readonly Pod[], nodes: readonly string[]): { pods: number[]; zones: number } {
      const byNode = Map.groupBy(pods, ({ spec }) => spec.nodeName);
      const zones = new Set([...byNode.keys()].map((name) => (nodes.indexOf(name!) < 2 ? 'a' : 'b')));
      return { pods: [...byNode.values()].map(({ length }) => length).sort(), zones: zones.size };
    }

    describe('beside pods outside the queue', () => {
      let science: Namespace;
      eachInFreshNamespace(getFixture, (namespace) => {
        science = namespace;
      });

      /** A pod outside the queue on node-0. */
      async function outsider(labels: object, spec: object): Promise<void> {
        const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'outsider', labels } };
        const body = { ...pod, spec: { nodeName: 'node-0', containers: [container({})], ...spec } };
        await getFixture().client.create('/api/v1/namespaces/plain/pods', body);
      }
      afterEach(async () => {
        const path = '/api/v1/namespaces/plain/pods';
        await getFixture().stack.cluster.request('DELETE', `${path}?gracePeriodSeconds=0`);
        await waitFor('no pod outside the queue', async () => {
          const { items } = await getFixture().client.list<Pod>(path);
          return items.length === 0;
        });
      });

      test('a Job avoids the host port of a pod outside the queue, and starts there when that pod is gone', async () => {
        await outsider({}, port);
        const three = await science.job('three', { pods: 3, podSpec: port });
        const { allocation } = await science.phase(three, 'Finished');
        expect(allocation!.nodes.map(({ name }) => name)).not.toContain('node-0');
        const four = await science.job('four', { pods: 4, podSpec: port });
        await science.phase(four, 'Waiting', 'Busy');
        await getFixture().stack.cluster.request(
          'DELETE',
          '/api/v1/namespaces/plain/pods/outsider?gracePeriodSeconds=0',
        );
        await science.phase(four, 'Finished');
      });

      test('a Job avoids a pod outside the queue that refuses its pods', async () => {
        const requiredDuringSchedulingIgnoredDuringExecution = [
          { topologyKey: ZONE, namespaceSelector: {}, labelSelector: { matchLabels: { 'job-name': 'job' } } },
        ];
        await outsider(
          {},
          { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution } } },
        );
        const job = await science.job('job', { pods: 2 });
        const { allocation } = await science.phase(job, 'Finished');
        expect(allocation!.nodes.map(({ name }) => name)).toEqual(['node-2']);
      });

      test('replicas of a Deployment that avoid each other get a node each, and one too many waits', async () => {
        const labels = { app: 'web' };
        const podAntiAffinity = {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: HOST, labelSelector: { matchLabels: labels } },
          ],
        };
        const path = `/apis/apps/v1/namespaces/${science.name}/deployments`;
        const template = {
          metadata: { labels },
          spec: { affinity: { podAntiAffinity }, containers: [container({})] },
        };
        await getFixture().client.create(path, {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name: 'web' },
          spec: { replicas: 5, selector: { matchLabels: labels }, template },
        });
        const running = await waitFor('four replicas to run', async () => {
          const pods = await science.pods();
          const up = pods.filter(({ status }) => status?.phase === 'Running');
          return up.length === 4 && pods.length === 5 ? up : undefined;
        });
        expect(placesOf(running, NODE_NAMES)).toEqual({ pods: [1, 1, 1, 1], zones: 2 });
        await getFixture().stack.cluster.request('DELETE', `${path}/web?propagationPolicy=Foreground`);
        await waitFor('no replica', async () => (await science.pods()).length === 0);
      });

      test('says how many pods would fit, in the words of the user', async () => {
        const podAntiAffinity = own('job', HOST);
        const annotations = { [GANG_SIZE]: '5' };
        const job = await science.job('job', {
          pods: 5,
          annotations,
          podSpec: { affinity: { podAntiAffinity } },
        });
        const { message } = await science.phase(job, 'Waiting', 'Unsatisfiable');
        expect(message).toContain(`one pod per ${HOST} (podAntiAffinity); the cluster has room for 4`);
        await science.delete(job, 'Job');
      });

      test('names what only kube-scheduler checks', async () => {
        const { requiredDuringSchedulingIgnoredDuringExecution: terms } = own('job', HOST);
        const namespaceSelector = { matchLabels: { team: 'a' } };
        const podAntiAffinity = {
          requiredDuringSchedulingIgnoredDuringExecution: terms.map((term) => ({
            ...term,
            namespaceSelector,
          })),
        };
        await science.job('job', { podSpec: { affinity: { podAntiAffinity } } });
        const shown = await science.shown('job-job', 'Finished');
        expect(shown.status!.conditions).toContainEqual(
          expect.objectContaining({
            type: 'PartiallyModeled',
            message: expect.stringContaining(
              'spec.template.spec.affinity.podAntiAffinity (namespaceSelector)',
            ),
          }),
        );
      });
    });

    describe('on nodes of its own', () => {
      const ROWS: readonly [string, Shape, { pods: number[]; zones: number }][] = [
        [
          'anti-affinity on nodes',
          { pods: 4, podSpec: { affinity: { podAntiAffinity: own('job', HOST) } } },
          { pods: [1, 1, 1, 1], zones: 2 },
        ],
        [
          'anti-affinity on zones',
          { pods: 2, podSpec: { affinity: { podAntiAffinity: own('job', ZONE) } } },
          { pods: [1, 1], zones: 2 },
        ],
        ['a host port', { pods: 3, podSpec: port }, { pods: [1, 1, 1], zones: 2 }],
        [
          'topology spread over zones',
          { pods: 4, podSpec: { topologySpreadConstraints: spread('job', ZONE) } },
          { pods: [2, 2], zones: 2 },
        ],
        [
          'topology spread over nodes',
          { pods: 4, podSpec: { topologySpreadConstraints: spread('job', HOST) } },
          { pods: [1, 1, 1, 1], zones: 2 },
        ],
        [
          'affinity to one zone',
          { pods: 5, podSpec: { affinity: { podAffinity: own('job', ZONE) } } },
          { pods: [2, 3], zones: 1 },
        ],
        [
          'affinity to one node',
          { pods: 3, podSpec: { affinity: { podAffinity: own('job', HOST) } } },
          { pods: [3], zones: 1 },
        ],
        [
          'ephemeral storage',
          { pods: 2, podSpec: asking({ 'ephemeral-storage': '6Gi' }) },
          { pods: [1, 1], zones: 1 },
        ],
        ['huge pages', { pods: 2, podSpec: asking({ 'hugepages-2Mi': '6Mi' }) }, { pods: [1, 1], zones: 1 }],
        [
          'an extended resource',
          { pods: 2, podSpec: asking({ 'example.com/dongle': '1' }) },
          { pods: [1, 1], zones: 1 },
        ],
        ['the number of pods of a node', { pods: 4 }, { pods: [1, 3], zones: 1 }],
      ];

      const together = new SideBySide(getFixture, [shape('a'), shape('a'), shape('b'), shape('b')]);
      for (const [title, given, expected] of ROWS)
        together.test(`a Job with ${title} runs where kube-scheduler accepts it`, async (share) => {
          const { science, nodes, podSpec } = share;
          const job = await science.job('job', {
            ...given,
            podSpec: { ...podSpec, ...given.podSpec },
          });
          await science.phase(job, 'Finished');
          expect(placesOf(await science.podsOf(job), nodes)).toEqual(expected);
          expect(await science.verdict()).toMatchObject({ misplaced: 0, doubleGranted: 0 });
        });
      together.declare(async () => undefined);
    });
  },
  { nodes: 2, nodeShape: shape('a') },
);
