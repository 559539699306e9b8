import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(__dirname, '../../../../constructs/minicluster/shell');
const SCRIPTS = readdirSync(FOLDER).filter((name) => name.endsWith('.sh'));

test('the scripts have fewer than 330 lines', () => {
  const lines = SCRIPTS.flatMap((name) => readFileSync(join(FOLDER, name), 'utf8').trimEnd().split('\n'));
  expect(lines.length).toBeLessThan(330);
});

const shellcheck = (process.env.PATH ?? '')
  .split(':')
  .some((folder) => existsSync(join(folder, 'shellcheck')));
(shellcheck ? test : test.skip)('shellcheck reports no warnings', () => {
  const { stdout, status } = spawnSync('shellcheck', ['-x', ...SCRIPTS], { cwd: FOLDER, encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, '']);
});
