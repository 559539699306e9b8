import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Validation, ValidationContext } from 'cdk8s-cli/plugins';
import { parse, stringify } from 'yaml';
import { FluxQueueValidation, type FluxQueueValidationProps } from '../../../constructs/validation';
import { LARGEST_STACK, stackObjects } from '../manifests';
import { BAD_PODS, RESTRICTED_POD } from './pods';

const DIGEST = `sha256:${'0'.repeat(64)}`;
const RESOURCES = { requests: { cpu: '1', memory: '1Gi' } };

const crd = parse(readFileSync(join(__dirname, '../../../constructs/crds/fluxsetups.yaml'), 'utf8')) as {
  spec: { versions: { schema: { openAPIV3Schema: { properties: { spec: FormSchema } } } }[] };
};
interface FormSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, FormSchema>>;
}
/** What constructs/validation/schema.ts reads, and what changes no answer of it. */
const FORMS = {
  types: ['object', 'string', 'integer', 'number', 'boolean'],
  keys: [
    ...['enum', 'pattern', 'minimum', 'maximum', 'minLength', 'maxLength', 'minProperties'],
    ...['x-kubernetes-int-or-string', 'x-kubernetes-validations'],
    ...['anyOf', 'default', 'description', 'format'],
  ],
};

/** Whatever of a schema is not in FORMS. */
function unknown({ properties = {}, type, ...schema }: FormSchema, path: string): string[] {
  return [
    ...Object.entries(properties).flatMap(([name, member]) => unknown(member, `${path}.${name}`)),
    ...[type ?? 'string'].filter((each) => !FORMS.types.includes(each)).map((each) => `${path}: ${each}`),
    ...Object.keys(schema)
      .filter((key) => !FORMS.keys.includes(key))
      .map((key) => `${path}: ${key}`),
  ];
}

describe('the plugin', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fluxqueue-validation-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** The report of cdk8s-cli for these objects, one file per list. */
  const validate = async (files: object[][], props: FluxQueueValidationProps = {}) => {
    const paths = files.map((objects, index) => {
      const path = join(folder, `${index}.yaml`);
      writeFileSync(path, objects.map((object) => stringify(object)).join('---\n'));
      return path;
    });
    const context = new ValidationContext(paths, 'cdk8s-fluxqueue', '0.1.0');
    const plugin: Validation = new FluxQueueValidation(props);
    await plugin.validate(context);
    return { ...context.report.toJson(), success: context.report.success, text: context.report.toString() };
  };
  const locations = async (object: object, props: FluxQueueValidationProps = {}) =>
    (await validate([[object]], props)).violations.map(
      ({ ruleName, violatingConstructs }) =>
        [ruleName, violatingConstructs.flatMap((each) => each.locations)] as const,
    );

  test.each([
    ['the defaults', {}],
    ['all options', LARGEST_STACK],
    ['an external runtime', { externalRuntime: {}, admission: 'policies' as const }],
  ])('accepts the stack with %s', async (_, props) => {
    const { violations, success } = await validate([stackObjects(props)]);
    expect(violations).toEqual([]);
    expect(success).toBe(true);
  });

  test('names rule, place and remedy in the report of the CLI', async () => {
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'db' },
      stringData: { password: 'x' },
    };
    const { success, text } = await validate([[secret]]);
    expect(success).toBe(false);
    expect(text).toContain('no-plaintext-secret');
    expect(text).toContain('Secret stringData.password: is a plain text');
    expect(text).toContain('How to fix: refer to a Secret that an external secret store');
    expect(text).not.toContain("'x'");
  });

  test('finds plain texts in variables, but no references', async () => {
    const env = [
      { name: 'DB_PASSWORD', value: 'x' },
      { name: 'DB_URL', value: 'postgres://me:secret@db/x' },
      { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'a', key: 'b' } } },
      { name: 'PLAIN_URL', value: 'postgres://me@db/x' },
      { name: 'TOKEN_FILE', value: '/run/token' },
    ];
    expect(await locations(RESTRICTED_POD({ container: { env } }))).toEqual([
      [
        'no-plaintext-secret',
        [
          'Pod spec.containers[0].env[0].value: DB_PASSWORD has a plain text',
          'Pod spec.containers[0].env[1].value: DB_URL has a plain text',
        ],
      ],
    ]);
  });

  test.each([
    ['app', 'has neither digest nor tag'],
    ['registry:5000/app', 'has neither digest nor tag'],
    ['app:latest', 'is latest'],
    [undefined, 'is missing'],
  ])('refuses the image %s', async (image, problem) => {
    const [violation] = await locations(RESTRICTED_POD({ container: { image } }));
    expect(violation).toEqual(['image-pinned', [expect.stringContaining(`containers[0].image: ${problem}`)]]);
  });

  test('accepts tags unless digests are required', async () => {
    const tagged = RESTRICTED_POD({ container: { image: 'registry:5000/app:1' } });
    expect(await locations(tagged)).toEqual([]);
    expect(await locations(tagged, { requireDigest: true })).toEqual([
      ['image-pinned', [expect.stringContaining('has no digest')]],
    ]);
    const exact = RESTRICTED_POD({ container: { image: `app@${DIGEST}` } });
    expect(await locations(exact, { requireDigest: true })).toEqual([]);
  });

  test('wants requests of every container, for which limits do, too', async () => {
    const initContainers = [{ ...RESTRICTED_POD().spec.containers[0], name: 'init', resources: {} }];
    expect(await locations(RESTRICTED_POD({ spec: { initContainers } }))).toEqual([
      [
        'requests-set',
        [
          'Pod spec.initContainers[0].resources.requests.cpu: is missing',
          'Pod spec.initContainers[0].resources.requests.memory: is missing',
        ],
      ],
    ]);
    const resources = { limits: RESOURCES.requests };
    expect(await locations(RESTRICTED_POD({ container: { resources } }))).toEqual([]);
  });

  test.each(Object.entries(BAD_PODS))('refuses a pod with %s', async (_, [parts, path]) => {
    const [violation] = await locations(RESTRICTED_POD(parts));
    expect(violation?.[0]).toBe('pod-security-restricted');
    expect(violation?.[1]).toEqual([expect.stringContaining(`Pod spec.${path}`)]);
  });

  test.each([
    ['Deployment', 'apps/v1', 'spec.template.spec'],
    ['CronJob', 'batch/v1', 'spec.jobTemplate.spec.template.spec'],
  ])('reads the pods of a %s', async (kind, apiVersion, path) => {
    const { spec } = RESTRICTED_POD({ spec: { hostNetwork: true } });
    const template = { spec };
    const outer = kind === 'CronJob' ? { jobTemplate: { spec: { template } } } : { template };
    expect(await locations({ apiVersion, kind, metadata: { name: 'x' }, spec: outer })).toEqual([
      ['pod-security-restricted', [`${kind} ${path}.hostNetwork: must not be true`]],
    ]);
  });

  test('refuses an object that is written twice, in any file, version or list', async () => {
    const map = (apiVersion: string, namespace?: string) => ({
      apiVersion,
      kind: 'ConfigMap',
      metadata: { name: 'a', ...(namespace === undefined ? {} : { namespace }) },
    });
    const list = { apiVersion: 'v1', kind: 'List', items: [map('v1')] };
    const { violations } = await validate([
      [map('v1'), map('v1', 'lab')],
      [list, null as never],
    ]);
    expect(violations).toHaveLength(1);
    expect(violations[0]).toMatchObject({
      ruleName: 'no-object-twice',
      violatingConstructs: [{ manifestPath: join(folder, '1.yaml') }],
    });
    const setup = (version: string) => ({ ...map(`flux-framework.org/${version}`), kind: 'Thing' });
    expect((await validate([[setup('v1alpha1'), setup('v1')]])).success).toBe(false);
  });

  const cluster = (spec: object, name = 'hello') => ({
    apiVersion: 'flux-framework.org/v1alpha2',
    kind: 'MiniCluster',
    metadata: { name, namespace: 'lab' },
    spec: { size: 2, containers: [{ image: 'app:1', command: 'hostname', resources: RESOURCES }], ...spec },
  });

  test('accepts a MiniCluster and refuses one that the apiserver refuses', async () => {
    expect(await locations(cluster({}))).toEqual([]);
    expect(await locations(cluster({ size: 0 }))).toEqual([
      ['minicluster', [expect.stringContaining('MiniCluster spec.size: must be at least 1')]],
    ]);
    const containers = [{ image: 'app', command: 'hostname', environment: { API_TOKEN: 'x' } }];
    expect((await locations(cluster({ containers }))).map(([rule]) => rule)).toEqual([
      'no-plaintext-secret',
      'image-pinned',
      'requests-set',
    ]);
  });

  test('refuses an object that a MiniCluster makes, too', async () => {
    const job = {
      ...RESTRICTED_POD(),
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'hello', namespace: 'lab' },
      spec: {},
    };
    const { violations } = await validate([[job, cluster({})]], { skip: ['image-pinned', 'requests-set'] });
    expect(violations.flatMap((each) => each.violatingConstructs.flatMap((one) => one.locations))).toEqual([
      'MiniCluster Job hello: is also an object of Job hello',
    ]);
  });

  test.each<[object, string]>([
    [{ policy: 'fifo' }, 'spec.policy: must be one of: fcfs, easy'],
    [{ depth: 0 }, 'spec.depth: must be from 1 to'],
    [{ polcy: 'easy' }, 'spec.polcy: is not a field'],
    [
      { maxWalltime: '2d' },
      'spec.maxWalltime: is not a field, but a prop of the construct; in YAML use spec.walltime.max',
    ],
    [
      { walltime: { max: '1 hour' } },
      'spec.walltime.max: must be a duration like "1h30m", "2d" or "1-12:00:00"',
    ],
    [{ walltime: { default: '1-0', max: '2:00:00' } }, 'is less than the default walltime'],
    [{ quota: {} }, 'spec.quota: must have at least one field'],
    [{ quota: { cores: 'many' } }, 'spec.quota.cores: must be a Kubernetes quantity'],
    [{ cohort: '' }, 'spec.cohort: must have from 1 to 63 characters'],
    [{ weight: '2' }, 'spec.weight: must be integer'],
    [{ backfillMaxWait: '2h' }, 'FluxSetup.backfillMaxWait: requires backfillOrder: shortestArea'],
    [{ reservations: 2 }, 'FluxSetup.reservations: requires policy: hybrid'],
    [{ borrowing: { cores: 4 } }, 'FluxSetup.borrowing: requires cohort'],
    [{ lendingLimit: { cores: 4 }, quota: { cores: 8 } }, 'FluxSetup.lendingLimit: requires cohort'],
    [
      { cohort: 'lab', lendingLimit: { gpus: 1 }, quota: { cores: 8 } },
      'FluxSetup.lendingLimit.gpus: requires quota.gpus',
    ],
    [
      { cohort: 'lab', lendingLimit: { memory: '9Gi' }, quota: { memory: '8Gi' } },
      'FluxSetup.lendingLimit.memory: must not be greater than quota.memory',
    ],
    [{ cohort: 'lab', reclaim: true }, 'FluxSetup.reclaim: requires quota'],
    [{ walltime: { default: '2h', max: '1h' } }, 'is less than the default walltime'],
    [{ priority: { min: 5, max: 1 } }, 'is greater than maxPriority'],
  ])('refuses a FluxSetup with %j', async (spec, problem) => {
    const setup = {
      apiVersion: 'flux-framework.org/v1alpha1',
      kind: 'FluxSetup',
      metadata: { name: 'default' },
      spec,
    };
    expect(await locations(setup)).toEqual([['fluxsetup', [expect.stringContaining(problem)]]]);
    expect(
      await locations({ ...setup, spec: { policy: 'hybrid', reservations: 2, quota: { cores: 4 } } }),
    ).toEqual([]);
  });

  test.each(['1e40', '.1e-9', '9E', '500n'])('takes a quota of %s, as the apiserver does', async (amount) => {
    const setup = {
      apiVersion: 'flux-framework.org/v1alpha1',
      kind: 'FluxSetup',
      metadata: { name: 'default' },
      spec: { cohort: 'lab', quota: { cores: amount, memory: amount }, lendingLimit: { cores: amount } },
    };
    expect(await locations(setup)).toEqual([]);
  });

  test('knows every form that the schema of FluxSetups has', () => {
    const [version] = crd.spec.versions;
    expect(unknown(version!.schema.openAPIV3Schema.properties.spec, 'spec')).toEqual([]);
  });

  test('skips rules everywhere or for one object', async () => {
    const pod = RESTRICTED_POD({ spec: { hostNetwork: true }, container: { image: 'app' } });
    const rulesOf = async (...skip: string[]) => (await locations(pod, { skip })).map(([rule]) => rule);
    expect(await rulesOf()).toEqual(['image-pinned', 'pod-security-restricted']);
    expect(await rulesOf('image-pinned')).toEqual(['pod-security-restricted']);
    expect(await rulesOf('pod-security-restricted:Pod/a*', 'image-pinned:Pod/app')).toEqual([]);
    expect(await rulesOf('image-pinned:Pod/b', 'image-pinned:Job/app')).toHaveLength(2);
  });

  test.each<[object, string]>([
    [{ skip: ['images'] }, 'with a rule of: no-plaintext-secret, image-pinned'],
    [{ ignore: [] }, 'FluxQueueValidation.ignore: is not a prop'],
  ])('refuses the properties %j', (props, problem) => {
    expect(() => new FluxQueueValidation(props)).toThrow(problem);
  });
});
