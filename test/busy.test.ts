import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const TSX = join(__dirname, '../node_modules/.bin/tsx');
const busy = (...args: string[]) =>
  spawnSync(TSX, [join(__dirname, 'busy.ts'), ...args], { encoding: 'utf8' });

test('a command runs beside as many busy processes as asked for, which end with it', () => {
  // The command is a child of the script, and so are the loops. The brackets keep the command from finding itself.
  const script = `ps -o pid=,args= --ppid $PPID | awk '/set[I]mmediate/ { print $1 }'`;
  const { status, stdout } = busy('2', 'sh', '-c', script);
  const loops = stdout.trim().split('\n').map(Number);
  expect([status, loops.length]).toEqual([0, 2]);
  for (const pid of loops) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

test.each<[string, number, string[]]>([
  ['its exit code', 7, ['1', 'sh', '-c', 'exit 7']],
  ['that of a shell if a signal ends it', 143, ['1', 'sh', '-c', 'kill -TERM $$']],
  ['127 if it cannot be started', 127, ['1', '/nowhere/command']],
  ['2 without a number', 2, ['sh', '-c', 'exit 7']],
])('the exit code is %s', (_, code, args) => {
  expect(busy(...args).status).toBe(code);
});
