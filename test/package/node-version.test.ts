/** Users have Node 20 or newer: `npm ci` warns of each package that does not run on it. */
import { engines } from '../../package.json';
import lock from '../../package-lock.json';

const OLDEST = 20;

/** Whether a range of versions has the oldest Node, by its major version. */
function takesOldest(range: string): boolean {
  return range.split('||').some((part) => {
    const [, sign, major] = /^(>=|\^|~)?\s*(\d+)/.exec(part.trim()) ?? [];
    if (major === undefined) return part.trim() === '*';
    return sign === '>=' ? Number(major) <= OLDEST : Number(major) === OLDEST;
  });
}

test('every package that npm installs runs on the oldest Node', () => {
  expect(engines.node).toBe(`>=${OLDEST}`);
  const packages = lock.packages as Readonly<
    Record<string, { readonly engines?: { readonly node?: string } }>
  >;
  const tooNew = Object.entries(packages).flatMap(([path, { engines }]) => {
    const node = engines?.node ?? '*';
    return takesOldest(node) ? [] : [`${path}: ${node}`];
  });
  expect(tooNew).toEqual([]);
});

test.each([
  ['>=22.19.0', false],
  ['^22.13.0 || >=23.5.0', false],
  ['^20.19.0 || >=22.12.0', true],
  ['20 || >=22', true],
  ['>= 10.x', true],
])('%s takes it: %s', (range, takes) => {
  expect(takesOldest(range)).toBe(takes);
});
