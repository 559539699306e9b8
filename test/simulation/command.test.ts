/** The command as users run it: in the bundle of the package, so without node_modules. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { bundleRuntime } from '../../release/bundle';
import { swfLines } from '../../runtime/queue/swf';
import type { TracedWorkload } from '../../runtime/queue/trace';
import { swfTrace } from './trace';

const folder = mkdtempSync(join(tmpdir(), 'simulate-'));
const program = join(folder, 'runtime.js');
const file = join(folder, 'trace.swf');
beforeAll(() => {
  bundleRuntime(program);
  writeFileSync(file, swfTrace({ jobs: 60, cores: 64, load: 0.9 }));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function simulateWith(input: string, ...args: readonly string[]) {
  const child = spawn(process.execPath, [program, 'simulate', ...args], { cwd: folder });
  child.stdin.end(input);
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close') as Promise<[number]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, stdout, stderr };
}

const simulate = (...args: readonly string[]) => simulateWith('', ...args);

const machine = ['--nodes', '8', '--cores-per-node', '4'];

test('prints one line of JSON, and jobs that cannot run on stderr', async () => {
  const { code, stdout, stderr } = await simulate(file, '--policy', 'hybrid', ...machine, '--json');
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
    'queues',
  ]);
  expect(stderr).toMatch(/^\d+ jobs? asks? for more than the machine's 32 cores and never start/);
});

test('prints a readable summary without --json', async () => {
  const { stdout } = await simulate(file, ...machine);
  expect(stdout).toMatch(
    /jobs on 8 nodes of 4 cores, policy easy\n {2}wait .*\n(.*\n)*.*delayed reservations {2}0\n {2}estimates .*\n$/,
  );
});

test('compares policies and sizes as a table, as JSON and as a page', async () => {
  const page = join(folder, 'page.html');
  const sizes = ['--nodes', '16,+8', '--cores-per-node', '4'];
  const args = [file, '--policy', 'fcfs,hybrid', ...sizes, '--reservations', '4', '--html', page];
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

/** What `fluxqueue trace` prints of a queue in which two teams shared eight cores. */
function exported(): string {
  const start = 1_700_000_000;
  const workloads = Array.from({ length: 80 }, (_, i): TracedWorkload => {
    const startedAt = start + 100 * Math.floor(i / 8);
    return {
      submittedAt: start,
      startedAt,
      finishedAt: startedAt + 100,
      walltime: 3600,
      cores: 1,
      result: 'Succeeded',
      user: `user-${i % 3}`,
      namespace: 'science',
      queue: i < 40 ? 'science/batch' : 'science/urgent',
    };
  });
  return `${[...swfLines(workloads, { nodes: 4, cores: 8 })].join('\n')}\n`;
}

test('answers what if the queue had used other weights, from what `trace` prints', async () => {
  const args = [
    '--fair-share',
    'off,on',
    '--weights',
    'science/urgent=4',
    '--weights',
    '1=4',
    '--half-life',
    '1h',
  ];
  const { code, stdout, stderr } = await simulateWith(
    exported(),
    '-',
    ...args,
    '--nodes',
    '4',
    '--cores-per-node',
    '1',
  );
  expect([code, stderr]).toEqual([0, '']);
  const [variants, queues] = stdout.split('\n\n').map((part) => part.trimEnd().split('\n'));
  expect(variants!.slice(1).map((line) => line.split('  ')[0])).toEqual([
    'no fair share',
    'fair share',
    'science/urgent=4',
    '1=4',
  ]);
  expect(queues![0]).toMatch(
    /^ +queue +weight +jobs +mean wait +median +p90 +longest user's median +share while others waited$/,
  );
  expect(queues![6]).toMatch(/^science\/urgent=4 +science\/urgent +4 +40 /);
});

test('a queue of a higher weight waits shorter, and gets more while others wait', async () => {
  const args = [
    '-',
    '--nodes',
    '4',
    '--cores-per-node',
    '1',
    '--weights',
    '1=1,2=4',
    '--weights',
    '1=4,2=1',
    '--json',
  ];
  const { stdout } = await simulateWith(exported(), ...args);
  const [second, first] = JSON.parse(stdout) as {
    weights: Record<string, number>;
    queues: { queue: string; medianWait: number; contendedShare: number }[];
  }[];
  expect(second!.weights).toEqual({ 'science/batch': 1, 'science/urgent': 4 });
  expect(second!.queues.map(({ queue }) => queue)).toEqual(['science/batch', 'science/urgent']);
  expect(second!.queues[1]!.medianWait).toBeLessThan(first!.queues[1]!.medianWait);
  expect(first!.queues[0]!.medianWait).toBeLessThan(second!.queues[0]!.medianWait);
  expect(second!.queues[1]!.contendedShare).toBeGreaterThan(0.6);
  expect(first!.queues[1]!.contendedShare).toBeLessThan(0.4);
});

test('takes the machine of the trace, and compares it with 4 nodes more', async () => {
  const { code, stdout, stderr } = await simulateWith(exported(), '-', '--nodes', '+4', '--json');
  expect([code, stderr]).toEqual([0, '']);
  expect((JSON.parse(stdout) as { nodes: number }[]).map(({ nodes }) => nodes)).toEqual([4, 8]);
});

test('takes as many cores as were used at once where the trace does not tell its machine', async () => {
  const sizeless = exported().replaceAll(/^; Max(Nodes|Procs).*\n/gm, '');
  const { code, stdout, stderr } = await simulateWith(sizeless, '-', '--nodes', '+4', '--json');
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(
      /^the trace does not tell the size of its machine: 8 nodes of 1 core, .*another\n$/,
    ),
  ]);
  expect((JSON.parse(stdout) as { nodes: number }[]).map(({ nodes }) => nodes)).toEqual([8, 12]);
});

test('compares numbers of reservations of hybrid, and --swf is the argument', async () => {
  const { stdout } = await simulate(
    '--swf',
    file,
    ...machine,
    '--policy',
    'easy,hybrid',
    '--reservations',
    '2,16',
  );
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('  ')[0]),
  ).toEqual(['', 'easy', 'hybrid 2', 'hybrid 16']);
});

test.each([
  [
    ['none.swf', ...machine],
    /^FLUXQ_TRACE_UNREADABLE: none\.swf: .*; give a readable file, or - for the standard input\n$/,
  ],
  [[file, '--nodes', '0', '--cores-per-node', '4'], /must be whole numbers from 1 to/],
  [[file, '--nodes', '8,+x', '--cores-per-node', '4'], /\+20 means 20 more than the first/],
  [
    [file, '--policy', 'all', '--nodes', '1,2,3,4,5', '--cores-per-node', '4'],
    /^FLUXQ_SIMULATION_SIZE: --policy x .*: at most 16 replays are compared \(got 20\); give fewer/,
  ],
  [
    [file, ...machine, '--html', '/nowhere/page.html'],
    /FLUXQ_SIMULATION_OUTPUT: --html: ENOENT.*; give a file in a folder that you may write to\n$/,
  ],
  [[file, '--nodes', '100000', '--cores-per-node', '100000'], /^FLUXQ_SIMULATION_SIZE: /],
  [[file, ...machine, '--reservations', '2'], /^--reservations requires --policy hybrid\n$/],
  [[file, ...machine, '--half-life', '1h'], /^--half-life requires --fair-share on, or --weights\n$/],
  [[file, ...machine, '--half-life', '5 weeks', '--fair-share', 'on'], /must be a duration of at least 1s/],
  [[file, ...machine, '--fair-share', 'yes'], /must be off, on, or off,on\./],
  [[file, ...machine, '--weights', '1=3,1=2'], /must name each queue once\./],
  [[file, ...machine, '--weights', '1=0'], /must be QUEUE=WEIGHT, .* from 1 to 1000000\./],
  [
    [file, ...machine, '--weights', 'gpu=2'],
    /^FLUXQ_SIMULATION_QUEUE: --weights: is not a queue of the trace \(got "gpu"\); use 1\n$/,
  ],
  [machine, /^missing required argument: the file of the trace, or -\n$/],
  [[file, '--nodes', '8'], /^FLUXQ_SIMULATION_SIZE: .*; give --cores-per-node\n$/],
  [
    [file, ...machine, '--policy', 'magic'],
    /must be all, or one or more of fcfs, easy, conservative, hybrid/,
  ],
])('reports invalid input in one sentence: %j', async (args, sentence) => {
  const { code, stderr } = await simulate(...args);
  expect([code, stderr]).toEqual([1, expect.stringMatching(sentence)]);
});
