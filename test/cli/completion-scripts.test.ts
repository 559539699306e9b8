/** The scripts of shells, with a program that answers as `fluxqueue __complete` does. Only bash is on every machine. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCRIPTS } from '../../runtime/cli/completion-scripts';

const PROGRAM = `#!/bin/sh
printf '<%s>' "$@" >>"$(dirname "$0")/asked"
[ "$3" = fail ] && exit 1
printf 'train\\tRunning: now\\ntest\\n:4\\n'
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fluxqueue-completion-'));
  writeFileSync(join(folder, 'fluxqueue'), PROGRAM, { mode: 0o755 });
  writeFileSync(join(folder, 'script'), SCRIPTS.bash);
});
afterAll(() => rmSync(folder, { recursive: true }));

function bash(script: string): string[] {
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  const text = `set -u; source '${folder}/script'; ${script}; printf '%s\\n' \${COMPREPLY[@]+"\${COMPREPLY[@]}"}; cat '${folder}/asked'`;
  writeFileSync(join(folder, 'asked'), '');
  return execFileSync('bash', ['-c', text], { env, encoding: 'utf8' }).split('\n');
}

test('bash gets the candidates for the words up to the cursor', () => {
  expect(bash('COMP_WORDS=(fluxqueue why "" --watch); COMP_CWORD=2; _fluxqueue')).toEqual([
    'train',
    'test',
    '<__complete><--><why><>',
  ]);
});

test('bash completes nothing if the program fails', () => {
  expect(bash('COMP_WORDS=(fluxqueue fail); COMP_CWORD=1; _fluxqueue || true')).toEqual([
    '',
    '<__complete><--><fail>',
  ]);
});

test.each(Object.entries(SCRIPTS))('the script of %s asks the program', (_, script) => {
  expect(script).toContain('fluxqueue __complete -- ');
});
