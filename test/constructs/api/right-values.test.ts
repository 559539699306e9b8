/** Right values that one of the rules of props once refused, or might: a user of TypeScript must not meet an error for them. */
import { App, Chart, Duration, Lazy, Size, Testing } from 'cdk8s';
import {
  ConfigMap,
  DockerConfigSecret,
  EnvFieldPaths,
  EnvValue,
  type ISecret,
  k8s,
  PersistentVolumeClaim,
  ResourceFieldPaths,
  Secret,
  ServiceAccount,
} from 'cdk8s-plus-28';
import {
  BackupTarget,
  Certificate,
  Database,
  type FluxQueueProps,
  FluxSetup,
  type FluxSetupProps,
  MiniCluster,
  MiniClusterVolume,
} from '../../../constructs';
import { configurationOf, container, find, podTemplates, stackObjects } from '../manifests';

const chart = () => new Chart(new App(), 'app');
const cluster = (made: Chart, props: object = {}) =>
  new MiniCluster(made, 'mc', { container: { image: 'app', command: 'run', ...props } });

describe('undefined is as absent', () => {
  test.each<FluxQueueProps>([
    { pods: { controller: undefined } as never },
    {
      pods: {
        controller: { replicas: undefined, probes: { liveness: { periodSeconds: undefined } } },
      } as never,
    },
    { pods: { controller: { resources: { requests: undefined, limits: { cpu: undefined } } } } as never },
    { pods: { controller: { containerSecurityContext: { allowPrivilegeEscalation: undefined } } } as never },
    { pods: { backup: undefined } as never },
    {
      images: { registry: undefined },
      labels: { a: undefined },
      priorityWeights: { age: undefined },
    } as never,
  ])('in %j', (props) => {
    expect(stackObjects(props)).toEqual(stackObjects(JSON.parse(JSON.stringify(props))));
  });
});

test('a preemption runtime, and no walltime, can have a part of a second', () => {
  const queuePreemptionMinRuntime = Duration.millis(1500);
  const { queue } = configurationOf(stackObjects({ queuePreemptionMinRuntime }));
  expect(queue.preemption.minRuntimeSeconds).toBe(1.5);
});

test('quotas of memory can be parts of a MiB', () => {
  const quota = { memory: Size.kibibytes(1536) };
  expect(configurationOf(stackObjects({ queueQuota: quota })).queue.quota).toEqual({
    memoryGiB: 1536 / 1024 ** 2,
  });
  const made = chart();
  new FluxSetup(made, 'queue', { quota } satisfies FluxSetupProps);
  expect(Testing.synth(made)).toMatchObject([{ spec: { quota: { memory: '1536Ki' } } }]);
});

test.each(['1e3', '.5', '1.5Gi', '100m', '128974848000m', '1E2', '+1', 0, 1.5])(
  '%j is a quantity',
  (memory) => {
    const props = { pods: { controller: { resources: { requests: { memory } } } } };
    expect(() => stackObjects(props)).not.toThrow();
  },
);

test('a quantity of cdk8s-plus is one as well', () => {
  const divisor = k8s.Quantity.fromString('1Mi');
  const env = [{ name: 'LIMIT', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor } } }];
  const requests = { memory: k8s.Quantity.fromString('300Mi') };
  const templates = podTemplates(stackObjects({ pods: { webhook: { env, resources: { requests } } } }));
  const webhook = container(templates.find(({ owner }) => owner === 'fluxqueue-webhook')!, 'webhook');
  expect(webhook.resources).toMatchObject({ requests: { memory: '300Mi' } });
  expect(webhook.env).toContainEqual({
    name: 'LIMIT',
    valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } },
  });
});

test.each<[string, (made: Chart) => EnvValue, object]>([
  [
    'a field of the container with a divisor',
    () => EnvValue.fromResource(ResourceFieldPaths.MEMORY_LIMIT, { divisor: '1Mi' }),
    { valueFrom: { resourceFieldRef: { divisor: '1Mi', resource: 'limits.memory' } } },
  ],
  [
    'a field of the pod',
    () => EnvValue.fromFieldRef(EnvFieldPaths.POD_LABEL, { key: 'a' }),
    { valueFrom: { fieldRef: { fieldPath: "metadata.labels['a']" } } },
  ],
  [
    'a key of a Secret',
    (made) => EnvValue.fromSecretValue({ secret: Secret.fromSecretName(made, 's', 'token'), key: 'k' }),
    { valueFrom: { secretKeyRef: { key: 'k', name: 'token' } } },
  ],
  ['an empty text', () => EnvValue.fromValue(''), { value: '' }],
  ['a variable that is not set', () => EnvValue.fromProcess('NOT_SET', { required: false }), { value: '' }],
])('an environment variable can be %s', (_, makeValue, expected) => {
  const made = chart();
  cluster(made).addEnv('a.b-c', makeValue(made));
  const [job] = Testing.synth(made).filter(({ kind, metadata }) => kind === 'Job' && metadata.name === 'mc');
  expect(job.spec.template.spec.containers[0].env).toContainEqual({ name: 'a.b-c', ...expected });
});

describe('a Secret can be', () => {
  test.each<[string, (made: Chart) => { readonly name: string }]>([
    ['one of the cluster', (made) => Secret.fromSecretName(made, 's', 'credentials')],
    ['one of the program', (made) => new Secret(made, 's', { metadata: { name: 'credentials' } })],
    [
      'one of another type',
      (made) => new DockerConfigSecret(made, 's', { metadata: { name: 'credentials' }, data: {} }),
    ],
    [
      'an object of Kubernetes',
      (made) => new k8s.KubeSecret(made, 's', { metadata: { name: 'credentials' } }),
    ],
    ['a literal', () => ({ name: 'credentials' })],
  ])('%s', (_, secretOf) => {
    const made = chart();
    const secret = secretOf(made) as ISecret;
    cluster(made, {
      imagePullSecret: secret,
      secrets: { A: { secret, key: 'a' } },
      envFrom: [{ secret }],
      volumes: {
        files: MiniClusterVolume.fromSecret(secret, '/files', { items: { a: 'b' }, defaultMode: 0o400 }),
        disk: MiniClusterVolume.fromCsi('csi.example.org', '/disk', { secret }),
      },
    });
    expect(JSON.stringify(Testing.synth(made)).match(/"credentials"/g)!.length).toBeGreaterThanOrEqual(5);
    expect(() => Certificate.fromSecret(secret)).not.toThrow();
    expect(stackObjects({ database: Database.fromSecret(secret) }).length).toBeGreaterThan(0);
  });

  test('for the database also one whose name is known at synth only', () => {
    const name = Lazy.any({ produce: () => 'late' }) as string;
    const credentials = new Secret(chart(), 's', { metadata: { name } }) as ISecret;
    const target = BackupTarget.s3({ endpoint: 'https://s3.example.org', bucket: 'dumps', credentials });
    const objects = stackObjects({ database: Database.statefulSet({ backup: { target } }) });
    expect(JSON.stringify(find(objects, 'CronJob', 'fluxqueue-backup'))).toContain('"late"');
  });
});

test('claims, ConfigMaps and ServiceAccounts can be of the cluster or of the program', () => {
  const made = chart();
  const volumes = {
    a: MiniClusterVolume.fromClaim(PersistentVolumeClaim.fromClaimName(made, 'a', 'a'), '/a'),
    b: MiniClusterVolume.fromClaim(new PersistentVolumeClaim(made, 'b'), '/b'),
    c: MiniClusterVolume.fromConfigMap(ConfigMap.fromConfigMapName(made, 'c', 'c'), '/c'),
    d: MiniClusterVolume.fromConfigMap(new ConfigMap(made, 'd'), '/d'),
  };
  for (const serviceAccount of [
    ServiceAccount.fromServiceAccountName(made, 'e', 'e'),
    new ServiceAccount(made, 'f'),
  ])
    new MiniCluster(made, `mc-${serviceAccount.name}`, {
      container: { image: 'app', command: 'run', volumes },
      pod: { serviceAccount },
    });
  expect(Testing.synth(made).filter(({ kind }) => kind === 'Job').length).toBeGreaterThanOrEqual(2);
});

test('lazy values stay possible beside values that are known', () => {
  const lazy = (value: unknown) => Lazy.any({ produce: () => value }) as never;
  const props = (value: (it: unknown) => never): FluxQueueProps => ({
    labels: { team: value('hpc') },
    fairShare: value(true),
    queueWeight: 3,
    defaultWalltime: value(Duration.minutes(30)),
    queueQuota: { gpus: value(3) },
    pods: { controller: { env: value([{ name: 'A', value: 'b' }]), priorityClassName: value(undefined) } },
  });
  expect(stackObjects(props(lazy))).toEqual(stackObjects(props((it) => it as never)));
});
