import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');

/** All error codes in the source files of a folder. */
function codesIn(folder: string): Set<string> {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  const texts = files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(ROOT, folder, file), 'utf8'));
  return new Set(texts.flatMap((text) => text.match(/FLUXQ_[A-Z][A-Z_]*[A-Z]/g) ?? []));
}

test('docs/errors.md lists exactly the codes in the source', () => {
  const documented = new Set(
    readFileSync(join(ROOT, 'docs/errors.md'), 'utf8').match(/FLUXQ_[A-Z][A-Z_]*[A-Z]/g),
  );
  const made = ['runtime', 'constructs', 'test/cluster', 'examples/demo', 'test/stack'].flatMap((folder) => [
    ...codesIn(folder),
  ]);
  expect([...documented].sort()).toEqual([...new Set(made)].sort());
});
