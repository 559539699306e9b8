import { existsSync } from 'node:fs';
import suites from './drawn.json';

const { byDay, notToday } = jest.requireActual<{
  byDay(): readonly (readonly string[])[];
  notToday(args: readonly string[]): readonly string[];
}>('./drawn');

const before = { ...process.env };
beforeEach(() => {
  delete process.env.NIGHTLY;
});
afterEach(() => {
  for (const name of ['NIGHTLY', 'PROPERTY_SEED'])
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
});

test('the drawn suites exist', () => {
  for (const suite of Object.keys(suites))
    expect([suite, existsSync(`${suite}.test.ts`)]).toEqual([suite, true]);
});

test('each of them runs on one of four days, which cost about the same', () => {
  expect(byDay().flat().sort()).toEqual(Object.keys(suites).sort());
  const seconds = byDay().map((day) =>
    day.map((suite) => suites[suite as keyof typeof suites]).reduce((a, b) => a + b),
  );
  expect(Math.max(...seconds)).toBeLessThan(1.2 * Math.min(...seconds));
});

test('what a day leaves out are the suites of the others', () => {
  for (const seed of [329, 330, 331, 332]) {
    process.env.PROPERTY_SEED = String(seed);
    const patterns = notToday(['--json', '--outputFile=x']).map((pattern) => new RegExp(pattern));
    const run = Object.keys(suites).filter(
      (suite) => !patterns.some((pattern) => pattern.test(`/clone/${suite}.test.ts`)),
    );
    expect(run.sort()).toEqual([...byDay()[seed % 4]!].sort());
  }
});

test('a run that names suites leaves none out, and neither does the nightly run', () => {
  expect(notToday(['--json', 'test/stack'])).toEqual([]);
  process.env.NIGHTLY = '1';
  expect(notToday([])).toEqual([]);
});

test('a random seed is one for all tests of a run', () => {
  process.env.PROPERTY_SEED = 'random';
  notToday([]);
  expect(process.env.PROPERTY_SEED).toMatch(/^\d+$/);
});
