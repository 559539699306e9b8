import { spawnSync } from 'node:child_process';
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
