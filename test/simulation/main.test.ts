import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { swfTrace } from './trace';

const ROOT = join(__dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'simulate-'));
const file = join(folder, 'trace.swf');
beforeAll(() => writeFileSync(file, swfTrace({ jobs: 60, cores: 64, load: 0.9 })));
afterAll(() => rmSync(folder, { recursive: true }));

function simulate(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const command = ['--import', 'tsx', join(ROOT, 'runtime/simulation/main.ts'), ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, command, { cwd: ROOT }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : 1, stdout, stderr });
    });
  });
}

const machine = ['--nodes', '8', '--cores-per-node', '4'];

test('prints one line of JSON, and jobs that cannot run on stderr', async () => {
  const { code, stdout, stderr } = await simulate('--swf', file, '--policy', 'hybrid', ...machine, '--json');
  expect(code).toBe(0);
  expect(Object.keys(JSON.parse(stdout))).toEqual([
    'jobs',
    'meanWait',
    'medianWait',
    'waitP90',
    'maxWait',
    'meanBoundedSlowdown',
    'utilisation',
    'wideMeanWait',
    'wideMaxWait',
    'delayedReservations',
    'estimated',
    'meanEstimateError',
    'estimateErrorP50',
    'estimateErrorP90',
  ]);
  expect(stderr).toMatch(/^\d+ jobs? asks? for more than the machine's 32 cores and never start/);
});

test('prints a readable summary without --json', async () => {
  const { stdout } = await simulate('--swf', file, ...machine);
  expect(stdout).toMatch(
    /jobs on 8 nodes of 4 cores, policy easy\n {2}wait .*\n(.*\n)*.*delayed reservations {2}0\n {2}estimates .*\n$/,
  );
});

test('compares policies and sizes as a table, as JSON and as a page', async () => {
  const page = join(folder, 'page.html');
  const sizes = ['--nodes', '16,+8', '--cores-per-node', '4'];
  const args = ['--swf', file, '--policy', 'fcfs,hybrid', ...sizes, '--reservations', '4', '--html', page];
  const { stdout: table } = await simulate(...args);
  const lines = table.trimEnd().split('\n');
  expect(lines[0]).toMatch(/^ +mean wait +median +p90 .* delayed +estimated +error p50 +error p90$/);
  expect(lines.slice(1).map((line) => line.slice(0, 16).trim())).toEqual([
    'fcfs, 16 nodes',
    'fcfs, 24 nodes',
    'hybrid, 16 nodes',
    'hybrid, 24 nodes',
  ]);
  const { stdout } = await simulate(...args, '--json');
  const results = JSON.parse(stdout) as { policy: string; nodes: number; meanWait: number }[];
  expect(results.map(({ policy, nodes }) => [policy, nodes])).toEqual([
    ['fcfs', 16],
    ['fcfs', 24],
    ['hybrid', 16],
    ['hybrid', 24],
  ]);
  expect(results[1]!.meanWait).toBeLessThan(results[0]!.meanWait);
  expect(results[2]!.meanWait).toBeLessThan(results[0]!.meanWait);
  expect(readFileSync(page, 'utf8')).toContain('<title>Replay of trace.swf</title>');
});

test.each([
  [
    ['--swf', 'none.swf', ...machine],
    /^FLUXQ_TRACE_UNREADABLE: none\.swf: .*; give a readable file with --swf\n$/,
  ],
  [['--swf', file, '--nodes', '0', '--cores-per-node', '4'], /must be whole numbers from 1 to/],
  [['--swf', file, '--nodes', '8,+x', '--cores-per-node', '4'], /after the first, \+20 means 20 more/],
  [['--swf', file, '--nodes', '+8', '--cores-per-node', '4'], /must be whole numbers from 1 to/],
  [
    ['--swf', file, '--policy', 'all', '--nodes', '1,2,3,4,5', '--cores-per-node', '4'],
    /^FLUXQ_SIMULATION_SIZE: --policy x --nodes: at most 16 replays are compared \(got 20\); give fewer/,
  ],
  [
    ['--swf', file, ...machine, '--html', '/nowhere/page.html'],
    /FLUXQ_SIMULATION_OUTPUT: --html: ENOENT.*; give a file in a folder that you may write to\n$/,
  ],
  [['--swf', file, '--nodes', '100000', '--cores-per-node', '100000'], /^FLUXQ_SIMULATION_SIZE: /],
  [['--swf', file, ...machine, '--reservations', '2'], /^--reservations requires --policy hybrid\n$/],
  [
    ['--swf', file, ...machine, '--policy', 'magic'],
    /must be all, or one or more of fcfs, easy, conservative, hybrid/,
  ],
])('reports invalid input in one sentence: %j', async (args, sentence) => {
  const { code, stderr } = await simulate(...args);
  expect([code, stderr]).toEqual([1, expect.stringMatching(sentence)]);
});
