/**
 * What may change in a released workload, against the fields of each supported version of Kubernetes; released.test.ts
 * compares it with the schema of the apiserver.
 */
import { V1JobSpec } from '@kubernetes/client-node';
import { FIRST_WITH_POLICIES, OLDEST_KUBERNETES } from '../../constructs/api/kubernetes-versions';
import { EFFECTS, KNOWN_TO_ADMISSION } from './schema/effects';
import FIELDS from './schema/fields.json';

const VERSIONS = Object.keys(FIELDS) as (keyof typeof FIELDS)[];
const TYPES = Object.keys(FIELDS['1.30']) as (keyof (typeof FIELDS)['1.30'])[];
const CASES = VERSIONS.flatMap((version) => TYPES.map((type) => [type, version] as const));

test('the oldest supported version and one that serves mutating policies are compared', () => {
  const minors = VERSIONS.map((version) => Number(version.split('.')[1]));
  expect(Math.min(...minors)).toBe(OLDEST_KUBERNETES);
  expect(Math.max(...minors)).toBeGreaterThanOrEqual(FIRST_WITH_POLICIES);
});

describe('what a change can do to the grant, and what keeps it from that, is known', () => {
  test.each(CASES)('of every field of %s in Kubernetes %s', (type, version) => {
    const fields = FIELDS[version][type];
    expect(fields.length).toBeGreaterThanOrEqual(2);
    expect(fields.filter((field) => EFFECTS[type]![field] === undefined)).toEqual([]);
  });

  test.each(TYPES)('of no field of %s that no version has', (type) => {
    const fields = new Set(VERSIONS.flatMap((version) => FIELDS[version][type]));
    expect(Object.keys(EFFECTS[type]!).filter((field) => !fields.has(field))).toEqual([]);
  });
});

describe('admission knows every field of the spec of a Job', () => {
  test.each([
    ...VERSIONS.map((version) => [`Kubernetes ${version}`, FIELDS[version].JobSpec] as const),
    ['the client library', V1JobSpec.getAttributeTypeMap().map(({ name }) => name)] as const,
  ])('of %s', (_, fields) => {
    expect(fields.filter((field) => !KNOWN_TO_ADMISSION.includes(field))).toEqual([]);
  });

  test('once', () => {
    expect(new Set(KNOWN_TO_ADMISSION).size).toBe(KNOWN_TO_ADMISSION.length);
  });
});
