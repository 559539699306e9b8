/** Containers, volumes and environment variables that are added after a MiniCluster was created. */
import { ApiObject, App, Chart, JsonPatch, Testing, Yaml } from 'cdk8s';
import { EnvFieldPaths, EnvValue, Secret } from 'cdk8s-plus-28';
import { PropsError } from '../../../constructs/api/errors';
import {
  Certificate,
  MiniCluster,
  type MiniClusterProps,
  MiniClusterVolume,
} from '../../../constructs/minicluster';

const CONTAINER = { image: 'app', command: 'run' };
const METRICS = { image: 'exporter', name: 'metrics', command: 'export', ports: [9100] };
const DATABASE = { image: 'redis', name: 'db', ports: [6379] };
const SCRATCH = MiniClusterVolume.fromHostPath('/mnt/nvme', '/scratch');

/** The YAML of a program that creates a MiniCluster and then changes it. */
function written(
  props: Partial<MiniClusterProps>,
  change: (cluster: MiniCluster) => void = () => {},
): string {
  const chart = new Chart(new App(), 'c', { namespace: 'lab', labels: { team: 'physics' } });
  change(new MiniCluster(chart, 'mc', { size: 4, container: CONTAINER, ...props }));
  return Yaml.stringify(...chart.toJson());
}

function failureOf(change: () => void): PropsError {
  try {
    change();
  } catch (error) {
    if (error instanceof PropsError) return error;
  }
  throw new Error('no PropsError');
}

test('sidecars and services can be added, with the same bytes as in the props', () => {
  const added = written({}, (cluster) => {
    cluster.addSidecar(METRICS);
    cluster.addService(DATABASE);
  });
  expect(added).toBe(written({ sidecars: [METRICS], services: [DATABASE] }));
});

test('the workload is written last, whatever is added after it was created', () => {
  const chart = new Chart(new App(), 'c');
  const certificate = Certificate.ofCluster();
  const cluster = new MiniCluster(chart, 'mc', { container: CONTAINER, certificate });
  cluster.addService(DATABASE);
  cluster.addSidecar(METRICS);
  const objects = Testing.synth(chart).map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  expect(new Set(objects)).toEqual(
    new Set([
      'ConfigMap/mc-config',
      'ConfigMap/mc-entrypoint',
      'Service/mc',
      'Service/mc-db',
      'Deployment/mc-services',
      'Service/mc-metrics',
      'Job/mc',
    ]),
  );
  expect(objects.at(-1)).toBe('Job/mc');
});

test('volumes can be added to every container, with the same bytes as in the props', () => {
  const volumes = { scratch: SCRATCH };
  const added = written({ sidecars: [METRICS], services: [DATABASE] }, (cluster) => {
    cluster.addVolume('scratch', SCRATCH);
    cluster.sidecars[0]!.addVolume('scratch', SCRATCH);
    cluster.services[0]!.addVolume('scratch', SCRATCH);
    expect(Object.keys(cluster.container.volumes)).toEqual(['scratch']);
  });
  expect(added).toBe(
    written({
      container: { ...CONTAINER, volumes },
      sidecars: [{ ...METRICS, volumes }],
      services: [{ ...DATABASE, volumes }],
    }),
  );
});

test('environment variables can be added as texts and from other sources', () => {
  const chart = new Chart(new App(), 'c');
  const secret = Secret.fromSecretName(chart, 'secret', 'vault');
  const cluster = new MiniCluster(chart, 'mc', { container: CONTAINER });
  cluster.addEnv('OMP_NUM_THREADS', '4');
  cluster.addEnv('LEVEL', EnvValue.fromValue('debug'));
  cluster.addEnv('TOKEN', EnvValue.fromSecretValue({ secret, key: 'token' }));
  cluster.addSidecar(METRICS).addEnv('IP', EnvValue.fromFieldRef(EnvFieldPaths.POD_IP));
  expect(cluster.resource.spec.containers).toMatchObject([
    {
      environment: { OMP_NUM_THREADS: '4', LEVEL: 'debug' },
      env: [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'vault', key: 'token' } } }],
    },
    { env: [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }] },
  ]);
});

test('additions change the resource of a live MiniCluster', () => {
  const chart = new Chart(new App(), 'c');
  new MiniCluster(chart, 'mc', { live: true, container: CONTAINER }).addSidecar(METRICS);
  const [resource] = Testing.synth(chart);
  expect(resource.spec.containers.map(({ name }: { name?: string }) => name)).toEqual([undefined, 'metrics']);
});

test('labels and patches that objects have stay when something is added', () => {
  const chart = new Chart(new App(), 'c');
  const cluster = new MiniCluster(chart, 'mc', { container: CONTAINER });
  const job = cluster.node.findAll().filter(ApiObject.isApiObject).at(-1)!;
  job.metadata.addLabel('team', 'physics');
  job.addJsonPatch(JsonPatch.replace('/spec/backoffLimit', 7));
  cluster.addEnv('A', 'b');
  expect(Testing.synth(chart).at(-1)).toMatchObject({
    metadata: { labels: { team: 'physics' } },
    spec: {
      backoffLimit: 7,
      template: { spec: { containers: [{ env: [{ name: 'A', value: 'b' }] }] } },
    },
  });
});

test('an addition that conflicts with the MiniCluster is refused at its prop and changes nothing', () => {
  const chart = new Chart(new App(), 'c');
  const cluster = new MiniCluster(chart, 'mc', { container: CONTAINER });
  cluster.addVolume('data', SCRATCH);
  const before = Yaml.stringify(...chart.toJson());
  const { sidecars } = cluster.resource.spec as { sidecars?: unknown };
  const claimedTwice = MiniClusterVolume.emptyDir({ path: '/scratch' });
  expect(failureOf(() => cluster.addSidecar({ image: 'x' })).message).toContain(
    'sidecars[0].name: is required for a sidecar',
  );
  expect(failureOf(() => cluster.addVolume('other', claimedTwice)).message).toContain(
    'container.volumes.other.path: is the mount path of volume data too',
  );
  expect(failureOf(() => cluster.addVolume('data', claimedTwice)).field).toBe(
    'MiniCluster c/mc: container.volumes.data',
  );
  expect(sidecars).toBeUndefined();
  expect(Yaml.stringify(...chart.toJson())).toBe(before);
});

test('an environment variable can be set once only, whichever prop has it', () => {
  const secret = Secret.fromSecretName(new Chart(new App(), 'test'), 'secret', 'vault');
  const cluster = new MiniCluster(new Chart(new App(), 'c'), 'mc', {
    container: {
      ...CONTAINER,
      environment: { A: '1' },
      secrets: { B: { secret, key: 'b' } },
      env: [{ name: 'C', value: '1' }],
    },
  });
  for (const name of ['A', 'B', 'C'])
    expect(failureOf(() => cluster.addEnv(name, '2'))).toMatchObject({
      field: `MiniCluster c/mc: container.environment.${name}`,
      remedy: 'set the variable once',
    });
});
