/** What somebody with `edit` in one namespace can do to the reader with a WhatIf: its object has not passed the apiserver. */
import { FluxqError } from '../../../runtime/errors';
import type { WhatIf } from '../../../runtime/reader/kinds';
import { cpuSecondsOf } from '../../cpu-time';
import { SimulatedReader } from './simulated-reader';

const container = (more: object = {}) => ({ name: 'main', image: 'none', ...more });
const job = (spec: object = {}, pod: object = {}, metadata: object = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'asked', ...metadata },
  spec: { ...spec, template: { spec: { restartPolicy: 'Never', containers: [container()], ...pod } } },
});
const miniCluster = (spec: object) => ({
  apiVersion: 'flux-framework.org/v1alpha2',
  kind: 'MiniCluster',
  metadata: { name: 'asked' },
  spec: { containers: [{ image: 'none', command: 'true' }], ...spec },
});

let world: SimulatedReader;
beforeAll(async () => {
  world = new SimulatedReader();
  await world.controller.start();
});
afterAll(() => world.close());

const ask = (object: unknown, spec: object = {}) =>
  world.ask<WhatIf>('whatifs', { namespace: 'science', body: { spec: { object, ...spec } } });

/** Values that no field of a manifest has. */
const WRONG: readonly unknown[] = [null, 7, -1, 1e300, 'x', true, [], [null], {}, { a: null }, [[]], ['x']];

const FIELDS: readonly [string, (value: unknown) => object][] = [
  ...['parallelism', 'completions', 'completionMode', 'activeDeadlineSeconds', 'suspend', 'template'].map(
    (field): [string, (value: unknown) => object] => [
      `Job ${field}`,
      (value) => ({ ...job(), spec: { ...job().spec, [field]: value } }),
    ],
  ),
  ...[
    'containers',
    'initContainers',
    'volumes',
    'tolerations',
    'affinity',
    'nodeSelector',
    'topologySpreadConstraints',
    'resourceClaims',
    'schedulingGates',
    'priorityClassName',
    'runtimeClassName',
    'overhead',
    'resources',
    'restartPolicy',
  ].map((field): [string, (value: unknown) => object] => [
    `pod ${field}`,
    (value) => job({}, { [field]: value }),
  ]),
  ...['resources', 'ports', 'env', 'restartPolicy', 'name'].map(
    (field): [string, (value: unknown) => object] => [
      `container ${field}`,
      (value) => job({}, { containers: [container({ [field]: value })] }),
    ],
  ),
  ['requests', (value) => job({}, { containers: [container({ resources: { requests: value } })] })],
  ['cpu', (value) => job({}, { containers: [container({ resources: { requests: { cpu: value } } })] })],
  ['ownerReferences', (ownerReferences) => job({}, {}, { ownerReferences })],
  ['labels of the template', (labels) => job({ template: { metadata: { labels } } })],
  ...['size', 'maxSize', 'tasks', 'containers', 'flux', 'pod', 'network', 'services', 'logging'].map(
    (field): [string, (value: unknown) => object] => [
      `MiniCluster ${field}`,
      (value) => miniCluster({ [field]: value }),
    ],
  ),
  ['MiniCluster resources', (resources) => miniCluster({ containers: [{ image: 'none', resources }] })],
  ['MiniCluster volumes', (volumes) => miniCluster({ containers: [{ image: 'none', volumes }] })],
];

test.each(FIELDS)('%s of a wrong form has an answer, or one sentence', async (_, make) => {
  const others: unknown[] = [];
  for (const value of WRONG)
    await ask(make(value)).catch((error: unknown) => {
      if (!(error instanceof FluxqError)) others.push([value, error]);
    });
  expect(others).toEqual([]);
});

const many = (count: number, of: (i: number) => unknown) => Array.from({ length: count }, (_, i) => of(i));
const text = (length: number, part = 'a') => part.repeat(length / part.length);
const LARGE: readonly [string, () => [object, object?]][] = [
  ['a billion pods', () => [job({ parallelism: 1e9, completions: 1e9, completionMode: 'Indexed' })]],
  ['two billion ranks', () => [miniCluster({ size: 2e9 })]],
  ['a million ranks', () => [miniCluster({ size: 1e6, maxSize: 1e6 })]],
  ['a thousand ranks', () => [miniCluster({ size: 1000 })]],
  ['10,000 nodes more', () => [job(), { moreNodes: 10_000 }]],
  ['10,000 containers', () => [job({}, { containers: many(10_000, (i) => container({ name: `c${i}` })) })]],
  [
    '10,000 containers of a MiniCluster',
    () => [miniCluster({ containers: many(10_000, () => ({ image: 'none' })) })],
  ],
  [
    '20,000 tolerations',
    () => [job({}, { tolerations: many(20_000, (i) => ({ key: `k${i}`, operator: 'Exists' })) })],
  ],
  [
    '20,000 labels',
    () => [
      job(
        {},
        { nodeSelector: Object.fromEntries(many(20_000, (i) => [`k${i}`, 'v']) as [string, string][]) },
      ),
    ],
  ],
  [
    'terms of affinity',
    () => [
      job(
        {},
        {
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: many(5_000, (i) => ({
                  matchExpressions: [{ key: `k${i}`, operator: 'In', values: ['a', 'b'] }],
                })),
              },
            },
          },
        },
      ),
    ],
  ],
  [
    'anti-affinity',
    () => [
      job(
        {},
        {
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: many(5_000, (i) => ({
                topologyKey: `k${i}`,
                labelSelector: { matchLabels: { a: 'b' } },
              })),
            },
          },
        },
      ),
    ],
  ],
  [
    '10,000 spreads',
    () => [
      job(
        {},
        {
          topologySpreadConstraints: many(10_000, (i) => ({
            topologyKey: `k${i}`,
            maxSkew: 1,
            whenUnsatisfiable: 'DoNotSchedule',
          })),
        },
      ),
    ],
  ],
  [
    '10,000 resources',
    () => [
      job(
        {},
        {
          containers: [
            container({
              resources: {
                requests: Object.fromEntries(
                  many(10_000, (i) => [`example.com/r${i}`, '1']) as [string, string][],
                ),
              },
            }),
          ],
        },
      ),
    ],
  ],
  [
    '10,000 dependencies',
    () => [job({}, {}, { annotations: { 'fluxqueue/after': many(10_000, (i) => `j${i}`).join(',') } })],
  ],
  ['a long image', () => [miniCluster({ containers: [{ image: text(900_000), command: text(100_000) }] })]],
  [
    'spaces in an image',
    () => [miniCluster({ containers: [{ image: text(500_000, ' '), command: text(100_000, ' \\') }] })],
  ],
  [
    'a long walltime',
    () => [job({}, {}, { annotations: { 'fluxqueue/walltime': `${text(900_000, '1')}x` } })],
  ],
  [
    'a long cpu',
    () => [
      job({}, { containers: [container({ resources: { requests: { cpu: `${text(900_000, '1')}!` } } })] }),
    ],
  ],
  ['a long name', () => [job({}, {}, { name: `${text(900_000, 'a-')}!` })]],
  ['a long queue', () => [job({}, {}, { annotations: { 'fluxqueue/queue': `${text(900_000, 'a.')}!` } })]],
];
test.each(LARGE)('%s cost little, and are answered with one short sentence', async (_, make) => {
  const [object, spec] = make();
  let message = '';
  const seconds = await cpuSecondsOf(async () => {
    message = await ask(object, spec).then(
      ({ status }) => status!.message,
      (error: FluxqError) => error.message,
    );
  });
  expect(message.length).toBeLessThan(2_000);
  expect(seconds).toBeLessThan(2);
});

test('keys that every object has are names like others', async () => {
  const keys = JSON.parse('{"__proto__":"1","constructor":"1","toString":"1"}') as object;
  const object = job({}, { nodeSelector: keys }, { labels: keys, annotations: keys });
  expect((await ask(object)).status?.message).toContain('constructor');
  const resources = { requests: { ...keys, cpu: '1' } };
  expect((await ask(job({}, { containers: [container({ resources })] }))).status?.start).toBeUndefined();
});

test('one user asks once at a time', async () => {
  const asked = (username: string) =>
    world.begin<WhatIf>('whatifs', {
      namespace: 'science',
      reader: { username, groups: [], extra: {} },
      body: { spec: { object: job() } },
    });
  const answers = [asked('ada'), asked('bob')];
  await expect(asked('ada')).rejects.toMatchObject({ status: 429 });
  for (const answer of answers)
    expect((await world.controller.clock.until(answer)).status?.message).toBe('it would start at once');
  expect((await ask(job())).status?.message).toBe('it would start at once');
});
