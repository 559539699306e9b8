/** The second try of failed suites in CI, with real processes. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const directory = mkdtempSync(join(tmpdir(), 'second-try-'));
afterAll(() => rmSync(directory, { recursive: true }));

function secondTry(statuses: readonly string[], command: readonly string[]) {
  const file = join(directory, 'results.json');
  const testResults = statuses.map((status, index) => ({
    name: join(process.cwd(), `test/${index}`),
    status,
  }));
  writeFileSync(file, JSON.stringify({ testResults }));
  const { status, stdout, stderr } = spawnSync('tsx', [join(__dirname, 'second-try.ts'), file, ...command], {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${join(__dirname, '../node_modules/.bin')}:${process.env.PATH}` },
  });
  return { status, stdout, stderr };
}

test('runs the failed suites alone and says which were unreliable', () => {
  const { status, stdout, stderr } = secondTry(['passed', 'failed'], ['echo', 'ran']);
  expect([status, stdout]).toEqual([0, 'ran test/1\n']);
  expect(stderr).toContain('UNRELIABLE: test/1 failed first');
});

test('fails when a suite fails again', () => {
  expect(secondTry(['failed'], ['false']).status).toBe(1);
});

test.each([
  ['no suite failed: something else did', ['passed']],
  ['many suites failed', ['failed', 'failed', 'failed', 'failed']],
])('fails when %s', (_, statuses) => {
  expect(secondTry(statuses, ['echo', 'ran'])).toMatchObject({ status: 1, stdout: '' });
});

test('fails without results', () => {
  const { status } = spawnSync('node', [
    '--import',
    'tsx',
    join(__dirname, 'second-try.ts'),
    '/none',
    'true',
  ]);
  expect(status).not.toBe(0);
});
