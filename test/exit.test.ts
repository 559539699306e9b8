import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

test.each([
  ['exitWhenWritten()', 0],
  ['(process.exitCode = 130, exitWhenWritten())', 130],
  ['exitWhenWritten(1)', 1],
])('%s ends with exit code %d', (call, status) => {
  const file = JSON.stringify(join(__dirname, '../runtime/exit.ts'));
  const script = `require('tsx/cjs'); const { exitWhenWritten } = require(${file}); ${call};`;
  expect(spawnSync(process.execPath, ['-e', script], { cwd: join(__dirname, '..') }).status).toBe(status);
});

test('an output that cannot be written ends the program with a sentence', () => {
  const file = JSON.stringify(join(__dirname, '../runtime/exit.ts'));
  const script = `require('tsx/cjs'); require(${file}).endWithReader(); process.stdout.write('x');`;
  const full = openSync('/dev/full', 'w');
  const ended = spawnSync(process.execPath, ['-e', script], {
    cwd: join(__dirname, '..'),
    stdio: ['ignore', full, 'pipe'],
  });
  closeSync(full);
  expect([ended.status, ended.stderr.toString()]).toEqual([
    1,
    expect.stringMatching(/^cannot write the output: ENOSPC.*\n$/),
  ]);
});
