/**
 * The whitelist of what may change in a released Job, against older schemas; released.test.ts compares it with that of the
 * apiserver.
 */
import { readFileSync } from 'node:fs';
import { V1JobSpec } from '@kubernetes/client-node';
import { CHANGEABLE_FIELDS } from '../../constructs/api/granted-fields';
import { KEPT_FIELDS } from './kept-fields';

const KNOWN = [...CHANGEABLE_FIELDS, ...KEPT_FIELDS];
const unknown = (fields: readonly string[]) => fields.filter((field) => !KNOWN.includes(field));

/** Fields of an interface in the declarations that cdk8s-plus generated from Kubernetes 1.28. */
function fieldsOf128(): string[] {
  const text = readFileSync('node_modules/cdk8s-plus-28/lib/imports/k8s.d.ts', 'utf8');
  const start = text.indexOf('export interface JobSpec {');
  return [...text.slice(start, text.indexOf('\n}', start)).matchAll(/readonly (\w+)\??:/g)].map(
    ([, field]) => field!,
  );
}

describe('every field of the spec of a Job is known', () => {
  it.each([
    ['Kubernetes 1.28', fieldsOf128()],
    ['the client library', V1JobSpec.getAttributeTypeMap().map(({ name }) => name)],
  ])('of %s', (_, fields) => {
    expect(fields.length).toBeGreaterThanOrEqual(14);
    expect(unknown(fields)).toEqual([]);
  });

  it('once', () => {
    expect(new Set(KNOWN).size).toBe(KNOWN.length);
  });
});
