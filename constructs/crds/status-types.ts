/**
 * Generates types that `cdk8s import` does not, for every CRD in this folder. `npm run generate:imports` runs it after
 * `cdk8s import`.
 *
 * - `…-status.ts` has the types of `status`, which the runtime writes. Names and shapes are those of `cdk8s import`
 *   (FluxJob's `status.conditions` items are `FluxJobStatusConditions`). Times are strings, as in JSON.
 * - `…-spec.ts` has the types of a spec with quantities or enums as in JSON: `cdk8s import` generates classes for these,
 *   and objects from the apiserver are not instances of them. `…-schema.json` has the schema of that spec, which gives
 *   manifests the same defaults and validation without an apiserver.
 * - `crds.json` has the CRDs themselves, so that users of the constructs need no YAML parser.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** The properties of structural schemas that the CRDs of this folder use. */
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

/** Declarations for the status of a CRD's storage version; empty for a CRD without status. */
export function statusTypes(crd: CustomResourceDefinition): string[] {
  const version = crd.spec.versions.find(({ storage }) => storage);
  const status = version?.schema.openAPIV3Schema.properties?.status;
  const declarations: string[] = [];
  if (status !== undefined) typeOf(status, `${crd.spec.names.kind}Status`, declarations);
  return declarations;
}

/** Schema of the spec in the storage version, if `cdk8s import` generates classes for some of its values. */
export function specSchema(crd: CustomResourceDefinition): Schema | undefined {
  const version = crd.spec.versions.find(({ storage }) => storage);
  const spec = version?.schema.openAPIV3Schema.properties?.spec;
  return /"enum":|int-or-string/.test(JSON.stringify(spec) ?? '') ? spec : undefined;
}

/** Declarations for such a spec as in JSON. */
export function specTypes(crd: CustomResourceDefinition): string[] {
  const spec = specSchema(crd);
  const declarations: string[] = [];
  if (spec !== undefined) typeOf(spec, `${crd.spec.names.kind}Spec`, declarations);
  return declarations;
}

/** The schema without descriptions and CEL rules, which programs do not use. */
function bare(schema: Schema): string {
  const isOmitted = (key: string, value: unknown) =>
    (key === 'description' && typeof value === 'string') || key === 'x-kubernetes-validations';
  return JSON.stringify(schema, (key, value) => (isOmitted(key, value) ? undefined : value), 1);
}

/** Type expression of a schema; named types are appended to `declarations`. */
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
        `${name}: the schema ${JSON.stringify(schema)} is not supported; add it to constructs/crds/status-types.ts`,
      );
  }
}

function declareInterface(schema: Schema, name: string, declarations: string[]): string {
  // The index is reserved first, so that an interface comes before the types of its properties.
  const index = declarations.push('') - 1;
  const members = Object.entries(schema.properties ?? {}).map(([key, property]) => {
    const type = typeOf(property, name + key.charAt(0).toUpperCase() + key.slice(1), declarations);
    const optional = schema.required?.includes(key) ? '' : '?';
    return `${comment(property, '  ')}  readonly ${key}${optional}: ${type};`;
  });
  declarations[index] = `${comment(schema, '')}export interface ${name} {\n${members.join('\n\n')}\n}`;
  return name;
}

function child(schema: Schema | undefined, name: string): Schema {
  if (schema === undefined) throw new Error(`${name}: an array in a structural schema requires items`);
  return schema;
}

function comment({ description, format }: Schema, indent: string): string {
  const time = format === 'date-time' ? ' RFC 3339.' : '';
  return description === undefined ? '' : `${indent}/**\n${indent} * ${description}${time}\n${indent} */\n`;
}

const IMPORTS = join(__dirname, '..', '..', 'imports');

/** The CRDs of this folder by the name of their file. */
function readCrds(): Readonly<Record<string, CustomResourceDefinition>> {
  const files = readdirSync(__dirname).filter((name) => name.endsWith('.yaml'));
  return Object.fromEntries(
    files.sort().map((name) => [name, parse(readFileSync(join(__dirname, name), 'utf8'))]),
  );
}

function main(): void {
  const files = new Map<string, string[]>();
  const add = (file: string, declarations: string[]) => {
    files.set(file, [...(files.get(file) ?? []), ...declarations]);
  };
  const crds = readCrds();
  writeFileSync(join(IMPORTS, 'crds.json'), `${JSON.stringify(crds)}\n`);
  for (const crd of Object.values(crds)) {
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
