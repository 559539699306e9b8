import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Chart, Duration, Size, Testing } from 'cdk8s';
import { Secret } from 'cdk8s-plus-28';
import { parse } from 'yaml';
import { PropsError } from '../../../constructs/api/errors';
import { Database, defaultStack, FluxQueue, type FluxQueueProps } from '../../../constructs/fluxqueue/index';
import { Wave } from '../../../constructs/metadata';
import { ENVIRONMENT_VARIABLES, parseConfig } from '../../../runtime/config';
import type { KubeObject } from '../../cluster/api';
import { container, find, names, podTemplates, stackObjects } from '../manifests';

/** Everything on: what the defaults leave out. */
const FULL: FluxQueueProps = { kubernetesVersion: '1.37.1', scheduler: true, clusterWide: true };
const CLUSTER_SCOPED = new Set([
  'ClusterRole',
  'ClusterRoleBinding',
  'CustomResourceDefinition',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'MutatingWebhookConfiguration',
  'Namespace',
  'PriorityClass',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
]);

const VARIANTS: [string, FluxQueueProps][] = [
  ['the defaults', {}],
  ['everything on', FULL],
  ['a namespace of its own', { namespace: 'batch', scheduler: true, kubernetesVersion: '1.34' }],
  ['the runtime outside', { externalRuntime: { webhookUrl: 'https://127.0.0.1:9443', users: ['admin'] } }],
];

describe.each(VARIANTS)('every object of the stack with %s', (_, props) => {
  const objects = stackObjects(props);
  const namespace = props.namespace ?? 'fluxqueue-system';

  test('exists once', () => {
    const keys = objects.map(
      ({ apiVersion, kind, metadata }) => `${apiVersion} ${kind} ${metadata.namespace}/${metadata.name}`,
    );
    expect(keys).toEqual([...new Set(keys)]);
  });

  test('says in which wave it is applied', () => {
    const without = objects.filter(
      ({ metadata }) => !/^-?\d$/.test(metadata.annotations?.['argocd.argoproj.io/sync-wave'] ?? ''),
    );
    expect(names(without)).toEqual([]);
  });

  test('has a namespace exactly if its kind has one', () => {
    for (const { kind, metadata } of objects) {
      const expected = CLUSTER_SCOPED.has(kind)
        ? undefined
        : metadata.name === 'fluxqueue-scheduler' && metadata.namespace === 'kube-system'
          ? 'kube-system'
          : namespace;
      expect([kind, metadata.name, metadata.namespace]).toEqual([kind, metadata.name, expected]);
    }
  });

  test('carries no secret', () => {
    for (const secret of objects.filter(({ kind }) => kind === 'Secret')) {
      expect(Object.keys(secret)).toEqual(expect.not.arrayContaining(['data', 'stringData']));
    }
    for (const { env = [] } of podTemplates(objects).flatMap(({ spec }) => spec.containers)) {
      for (const { name, value } of env) {
        if (/PASSWORD$|SECRET|TOKEN|URL/.test(name)) expect([name, value]).toEqual([name, undefined]);
      }
    }
  });

  test('names no other namespace', () => {
    if (namespace !== 'fluxqueue-system') expect(JSON.stringify(objects)).not.toContain('fluxqueue-system');
  });
});

describe('order', () => {
  const wave = (object: KubeObject) =>
    Number(object.metadata.annotations?.['argocd.argoproj.io/sync-wave'] ?? Number.NaN);

  test('admission comes a wave after what answers it', () => {
    const objects = stackObjects();
    for (const object of objects.filter(({ kind }) => /Admission|WebhookConfiguration/.test(kind))) {
      expect([object.metadata.name, wave(object)]).toEqual([object.metadata.name, Wave.ADMISSION]);
    }
    expect(wave(find(objects, 'MutatingWebhookConfiguration', 'fluxqueue'))).toBeGreaterThan(
      wave(find(objects, 'Deployment', 'fluxqueue-webhook')),
    );
  });

  test('API types, rights and database come before what needs them', () => {
    const objects = stackObjects();
    const order = [
      find(objects, 'CustomResourceDefinition', 'fluxjobs.jobs.converged-computing.org'),
      find(objects, 'ClusterRole', 'fluxqueue-controller'),
      find(objects, 'StatefulSet', 'fluxqueue-database'),
      find(objects, 'Deployment', 'fluxqueue-controller'),
    ].map(wave);
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(new Set(order).size).toBe(4);
  });

  test('the files stand in the order in which kubectl must apply them', () => {
    const app = new App();
    defaultStack(app, FULL);
    expect(app.charts.map((chart) => chart.node.id)).toEqual([
      'fluxqueue-0-base',
      'fluxqueue-1-rbac',
      'fluxqueue-2-database',
      'fluxqueue-3-controller',
      'fluxqueue-5-scheduler',
      'fluxqueue-6-admission',
    ]);
  });

  test('inside a chart everything stays in that chart, in the same order', () => {
    const chart = new Chart(new App(), 'platform');
    new FluxQueue(chart, 'queue');
    expect(names(Testing.synth(chart) as KubeObject[])).toEqual(names(stackObjects()));
  });
});

describe('synth', () => {
  const written = (props: FluxQueueProps): [string, string][] => {
    const outdir = mkdtempSync(join(tmpdir(), 'fluxqueue-synth-'));
    try {
      const app = new App({ outdir });
      defaultStack(app, props);
      app.synth();
      return readdirSync(outdir).map((file) => [file, readFileSync(join(outdir, file), 'utf8')]);
    } finally {
      rmSync(outdir, { recursive: true });
    }
  };

  test.each(VARIANTS)('writes the same bytes each time with %s', (_, props) => {
    const first = written(props);
    expect(first.length).toBeGreaterThan(2);
    expect(written(props)).toEqual(first);
  });

  test('writes what stood there before for the largest stack', () => {
    // The API types and the rules of admission are texts of their own with tests of their own.
    const own = stackObjects(FULL).filter(({ kind }) => !/^CustomResource|AdmissionPolicy/.test(kind));
    expect(own).toMatchSnapshot();
  });
});

describe('admission', () => {
  const WEBHOOK = 'MutatingWebhookConfiguration/fluxqueue';
  const POLICY = 'MutatingAdmissionPolicy/fluxqueue-jobs';

  test.each<[FluxQueueProps, string, string]>([
    [{}, WEBHOOK, POLICY],
    [{ kubernetesVersion: '1.35.9' }, WEBHOOK, POLICY],
    [{ kubernetesVersion: 'v1.36' }, POLICY, WEBHOOK],
    [{ kubernetesVersion: '1.37.1', admission: 'webhook' }, WEBHOOK, POLICY],
    [{ admission: 'policies' }, POLICY, WEBHOOK],
  ])('of %j is %s', (props, present, absent) => {
    const found = names(stackObjects(props));
    expect(found).toContain(present);
    expect(found).not.toContain(absent);
    expect(found.includes('Deployment/fluxqueue-webhook')).toBe(present === WEBHOOK);
    expect(found.includes('ServiceAccount/fluxqueue-webhook')).toBe(present === WEBHOOK);
    expect(found).toContain('ValidatingAdmissionPolicy/fluxqueue-guard-jobs');
  });

  test('calls the Service and port of the webhook', () => {
    const objects = stackObjects();
    const { webhooks } = find<{ webhooks: { clientConfig: { service: unknown } }[] }>(
      objects,
      'MutatingWebhookConfiguration',
      'fluxqueue',
    );
    const service = find<{ spec: { ports: { port: number; targetPort: string }[] } }>(
      objects,
      'Service',
      'fluxqueue-webhook',
    );
    expect(webhooks[0]?.clientConfig.service).toMatchObject({
      namespace: 'fluxqueue-system',
      name: 'fluxqueue-webhook',
      port: service.spec.ports[0]?.port,
    });
    const webhook = container(webhookTemplate(objects), 'webhook');
    expect(webhook.ports).toContainEqual({ name: service.spec.ports[0]?.targetPort, containerPort: 9443 });
  });

  test('calls an external webhook by its URL', () => {
    const objects = stackObjects({
      externalRuntime: { webhookUrl: 'https://127.0.0.1:7443', webhookCa: 'PEM' },
    });
    const { webhooks } = find<{ webhooks: { clientConfig: unknown }[] }>(
      objects,
      'MutatingWebhookConfiguration',
      'fluxqueue',
    );
    expect(webhooks.map(({ clientConfig }) => clientConfig)).toEqual(
      Array(2).fill({
        url: 'https://127.0.0.1:7443/mutate',
        caBundle: Buffer.from('PEM').toString('base64'),
      }),
    );
  });

  test('lets the users of an external runtime release, and no ServiceAccount', () => {
    const objects = stackObjects({ admission: 'policies', externalRuntime: { users: ['somebody'] } });
    const text = JSON.stringify(find(objects, 'ValidatingAdmissionPolicy', 'fluxqueue-guard-jobs'));
    expect(text).toContain('somebody');
    expect(text).not.toContain('system:serviceaccount:');
  });

  const webhookTemplate = (objects: KubeObject[]) => {
    const template = podTemplates(objects).find(({ owner }) => owner === 'fluxqueue-webhook');
    if (template === undefined) throw new Error('no webhook');
    return template;
  };
});

describe('choices', () => {
  const controller = (props: FluxQueueProps) => {
    const template = podTemplates(stackObjects(props)).find(({ owner }) => owner === 'fluxqueue-controller');
    if (template === undefined) throw new Error('no controller');
    return template;
  };

  test('two controllers and two webhooks', () => {
    const objects = stackObjects();
    for (const name of ['fluxqueue-controller', 'fluxqueue-webhook']) {
      expect(find<{ spec: { replicas: number } }>(objects, 'Deployment', name).spec.replicas).toBe(2);
      expect(find(objects, 'PodDisruptionBudget', name).spec).toMatchObject({ maxUnavailable: 1 });
    }
  });

  test('controller and Fluxion meet on a socket in a volume of their own', () => {
    const template = controller({});
    const mounts = ['controller', 'fluxion'].map((name) =>
      container(template, name).volumeMounts?.find((mount) => mount.name === 'fluxion'),
    );
    expect(mounts[0]).toEqual({ name: 'fluxion', mountPath: '/run/fluxion' });
    expect(mounts[1]).toEqual(mounts[0]);
    expect(template.spec.volumes).toContainEqual({ name: 'fluxion', emptyDir: {} });
    const ports = ['controller', 'fluxion'].map(
      (name) => container(template, name).ports?.[0]?.containerPort,
    );
    expect(ports).toEqual([8080, 8081]);
  });

  test('the embedded matcher needs no sidecar', () => {
    const template = controller({ fluxion: 'embedded' });
    expect(template.spec.containers.map(({ name }) => name)).toEqual(['controller']);
    expect(JSON.stringify(template.spec.volumes)).not.toContain('"fluxion"');
  });

  test('a database that exists is used by its Secret, and none is brought', () => {
    const database = Database.fromSecret(Secret.fromSecretName(new App(), 'db', 'team-db'), 'uri');
    const found = names(stackObjects({ database }));
    expect(found.filter((name) => name.includes('database'))).toEqual([]);
    expect(container(controller({ database }), 'controller').env).toContainEqual({
      name: 'DATABASE_URL',
      valueFrom: { secretKeyRef: { name: 'team-db', key: 'uri' } },
    });
  });

  test('the database of our own hands over its password in the cluster only', () => {
    const database = Database.statefulSet({ storage: Size.gibibytes(40), storageClassName: 'fast' });
    const objects = stackObjects({ database });
    const template = podTemplates(objects).find(({ owner }) => owner === 'fluxqueue-database');
    if (template === undefined) throw new Error('no database');
    const file = container(template, 'password').command?.at(-1);
    expect(container(template, 'postgres').env).toContainEqual({
      name: 'POSTGRES_PASSWORD_FILE',
      value: file,
    });
    expect(
      find<{ spec: { volumeClaimTemplates: { spec: unknown }[] } }>(
        objects,
        'StatefulSet',
        'fluxqueue-database',
      ).spec.volumeClaimTemplates[0]?.spec,
    ).toMatchObject({
      storageClassName: 'fast',
      resources: { requests: { storage: '40Gi' } },
    });
    const secret = container(controller({}), 'controller').env?.[0]?.valueFrom?.secretKeyRef;
    expect(names(objects)).toContain(`Secret/${secret?.name}`);
  });

  test('the scheduler has the version of its cluster, and admission sends pods to it', () => {
    const objects = stackObjects({ kubernetesVersion: '1.35.2', scheduler: true });
    const template = podTemplates(objects).find(({ owner }) => owner === 'fluxqueue-scheduler');
    expect(template?.spec.containers[0]?.image).toBe('registry.k8s.io/kube-scheduler:v1.35.2');
    expect(settings(objects).webhook.schedulerName).toBe('fluxqueue-scheduler');
    const policies = stackObjects(FULL);
    expect(JSON.stringify(find(policies, 'MutatingAdmissionPolicy', 'fluxqueue-pods'))).toContain(
      'fluxqueue-scheduler',
    );
  });

  test('without the scheduler pods keep the one they ask for', () => {
    const objects = stackObjects({ kubernetesVersion: '1.37.1' });
    expect(names(objects).filter((name) => name.includes('scheduler'))).toEqual([]);
    expect(settings(objects).webhook.schedulerName).toBeUndefined();
    expect(JSON.stringify(find(objects, 'MutatingAdmissionPolicy', 'fluxqueue-pods'))).not.toContain(
      'fluxqueue-scheduler',
    );
  });

  test('with the runtime outside no pods are brought', () => {
    const objects = stackObjects({ externalRuntime: {}, admission: 'policies' });
    expect(podTemplates(objects)).toEqual([]);
    expect(names(objects)).toContain('CustomResourceDefinition/fluxjobs.jobs.converged-computing.org');
  });
});

describe('settings', () => {
  test('of the defaults are what the runtime reads and means by default', () => {
    const given = settings(stackObjects());
    expect(given).toEqual({
      ...parseConfig({}),
      fluxion: { ...parseConfig({}).fluxion, address: 'unix:/run/fluxion/fluxion.sock' },
    });
  });

  test('are the props', () => {
    const given = settings(
      stackObjects({
        namespace: 'batch',
        matchPolicy: 'first',
        queueName: 'night',
        queuePolicy: 'fcfs',
        queueDepth: 50,
        defaultWalltime: Duration.minutes(5),
        maxWalltime: Duration.hours(3),
        coreUnitMillis: 100,
        memoryUnit: Size.mebibytes(256),
        logLevel: 'debug',
        fluxion: 'embedded',
      }),
    );
    expect(given).toMatchObject({
      logLevel: 'debug',
      leaderElection: { namespace: 'batch' },
      fluxion: { address: 'embedded', policy: 'first' },
      queue: {
        name: 'night',
        policy: 'fcfs',
        depth: 50,
        defaultWalltimeSeconds: 300,
        maxWalltimeSeconds: 10800,
      },
      units: { cpuMillis: 100, memoryMiB: 256 },
      webhook: { secretNamespace: 'batch' },
    });
  });

  test('of the queue and of fair share are the props, too', () => {
    const given = settings(
      stackObjects({
        defaultQueue: false,
        queuePolicy: 'hybrid',
        queueReservations: 3,
        queueWeight: 2,
        retention: Duration.days(90),
        fairShare: true,
        fairShareHalfLife: Duration.hours(12),
      }),
    );
    expect(given).toMatchObject({
      queue: { enabled: false, policy: 'hybrid', reservations: 3, weight: 2, retentionDays: 90 },
      fairShare: { enabled: true, halfLifeSeconds: 43_200 },
    });
    expect(settings(stackObjects({ queuePolicy: 'conservative' })).queue.policy).toBe('conservative');
  });

  test('that pods are given by their environment are known to the runtime', () => {
    const variables = podTemplates(stackObjects())
      .flatMap(({ spec }) => spec.containers)
      .filter(({ command = [] }) => command.includes('/app/runtime.js'))
      .flatMap(({ env = [] }) => env.map(({ name }) => name));
    expect(variables.sort()).toEqual([
      'DATABASE_URL',
      'FLUXQUEUE_http_port',
      'FLUXQUEUE_leaderElection_podUid',
    ]);
    expect(ENVIRONMENT_VARIABLES).toEqual(expect.arrayContaining(variables));
  });

  test('the controller knows its pod, so that it need not wait for the lease of its last process', () => {
    const controller = podTemplates(stackObjects()).find(({ owner }) => owner === 'fluxqueue-controller')!;
    expect(container(controller, 'controller').env).toContainEqual({
      name: 'FLUXQUEUE_leaderElection_podUid',
      valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } },
    });
  });

  test('and the scripts that they run come through as they are: Kubernetes expands $(NAME) and $$ in commands', () => {
    const containers = podTemplates(stackObjects(FULL)).flatMap(({ spec }) => [
      ...(spec.initContainers ?? []),
      ...spec.containers,
    ]);
    const expanded = containers.flatMap((each) => {
      const probes = [each.startupProbe, each.livenessProbe, each.readinessProbe];
      const words = [...(each.command ?? []), ...probes.flatMap((probe) => probe?.exec?.command ?? [])];
      const names = (each.env ?? []).map(({ name }) => `$(${name})`);
      return words.filter((word) => ['$$', ...names].some((text) => word.includes(text)));
    });
    expect(expanded).toEqual([]);
  });

  test('that change make new pods', () => {
    const hashes = [{}, { logLevel: 'debug' } as const].map((props) =>
      podTemplates(stackObjects(props))
        .filter(({ owner }) => owner !== 'fluxqueue-database')
        .map(({ metadata }) => metadata.annotations?.['fluxqueue/config-hash']),
    );
    expect(hashes[0]).toHaveLength(2);
    expect(hashes[0]?.[0]).toMatch(/^[0-9a-f]{16}$/);
    expect(hashes[1]).not.toContain(hashes[0]?.[0]);
  });
});

/** The ConfigMap as the runtime understands it. */
function settings(objects: KubeObject[]) {
  const { data } = find<{ data: Record<string, string> }>(objects, 'ConfigMap', 'fluxqueue-config');
  return parseConfig(parse(data['config.yaml'] ?? ''));
}

describe('props that do not go together', () => {
  test.each<[FluxQueueProps, string, string]>([
    [{ kubernetesVersion: 'latest' }, 'FluxQueue.kubernetesVersion', 'is no Kubernetes version'],
    [{ scheduler: true }, 'FluxQueue.scheduler', 'needs kubernetesVersion'],
    [{ kubernetesVersion: '1.35', admission: 'policies' }, 'FluxQueue.admission', 'this cluster has 1.35.0'],
    [
      { maxWalltime: Duration.minutes(5) },
      'FluxQueue.maxWalltime',
      'shorter than the default walltime of 3600 s',
    ],
    [{ defaultWalltime: Duration.seconds(0) }, 'FluxQueue.defaultWalltime', 'at least a second'],
    [{ controllerReplicas: 0 }, 'FluxQueue.controllerReplicas', 'whole number above 0'],
    [{ queueDepth: 1.5 }, 'FluxQueue.queueDepth', 'whole number above 0'],
    [{ queueWeight: 0 }, 'FluxQueue.queueWeight', 'whole number above 0'],
    [{ retention: Duration.hours(36) }, 'FluxQueue.retention', 'must be whole days'],
    [{ queueName: 'Night' }, 'FluxQueue.queueName', 'is no name of a queue'],
    [{ queueReservations: 2 }, 'FluxQueue.queueReservations', 'is for queuePolicy hybrid'],
    [{ fairShareHalfLife: Duration.days(1) }, 'FluxQueue.fairShareHalfLife', 'is for fairShare'],
    [
      { fairShare: true, fairShareHalfLife: Duration.millis(10) },
      'FluxQueue.fairShareHalfLife',
      'must be whole seconds',
    ],
    [{ externalRuntime: {} }, 'FluxQueue.externalRuntime.webhookUrl', 'no webhook runs in the cluster'],
  ])('%j', (props, field, why) => {
    const synth = () => stackObjects(props);
    expect(synth).toThrow(PropsError);
    expect(synth).toThrow(why);
    expect(synth).toThrow(expect.objectContaining({ code: 'FLUXQ_PROPS_INVALID', field }));
  });
});
