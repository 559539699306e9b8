/** The chart of Helm: what `helm template` makes of it is what the constructs write for the same settings. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { App, Duration, Size } from 'cdk8s';
import { Secret } from 'cdk8s-plus-28';
import { parse, parseAllDocuments } from 'yaml';
import { Database, type FluxQueueProps } from '../../constructs/fluxqueue';
import { chartFiles } from '../../release/helm/chart';
import { type KubeObject, keyOf } from '../../release/helm/variants';
import { stackObjects } from '../constructs/manifests';
import { helm, helmProgram } from './helm';

const NODES = { nodeSelector: { pool: 'system' }, tolerations: [{ key: 'pool', operator: 'Exists' }] };
const AFFINITY = {
  nodeAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 1, preference: { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] } },
    ],
  },
};

/** Values and the props that mean the same. */
const CASES: Record<string, [values: object, props: FluxQueueProps]> = {
  'the defaults': [{}, {}],
  'another namespace with policies': [
    { namespace: 'batch', admission: 'policies' },
    { namespace: 'batch', admission: 'policies' },
  ],
  'both forms of admission': [{ admission: 'both' }, { admission: 'both' }],
  'settings of all pods and of the queue': [
    {
      images: {
        runtime: 'r.example/runtime:2',
        fluxion: 'r.example/fluxion:2',
        postgres: 'r.example/postgres:18',
        pullSecrets: [{ name: 'mirror' }],
      },
      pods: {
        controller: { replicas: 3, affinity: AFFINITY, ...NODES },
        fluxion: { resources: { limits: { memory: '8Gi' } } },
        webhook: { priorityClassName: 'system-cluster-critical' },
        database: { resources: { requests: { cpu: '1' } } },
      },
      database: { storage: '40Gi', storageClassName: 'fast' },
      logLevel: 'debug',
      queue: { name: 'night', policy: 'conservative', depth: 1000000, defaultWalltimeSeconds: 600 },
      fairShare: { enabled: true },
    },
    {
      runtimeImage: 'r.example/runtime:2',
      fluxionImage: 'r.example/fluxion:2',
      images: { pullSecrets: ['mirror'] },
      pods: {
        controller: { replicas: 3, affinity: AFFINITY, ...NODES },
        fluxion: { resources: { limits: { memory: '8Gi' } } },
        webhook: { priorityClassName: 'system-cluster-critical' },
        database: { resources: { requests: { cpu: '1' } } },
      },
      database: Database.statefulSet({
        image: 'r.example/postgres:18',
        storage: Size.gibibytes(40),
        storageClassName: 'fast',
      }),
      logLevel: 'debug',
      queueName: 'night',
      queuePolicy: 'conservative',
      queueDepth: 1000000,
      defaultWalltime: Duration.minutes(10),
      fairShare: true,
    },
  ],
  'an existing database, every namespace, metrics': [
    {
      database: { kind: 'secret', secret: { name: 'db', key: 'uri', port: 6432 } },
      clusterWide: true,
      monitoringNamespace: 'prometheus',
      queue: { enabled: false },
    },
    {
      database: Database.fromSecret(Secret.fromSecretName(new App(), 'db', 'db'), { key: 'uri', port: 6432 }),
      clusterWide: true,
      monitoringNamespace: 'prometheus',
      defaultQueue: false,
    },
  ],
  'the fewest objects, with an operated database': [
    {
      database: { kind: 'cloudNativePg', storage: '20Gi', storageClassName: 'fast' },
      admission: 'policies',
      clusterWide: true,
      miniClusters: false,
      networkPolicies: false,
      flowSchemas: false,
    },
    {
      database: Database.cloudNativePg({ storage: Size.gibibytes(20), storageClassName: 'fast' }),
      admission: 'policies',
      clusterWide: true,
      miniClusters: false,
      networkPolicies: false,
      flowSchemas: false,
    },
  ],
};

const byKey = (objects: readonly KubeObject[]) =>
  Object.fromEntries(objects.map((object) => [keyOf(object), object]));

const files = chartFiles();

test('is the same every time, and its values are those of its schema', () => {
  expect(chartFiles()).toEqual(files);
  const values = parse(files['values.yaml']!) as object;
  const { properties } = JSON.parse(files['values.schema.json']!) as { properties: object };
  expect(Object.keys(values)).toEqual(Object.keys(properties));
  const marks = Object.values(files).flatMap((text) => text.match(/^.*(@@|helm-mark|55555).*$/gm) ?? []);
  expect(marks).toEqual([]);
});

const isThere = helmProgram() !== undefined;
if (!isThere) process.stderr.write('skipped: helm template (npm run -s helm:tool builds Helm)\n');

(isThere ? describe : describe.skip)('with Helm', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'fluxqueue-chart-'));
    for (const [path, text] of Object.entries(files)) {
      const file = join(folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function template(values: object): KubeObject[] {
    const file = join(folder, 'given.json');
    writeFileSync(file, JSON.stringify(values));
    const text = helm(['template', 'stack', folder, '--values', file, '--kube-version', '1.37.1']);
    return parseAllDocuments(text).flatMap((document) => (document.toJSON() as KubeObject | null) ?? []);
  }

  test('has no problem that helm lint finds', () => {
    expect(helm(['lint', folder, '--strict'])).toContain('0 chart(s) failed');
  });

  test.each(Object.entries(CASES))('helm template writes the stack of synth for %s', (_, [values, props]) => {
    const made = template(values);
    const expected = stackObjects(props) as unknown as KubeObject[];
    expect(made.map(keyOf).sort()).toEqual(expected.map(keyOf).sort());
    expect(byKey(made)).toEqual(byKey(expected));
  });

  test('takes the values of docs/helm.md', () => {
    const page = readFileSync(join(__dirname, '../../docs/helm.md'), 'utf8');
    const [, values = ''] = /```yaml\n([\s\S]*?)```/.exec(page)!;
    const made = template(parse(values) as object);
    expect(JSON.stringify(made)).toContain('registry.example.org/mirror/cdk8s-fluxqueue:0.1.0');
    expect(made.map(({ kind }) => kind)).toContain('MutatingAdmissionPolicy');
  });

  test('can leave the namespace to others', () => {
    const made = template({ createNamespace: false });
    expect(made.map(({ kind }) => kind)).not.toContain('Namespace');
    expect(made).toHaveLength(stackObjects().length - 1);
  });

  test.each([
    [{ admission: 'sometimes' }, 'admission'],
    [{ replicas: 3 }, 'replicas'],
    [{ pods: { controller: { replicas: 0 } } }, 'replicas'],
    [{ namespace: 'yes' }, 'namespace'],
    [{ monitoringNamespace: 'm', networkPolicies: false }, 'monitoringNamespace requires networkPolicies'],
  ])('%j is refused', (values, message) => {
    expect(() => template(values)).toThrow(message);
  });
});
