import { readFileSync } from 'node:fs';
import { documentedLines, INLINE, isSkipped, planOf } from './lines';

const LINES = documentedLines();

test('finds the lines of README and docs, here-documents as one', () => {
  const texts = LINES.map(({ text }) => text);
  expect(texts).toContain('kubectl apply -f examples/jobs/wide.yaml');
  expect(texts.find((text) => text.includes("<<'YAML'"))).toMatch(/^kubectl apply.*\n(.*\n)*YAML$/);
  expect(texts.some((text) => text.startsWith('NAME '))).toBe(false);
});

test.each(LINES.map((line) => [line.place, line.text, line] as const))(
  '%s: %s: is run, or a reason says why not',
  (_place, _text, line) => {
    const plan = planOf(line);
    if (plan === undefined) throw new Error('decide in test/first-hour/lines.ts who runs it');
    if (isSkipped(plan)) expect(plan.because).not.toBe('');
  },
);

test('README has the commands that are no lines of a block', () => {
  const page = readFileSync('README.md', 'utf8');
  for (const { text } of INLINE) expect(page).toContain(`\`${text}\``);
});

test('most of the lines of README are run', () => {
  const plans = LINES.filter(({ place }) => place.startsWith('README')).map((line) => planOf(line)!);
  expect(plans.filter((plan) => !isSkipped(plan)).length).toBeGreaterThan(plans.length / 2);
});
