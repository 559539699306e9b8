/** docs/security.md names attacks and test files that exist. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ATTACKS } from '../attacks/corpus';

const ROOT = join(__dirname, '..', '..');
const rows = readFileSync(join(ROOT, 'docs/security.md'), 'utf8')
  .split('## The attacks')[1]!
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (attack|-+) /.test(line));
const triedBy = rows.map((row) => row.split('|')[2]!);

test('each row of the table has a test', () => {
  expect(rows.length).toBeGreaterThan(15);
  for (const cell of triedBy) expect(cell).toMatch(/"[^"]+"|test\/[\w./-]+\.test\.ts/);
});

test('every attack and test file that the table names exists', () => {
  const known = new Set(ATTACKS.map(({ name }) => name));
  const attacks = triedBy.flatMap((cell) => [...cell.matchAll(/"([^"]+)"/g)].map(([, name]) => name!));
  expect(attacks.filter((name) => !known.has(name))).toEqual([]);
  const files = triedBy.flatMap((cell) => cell.match(/test\/[\w./-]+\.test\.ts/g) ?? []);
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});
