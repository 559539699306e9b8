import { countIdset, formatIdset, parseIdset } from '../../../runtime/resources/idset';
import { Occupancy } from '../../../runtime/scheduler/pass/occupancy';
import fc from '../../fast-check';

const SPAN = { start: 10, end: 20 };
const NODE = { name: 'a', up: true, total: { core: 640 }, free: { core: 640 }, properties: [] };

function occupied(held: readonly { readonly ids: readonly number[]; readonly start: number }[]) {
  const jobs = held.map(({ ids, start }, i) => ({
    jobid: i + 1,
    start,
    end: start + 5,
    nodes: [{ name: 'a', units: { core: formatIdset(ids) } }],
  }));
  return new Occupancy({ nodes: [NODE], jobs }, 0);
}

test('gives out the lowest units that are free through the whole span', () => {
  const ids = fc.uniqueArray(fc.integer({ min: 0, max: 639 }), { minLength: 1, maxLength: 40 });
  const jobs = fc.array(fc.record({ ids, start: fc.constantFrom(0, 8, 12, 30) }), { maxLength: 6 });
  fc.assert(
    fc.property(jobs, fc.integer({ min: 1, max: 60 }), (held, perPod) => {
      const inSpan = held.filter(({ start }) => start < SPAN.end && start + 5 > SPAN.start);
      const taken = new Set(inSpan.flatMap((job) => job.ids));
      const free = Array.from({ length: 640 }, (_, id) => id).filter((id) => !taken.has(id));
      const occupancy = occupied(held);
      expect(occupancy.room(NODE, { core: perPod }, false, SPAN)).toBe(Math.floor(free.length / perPod));
      const { units } = occupancy.take('a', { core: perPod }, 2, false, SPAN);
      expect(parseIdset(units.core ?? '')).toEqual(free.slice(0, perPod * 2));
    }),
  );
});

test('gives an exclusive pod a whole node that nobody holds', () => {
  expect(occupied([{ ids: [3], start: 12 }]).room(NODE, { core: 1 }, true, SPAN)).toBe(0);
  const empty = occupied([{ ids: [3], start: 30 }]);
  expect(empty.room(NODE, { core: 1 }, true, SPAN)).toBe(1);
  const part = empty.take('a', { core: 1 }, 1, true, SPAN);
  expect([countIdset(part.units.core!), part.exclusive]).toEqual([640, true]);
});

test('tells when the first of those in the span ends', () => {
  expect(
    occupied([
      { ids: [1], start: 8 },
      { ids: [2], start: 18 },
      { ids: [3], start: 30 },
    ]).nextEnd('a', SPAN),
  ).toBe(13);
  expect(occupied([{ ids: [3], start: 30 }]).nextEnd('a', SPAN)).toBe(Infinity);
});
