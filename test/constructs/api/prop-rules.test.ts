/** What a program in JavaScript, or a value from a file, gives the constructs: refused at synth instead of dropped. */
import { App, Chart, Duration } from 'cdk8s';
import { Cpu } from 'cdk8s-plus-28';
import * as constructs from '../../../constructs';
import { type FluxQueueProps, FluxSetup, MiniCluster, type MiniClusterProps } from '../../../constructs';
import { stackObjects } from '../manifests';

const CONTAINER = { image: 'app', command: 'run' };

test.each<[object, string]>([
  [{ admission: 'policy' }, 'FluxQueue.admission: must be one of: policies, webhook, both (got "policy")'],
  [{ fluxion: 'none' }, 'FluxQueue.fluxion: must be one of'],
  [{ fluxionEngine: 'libary' }, 'FluxQueue.fluxionEngine: must be one of: embedded, library'],
  [{ matchPolicy: 'lownode' }, 'FluxQueue.matchPolicy: must be one of'],
  [{ queuePolicy: 'fair' }, 'FluxQueue.queuePolicy: must be one of'],
  [{ logLevel: 'verbose' }, 'FluxQueue.logLevel: must be one of'],
  [{ fluxJobs: 'None' }, 'FluxQueue.fluxJobs: must be one of: Notable, All'],
  [{ scheduler: 'yes' }, 'FluxQueue.scheduler: must be true or false (got "yes")'],
  [{ apiserverPorts: [443, 99_999] }, 'FluxQueue.apiserverPorts[1]: must be a port (got 99999)'],
  [{ runtimeImage: '' }, 'FluxQueue.runtimeImage: must be a text'],
  [{ labels: { 'a b': 'c' } }, 'FluxQueue.labels["a b"]: is not a key of labels and annotations (got "a b")'],
  [{ annotations: { '/x': 'c' } }, 'FluxQueue.annotations["/x"]: is not a key'],
  [{ admision: 'webhook' }, 'FluxQueue.admision: is not a prop (got "webhook"); did you mean admission'],
  [{ schedulerImage: 'a/b:1' }, 'FluxQueue.schedulerImage: requires scheduler: true'],
  [{ queueName: 'night', defaultQueue: false }, "FluxQueue.queueName: configures the stack's own queue"],
  [{ queueWeight: 2 }, 'FluxQueue.queueWeight: requires fairShare: true'],
  [{ queueBillingWeights: { gpus: 2 } }, 'FluxQueue.queueBillingWeights: requires fairShare: true'],
  [
    { priorityWeights: { age: 1, fairShare: 2 } },
    'FluxQueue.priorityWeights.fairShare: requires fairShare: true (got 2)',
  ],
  [
    { priorityWeights: { queue: 3 }, defaultQueue: false },
    "FluxQueue.priorityWeights.queue: configures the stack's own queue, and defaultQueue is false (got 3)",
  ],
  [{ fairShareHalfLife: Duration.days(1) }, 'FluxQueue.fairShareHalfLife: requires fairShare: true'],
  [
    { defaultWalltime: '1h' },
    'FluxQueue.defaultWalltime: must be a Duration (got "1h"); give Duration.hours(1)',
  ],
  [{ maxWalltime: 3600 }, 'FluxQueue.maxWalltime: must be a Duration (got 3600)'],
  [{ memoryUnit: '2Gi' }, 'FluxQueue.memoryUnit: must be a Size (got "2Gi"); give Size.gibibytes(1)'],
  [{ database: 'postgres' }, 'FluxQueue.database: must be a Database (got "postgres")'],
  [{ queueQuota: { core: 5 } }, 'FluxQueue.queueQuota.core: is not a prop (got 5); did you mean cores'],
  [{ database: {} }, 'FluxQueue.database: must be a Database'],
  [
    { webhookCertificate: 'certManager' },
    'FluxQueue.webhookCertificate: must be a WebhookCertificate (got "certManager"); give WebhookCertificate.certManager()',
  ],
  [{ images: 'x' }, 'FluxQueue.images: must be an object (got "x")'],
  [{ images: { registy: 'x' } }, 'FluxQueue.images.registy: is not a prop (got "x"); did you mean registry'],
  [{ monitoring: true }, 'FluxQueue.monitoring: must be an object (got true)'],
  [{ externalRuntime: { url: 'x' } }, 'FluxQueue.externalRuntime.url: is not a prop'],
  [{ labels: 'a=b' }, 'FluxQueue.labels: must be an object (got "a=b")'],
  [{ pods: { controller: null } }, 'FluxQueue.pods.controller: must be an object (got null)'],
  [{ pods: { database: { env: 'TZ=UTC' } } }, 'FluxQueue.pods.database.env: must be a list (got "TZ=UTC")'],
  [{ pods: { controller: { affinity: 'x' } } }, 'FluxQueue.pods.controller.affinity: must be an object'],
  [{ pods: 'many' }, 'FluxQueue.pods: must be an object (got "many")'],
  [
    { pods: { controller: { securityContext: { privileged: true } } } },
    'FluxQueue.pods.controller.securityContext.privileged: is not a field of it in Kubernetes (got true)',
  ],
  [
    { pods: { controller: { tolerations: [{ key: 'a', effects: 'NoSchedule' }] } } },
    'FluxQueue.pods.controller.tolerations[0].effects: is not a field of it',
  ],
  [{ apiserverPorts: [443], networkPolicies: false }, 'FluxQueue.apiserverPorts: is for NetworkPolicies'],
])('the stack refuses %j', (props, message) => {
  expect(() => stackObjects(props as FluxQueueProps)).toThrow(message);
});

test('the stack has the right to prioritize also without MiniClusters, because Jobs have priorities', () => {
  const roles = (props: FluxQueueProps) =>
    stackObjects(props)
      .filter(({ kind }) => kind === 'ClusterRole')
      .map(({ metadata }) => metadata.name);
  expect(roles({ miniClusters: false })).toContain('fluxqueue-prioritize');
});

test.each<[object, string]>([
  [{ polcy: 'easy' }, 'FluxSetup.polcy: is not a prop (got "easy"); did you mean policy'],
  [{ policy: 'fair' }, 'FluxSetup.policy: must be one of: fcfs, easy, conservative, hybrid (got "fair")'],
  [{ reclaim: 'no' }, 'FluxSetup.reclaim: must be true or false'],
  [{ quota: { cores: 5 } }, 'FluxSetup.quota.cores: must be a Cpu (got 5); give Cpu.units(1)'],
  [{ quota: { memory: '1Gi' } }, 'FluxSetup.quota.memory: must be a Size (got "1Gi")'],
  [{ quota: 5 }, 'FluxSetup.quota: must be an object (got 5)'],
  [{ limits: { runing: 1 } }, 'FluxSetup.limits.runing: is not a prop (got 1); did you mean running'],
  [{ maxWalltime: '2d' }, 'FluxSetup.maxWalltime: must be a Duration (got "2d")'],
  [{ quota: { cores: Cpu.millis(Number.NaN) } }, 'FluxSetup.quota.cores: must be 0 or greater (got NaN);'],
])('a FluxSetup refuses %j', (props, message) => {
  expect(() => new FluxSetup(new Chart(new App(), 'test'), 'queue', props)).toThrow(message);
});

test('the package exports the error that its constructs throw, and no app of its own', () => {
  expect(Object.keys(constructs)).toContain('PropsError');
  expect(Object.keys(constructs)).not.toContain('defaultStack');
  const refused = () => new constructs.FluxQueue(new App(), 'stack', { runtimeImage: '' });
  expect(refused).toThrow(constructs.PropsError);
});

describe('a MiniCluster', () => {
  const make = (props: object) =>
    new MiniCluster(new Chart(new App(), 'c'), 'mc', { container: CONTAINER, ...props } as MiniClusterProps);
  const contained = (container: object) => make({ container: { ...CONTAINER, ...container } });

  test.each<[object, string]>([
    [{ cpu: -1 }, 'container.cpu: must be a number of 0 or more (got -1)'],
    [{ cpu: Number.NaN }, 'container.cpu: must be a number of 0 or more (got NaN)'],
    [{ cpu: 0.0001 }, 'container.cpu: must be whole thousandths of a core'],
    [{ cpu: 4, cpuLimit: 2 }, 'container.cpuLimit: is less than the request of 4 (got "2")'],
    [{ devices: { 'nvidia.com/gpu': -1 } }, 'container.devices'],
    [{ volumes: { data: 'claim' } }, 'container.volumes.data: must be a MiniClusterVolume (got "claim")'],
    [{ imagePullSecret: 'regcred' }, 'container.imagePullSecret: must be a Secret (got "regcred")'],
    [{ secrets: { A: { secret: 'b', key: 'c' } } }, 'container.secrets.A.secret: must be a Secret (got "b")'],
    [{ envFrom: [{ configmap: 'b' }] }, 'container.envFrom[0].configmap: is not a prop'],
    [{ securityContext: 'restricted' }, 'container.securityContext: must be an object (got "restricted")'],
    [{ comand: 'run' }, 'container.comand: is not a prop (got "run"); did you mean command'],
  ])('refuses a container with %j', (container, message) => {
    expect(() => contained(container)).toThrow(message);
  });

  test.each<[object, string]>([
    [{ container: undefined }, 'container: is required'],
    [{ walltime: Duration.seconds(0) }, 'walltime: must be greater than 0'],
    [{ scheduling: { priority: 1e12 } }, 'scheduling.priority: must be at most 2147483647'],
    [{ walltime: '2d' }, 'walltime: must be a Duration (got "2d")'],
    [{ container: { ...CONTAINER, memory: '1Gi' } }, 'container.memory: must be a Size (got "1Gi")'],
    [{ certificate: 'own' }, 'certificate: must be a Certificate (got "own"); give Certificate.ofCluster()'],
    [{ queue: 5 }, 'queue: must be a FluxSetup (got 5); give it, or its name'],
    [{ pod: { serviceAccount: 'robot' } }, 'pod.serviceAccount: must be a ServiceAccount (got "robot")'],
    [{ sise: 4 }, 'sise: is not a prop (got 4); did you mean size'],
    [{ flux: { optionFlag: '-o' } }, 'flux.optionFlag: is not a prop (got "-o"); did you mean optionFlags'],
    [{ sidecars: [{ name: 'a', image: 'b', port: [1] }] }, 'sidecars[0].port: is not a prop'],
  ])('refuses %j', (props, message) => {
    expect(() => make(props)).toThrow(message);
  });

  test.each<[string, (cluster: MiniCluster) => void, string]>([
    [
      'no volume',
      (it) => it.addVolume('d', undefined as never),
      'volumes.d: must be a MiniClusterVolume; give MiniClusterVolume.fromClaim',
    ],
    [
      'the name of a claim',
      (it) => it.addVolume('d', 'claim' as never),
      'volumes.d: must be a MiniClusterVolume',
    ],
    ['no value', (it) => it.addEnv('A', undefined as never), 'environment.A: must be a text or an EnvValue'],
    ['a number', (it) => it.addEnv('A', 5 as never), 'environment.A: must be a text or an EnvValue (got 5)'],
  ])('refuses %s that is added', (_, add, message) => {
    expect(() => add(make({}))).toThrow(message);
  });

  test('accepts fractions of a core', () => {
    expect(contained({ cpu: 0.1, cpuLimit: 0.3 }).resource.spec.containers[0]!.resources).toEqual({
      requests: { cpu: '100m' },
      limits: { cpu: '300m' },
    });
  });

  test('says each mistake once, without the list of its paths', () => {
    const refused = () => make({ size: 0, tasks: -1 });
    expect(refused).toThrow(/has 2 mistakes:/);
    expect(refused).not.toThrow(/\(got \["/);
  });
});
