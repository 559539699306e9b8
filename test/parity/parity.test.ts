/** A part of the parity of namespaces, with other manifests each day; `npm run -s parity -- --json` compares all. */
import { drawOf } from '../seed';
import { describeStack } from '../stack/suite';
import { compareAll } from './compare';
import { CASES } from './manifests';

/** One of each group at least, and some of all. */
const ALWAYS = ['gang', 'failing', 'bare', 'selector'];
const DRAWN = 4;

test('at least 120 manifests are compared, each under its own name', () => {
  const names = new Set(CASES.map(({ name }) => name));
  expect(names.size).toBe(CASES.length);
  expect(names.size).toBeGreaterThanOrEqual(120);
});

describeStack('parity of a plain and an opted-in namespace', (getFixture) => {
  test('the same pods run on the same number of nodes and zones', async () => {
    const { stack } = getFixture();
    await stack.startController();
    const drawn = drawOf(CASES, DRAWN);
    const cases = CASES.filter((one) => ALWAYS.includes(one.name) || drawn.includes(one));
    const comparisons = await compareAll(stack, cases, () => undefined);
    // Whole comparisons, so that a failure shows both outcomes and what the queue says.
    expect(comparisons).toHaveLength(cases.length);
    const unexplained = comparisons.filter(({ different }) => Object.values(different).includes(''));
    expect(unexplained).toEqual([]);
    expect(comparisons.filter(({ isExpected }) => !isExpected)).toEqual([]);
  });
});
