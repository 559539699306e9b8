/** A part of the parity of namespaces; `npm run -s parity -- --json` compares all manifests. */
import { describeStack } from '../stack/suite';
import { compareAll } from './compare';
import { CASES } from './manifests';

const NAMES = ['gang', 'failing', 'work-queue', 'bare', 'db', 'selector'];

test('at least 40 manifests are compared, each under its own name', () => {
  const names = new Set(CASES.map(({ name }) => name));
  expect(names.size).toBe(CASES.length);
  expect(names.size).toBeGreaterThanOrEqual(40);
});

describeStack('parity of a plain and an opted-in namespace', (getFixture) => {
  test('the same pods run on the same number of nodes and zones', async () => {
    const { stack } = getFixture();
    await stack.startController();
    const cases = CASES.filter(({ name }) => NAMES.includes(name));
    const comparisons = await compareAll(stack, cases, () => undefined);
    // Whole comparisons, so that a failure shows both outcomes and what the queue says.
    expect(comparisons).toHaveLength(NAMES.length);
    expect(comparisons.filter(({ different }) => Object.keys(different).length > 0)).toEqual([]);
  }, 240_000);
});
