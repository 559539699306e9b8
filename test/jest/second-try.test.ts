/** The second try of failed suites in CI, with real processes. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const directory = mkdtempSync(join(tmpdir(), 'second-try-'));
afterAll(() => rmSync(directory, { recursive: true }));

function run(file: string, command: readonly string[]) {
  const { status, stdout, stderr } = spawnSync('tsx', [join(__dirname, 'second-try.ts'), file, ...command], {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${join(__dirname, '../../node_modules/.bin')}:${process.env.PATH}` },
  });
  return { status, stdout, stderr };
}

function secondTry(statuses: Readonly<Record<string, string>>, command: readonly string[]) {
  const file = join(directory, 'results.json');
  const testResults = Object.entries(statuses).map(([suite, status]) => ({
    name: join(process.cwd(), suite),
    status,
  }));
  writeFileSync(file, JSON.stringify({ testResults }));
  return run(file, command);
}

const failed = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`test/suite-${i}`, 'failed']));

test('runs up to three failed suites alone and says that they were unreliable', () => {
  const { status, stdout, stderr } = secondTry({ 'test/passed': 'passed', ...failed(3) }, ['echo', 'ran']);
  expect([status, stdout]).toEqual([0, 'ran test/suite-0 test/suite-1 test/suite-2\n']);
  for (let i = 0; i < 3; i++)
    expect(stderr).toContain(`UNRELIABLE: test/suite-${i} failed first and passed then\n`);
});

test('fails when a suite fails again', () => {
  const { status, stderr } = secondTry(failed(1), ['false']);
  expect(status).toBe(1);
  expect(stderr).not.toContain('UNRELIABLE');
});

test.each([
  ['no suite failed: something else did', { 'test/passed': 'passed' }, 'something else did'],
  ['more than three failed', failed(4), 'more than 3 suites failed'],
])('fails when %s', (_, statuses, why) => {
  const { status, stdout, stderr } = secondTry(statuses, ['echo', 'ran']);
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toContain(why);
});

test('fails without results', () => {
  expect(run('/none', ['true']).status).not.toBe(0);
});
