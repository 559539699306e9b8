/** Random requests in which every level from the named one down to the slot is named, and the constraints on their nodes. */
import type { Constraint, Jobspec, JobspecResource } from '../../../runtime/jobspec/types';
import fc from '../../fast-check';
import { jobspecOf } from '../matcher/arbitraries';

type Count = JobspecResource['count'];
type Request = fc.Arbitrary<JobspecResource>;

/** A number, or one of RFC 14's ranges. */
function counts(most: number): fc.Arbitrary<Count> {
  const max = fc.integer({ min: 2, max: most + 2 });
  const operand = fc.integer({ min: 2, max: 3 });
  const linear = { min: fc.integer({ min: 1, max: 2 }), max, operator: fc.constantFrom('+', '*'), operand };
  const powers = { min: fc.constant(2), max, operator: fc.constant('^'), operand };
  return fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 1, max: most }) },
    { weight: 1, arbitrary: fc.record(linear) },
    { weight: 1, arbitrary: fc.record(powers) },
  );
}

function slot(count: Count, inside: readonly JobspecResource[]): JobspecResource {
  return { type: 'slot', count, label: 'task', with: inside };
}

/** `count` vertices of a type with something below them. */
export function shared(type: string, most: number, below: Request): Request {
  return fc.tuple(counts(most), below).map(([count, one]) => ({ type, count, with: [one] }));
}

/** The same, of which some are exclusive. */
export function inside(type: string, most: number, below: Request): Request {
  return fc
    .tuple(shared(type, most, below), fc.constantFrom(undefined, undefined, undefined, true))
    .map(([one, exclusive]) => ({ ...one, ...(exclusive && { exclusive }) }));
}

/** Slots of some of these types, mostly with cores. */
export function slotsOf(types: readonly string[], most: number): Request {
  const others = fc.subarray([...types], { maxLength: 2 });
  return fc.tuple(counts(3), counts(most), others, counts(2)).map(([count, cores, chosen, each]) => {
    const units = chosen.map((type) => ({ type, count: each }));
    return slot(count, units.length === 2 ? units : [{ type: 'core', count: cores }, ...units]);
  });
}

/** Slots of whole vertices of a type. */
export function slotsOfWhole(type: string, most = 2): Request {
  return fc.tuple(counts(2), counts(most)).map(([count, each]) => slot(count, [{ type, count: each }]));
}

/** Units and vertices that are exclusive without a slot. */
export function bare(type: string, most: number): Request {
  return counts(most).map((count) => ({ type, count, exclusive: true }));
}

const constraints = fc.constantFrom<(Constraint | undefined)[]>(
  undefined,
  undefined,
  undefined,
  { properties: ['ssd'] },
  { properties: ['^ssd'] },
  { hostlist: ['n[0-3,7,9-30]'] },
  { or: [{ properties: ['ssd'] }, { hostlist: ['n[1-5]'] }] },
  { and: [{ properties: ['zone=a'] }, { not: [{ ranks: ['1-5'] }] }] },
);

export function jobspecs(resource: Request): fc.Arbitrary<Jobspec> {
  const seconds = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constantFrom(10, 20, 40));
  return fc
    .tuple(resource, seconds, constraints)
    .map(([one, duration, constraint]) => jobspecOf(one, duration, constraint));
}
