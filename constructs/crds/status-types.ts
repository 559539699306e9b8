/**
 * `cdk8s import` leaves `status` out of its types, because nobody puts a
 * status into Git; the runtime writes one. This program adds the missing half
 * from the same YAML: for every CRD beside it one file of types in imports/,
 * named and shaped as `cdk8s import` would (FluxJob's `status.conditions` items
 * are `FluxJobStatusConditions`). Times stay strings, as they travel.
 *
 * Where a spec has quantities or enums, `cdk8s import` makes classes of them,
 * which no object from the apiserver is an instance of. For such a CRD
 * `…-spec.ts` has the spec as it travels, and `…-schema.json` its schema, so
 * that what never sees an apiserver gets the same defaults and the same checks.
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
  readonly 'x-kubernetes-int-or-string'?: boolean;
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

/** The spec's schema (storage version) where `cdk8s import` makes classes of what travels as plain values. */
export function specSchema(crd: CustomResourceDefinition): Schema | undefined {
  const version = crd.spec.versions.find(({ storage }) => storage);
  const spec = version?.schema.openAPIV3Schema.properties?.spec;
  return /"enum":|int-or-string/.test(JSON.stringify(spec) ?? '') ? spec : undefined;
}

/** The declarations for such a spec as it travels. */
export function specTypes(crd: CustomResourceDefinition): string[] {
  const spec = specSchema(crd);
  const declarations: string[] = [];
  if (spec !== undefined) typeOf(spec, `${crd.spec.names.kind}Spec`, declarations);
  return declarations;
}

/** What programs read of a schema: no prose, and no rules in CEL, which they can't run. */
function bare(schema: Schema): string {
  const isLeftOut = (key: string, value: unknown) =>
    (key === 'description' && typeof value === 'string') || key === 'x-kubernetes-validations';
  return JSON.stringify(schema, (key, value) => (isLeftOut(key, value) ? undefined : value), 1);
}

/** The type expression of a schema; what needs a name of its own is appended to `declarations`. */
function typeOf(schema: Schema, name: string, declarations: string[]): string {
  if (schema.enum !== undefined) {
    const values = schema.enum.map((value) => `'${value}'`).join(' | ');
    declarations.push(`${comment(schema, '')}export type ${name} = ${values};`);
    return name;
  }
  if (schema['x-kubernetes-int-or-string'] === true) return 'number | string';
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

const IMPORTS = join(__dirname, '..', '..', 'imports');

function main(): void {
  const files = new Map<string, string[]>();
  const add = (file: string, declarations: string[]) => {
    files.set(file, [...(files.get(file) ?? []), ...declarations]);
  };
  for (const name of readdirSync(__dirname)
    .filter((entry) => entry.endsWith('.yaml'))
    .sort()) {
    const crd = parse(readFileSync(join(__dirname, name), 'utf8')) as CustomResourceDefinition;
    add(`${crd.spec.group}-status`, statusTypes(crd));
    add(`${crd.spec.group}-spec`, specTypes(crd));
    const schema = specSchema(crd);
    if (schema !== undefined)
      writeFileSync(join(IMPORTS, `${crd.spec.group}-schema.json`), `${bare(schema)}\n`);
  }
  for (const [file, declarations] of files) {
    if (declarations.length === 0) continue;
    const text = ['// generated from constructs/crds by npm run generate:imports', ...declarations].join(
      '\n\n',
    );
    writeFileSync(join(IMPORTS, `${file}.ts`), `${text}\n`);
  }
}

if (require.main === module) main();
