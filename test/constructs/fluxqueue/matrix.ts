/** Stacks in which every choice of the props appears, in changing combinations. */
import { createHash } from 'node:crypto';
import { App, Duration, Size } from 'cdk8s';
import { Cpu, Secret } from 'cdk8s-plus-28';
import {
  BackupTarget,
  Database,
  type FluxQueueProps,
  type PodSettings,
  WebhookCertificate,
} from '../../../constructs/fluxqueue/index';

type Choices = { readonly [Prop in keyof FluxQueueProps]: readonly FluxQueueProps[Prop][] };

const secret = (name: string) => Secret.fromSecretName(new App(), name, name);

const POD: PodSettings = {
  resources: { requests: { cpu: '250m', memory: '512Mi' }, limits: { memory: '8Gi', cpu: 4 } },
  env: [{ name: 'HTTPS_PROXY', value: 'http://proxy.example.org:3128' }],
  args: [],
  containerSecurityContext: { runAsUser: 12345, runAsGroup: 12345 },
  probes: { startup: { failureThreshold: 600 }, liveness: { timeoutSeconds: 9, initialDelaySeconds: 0 } },
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 1,
          preference: { matchExpressions: [{ key: 'pool', operator: 'In', values: ['system'] }] },
        },
      ],
    },
  },
  tolerations: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' }],
  labels: { team: 'platform' },
  annotations: { 'example.org/note': 'yes' },
  imagePullSecrets: ['mirror'],
  securityContext: { supplementalGroups: [1234] },
  priorityClassName: 'system-cluster-critical',
};
const REPLICATED = {
  ...POD,
  replicas: 3,
  disruptionBudget: { minAvailable: '50%' },
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' },
  ],
};
const { resources = {}, probes = {}, ...BACKUP } = POD;

/** How many stacks have every choice. */
export const COUNT = 24;

export const CHOICES = {
  namespace: [undefined, 'batch'],
  kubernetesVersion: [
    '1.37.1',
    undefined,
    'v1.30.0',
    '1.36.2-gke.100',
    'v1.35.2-eks-a1b2c3d',
    'v1.36.0+k3s1',
  ],
  admission: [undefined, 'webhook', 'policies', 'both'],
  clusterWide: [false, true, undefined],
  excludedNamespaces: [undefined, ['infra', 'monitoring']],
  gitOpsUsers: [undefined, ['system:serviceaccount:git:applier']],
  kueueUsers: [undefined, ['system:serviceaccount:kueue-system:kueue-controller-manager']],
  maxGracePeriod: [undefined, Duration.minutes(10)],
  database: [
    undefined,
    Database.statefulSet({
      storage: Size.gibibytes(40),
      storageClassName: 'fast',
      image: 'a.example/postgres:18',
    }),
    Database.fromSecret(secret('db')),
    Database.fromSecret(secret('db'), {
      key: 'uri',
      port: 6432,
      owner: { secret: secret('owner'), key: 'uri', runtimeRole: 'queue' },
    }),
    Database.statefulSet({ replacesMajor: 18, backup: { target: BackupTarget.volume({ keep: 3 }) } }),
    Database.statefulSet({
      backup: {
        schedule: '0 * * * *',
        target: BackupTarget.s3({
          endpoint: 'https://s3.example.org',
          bucket: 'dumps',
          prefix: 'a/',
          region: 'eu-1',
          credentials: secret('s3'),
        }),
      },
    }),
    Database.cloudNativePg(),
    Database.cloudNativePg({
      instances: 1,
      storage: Size.gibibytes(20),
      storageClassName: 'fast',
      image: 'ghcr.io/cloudnative-pg/postgresql:18',
      resources: { requests: { cpu: 1 }, limits: { memory: '4Gi' } },
      parameters: { shared_buffers: '1GB' },
      operatorNamespace: 'pg',
    }),
  ],
  fluxion: ['sidecar', 'embedded', undefined],
  fluxionEngine: [undefined, 'library', 'embedded'],
  scheduler: [false, true],
  pods: [
    undefined,
    {
      controller: REPLICATED,
      fluxion: { resources, probes },
      webhook: REPLICATED,
      scheduler: REPLICATED,
      database: POD,
      backup: BACKUP,
    },
  ],
  images: [undefined, { registry: 'registry.example.org/mirror', pullSecrets: ['mirror'] }],
  labels: [undefined, { 'cost-center': 'hpc' }],
  annotations: [undefined, { 'example.org/owner': 'platform' }],
  cluster: [undefined, 'north'],
  matchPolicy: [undefined, 'hinode', 'lonodex', 'first', 'low', 'high'],
  defaultQueue: [true, undefined, false],
  queueName: [undefined, 'night'],
  queuePolicy: ['easy', 'hybrid', 'fcfs', 'conservative'],
  queueReservations: [undefined, 3],
  queueDepth: [undefined, 500],
  queueWeight: [undefined, 2],
  queueQuota: [
    undefined,
    { cores: Cpu.units(64), memory: Size.gibibytes(256), gpus: 4, nodes: 3, jobs: 9, pods: 99 },
  ],
  queueLimits: [undefined, { running: 100, waiting: 1000 }],
  queueLimitsPerUser: [undefined, { running: 10, waiting: 100 }],
  queueMinPriority: [undefined, -10],
  queueMaxPriority: [undefined, 10],
  queueBillingWeights: [undefined, { cores: 1, gpus: 8 }],
  queuePreemptionMinRuntime: [undefined, Duration.seconds(30)],
  queuePreemptionLimit: [undefined, 2],
  userMinPriority: [undefined, -5],
  userMaxPriority: [undefined, 5],
  defaultWalltime: [undefined, Duration.minutes(10)],
  maxWalltime: [undefined, Duration.days(2)],
  retention: [undefined, Duration.days(3)],
  archiveRetention: [undefined, Duration.days(30)],
  recordsPerHour: [undefined, 50],
  fluxJobs: [undefined, 'All'],
  fairShare: [false, true],
  fairShareHalfLife: [undefined, Duration.days(1)],
  priorityWeights: [undefined, { age: 100, fairShare: 1000, size: -1, queue: 0.5 }],
  priorityMaxAge: [undefined, Duration.days(7)],
  unschedulableTimeout: [undefined, Duration.minutes(1)],
  volumeTimeout: [undefined, Duration.minutes(20)],
  startTimeout: [undefined, Duration.minutes(20)],
  groupTimeout: [undefined, Duration.minutes(5)],
  nodeAvoidance: [undefined, Duration.minutes(1)],
  coreUnitMillis: [undefined, 500],
  memoryUnit: [undefined, Size.gibibytes(2)],
  networkPolicies: [true, false],
  flowSchemas: [undefined, true, false],
  monitoring: [
    undefined,
    {},
    { alerts: false, interval: Duration.seconds(15), labels: { release: 'prometheus' } },
  ],
  verticalPodAutoscalers: [false, true],
  webhookCertificate: [
    undefined,
    WebhookCertificate.certManager(),
    WebhookCertificate.certManager({ issuer: { name: 'internal', kind: 'ClusterIssuer' } }),
    WebhookCertificate.selfMade(),
  ],
  apiserverPorts: [undefined, [6443]],
  apiserverCidrs: [undefined, ['10.0.0.0/28', 'fd00::/64']],
  monitoringNamespace: [undefined, 'monitoring'],
  miniClusters: [true, false],
  logLevel: ['info', 'debug', 'trace', 'warn', 'error', 'fatal'],
  runtimeImage: [undefined, 'a.example/runtime:1'],
  fluxionImage: [undefined, 'a.example/fluxion:1'],
  schedulerImage: [undefined, 'a.example/kube-scheduler:1'],
  externalRuntime: [
    undefined,
    undefined,
    undefined,
    { webhookUrl: 'https://127.0.0.1:9443', users: ['admin'] },
  ],
} as const satisfies Choices;

/** A number of stacks. Each prop goes through its choices again and again, each time from another one on. */
export function stacks(count: number): FluxQueueProps[] {
  return Array.from({ length: count }, (_, stack) => {
    const chosen = Object.entries(CHOICES).map(([prop, values]): [string, unknown] => {
      const round = Math.floor(stack / values.length);
      return [prop, values[(stack + start(`${prop} ${round}`)) % values.length]];
    });
    return possible(Object.fromEntries(chosen.filter(([, value]) => value !== undefined)));
  });
}

function start(text: string): number {
  return createHash('sha256').update(text).digest().readUInt16BE();
}

/** Without the choices that others of the same stack exclude. */
function possible({ ...props }: Record<string, unknown>): FluxQueueProps {
  const without: Without = (...names) => {
    for (const name of names) delete props[name];
  };
  const minor = Number(/1\.(\d+)/.exec(String(props.kubernetesVersion ?? '1.36'))?.[1]);
  if (minor < 36 && /policies|both/.test(String(props.admission))) without('admission');
  // The volume of a StatefulSet cannot change, and the stacks are applied to one cluster.
  if (props.database === CHOICES.database[1]) props.namespace = 'fast';
  if (props.externalRuntime !== undefined)
    without(
      'pods',
      'images',
      'flowSchemas',
      'monitoring',
      'verticalPodAutoscalers',
      'webhookCertificate',
      'apiserverPorts',
      'apiserverCidrs',
    );
  if (hasPolicies(props, minor)) without('webhookCertificate');
  if (hasPolicies(props, minor) && props.readApi === false) without('apiserverCidrs');
  removeUnused(props, without);
  if (props.pods !== undefined) props.pods = possiblePods(props, minor);
  return props;
}

type Without = (...names: (keyof FluxQueueProps)[]) => void;

function removeUnused(props: FluxQueueProps, without: Without): void {
  if (props.kubernetesVersion === undefined) without('scheduler');
  if (props.scheduler !== true) without('schedulerImage');
  if (props.fluxion === 'embedded') without('fluxionEngine', 'fluxionImage');
  if (props.fluxionEngine === 'library' && props.matchPolicy === 'first') without('matchPolicy');
  if (props.queuePolicy !== 'hybrid') without('queueReservations');
  if (props.fairShare !== true) without('fairShareHalfLife', 'queueWeight', 'queueBillingWeights');
  if (props.defaultQueue === false)
    without(...(Object.keys(props) as (keyof FluxQueueProps)[]).filter((name) => name.startsWith('queue')));
  if (props.fairShare !== true || props.defaultQueue === false) without('priorityWeights');
  if (props.networkPolicies === false) without('monitoringNamespace', 'apiserverPorts', 'apiserverCidrs');
  if (props.monitoringNamespace === undefined) without('monitoring');
}

function hasPolicies({ admission, kubernetesVersion }: FluxQueueProps, minor: number): boolean {
  return (
    admission === 'policies' || (minor >= 36 && admission === undefined && kubernetesVersion !== undefined)
  );
}

function possiblePods(props: FluxQueueProps, minor: number): FluxQueueProps['pods'] {
  const { controller, fluxion, webhook, scheduler, database, backup } = CHOICES.pods[1];
  const chosen = props.database;
  return {
    controller,
    ...(props.fluxion === 'embedded' ? {} : { fluxion }),
    ...(hasPolicies(props, minor) ? {} : { webhook }),
    ...(props.scheduler === true ? { scheduler } : {}),
    ...(chosen === undefined || chosen.isDeployed ? { database } : {}),
    ...(chosen?.hasBackup === true ? { backup } : {}),
  };
}
