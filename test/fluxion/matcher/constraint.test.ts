import { parseConstraint } from '../../../runtime/fluxion/matcher/constraint';
import { parseHostlist } from '../../../runtime/resources/hostlist';

const host = { name: 'ip-10-0-7-5', rank: 7, properties: new Set(['zone=a', 'gpu']) };

test.each<[unknown, boolean]>([
  [{}, true],
  [{ properties: [] }, true],
  [{ properties: ['zone=a', 'gpu'] }, true],
  [{ properties: ['zone=a', '^gpu'] }, false],
  [{ properties: ['zone=b'] }, false],
  [{ hostlist: ['ip-10-0-[5-8]-5'] }, true],
  [{ hostlist: ['ip-10-0-[1-3]-5,other'] }, false],
  [{ hostlist: [] }, false],
  [{ ranks: ['1-3', '7'] }, true],
  [{ ranks: ['0'] }, false],
  [{ not: [{ properties: ['gpu'] }, { properties: ['zone=b'] }] }, true],
  [{ not: [] }, false],
  [{ and: [] }, true],
  // Fluxion deviates from RFC 31 here.
  [{ or: [] }, false],
  [{ or: [{ properties: ['zone=b'] }, { ranks: ['7'] }] }, true],
])('%j matches: %s', (constraint, expected) => {
  expect(parseConstraint(constraint)(host)).toBe(expected);
});

test.each<[unknown, string]>([
  [[], 'constraint is not a mapping'],
  [{ and: [], or: [] }, 'constraint map may not contain > 1 operation'],
  [{ xor: [] }, 'unknown constraint operator: xor'],
  [{ properties: 'a' }, 'properties operator value must be an array'],
  [{ properties: [1] }, 'non-string property specified'],
  [{ properties: ['a|b'] }, 'a|b is invalid'],
  [{ hostlist: ['n[0-'] }, "Invalid hostlist `n[0-'"],
  [{ ranks: ['5-1'] }, "Invalid idset `5-1'"],
  [{ not: [{ toString: [] }] }, 'unknown constraint operator: toString'],
])('refuses %j: %s', (constraint, text) => {
  expect(() => parseConstraint(constraint)).toThrow(text);
});

test.each([
  ['web', ['web']],
  ['a,b', ['a', 'b']],
  ['n[0-2,7]', ['n0', 'n1', 'n2', 'n7']],
  ['n[08-10]x', ['n08x', 'n09x', 'n10x']],
  ['r[0-1]n[0-1]', ['r0n0', 'r0n1', 'r1n0', 'r1n1']],
])('parses hostlist %s', (text, names) => {
  expect(parseHostlist(text)).toEqual(names);
});

test.each(['n[', 'n]', 'n[a]', 'n[3-1]', 'n[0-99999999]'])('refuses hostlist %s', (text) => {
  expect(parseHostlist(text)).toBeUndefined();
});
