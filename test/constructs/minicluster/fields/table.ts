/** Writes docs/minicluster-fields.md from the fields: `npm run generate:fields`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import schemaJson from '../../../../imports/flux-framework.org-schema.json';
import { FIELDS } from './index';

const TABLE_FILE = join(__dirname, '../../../../docs/minicluster-fields.md');

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
}

/** Fields that have a row; a field below them goes into the pod unchanged and needs no row. */
const WITH_ROW = new Set(FIELDS.map(({ path }) => path));

/** Returns the paths of all fields of the CRD that must have a row. */
export function crdFields(schema: Schema = schemaJson as Schema, path = ''): string[] {
  if (WITH_ROW.has(path)) return [path];
  const below = [
    ...Object.entries(schema.properties ?? {}).flatMap(([key, member]) =>
      crdFields(member, path === '' ? key : `${path}.${key}`),
    ),
    ...(schema.items?.properties === undefined ? [] : crdFields(schema.items, `${path}[]`)),
    ...(schema.additionalProperties?.properties === undefined
      ? []
      : crdFields(schema.additionalProperties, `${path}{}`)),
  ];
  return below.length > 0 ? below : [path];
}

/** The text of docs/minicluster-fields.md. */
export function table(): string {
  const rows = FIELDS.map(({ path, prop, effect, more }) => {
    const tests = ['fields/fields.test.ts', ...(more === undefined ? [] : [more])];
    return `| \`${path}\` | \`${prop}\` | ${effect} | ${tests.join(', ')} |`;
  });
  return `# MiniCluster: every field

\`npm run generate:fields\` writes this file from test/constructs/minicluster/fields. Each row is a test: fields.test.ts renders
the field and the prop, compares the results and looks for the effect, and it fails if a field of the CRD has no row. \`{}\`
stands for the name of a volume. Rows about \`containers[]\` hold for \`services[]\` too, as far as a service supports the field.
[Decision 11](decisions/0011-minicluster-differences.md) lists the deliberate differences from flux-operator and their reasons.

| field of \`spec\` | prop of \`MiniCluster\` | effect | tests |
| --- | --- | --- | --- |
${rows.join('\n')}
`;
}

export function writtenTable(): string {
  return readFileSync(TABLE_FILE, 'utf8');
}

if (require.main === module) writeFileSync(TABLE_FILE, table());
