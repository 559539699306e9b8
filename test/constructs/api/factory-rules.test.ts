/** What factories and constructs of GitOps say of a wrong argument, in the words that a user reads. wrong-values tries all others. */
import { App, Chart, Duration, Lazy, Size } from 'cdk8s';
import { Secret } from 'cdk8s-plus-28';
import {
  ArgoCdApplicationSet,
  BackupTarget,
  Certificate,
  Database,
  FluxCdKustomization,
  FluxQueue,
  FluxSetup,
  MiniCluster,
  MiniClusterVolume,
  PropsError,
  WebhookCertificate,
} from '../../../constructs';
import { stackObjects } from '../manifests';

const secret = new Secret(new Chart(new App(), 'app'), 'credentials', { stringData: { password: 'hidden' } });

const NO_SECRET = 'give one of your program, or Secret.fromSecretName(…)';

test.each<[string, () => unknown]>([
  [
    'MiniClusterVolume.fromClaim.claim: must be a PersistentVolumeClaim (got "data"); give one of your program, or PersistentVolumeClaim.fromClaimName(…)',
    () => MiniClusterVolume.fromClaim('data' as never, '/data'),
  ],
  [
    'MiniClusterVolume.fromClaim.claim: must be a PersistentVolumeClaim (got Secret app/credentials)',
    () => MiniClusterVolume.fromClaim(secret as never, '/data'),
  ],
  [
    `MiniClusterVolume.fromSecret.secret: must be a Secret (got "token"); ${NO_SECRET}`,
    () => MiniClusterVolume.fromSecret('token' as never, '/data'),
  ],
  [
    'MiniClusterVolume.fromConfigMap.path: is required',
    () => MiniClusterVolume.fromConfigMap({ name: 'map' } as never, undefined as never),
  ],
  [
    'MiniClusterVolume.emptyDir.sizeLimit: must be a Size (got "1Gi"); give Size.gibibytes(1)',
    () => MiniClusterVolume.emptyDir({ sizeLimit: '1Gi' as never }),
  ],
  [
    `MiniClusterVolume.fromCsi.options.secret: must be a Secret (got "token"); ${NO_SECRET}`,
    () => MiniClusterVolume.fromCsi('csi.example.org', '/data', { secret: 'token' as never }),
  ],
  [
    'MiniClusterVolume.fromNfs.options.readonly: is not a prop (got true); did you mean readOnly',
    () => MiniClusterVolume.fromNfs('nfs', '/export', '/data', { readonly: true } as never),
  ],
  [
    `Certificate.fromSecret.secret: must be a Secret (got "x"); ${NO_SECRET}`,
    () => Certificate.fromSecret('x' as never),
  ],
  [
    'Certificate.fromKeygen.imge: is not a prop (got "a"); did you mean image',
    () => Certificate.fromKeygen({ imge: 'a' } as never),
  ],
  [
    'Database.statefulSet.strage: is not a prop (got "10Gi"); did you mean storage',
    () => Database.statefulSet({ strage: '10Gi' } as never),
  ],
  [
    'Database.statefulSet.storage: must be a Size (got "10Gi")',
    () => Database.statefulSet({ storage: '10Gi' as never }),
  ],
  ['Database.statefulSet.image: must be a text', () => Database.statefulSet({ image: 5 as never })],
  ['Database.statefulSet props: must be an object (got null)', () => Database.statefulSet(null as never)],
  [
    'Database.statefulSet.backup.targt: is not a prop (got {}); did you mean target',
    () => Database.statefulSet({ backup: { targt: {} } as never }),
  ],
  [
    'Database.statefulSet.backup.target: must be a BackupTarget (got Secret app/credentials)',
    () => Database.statefulSet({ backup: { target: secret as never } }),
  ],
  [
    'BackupTarget.volume.storage: must be a Size (got "1Gi")',
    () => BackupTarget.volume({ storage: '1Gi' as never }),
  ],
  [
    'BackupTarget.s3.credentials: is required',
    () => BackupTarget.s3({ endpoint: 'https://s3.example.org', bucket: 'dumps' } as never),
  ],
  [
    'Database.cloudNativePg.resources.limit: is not a prop (got {}); did you mean limits',
    () => Database.cloudNativePg({ resources: { limit: {} } as never }),
  ],
  [
    'Database.fromSecret.props.owner.runtimeRole: is required; give a text',
    () => Database.fromSecret({ name: 'db' } as never, { owner: { secret: { name: 'owner' } } as never }),
  ],
  [
    'WebhookCertificate.certManager.issuer.name: is required',
    () => WebhookCertificate.certManager({ issuer: {} as never }),
  ],
  [
    'FluxSetup.fromFluxSetupName: does not match the required pattern',
    () => FluxSetup.fromFluxSetupName(null as never),
  ],
  [
    'FluxCdKustomization.dependsOn: must be a list (got "stack")',
    () =>
      new FluxCdKustomization(new Chart(new App(), 'test'), 'team', {
        path: './dist',
        dependsOn: 'stack' as never,
      }),
  ],
  [
    'ArgoCdApplicationSet.each.folders: is required',
    () =>
      new ArgoCdApplicationSet(new Chart(new App(), 'test'), 'teams', { repository: 'a', each: {} as never }),
  ],
])('%s', (message, make) => {
  expect(make).toThrow(PropsError);
  expect(make).toThrow(`FLUXQ_PROPS_INVALID: ${message}`);
});

test.each<[string, object]>([
  [
    'database: must be a Database (got Secret app/credentials); give Database.statefulSet()',
    { database: secret },
  ],
  ['namespace: must be a text (got Secret app/credentials)', { namespace: secret }],
  ['images: must be an object (got Secret app/credentials)', { images: secret }],
  ['cluster: must be a text without blanks at its ends (got Symbol(north))', { cluster: Symbol('north') }],
  [
    'runtimeImage: must be a text without blanks at its ends (got the function image)',
    { runtimeImage: function image() {} },
  ],
  ['labels: must be an object (got Map)', { labels: new Map() }],
  ['queueQuota.cores: must be a Cpu (got Duration)', { queueQuota: { cores: Duration.hours(1) } }],
  ['queueQuota.cores: must be a Cpu (got Size)', { queueQuota: { cores: Size.gibibytes(1) } }],
  ['priorityWeights.age: must be a number (got null)', { priorityWeights: { age: null } }],
  ['userMaxPriority: must be a number (got null)', { userMaxPriority: null }],
  ['apiserverPorts: must not be empty (got [])', { apiserverPorts: [] }],
  ['externalRuntime.reader.port: is required', { externalRuntime: { reader: { host: 'localhost' } } }],
  ['labels["a"]: is not the value of a label (got 5)', { labels: { a: 5 } }],
  ['annotations["a"]: is not the value of an annotation (got null)', { annotations: { a: null } }],
  [
    'maxWalltime: must be a whole number of seconds, 1 or more (got "7200.5 s")',
    { maxWalltime: Duration.millis(7_200_500) },
  ],
  ['pods.controller.args: must be a list (got "--x")', { pods: { controller: { args: '--x' } } }],
  ['pods.controller.args[0]: must be a text (got 5)', { pods: { controller: { args: [5] } } }],
  [
    'pods.controller.imagePullSecrets: must be a list',
    { pods: { controller: { imagePullSecrets: 'mirror' } } },
  ],
  ['pods.controller.nodeSelector: must be an object', { pods: { controller: { nodeSelector: 'a=b' } } }],
  [
    'pods.controller.labels["a"]: is not the value of a label',
    { pods: { controller: { labels: { a: {} } } } },
  ],
  ['pods.controller.resources: must be an object (got null)', { pods: { controller: { resources: null } } }],
  [
    'pods.controller.resources.reqests: is not a prop (got {}); did you mean requests',
    { pods: { controller: { resources: { reqests: {} } } } },
  ],
  [
    'pods.controller.probes.strtup: is not a prop (got {}); did you mean startup',
    { pods: { controller: { probes: { strtup: {} } } } },
  ],
  [
    'pods.controller.probes.liveness.httpGet: is not a prop (got {})',
    { pods: { controller: { probes: { liveness: { httpGet: {} } } } } },
  ],
  [
    'pods.controller.env[0].valueFrom.secretKeyRef.key: is required',
    { pods: { controller: { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'a' } } }] } } },
  ],
])('FluxQueue.%s', (message, props) => {
  expect(() => stackObjects(props)).toThrow(`FLUXQ_PROPS_INVALID: FluxQueue.${message}`);
});

test('a wrong value beside lazy ones is refused at once', () => {
  const labels = { team: Lazy.any({ produce: () => 'hpc' }) as string };
  const make = () => new FluxQueue(new App(), 'stack', { labels, database: secret as never });
  expect(make).toThrow('FluxQueue.database: must be a Database (got Secret app/credentials)');
});

test('a value that refers to itself is refused as well', () => {
  const circle: { a?: object } = {};
  circle.a = circle;
  expect(() => new FluxQueue(new App(), 'stack', { labels: circle as never })).toThrow(
    'FluxQueue.labels["a"]: is not the value of a label (got an object that cannot be shown)',
  );
});

describe('a MiniCluster', () => {
  const make = (container: object) =>
    new MiniCluster(new Chart(new App(), 'c'), 'mc', {
      container: { image: 'app', command: 'run', ...container },
    });

  test.each<[string, object]>([
    ['container.claims: must be a list (got "gpu")', { claims: 'gpu' }],
    ['container.secrets.A.secret: is required', { secrets: { A: {} } }],
    ['container.environment[""]: is not the name of an environment variable', { environment: { '': 'x' } }],
    ['container.image: must be a string (got Secret app/credentials)', { image: secret }],
    ['container.livenessProbe: must be an object (got Secret app/credentials)', { livenessProbe: secret }],
    ['container.imagePullSecret: must be a Secret (got MiniCluster', { imagePullSecret: make({}) }],
  ])('says %s', (message, container) => {
    expect(() => make(container)).toThrow(message);
    expect(() => make(container)).not.toThrow('hidden');
  });

  test.each<[string, (cluster: MiniCluster) => void]>([
    [
      'container.environment: is not the name of an environment variable (got "")',
      (it) => it.addEnv('', 'x'),
    ],
    [
      'container.environment: is not the name of an environment variable (got "A=B")',
      (it) => it.addEnv('A=B', 'x'),
    ],
    ['container.volumes: must be a text', (it) => it.addVolume(null as never, MiniClusterVolume.emptyDir())],
    [
      'environment.A: must be a text or an EnvValue (got Secret app/credentials)',
      (it) => it.addEnv('A', secret as never),
    ],
  ])('says %s of what is added', (message, add) => {
    expect(() => add(make({}))).toThrow(message);
  });
});
