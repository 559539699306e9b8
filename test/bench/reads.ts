/**
 * `npm run -s bench:reads -- [--json] [--jobs 10000] [--seconds 60]`: how long the commands of users take beside a deep queue, and whether the
 * leader notices them: its event-loop delay in turns without and with a reader that asks all the time.
 */
import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { ADMITTED_LABEL } from '../../constructs/api/labels';
import { fluxJobs } from '../../runtime/kubernetes/custom-resources';
import { jobs as jobsPath } from '../../runtime/kubernetes/paths';
import type { RoleProcess } from '../stack/roles';
import { type Stack, startStack } from '../stack/stack';
import { print, round, withAdmin } from './jobs';
import { median, quantile } from './statistics';

const options = new Command('bench:reads')
  .option('--jobs <n>', 'waiting Jobs', Number, 10_000)
  .option('--nodes <n>', 'nodes, each taken by one Job that runs', Number, 100)
  .option('--seconds <n>', 'length of one turn', Number, 60)
  .option('--turns <n>', 'turns without and with readers', Number, 2)
  .option('--json', 'print only one line of JSON on stdout', false)
  .parse()
  .opts<{ jobs: number; nodes: number; seconds: number; turns: number; json: boolean }>();

const run = promisify(execFile);
const NAMESPACE = 'reads';
const CORES = 8;
const SCRAPE_MS = 5_000;
/** Asked about in the namespace of the benchmark. */
const EXAMPLE = join(tmpdir(), `fluxqueue-reads-${process.pid}.json`);

/** What users ask, by the name of its figures. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  queue: ['queue', '-n', NAMESPACE],
  queueAll: ['queue', '-A'],
  why: ['why', 'waiting-100', '-n', NAMESPACE],
  top: ['top', '-n', NAMESPACE],
  plan: ['plan', '-n', NAMESPACE],
  history: ['history', 'waiting-100', '-n', NAMESPACE],
  usage: ['usage', '-n', NAMESPACE],
  nodes: ['nodes'],
  whatIf: ['whatif', '-n', NAMESPACE, '-f', EXAMPLE],
};

async function main(): Promise<void> {
  const stack = await startStack({
    cluster: { nodes: options.nodes, nodeShape: { cpu: `${CORES}`, memory: '64Gi' } },
    config: { logLevel: 'warn' },
    readApi: true,
    progress: print,
  });
  try {
    const figures = await measure(stack);
    process.stdout.write(`${JSON.stringify(figures, undefined, options.json ? 0 : 2)}\n`);
  } finally {
    rmSync(EXAMPLE, { force: true });
    await stack.stop();
  }
}

async function measure(stack: Stack): Promise<object> {
  await stack.namespace(NAMESPACE);
  const leader = await stack.startController();
  await stack.startReader();
  await fill(stack);
  writeFileSync(EXAMPLE, JSON.stringify(jobOf('asked')));
  const delays = { quiet: [] as number[], reading: [] as number[] };
  const seconds = Object.fromEntries(Object.keys(COMMANDS).map((name): [string, number[]] => [name, []]));
  for (let turn = 0; turn < options.turns; turn++) {
    print(`turn ${turn + 1}: nobody asks`);
    delays.quiet.push(...(await delaysOf(leader, sleep(options.seconds * 1000))));
    print(`turn ${turn + 1}: a reader asks all the time`);
    delays.reading.push(...(await delaysOf(leader, ask(stack, seconds))));
  }
  return {
    jobs: options.jobs,
    nodes: options.nodes,
    commands: Object.fromEntries(
      Object.entries(seconds).map(([name, values]) => [
        name,
        { runs: values.length, p50Seconds: round(median(values)), p99Seconds: round(quantile(values, 0.99)) },
      ]),
    ),
    // Each value is the 99th percentile of five seconds.
    loopDelayQuietMs: delayFigures(delays.quiet),
    loopDelayReadingMs: delayFigures(delays.reading),
  };
}

function delayFigures(values: readonly number[]): object {
  return { median: round(median(values) * 1000), max: round(Math.max(...values) * 1000) };
}

/** Jobs that take every node, and behind them those that wait; resolves when each of them has its FluxJob. */
async function fill(stack: Stack): Promise<void> {
  const all = options.nodes + options.jobs;
  await withAdmin(stack, async (client) => {
    let next = 0;
    const createSome = async () => {
      for (let i = next++; i < all; i = next++) {
        const name = i < options.nodes ? `running-${i}` : `waiting-${i - options.nodes}`;
        await client.create(jobsPath(NAMESPACE), jobOf(name));
        if (i % 1_000 === 999) print(`${i + 1} Jobs`);
      }
    };
    await Promise.all(Array.from({ length: 16 }, createSome));
    await stack.cluster.waitFor(
      'all FluxJobs',
      async () => {
        const { items } = await client.list(fluxJobs(NAMESPACE), { metadataOnly: true });
        return items.length === all;
      },
      { timeoutMs: 300_000 },
    );
  });
}

function jobOf(name: string): object {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, labels: { [ADMITTED_LABEL]: 'true' } },
    spec: {
      template: {
        metadata: { annotations: { 'fluxqueue.test/duration': '7200s' } },
        spec: {
          restartPolicy: 'Never',
          containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: `${CORES}` } } }],
        },
      },
    },
  };
}

/** Asks one question after the other, as one user or dashboard does, and notes how long each took. */
async function ask(stack: Stack, seconds: Readonly<Record<string, number[]>>): Promise<void> {
  const env = { ...process.env, KUBECONFIG: stack.cluster.kubeconfig };
  const until = performance.now() + options.seconds * 1000;
  while (performance.now() < until)
    for (const [name, args] of Object.entries(COMMANDS)) {
      const before = performance.now();
      const { stdout } = await run(process.execPath, [stack.roles.bundle, ...args], {
        env,
        maxBuffer: 2 ** 28,
      });
      if (stdout === '') throw new Error(`${name} printed nothing`);
      seconds[name]?.push((performance.now() - before) / 1000);
    }
}

/** Seconds: the 99th percentile of the leader's event-loop delay in each slice of the work. */
async function delaysOf(leader: RoleProcess, work: Promise<void>): Promise<number[]> {
  const over = new AbortController();
  void work.finally(() => over.abort()).catch(() => undefined);
  const delays: number[] = [];
  // What was measured before the turn is read, and so forgotten.
  await delayOf(leader);
  while (!over.signal.aborted) {
    await sleep(SCRAPE_MS, undefined, { signal: over.signal }).catch(() => undefined);
    if (!over.signal.aborted) delays.push(await delayOf(leader));
  }
  await work;
  return delays;
}

async function delayOf(leader: RoleProcess): Promise<number> {
  const found = /^nodejs_eventloop_lag_p99_seconds ([\d.e+-]+)/m.exec(await leader.metrics());
  if (found === null) throw new Error('the leader has no metric of its event loop');
  return Number(found[1]);
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    print(String(error));
    process.exit(1);
  },
);
