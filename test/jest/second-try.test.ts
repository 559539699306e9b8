/** The second try of failed suites in CI, with real processes. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import unreliable from './unreliable.json';

/** How many suites the list had when it was last shortened. */
const LISTED = 2;

const directory = mkdtempSync(join(tmpdir(), 'second-try-'));
afterAll(() => rmSync(directory, { recursive: true }));

const listed = 'test/listed.test.ts';
const list = join(directory, 'list.json');
writeFileSync(list, JSON.stringify({ [listed]: 'it needs forty changes a second' }));

/** @param messages of each test of each suite that failed */
function secondTry(
  statuses: Readonly<Record<string, string>>,
  command: readonly string[],
  messages: readonly (readonly string[])[] = [['expected 1']],
) {
  const file = join(directory, 'results.json');
  const testResults = Object.entries(statuses).map(([suite, status]) => ({
    name: join(process.cwd(), suite),
    status,
    assertionResults: [
      { status: 'passed', failureMessages: [] },
      ...(status === 'failed' ? messages : []).map((failureMessages) => ({ status, failureMessages })),
    ],
  }));
  writeFileSync(file, JSON.stringify({ testResults }));
  const { status, stdout, stderr } = spawnSync(
    'tsx',
    [join(__dirname, 'second-try.ts'), file, list, ...command],
    {
      encoding: 'utf8',
      env: { ...process.env, PATH: `${join(__dirname, '../../node_modules/.bin')}:${process.env.PATH}` },
    },
  );
  return { status, stdout, stderr };
}

test('the list of unreliable suites names existing ones with reasons, and only gets shorter', () => {
  for (const [suite, reason] of Object.entries<string>(unreliable)) {
    expect(existsSync(suite)).toBe(true);
    expect(reason.length).toBeGreaterThan(20);
  }
  expect(Object.keys(unreliable).length).toBeLessThanOrEqual(LISTED);
});

test('runs a failed suite of the list alone and says that it was unreliable', () => {
  const { status, stdout, stderr } = secondTry({ 'test/passed': 'passed', [listed]: 'failed' }, [
    'echo',
    'ran',
  ]);
  expect([status, stdout]).toEqual([0, `ran ${listed}\n`]);
  expect(stderr).toContain(`UNRELIABLE: ${listed} failed first`);
});

const late = (spare: number) =>
  `FluxqError: FLUXQ_TEST_TIMEOUT: timed out waiting for its nodes (got "600048 ms, of which the machine had ${spare} to spare")`;
/** What comes of it in the other hooks of the suite. */
const AFTER = 'the cluster is available only inside tests';

test('runs a suite again of which every failed test has waited on a machine without time', () => {
  const { status, stdout } = secondTry(
    { 'test/slow': 'failed' },
    ['echo', 'ran'],
    [[late(120_010)], [late(200_000), AFTER]],
  );
  expect([status, stdout]).toEqual([0, 'ran test/slow\n']);
});

test.each([
  ['one test has failed otherwise', [[late(120_010)], ['expected 1']]],
  ['one test has failed otherwise before it waited', [['expected 1', late(120_010)]]],
  ['the machine had time enough', [[late(500_000)]]],
  ['no test has failed, but the suite', []],
])('fails when %s', (_, messages) => {
  expect(secondTry({ 'test/slow': 'failed' }, ['echo', 'ran'], messages)).toMatchObject({
    status: 1,
    stdout: '',
  });
});

test('fails when a suite fails again', () => {
  expect(secondTry({ [listed]: 'failed' }, ['false']).status).toBe(1);
});

test.each([
  ['no suite failed: something else did', { [listed]: 'passed' }],
  ['a suite failed that is not in the list', { [listed]: 'failed', 'test/reliable': 'failed' }],
])('fails when %s', (_, statuses) => {
  expect(secondTry(statuses, ['echo', 'ran'])).toMatchObject({ status: 1, stdout: '' });
});

test('fails without results', () => {
  const { status } = spawnSync('node', [
    '--import',
    'tsx',
    join(__dirname, 'second-try.ts'),
    '/none',
    list,
    'true',
  ]);
  expect(status).not.toBe(0);
});
