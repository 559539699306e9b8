/**
 * `cdk8s import` leaves `status` out of its types, because nobody puts a
 * status into Git; the runtime writes one. This program adds the missing half
 * from the same YAML: for every CRD beside it one file of types in imports/,
 * named and shaped as `cdk8s import` would (FluxJob's `status.conditions` items
 * are `FluxJobStatusConditions`). Times stay strings, as they travel.
 *
 * Run by `npm run generate:imports`, after `cdk8s import`.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** What a structural schema of our CRDs consists of; anything else is refused. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
}

interface CustomResourceDefinition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly {
      readonly name: string;
      readonly storage: boolean;
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
}

/** The declarations for one CRD's status (storage version); none where it has no status. */
export function statusTypes(crd: CustomResourceDefinition): string[] {
  const version = crd.spec.versions.find(({ storage }) => storage);
  const status = version?.schema.openAPIV3Schema.properties?.status;
  const declarations: string[] = [];
  if (status !== undefined) typeOf(status, `${crd.spec.names.kind}Status`, declarations);
  return declarations;
}

/** The type expression of a schema; what needs a name of its own is appended to `declarations`. */
function typeOf(schema: Schema, name: string, declarations: string[]): string {
  if (schema.enum !== undefined) {
    const values = schema.enum.map((value) => `'${value}'`).join(' | ');
    declarations.push(`${comment(schema, '')}export type ${name} = ${values};`);
    return name;
  }
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `readonly ${typeOf(child(schema.items, name), name, declarations)}[]`;
    case 'object':
      return schema.additionalProperties === undefined
        ? declareInterface(schema, name, declarations)
        : `Readonly<Record<string, ${typeOf(schema.additionalProperties, name, declarations)}>>`;
    default:
      throw new Error(
        `${name}: no TypeScript for the schema ${JSON.stringify(schema)}; teach constructs/crds/status-types.ts`,
      );
  }
}

function declareInterface(schema: Schema, name: string, declarations: string[]): string {
  // Its place is taken first: the whole comes before its parts.
  const place = declarations.push('') - 1;
  const members = Object.entries(schema.properties ?? {}).map(([key, property]) => {
    const type = typeOf(property, name + key.charAt(0).toUpperCase() + key.slice(1), declarations);
    const mark = schema.required?.includes(key) ? '' : '?';
    return `${comment(property, '  ')}  readonly ${key}${mark}: ${type};`;
  });
  declarations[place] = `${comment(schema, '')}export interface ${name} {\n${members.join('\n\n')}\n}`;
  return name;
}

function child(schema: Schema | undefined, name: string): Schema {
  if (schema === undefined) throw new Error(`${name}: an array in a structural schema needs items`);
  return schema;
}

function comment({ description, format }: Schema, indent: string): string {
  const time = format === 'date-time' ? ' RFC 3339.' : '';
  return description === undefined ? '' : `${indent}/**\n${indent} * ${description}${time}\n${indent} */\n`;
}

function main(): void {
  const files = new Map<string, string[]>();
  for (const name of readdirSync(__dirname)
    .filter((entry) => entry.endsWith('.yaml'))
    .sort()) {
    const crd = parse(readFileSync(join(__dirname, name), 'utf8')) as CustomResourceDefinition;
    files.set(crd.spec.group, [...(files.get(crd.spec.group) ?? []), ...statusTypes(crd)]);
  }
  for (const [group, declarations] of files) {
    const text = ['// generated from constructs/crds by npm run generate:imports', ...declarations].join(
      '\n\n',
    );
    writeFileSync(join(__dirname, '..', '..', 'imports', `${group}-status.ts`), `${text}\n`);
  }
}

if (require.main === module) main();
