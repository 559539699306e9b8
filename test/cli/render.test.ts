import { parseAllDocuments } from 'yaml';
import { renderMiniCluster } from '../../constructs/minicluster/index';
import { render } from '../../runtime/cli/render';
import { FluxqError } from '../../runtime/errors';
import { makeCertificate } from '../../runtime/miniclusters/curve';

const text = (spec: string, metadata = '{name: mc}', head = 'flux-framework.org/v1alpha2') =>
  `apiVersion: ${head}\nkind: MiniCluster\nmetadata: ${metadata}\nspec: ${spec}\n`;
const PLAIN = text('{containers: [{image: app, command: hostname}]}');
const run = (yaml: string, more: object = {}) => render({ text: yaml, source: 'mc.yaml', ...more });
const objects = (yaml: string) => parseAllDocuments(yaml).map((document) => document.toJS());

test('prints the manifests that the controller applies', () => {
  const spec = { containers: [{ image: 'app', command: 'hostname' }] };
  expect(objects(run(PLAIN).yaml)).toEqual(
    JSON.parse(JSON.stringify(renderMiniCluster({ metadata: { name: 'mc' }, spec }))),
  );
});

test('prefers the given namespace to that of the resource', () => {
  const own = text('{containers: [{}]}', '{name: mc, namespace: own}');
  const namespaces = (more: object) => [
    ...new Set(objects(run(own, more).yaml).map(({ metadata }) => metadata.namespace)),
  ];
  expect([namespaces({}), namespaces({ namespace: 'lab' })]).toEqual([['own'], ['lab']]);
});

test('reads several documents and skips empty ones', () => {
  const two = `---\n${PLAIN}---\n---\n${PLAIN.replace('name: mc', 'name: other')}`;
  expect(
    objects(run(two).yaml)
      .filter(({ kind }) => kind === 'Job')
      .map(({ metadata }) => metadata.name),
  ).toEqual(['mc', 'other']);
});

test('accepts fields that the apiserver added', () => {
  const live = `${text('{containers: [{image: app}]}', '{name: mc, uid: x, labels: {a: b}, managedFields: []}')}status: {phase: Running}\n`;
  expect(objects(run(live).yaml)).toHaveLength(4);
});

test('quotes strings so that readers of YAML 1.1 and 1.2 agree', () => {
  const values = [
    'yes',
    'on',
    'n',
    '1_000',
    '0o17',
    '-0o7',
    '017',
    '1e3',
    '~',
    '12:30',
    '0x1f',
    '.inf',
    'a: b',
    '#x',
    ' x ',
    '',
  ];
  const environment = Object.fromEntries(values.map((value, index) => [`V${index}`, value]));
  const { yaml } = run(text(`{containers: [{image: app, environment: ${JSON.stringify(environment)}}]}`));
  for (const version of ['1.1', '1.2'] as const) {
    const job = parseAllDocuments(yaml, { version })
      .map((document) => document.toJS())
      .at(-1);
    const { env } = job.spec.template.spec.containers[0];
    expect(env.map(({ value }: { value: unknown }) => value).sort()).toEqual([...values].sort());
  }
});

test('treats null like a field that is not set', () => {
  const nulls = text(
    '{containers: [{image: app, command: hostname, commands: {pre: null}}], flux: null, size: null}',
  );
  expect(run(nulls).yaml).toBe(run(PLAIN).yaml);
});

test('prints scripts as literal blocks', () => {
  expect(run(PLAIN).yaml).toContain('start.sh: |\n    #!/bin/sh\n');
  expect(run(PLAIN).yaml).not.toMatch(/[&*]a\d/);
});

test('notes the Secret that the pods wait for', () => {
  expect(run(PLAIN).notes).toEqual([expect.stringContaining('Secret mc-curve with the key curve.cert')]);
  expect(run(PLAIN, { keygen: {} }).notes).toEqual([]);
});

test('notes that a certificate in the resource is not printed', () => {
  const curveCert = makeCertificate({ name: 'mc', hostname: 'test', madeAt: new Date(0) });
  const { yaml, notes } = run(text(JSON.stringify({ containers: [{}], flux: { curveCert } })));
  expect(yaml).not.toContain('secret-key');
  expect(notes).toEqual([expect.stringContaining('spec.flux.curveCert is secret and not printed')]);
});

function failure(yaml: string): FluxqError {
  try {
    run(yaml);
  } catch (error) {
    if (error instanceof FluxqError) return error;
  }
  throw new Error('nothing was wrong with it');
}

test.each<[string, string, string]>([
  ['empty input', '', 'is empty'],
  ['only a comment', '# x\n', 'is empty'],
  ['invalid YAML', 'a: [', 'is not valid YAML: '],
  ['an alias of nothing', 'a: *b\n', 'is not valid YAML: Unresolved alias'],
  ['a text', 'hello', 'is not a MiniCluster'],
  ['a list', '- a\n', 'is not a MiniCluster'],
  ['another kind', 'apiVersion: v1\nkind: Pod\n', 'is not a MiniCluster (got "Pod")'],
  [
    'an old version',
    text('{}', '{name: a}', 'flux-framework.org/v1alpha1'),
    'must have apiVersion flux-framework.org/v1alpha2',
  ],
  ['no name', text('{containers: []}', '{}'), 'has no metadata.name'],
  ['no spec', text(''), 'has no spec'],
])('reports %s in one sentence', (_, yaml, what) => {
  const { code, message } = failure(yaml);
  expect(code).toBe('FLUXQ_RENDER_INPUT');
  expect(message).toContain(`FLUXQ_RENDER_INPUT: mc.yaml: ${what}`);
  expect(message).not.toContain('\n');
});

test('lists every problem of every MiniCluster', () => {
  const bad = `${text('{size: 4, maxSize: 2, containers: [{launcher: true, batch: true, command: x}]}')}---\n${text('{containers: [{prots: [1]}]}', '{name: other}')}`;
  const { code, message } = failure(bad);
  expect(code).toBe('FLUXQ_RENDER_SPEC');
  expect(message.split('\n').map((line) => line.trim().split(': ').slice(0, 2).join(': '))).toEqual([
    'FLUXQ_RENDER_SPEC: mc.yaml',
    'mc: spec.maxSize',
    'mc: spec.containers[0].launcher',
    'other: spec.containers[0].prots',
  ]);
});

test('lists an invalid certificate without its secret', () => {
  const { code, message } = failure(
    text('{size: 0, containers: [{}], flux: {curveCert: "curve\\n  secret-key = \\"TOP\\""}}'),
  );
  expect(code).toBe('FLUXQ_RENDER_SPEC');
  expect(message).toMatch(
    / {2}spec\.size: .*\n {2}spec\.flux\.curveCert: line 2 must have a key of 40 Z85 char/,
  );
  expect(message).not.toContain('TOP');
});
