/** A program that nobody builds before the tests is built beside them, and makes them slow. */
import { globSync, readFileSync } from 'node:fs';
import { PROGRAMS } from './go-programs';

test('every program in Go that a suite builds is one that is built before the tests', () => {
  const suites = globSync('test/**/*.test.ts').map((file) => readFileSync(file, 'utf8'));
  const built = suites.flatMap((text) =>
    [...text.matchAll(/(\w+)\.buildOrSkip\(/g)].map(([, name]) => name!),
  );
  expect([...new Set(built)].sort()).toEqual(Object.keys(PROGRAMS).sort());
});
