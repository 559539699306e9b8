import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
    'maxWait',
    'meanBoundedSlowdown',
    'utilisation',
    'wideMeanWait',
    'wideMaxWait',
    'delayedReservations',
    'estimated',
    'meanEstimateError',
  ]);
  expect(stderr).toMatch(/^\d+ jobs? asks? for more than the machine's 32 cores and never start/);
});

test('prints a readable summary without --json', async () => {
  const { stdout } = await simulate('--swf', file, ...machine);
  expect(stdout).toMatch(
    /jobs on 8 nodes of 4 cores, policy easy\n {2}wait .*\n(.*\n)*.*delayed reservations {2}0\n {2}estimates .*\n$/,
  );
});

test.each([
  [
    ['--swf', 'none.swf', ...machine],
    /^FLUXQ_TRACE_UNREADABLE: none\.swf: .*; give a readable file with --swf\n$/,
  ],
  [['--swf', file, '--nodes', '0', '--cores-per-node', '4'], /must be a whole number from 1 to/],
  [['--swf', file, '--nodes', '100000', '--cores-per-node', '100000'], /^FLUXQ_SIMULATION_SIZE: /],
  [['--swf', file, ...machine, '--reservations', '2'], /^--reservations requires --policy hybrid\n$/],
  [['--swf', file, ...machine, '--policy', 'magic'], /Allowed choices are fcfs, easy, conservative, hybrid/],
])('reports invalid input in one sentence: %j', async (args, sentence) => {
  const { code, stderr } = await simulate(...args);
  expect([code, stderr]).toEqual([1, expect.stringMatching(sentence)]);
});
