/** docs/minicluster-fields.md from fields.ts: `npm run generate:fields`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import schemaJson from '../../../imports/flux-framework.org-schema.json';
import { FIELDS } from './fields';

export const TABLE_FILE = join(__dirname, '../../../docs/minicluster-fields.md');

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
}

/** What goes into the pod as it is: fields below need no row of their own. */
const WHOLE = new Set(FIELDS.map(({ path }) => path));

/** Paths of all fields of the CRD, as deep as they mean something to us. */
export function crdFields(schema: Schema = schemaJson as Schema, path = ''): string[] {
  if (WHOLE.has(path)) return [path];
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

export function table(): string {
  const rows = FIELDS.map(({ path, prop, effect, more }) => {
    const tests = ['fields.test.ts', ...(more === undefined ? [] : [more])];
    return `| \`${path}\` | \`${prop}\` | ${effect} | ${tests.join(', ')} |`;
  });
  return `# MiniCluster: every field

Made from test/constructs/minicluster/fields.ts by \`npm run generate:fields\`. Each row is a test: fields.test.ts renders the
field and the prop, compares them, and looks for the effect; a field of the CRD without a row fails it. \`{}\` stands for
the name of a volume. What is said of \`containers[]\` holds for \`services[]\` too, as far as a service can use it. Where we
differ from flux-operator on purpose, and why: [decision 11](decisions/0011-minicluster-differences.md).

| field of \`spec\` | prop of \`MiniCluster\` | effect | tests |
| --- | --- | --- | --- |
${rows.join('\n')}
`;
}

export function written(): string {
  return readFileSync(TABLE_FILE, 'utf8');
}

if (require.main === module) writeFileSync(TABLE_FILE, table());
