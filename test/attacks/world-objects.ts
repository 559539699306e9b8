/** What is in the namespaces of the attacks before the first one. */
import { KUEUE_QUEUE_LABEL, MINICLUSTER_LABEL, STACK_NAMESPACE } from '../../constructs/api/labels';
import type { KubeObject } from '../cluster/api';
import { ALPHA, BETA, PLAIN, RUNNING_SECONDS } from './attack';
import { container, create, deployment, job, ownedBy } from './objects';

/** The object that a request creates. */
const made = (...args: Parameters<typeof create>) => create(...args).body as KubeObject;
const minicluster = (name: string, namespace: string, more: object = {}) =>
  made(
    'MiniCluster',
    name,
    { spec: { size: 1, containers: [{ image: 'flux', command: 'true', ...more }] } },
    namespace,
  );
export const MINICLUSTERS: readonly KubeObject[] = [
  minicluster('tame', ALPHA),
  minicluster('wide', ALPHA, {
    volumes: { scratch: { hostPath: '/scratch', path: '/scratch' } },
    securityContext: { privileged: true },
  }),
  made('MiniCluster', 'quiet', { spec: { size: 1, suspend: true, containers: [{ image: 'flux' }] } }),
  minicluster('other', BETA),
];
const held = { annotations: { 'fluxqueue/hold': 'true' } };
const onePod = (name: string, namespace: string, gates: readonly string[] = []) =>
  made(
    'Pod',
    name,
    { spec: { containers: [container()], schedulingGates: gates.map((gate) => ({ name: gate })) } },
    namespace,
  );

export const OBJECTS: readonly KubeObject[] = [
  ...MINICLUSTERS,
  made('FluxSetup', 'team', { spec: {} }, BETA),
  made('Job', 'waiting', { metadata: held, spec: job() }),
  made('Job', 'running', {
    spec: job(
      {},
      { activeDeadlineSeconds: RUNNING_SECONDS },
      { annotations: { 'fluxqueue.test/duration': '1h' } },
    ),
  }),
  made('Job', 'indexed', {
    spec: job(
      {},
      { completionMode: 'Indexed', parallelism: 8, completions: 1 },
      { annotations: { 'fluxqueue.test/duration': '1h' } },
    ),
  }),
  // Its user suspends it once it runs.
  made('Job', 'paused', {
    spec: job({}, {}, { annotations: { 'fluxqueue.test/duration': '1h' } }),
  }),
  made('Job', 'kueue', {
    metadata: { labels: { [KUEUE_QUEUE_LABEL]: 'team' } },
    spec: job({}, { suspend: true }),
  }),
  made('Job', 'free', { spec: job({}, { suspend: true }) }, PLAIN),
  {
    ...onePod('gated', ALPHA, ['mine']),
    metadata: { name: 'gated', namespace: ALPHA, ...held },
  },
  made('Pod', 'released', {
    metadata: { annotations: { 'fluxqueue/walltime': '1h' } },
    spec: { containers: [container({ resources: { requests: { cpu: '1', memory: '1Gi' } } })] },
  }),
  onePod('free', PLAIN),
  onePod('system', 'kube-system'),
  made('ConfigMap', 'coredns', { data: { a: 'b' } }, 'kube-system'),
  ...['notes', 'tame-notes'].map((name) => made('ConfigMap', name, { data: { a: 'b' } })),
  made('ConfigMap', 'stack-settings', { data: { a: 'b' } }, STACK_NAMESPACE),
  made('Secret', 'private', { stringData: { k: 'v' } }),
  made('Service', 'mine', { spec: { ports: [{ port: 80 }] } }),
  // Its finalizer keeps it from the garbage collector, which would delete it soon.
  made('Deployment', 'gone-services', {
    metadata: {
      ...ownedBy('gone', 'no-such-uid'),
      labels: { [MINICLUSTER_LABEL]: 'gone' },
      finalizers: ['fluxqueue.test/keep'],
    },
    spec: deployment({}, { replicas: 0 }),
  }),
  made('DaemonSet', 'agent', { spec: deployment({ nodeSelector: { none: 'x' } }) }),
  made('Deployment', 'mine', {
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: 'x' } },
      template: { metadata: { labels: { app: 'x' } }, spec: { containers: [container()] } },
    },
  }),
];
