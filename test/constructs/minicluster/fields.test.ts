/** Every field of the CRD has a prop and an effect. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { App, Chart } from 'cdk8s';
import {
  validateMiniCluster,
  MiniCluster,
  type MiniClusterSpec,
  renderMiniCluster,
} from '../../../constructs/minicluster';
import { crdFields, table, written } from './field-table';
import { FIELDS, type Field } from './fields';

const RUNNER = { image: 'app', command: 'run' };
const BASE: MiniClusterSpec = { size: 4, containers: [RUNNER] };
const METADATA = { name: 'mc', namespace: 'lab' };

const specOf = ({ spec, container }: Field): MiniClusterSpec => ({
  ...BASE,
  ...spec,
  ...(container === undefined ? {} : { containers: [{ ...RUNNER, ...container }] }),
});
const json = (spec: MiniClusterSpec) => JSON.stringify(renderMiniCluster({ metadata: METADATA, spec }));
const base = json(BASE);

test('no field of the CRD is without a row, no row without a field', () => {
  expect(
    crdFields()
      .filter((path) => !path.startsWith('services[]'))
      .sort(),
  ).toEqual(FIELDS.map(({ path }) => path).sort());
});

test('the table in docs is what fields.ts says', () => {
  expect(written()).toBe(table());
});

test('the tests it names exist', () => {
  for (const name of new Set(FIELDS.flatMap(({ more }) => more ?? [])))
    expect([name, existsSync(join(__dirname, name))]).toEqual([name, true]);
});

/** Fields whose effect is that something is gone, or is not in manifests at all. */
const GONE = new Map([
  ['network.disableAffinity', '"podAffinity"'],
  ['flux.container.disable', '"initContainers"'],
  ['flux.disableSocket', '-Slocal-uri'],
  ['flux.noWaitSocket', 'wait_socket=yes'],
]);
const INVISIBLE = new Set(['cleanup', 'flux.curveCert']);

describe.each(FIELDS.map((field) => [field.path, field] as const))('%s', (path, field) => {
  const spec = specOf(field);

  test('is accepted', () => {
    expect(validateMiniCluster({ metadata: METADATA, spec })).toEqual([]);
  });

  test('has its effect', () => {
    const gone = GONE.get(path);
    if (INVISIBLE.has(path)) expect(json(spec)).toBe(base);
    else if (gone !== undefined)
      expect([base.includes(gone), json(spec).includes(gone)]).toEqual([true, false]);
    else {
      expect(json(spec)).toContain(field.shows);
      expect(base).not.toContain(field.shows);
    }
  });

  if (field.props !== undefined || field.containerProps !== undefined)
    test('says the same as the prop', () => {
      const chart = new Chart(new App(), 'c', { namespace: 'lab' });
      const container = { ...RUNNER, ...field.containerProps };
      const made = new MiniCluster(chart, 'mc', { size: 4, container, ...field.props });
      expect(made.resource.spec).toEqual(spec);
      expect(chart.toJson()).toEqual(JSON.parse(json(spec)));
    });
});
