import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { App, Chart } from 'cdk8s';
import {
  Certificate,
  MiniCluster,
  type MiniClusterSpec,
  renderMiniCluster,
  validateMiniCluster,
} from '../../../../constructs/minicluster';
import { propPath } from '../../../../constructs/minicluster/prop-path';
import { FIELDS, type Field } from './index';
import { crdFields, table, writtenTable } from './table';

const CONTAINER = { image: 'app', command: 'run' };
const BASE: MiniClusterSpec = { size: 4, containers: [CONTAINER] };
const METADATA = { name: 'mc', namespace: 'lab' };

const specOf = ({ spec, container }: Field): MiniClusterSpec => ({
  ...BASE,
  ...spec,
  ...(container === undefined ? {} : { containers: [{ ...CONTAINER, ...container }] }),
});
const json = (spec: MiniClusterSpec) => JSON.stringify(renderMiniCluster({ metadata: METADATA, spec }));
const base = json(BASE);

test('every field of the CRD has a row, and every row a field', () => {
  expect(
    crdFields()
      .filter((path) => !path.startsWith('services[]'))
      .sort(),
  ).toEqual(FIELDS.map(({ path }) => path).sort());
});

test('docs/minicluster-fields.md is up to date', () => {
  expect(writtenTable()).toBe(table());
});

test('the tests that the table names exist', () => {
  for (const name of new Set(FIELDS.flatMap(({ more }) => more ?? [])))
    expect([name, existsSync(join(__dirname, '..', name))]).toEqual([name, true]);
});

/** Fields that remove something from the manifests. */
const REMOVES = new Map([
  ['network.disableAffinity', '"podAffinity"'],
  ['flux.container.disable', '"initContainers"'],
  ['flux.disableSocket', '-Slocal-uri'],
  ['flux.noWaitSocket', 'wait_socket=yes'],
]);
/** Fields that do not change the manifests. */
const WITHOUT_EFFECT = new Set(['cleanup', 'flux.curveCert']);

describe.each(FIELDS.map((field) => [field.path, field] as const))('%s', (path, field) => {
  const spec = specOf(field);

  test('is accepted', () => {
    expect(validateMiniCluster({ metadata: METADATA, spec })).toEqual([]);
  });

  test('has its effect on the manifests', () => {
    const removed = REMOVES.get(path);
    if (WITHOUT_EFFECT.has(path)) expect(json(spec)).toBe(base);
    else if (removed !== undefined)
      expect([base.includes(removed), json(spec).includes(removed)]).toEqual([true, false]);
    else {
      expect(json(spec)).toContain(field.shows);
      expect(base).not.toContain(field.shows);
    }
  });

  if (field.props !== undefined || field.containerProps !== undefined)
    test('gives the same spec and manifests as its prop', () => {
      const chart = new Chart(new App(), 'c', { namespace: 'lab' });
      const container = { ...CONTAINER, ...field.containerProps };
      // The resource has no field for a Job that makes the certificate.
      const certificate = Certificate.ofCluster();
      const cluster = new MiniCluster(chart, 'mc', { size: 4, container, certificate, ...field.props });
      expect(cluster.resource.spec).toEqual(spec);
      expect(chart.toJson()).toEqual(JSON.parse(json(spec)));
    });
});

/** Rows of several props. */
const SEVERAL = new Set([
  'containers[].runFlux',
  'containers[].resources',
  'flux.container.resources',
  'flux.curveCert',
]);

test.each(FIELDS.filter(({ path }) => !SEVERAL.has(path)).map(({ path, prop }) => [path, prop] as const))(
  'a mistake in %s is reported at the prop %s',
  (path, prop) => {
    const index = prop.startsWith('sidecars') ? 1 : 0;
    const field = `spec.${path.replace('containers[]', `containers[${index}]`).replace('{}', '.vol')}`;
    const expected = path.includes('{}')
      ? `${prop}.vol.${path.split('.').at(-1)}`
      : prop.replace('[]', '[0]');
    expect(propPath(field)).toBe(expected);
  },
);
