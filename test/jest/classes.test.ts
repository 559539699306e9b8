import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(__dirname, '..');
const suites = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.test.ts'),
);

test('a suite with a cluster of its own says why in its first line', () => {
  const own = suites.filter((file) =>
    /^ *describeOwn(Cluster|Stack)\(/m.test(readFileSync(join(FOLDER, file), 'utf8')),
  );
  expect(own.length).toBeGreaterThan(10);
  const silent = own.filter(
    (file) => !/^\/\/ Own clusters?: .+\.\n/.test(readFileSync(join(FOLDER, file), 'utf8')),
  );
  expect(silent).toEqual([]);
});
