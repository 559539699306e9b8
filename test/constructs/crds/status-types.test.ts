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

test('every kind of schema that a status has becomes a type', () => {
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

test('a kind without status has none', () => {
  expect(statusTypes(crd(undefined))).toEqual([]);
});

test('what it has no type for is refused, with its place', () => {
  const status = { type: 'object', properties: { size: { 'x-kubernetes-preserve-unknown-fields': true } } };
  expect(() => statusTypes(crd(status))).toThrow('ThingStatusSize: no TypeScript for the schema');
});

test('a spec with quantities has a type as it travels, one without has what cdk8s makes', () => {
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

test('the file in imports/ is what it makes of the CRD', () => {
  const fluxjobs = parse(readFileSync(join(ROOT, 'constructs/crds/fluxjobs.yaml'), 'utf8'));
  const file = readFileSync(join(ROOT, 'imports/jobs.converged-computing.org-status.ts'), 'utf8');
  expect(file).toBe(
    `${['// generated from constructs/crds by npm run generate:imports', ...statusTypes(fluxjobs)].join('\n\n')}\n`,
  );
});
