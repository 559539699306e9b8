import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { specTypes, statusTypes } from '../../../constructs/crds/status-types';

const ROOT = join(__dirname, '..', '..', '..');
const crd = (status: object | undefined) => ({
  spec: {
    group: 'example.org',
    names: { kind: 'Thing' },
    versions: [
      { name: 'v1', storage: false, schema: { openAPIV3Schema: {} } },
      {
        name: 'v2',
        storage: true,
        schema: { openAPIV3Schema: { properties: status === undefined ? {} : { status } } },
      },
    ],
  },
});

test('generates a type for every kind of schema', () => {
  const status = {
    type: 'object',
    description: 'How it is.',
    required: ['count'],
    properties: {
      count: { type: 'integer' },
      ok: { type: 'boolean' },
      since: { type: 'string', format: 'date-time', description: 'When.' },
      phase: { type: 'string', enum: ['A', 'B'] },
      units: { type: 'object', additionalProperties: { type: 'string' } },
      parts: {
        type: 'array',
        items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
      },
    },
  };
  expect(statusTypes(crd(status))).toEqual([
    `/**
 * How it is.
 */
export interface ThingStatus {
  readonly count: number;

  readonly ok?: boolean;

  /**
   * When. RFC 3339.
   */
  readonly since?: string;

  readonly phase?: ThingStatusPhase;

  readonly units?: Readonly<Record<string, string>>;

  readonly parts?: readonly ThingStatusParts[];
}`,
    "export type ThingStatusPhase = 'A' | 'B';",
    'export interface ThingStatusParts {\n  readonly name: string;\n}',
  ]);
});

test('generates no status types for a kind without status', () => {
  expect(statusTypes(crd(undefined))).toEqual([]);
});

test('rejects a schema that it does not support, with its path', () => {
  const status = { type: 'object', properties: { size: { 'x-kubernetes-preserve-unknown-fields': true } } };
  expect(() => statusTypes(crd(status))).toThrow('ThingStatusSize: the schema');
});

test('generates JSON types for a spec with quantities only', () => {
  const spec = (size: object) => ({
    spec: {
      group: 'example.org',
      names: { kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          storage: true,
          schema: { openAPIV3Schema: { properties: { spec: { type: 'object', properties: { size } } } } },
        },
      ],
    },
  });
  expect(specTypes(spec({ 'x-kubernetes-int-or-string': true }))).toEqual([
    'export interface ThingSpec {\n  readonly size?: number | string;\n}',
  ]);
  expect(specTypes(spec({ type: 'integer' }))).toEqual([]);
});

test('imports/ has the types that it generates from the CRD', () => {
  const fluxjobs = parse(readFileSync(join(ROOT, 'constructs/crds/fluxjobs.yaml'), 'utf8'));
  const file = readFileSync(join(ROOT, 'imports/jobs.converged-computing.org-status.ts'), 'utf8');
  expect(file).toBe(
    `${['// generated from constructs/crds by npm run generate:imports', ...statusTypes(fluxjobs)].join('\n\n')}\n`,
  );
});
