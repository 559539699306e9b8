import { join } from 'node:path';
import { firstDifference, readSharness } from './sharness';

test("the embedded matcher passes flux-sched's own tests of matching", async () => {
  const sharness = await readSharness(join(__dirname, 'oracle', 'flux-sched-sharness.jsonl.gz'));
  const different: string[] = [];
  for (const one of sharness.cases) {
    const difference = await firstDifference(sharness, one);
    if (difference !== undefined) different.push(`${one.name}: operation ${difference}`);
  }
  expect(different).toEqual([]);
  expect(sharness.cases).toHaveLength(287);
});

test('a recorded case with another answer is found', async () => {
  const sharness = await readSharness(join(__dirname, 'oracle', 'flux-sched-sharness.jsonl.gz'));
  const [first] = sharness.cases;
  const wrong = { ...first!, options: { ...first!.options, matcher_policy: 'lonode' } };
  expect(first!.options.matcher_policy).toBe('high');
  expect(await firstDifference(sharness, wrong)).toBe(0);
});
