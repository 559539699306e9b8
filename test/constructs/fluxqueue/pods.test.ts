import { App, Lazy } from 'cdk8s';
import { k8s, Secret } from 'cdk8s-plus-28';
import { Database, type FluxQueueProps, type PodsProps } from '../../../constructs/fluxqueue/index';
import { DEFAULT_IMAGES } from '../../../constructs/images';
import type { KubeObject } from '../../cluster/api';
import { configurationOf, container, find, LARGEST_STACK, podTemplates, stackObjects } from '../manifests';

const ALL: FluxQueueProps = { kubernetesVersion: '1.37.1', scheduler: true, admission: 'webhook' };
type Workload = Exclude<keyof PodsProps, 'backup'>;
const WORKLOADS: Record<Workload, [owner: string, container: string]> = {
  controller: ['fluxqueue-controller', 'controller'],
  fluxion: ['fluxqueue-controller', 'fluxion'],
  webhook: ['fluxqueue-webhook', 'webhook'],
  reader: ['fluxqueue-reader', 'reader'],
  scheduler: ['fluxqueue-scheduler', 'scheduler'],
  database: ['fluxqueue-database', 'postgres'],
};
const COMPONENTS = Object.keys(WORKLOADS) as Workload[];
const PODS = COMPONENTS.filter((component) => component !== 'fluxion');
const REPLICATED = PODS.filter((component) => component !== 'database');

function template(objects: readonly KubeObject[], component: Workload) {
  const found = podTemplates(objects).find(({ owner }) => owner === WORKLOADS[component][0]);
  if (found === undefined) throw new Error(`no pods of ${component}`);
  return found;
}

const main = (objects: readonly KubeObject[], component: Workload) =>
  container(template(objects, component), WORKLOADS[component][1]);

const withSettings = (component: keyof PodsProps, settings: object, props: FluxQueueProps = ALL) =>
  stackObjects({ ...props, pods: { [component]: settings } });

describe.each(COMPONENTS)('settings of the container of %s', (component) => {
  const before = main(stackObjects(ALL), component);

  test('add to its resources by name', () => {
    const { resources } = main(
      withSettings(component, {
        resources: { requests: { cpu: '1500m', 'ephemeral-storage': k8s.Quantity.fromString('1Gi') } },
      }),
      component,
    );
    expect(resources).toEqual({
      requests: { ...before.resources?.requests, cpu: '1500m', 'ephemeral-storage': '1Gi' },
      limits: before.resources?.limits,
    });
  });

  test('add variables and arguments, and replace single fields of probes and of the security context', () => {
    const after = main(
      withSettings(component, {
        env: [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }],
        args: ['--flag'],
        containerSecurityContext: { seLinuxOptions: { level: 's0' } },
        probes: { liveness: { timeoutSeconds: 9 }, startup: { failureThreshold: 999 } },
      }),
      component,
    );
    expect(after).toEqual({
      ...before,
      env: [...(before.env ?? []), { name: 'HTTPS_PROXY', value: 'http://proxy:3128' }],
      args: ['--flag'],
      securityContext: { ...before.securityContext, seLinuxOptions: { level: 's0' } },
      livenessProbe: { ...before.livenessProbe, timeoutSeconds: 9 },
      startupProbe: { ...before.startupProbe, failureThreshold: 999 },
    });
  });
});

describe.each(PODS)('settings of the pods of %s', (component) => {
  test('place them and describe them', () => {
    const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } };
    const settings = {
      nodeSelector: { pool: 'system' },
      affinity,
      tolerations: [{ key: 'dedicated', operator: 'Exists' }],
      labels: { team: 'platform' },
      annotations: { 'prometheus.io/scrape': 'true' },
      imagePullSecrets: ['registry'],
      securityContext: { fsGroup: 1000 },
      priorityClassName: 'system-cluster-critical',
    };
    const before = template(stackObjects(ALL), component);
    const { metadata, spec } = template(withSettings(component, settings), component);
    expect(metadata).toEqual({
      labels: { ...before.metadata.labels, team: 'platform' },
      annotations: { ...before.metadata.annotations, 'prometheus.io/scrape': 'true' },
    });
    expect(spec).toEqual({
      ...before.spec,
      nodeSelector: settings.nodeSelector,
      affinity,
      tolerations: settings.tolerations,
      imagePullSecrets: [{ name: 'registry' }],
      securityContext: { ...before.spec.securityContext, fsGroup: 1000 },
      priorityClassName: 'system-cluster-critical',
    });
  });

  test('change no other component', () => {
    const others = (objects: readonly KubeObject[]) =>
      podTemplates(objects).filter(({ owner }) => owner !== WORKLOADS[component][0]);
    expect(others(withSettings(component, { nodeSelector: { a: 'b' } }))).toEqual(others(stackObjects(ALL)));
  });
});

test.each(REPLICATED)('settings of %s have replicas, a budget and a topology spread', (component) => {
  const objects = withSettings(component, {
    replicas: 3,
    disruptionBudget: { minAvailable: '50%' },
    topologySpreadConstraints: [
      { maxSkew: 2, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' },
    ],
  });
  const [name] = WORKLOADS[component];
  const selector = { 'app.kubernetes.io/name': 'fluxqueue', 'app.kubernetes.io/component': component };
  expect(find<{ spec: object }>(objects, 'Deployment', name).spec).toMatchObject({ replicas: 3 });
  expect(find<{ spec: object }>(objects, 'PodDisruptionBudget', name).spec).toEqual({
    minAvailable: '50%',
    unhealthyPodEvictionPolicy: 'AlwaysAllow',
    selector: { matchLabels: selector },
  });
  expect(template(objects, component).spec.topologySpreadConstraints).toEqual([
    expect.objectContaining({ maxSkew: 2, labelSelector: { matchLabels: selector } }),
  ]);
});

describe('settings that a component cannot have', () => {
  const existing = Database.fromSecret(Secret.fromSecretName(new App(), 'db', 'db'));

  test.each<[FluxQueueProps, string, string]>([
    [
      { pods: { database: { replicas: 2 } as never } },
      'database.replicas',
      'because the database is one pod',
    ],
    [
      { pods: { fluxion: { nodeSelector: {} } as never } },
      'fluxion.nodeSelector',
      'set it in pods.controller',
    ],
    [{ pods: { controller: { cpu: 1 } as never } }, 'controller.cpu', 'must be one of: resources, env'],
    [{ pods: { api: {} } as never }, 'api', 'must be one of: controller, webhook'],
    [{ pods: { scheduler: {} } }, 'scheduler', 'requires scheduler: true'],
    [{ pods: { webhook: {} }, kubernetesVersion: '1.37' }, 'webhook', 'requires admission by webhook'],
    [{ pods: { fluxion: {} }, fluxion: 'embedded' }, 'fluxion', 'fluxion is embedded'],
    [{ pods: { database: {} }, database: existing }, 'database', "is for the stack's own database"],
    [
      { pods: { controller: {} }, externalRuntime: {}, admission: 'policies' },
      'controller',
      'externalRuntime leaves out these pods',
    ],
    [{ pods: { webhook: { replicas: 1.5 } } }, 'webhook.replicas', 'must be a whole number'],
    [{ pods: { webhook: { disruptionBudget: {} } } }, 'webhook.disruptionBudget', 'give one of the two'],
    ...[{ minAvailable: 2 }, { maxUnavailable: 0 }, { maxUnavailable: '0%' }, { minAvailable: '51%' }].map(
      (disruptionBudget): [FluxQueueProps, string, string] => [
        { pods: { webhook: { disruptionBudget } } },
        'webhook.disruptionBudget',
        'allows no eviction of 2 pods',
      ],
    ),
    [
      { pods: { webhook: { disruptionBudget: { minAvailable: 'some' } } } },
      'webhook.disruptionBudget.minAvailable',
      'must be a number of pods or a percentage',
    ],
    [
      { pods: { database: { resources: { requests: { memory: '4Gi' } } } } },
      'database.resources.requests.memory',
      'is greater than the limit of 1Gi',
    ],
    [
      { pods: { database: { resources: { limits: { memory: '1 GB' } } } } },
      'database.resources.limits.memory',
      'is not a quantity',
    ],
    [
      { pods: { webhook: { probes: { liveness: { periodSeconds: 0 } } } } },
      'webhook.probes.liveness.periodSeconds',
      'must be a whole number, 1 or more',
    ],
    [
      { pods: { database: { env: [{ name: 'POSTGRES_USER', value: 'root' }] } } },
      'database.env[POSTGRES_USER]',
      'is set by the stack',
    ],
    [
      { pods: { webhook: { containerSecurityContext: { privileged: true } } } },
      'webhook',
      'Pod Security restricted refuses in the namespace of the stack (spec.containers[0].securityContext.privileged',
    ],
    [{ pods: { database: { securityContext: { runAsUser: 0 } } } }, 'database', 'must not be 0'],
    [
      {
        pods: {
          webhook: {
            env: [
              { name: 'A', value: '1' },
              { name: 'A', value: '2' },
            ],
          },
        },
      },
      'webhook.env[A]',
      'or twice',
    ],
    [
      { pods: { webhook: { labels: { 'app.kubernetes.io/name': 'x' } } } },
      'webhook.labels[app.kubernetes.io/name]',
      'is set by the stack',
    ],
  ])('%# are refused: %j', (props, field, problem) => {
    const synth = () => stackObjects(props);
    expect(synth).toThrow(expect.objectContaining({ field: `FluxQueue.pods.${field}` }));
    expect(synth).toThrow(problem);
  });
});

describe('images', () => {
  const DIGEST = `sha256:${'0'.repeat(64)}`;
  const imagesOf = (props: FluxQueueProps) =>
    podTemplates(stackObjects(props)).flatMap(({ spec }) =>
      [...(spec.initContainers ?? []), ...spec.containers].map(({ image = '' }) => image),
    );

  test('of the stack come from one registry, except those that a prop names', () => {
    const images = new Set(imagesOf({ ...ALL, images: { registry: 'registry.example.org:5000/mirror' } }));
    expect([...images].sort()).toEqual([
      'registry.example.org:5000/mirror/converged-computing/cdk8s-fluxqueue:0.1.0',
      'registry.example.org:5000/mirror/kube-scheduler:v1.37.1',
      'registry.example.org:5000/mirror/library/postgres:18.6-bookworm',
    ]);
    const own = imagesOf({ runtimeImage: 'a.example/b:1', images: { registry: 'registry.example.org' } });
    expect(own).toContain('a.example/b:1');
  });

  test('have the digests that a prop gives', () => {
    const digests = { [DEFAULT_IMAGES.postgres]: DIGEST, 'a.example/b:1': DIGEST };
    const images = imagesOf({ runtimeImage: 'a.example/b:1', images: { registry: 'r.example', digests } });
    expect(new Set(images)).toEqual(
      new Set([`a.example/b:1@${DIGEST}`, `r.example/library/postgres:18.6-bookworm@${DIGEST}`]),
    );
  });

  test('are pulled with one Secret by all pods', () => {
    const props: FluxQueueProps = {
      ...ALL,
      images: { pullSecrets: ['mirror'] },
      pods: { webhook: { imagePullSecrets: ['mirror'] } },
    };
    const templates = podTemplates(stackObjects(props));
    expect(templates).toHaveLength(5);
    for (const { spec } of templates) expect(spec.imagePullSecrets).toEqual([{ name: 'mirror' }]);
  });

  test.each<[FluxQueueProps, string]>([
    [{ images: { registry: 'https://a' } }, 'is not a registry'],
    [{ images: { digests: { a: 'latest' } } }, 'is not a digest'],
    [{ images: { digests: { 'a:1': DIGEST } } }, 'names an image that the stack does not use'],
    [{ images: { registry: 'a' }, externalRuntime: {}, admission: 'policies' }, 'the stack has no pods'],
  ])('%# are refused: %j', (props, problem) => {
    expect(() => stackObjects(props)).toThrow(problem);
  });
});

describe('labels and annotations of the stack', () => {
  const labels = { 'cost-center': 'hpc' };
  const annotations = { 'example.org/owner': 'platform' };
  const objects = stackObjects({ ...LARGEST_STACK, admission: 'webhook', labels, annotations });

  test('are on all objects', () => {
    expect(objects.length).toBeGreaterThan(50);
    for (const { metadata } of objects) {
      expect(metadata.labels).toMatchObject(labels);
      expect(metadata.annotations).toMatchObject(annotations);
    }
  });

  test('include the pods, but not the selectors, which cannot change', () => {
    for (const { owner, metadata } of podTemplates(objects)) {
      expect([owner, metadata.labels]).toEqual([owner, expect.objectContaining(labels)]);
    }
    expect(
      JSON.stringify(objects.map(({ spec }) => (spec as { selector?: unknown })?.selector)),
    ).not.toContain('cost-center');
  });

  test.each<[FluxQueueProps, string]>([
    [{ labels: { 'app.kubernetes.io/part-of': 'x' } }, 'FluxQueue.labels[app.kubernetes.io/part-of]'],
    [{ labels: { team: 'a b' } }, 'is not the value of a label'],
    [{ annotations: { 'argocd.argoproj.io/sync-wave': '7' } }, 'is set by the stack'],
  ])('%# are refused: %j', (props, problem) => {
    expect(() => stackObjects(props)).toThrow(problem);
  });
});

describe('lazy values', () => {
  let replicas = 0;
  const lazy = <T>(produce: () => T): T => Lazy.any({ produce }) as T;
  const props = (): FluxQueueProps => ({
    runtimeImage: lazy(() => 'a.example/b:1'),
    queueDepth: lazy(() => 17),
    labels: { team: lazy(() => 'late') },
    images: { registry: 'r.example' },
    pods: {
      controller: {
        replicas: lazy(() => replicas),
        resources: { requests: { cpu: lazy(() => '250m') } },
        env: lazy(() => [{ name: 'LATE', value: '1' }]),
      },
    },
  });

  test('are read when the manifests are made', () => {
    replicas = 5;
    const objects = stackObjects(props());
    const controller = main(objects, 'controller');
    expect(
      find<{ spec: { replicas: number } }>(objects, 'Deployment', 'fluxqueue-controller').spec.replicas,
    ).toBe(5);
    expect(controller.image).toBe('a.example/b:1');
    expect(controller.resources?.requests).toMatchObject({ cpu: '250m', memory: '256Mi' });
    expect(controller.env).toContainEqual({ name: 'LATE', value: '1' });
    expect(objects.every(({ metadata }) => metadata.labels?.team === 'late')).toBe(true);
    expect(configurationOf(objects).queue.depth).toBe(17);
  });

  test('give the same manifests as known values', () => {
    const known = { queueDepth: 17, pods: { webhook: { replicas: 3 } } };
    expect(
      stackObjects({ queueDepth: lazy(() => 17), pods: { webhook: { replicas: lazy(() => 3) } } }),
    ).toEqual(stackObjects(known));
  });

  test('are checked at synth', () => {
    replicas = 0;
    expect(() => stackObjects(props())).toThrow('FluxQueue.pods.controller.replicas: must be a whole number');
  });

  test('are refused where the choice of objects depends on them', () => {
    for (const name of ['namespace', 'kubernetesVersion', 'labels', 'pods'])
      expect(() => stackObjects({ [name]: lazy(() => '1.37') })).toThrow(`FluxQueue.${name}: cannot be lazy`);
    expect(() => stackObjects({ pods: { controller: lazy(() => ({})) } })).toThrow(
      'FluxQueue.pods.controller',
    );
  });
});
