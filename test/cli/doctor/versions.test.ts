import { roleCommand } from '../../../constructs/images';
import { crdFindings, imageFindings, kubernetesFinding } from '../../../runtime/cli/doctor/versions';
import { metadata } from './objects';

test('an apiserver without validating policies is an error', () => {
  expect(kubernetesFinding({ gitVersion: 'v1.37.1', minor: '37' }).level).toBe('ok');
  expect(kubernetesFinding({ gitVersion: 'v1.30.4-gke.1', minor: '30+' }).level).toBe('ok');
  expect(kubernetesFinding({ gitVersion: 'v1.29.9', minor: '29' })).toMatchObject({
    level: 'error',
    remedy: 'upgrade the cluster to 1.30 or newer',
  });
});

const PROPERTIES = {
  spec: { properties: { weight: {}, queues: { items: { properties: { name: {} } } } } },
};

function definition(properties: object, version = 'v1') {
  const schema = { openAPIV3Schema: { properties: properties as never } };
  return {
    metadata: metadata('things.example.org'),
    spec: {
      group: 'example.org',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: version, served: true, schema }],
    },
    status: { conditions: [{ type: 'Established', status: 'True' as const }] },
  };
}

test('a CRD with the same fields is no finding', () => {
  expect(crdFindings(definition(PROPERTIES), definition(PROPERTIES))).toEqual([]);
});

test.each([
  ['a missing CRD', undefined, 'error', 'CustomResourceDefinition things.example.org is missing'],
  [
    'a CRD that is not established',
    { ...definition(PROPERTIES), status: { conditions: [] } },
    'error',
    'CustomResourceDefinition things.example.org is not established',
  ],
  ['another version', definition(PROPERTIES, 'v0'), 'error', 'things.example.org does not serve v1'],
  [
    'missing fields, also in lists',
    definition({ spec: { properties: { queues: { items: {} } } } }),
    'error',
    'things.example.org lacks fields of this version: spec.weight, spec.queues[].name',
  ],
  [
    'fields of a later version',
    definition({ ...PROPERTIES, later: {} }),
    'warning',
    'things.example.org has fields that this version does not know: later',
  ],
])('%s is a finding', (_, crd, level, message) => {
  expect(crdFindings(definition(PROPERTIES), crd)).toEqual([{ level, message, remedy: expect.any(String) }]);
});

const deployment = (name: string, image: string, command = roleCommand(name)) => ({
  metadata: metadata(name),
  spec: { template: { spec: { containers: [{ name, image, command }] } } },
});

test('images of one version, as this program, are ok', () => {
  const both = [
    deployment('controller', 'registry:5000/fluxqueue:0.1.0@sha256:ab'),
    deployment('webhook', 'registry:5000/fluxqueue:0.1.0'),
    deployment('database', 'postgres:18.6', ['sh']),
  ];
  expect(imageFindings(both, '0.1.0')).toMatchObject([{ level: 'ok' }]);
  expect(imageFindings(both, '0.2.0')).toMatchObject([
    { level: 'warning', message: 'the stack is version 0.1.0, this program 0.2.0' },
  ]);
});

test('several versions are a warning, and a tag that is no version is not compared', () => {
  const mixed = [deployment('controller', 'fluxqueue:0.1.0'), deployment('webhook', 'fluxqueue:0.2.0')];
  expect(imageFindings(mixed, '0.1.0')).toMatchObject([
    {
      level: 'warning',
      message:
        'the programs of the stack have several versions: controller/controller 0.1.0, webhook/webhook 0.2.0',
    },
  ]);
  expect(imageFindings([deployment('controller', 'registry:5000/fluxqueue')], '0.1.0')).toEqual([
    { level: 'ok', message: 'all programs of the stack have one image, whose tag names no version: latest' },
  ]);
});
