/**
 * `npm run -s bench:deep -- --json`: a deep queue with many one-second Jobs and capacity for a few of them; measures the
 * utilization of the capacity and the throughput.
 */
import { Command } from 'commander';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import type { RoleProcess } from '../stack/roles';
import { type Stack, startStack } from '../stack/stack';
import { IN_FLIGHT, type JobsRun, print, round, runJobs, withAdmin } from './jobs';
import { cpuSeconds, sum, usedBetween, writesOf } from './processes';

const options = new Command('bench:deep')
  .option('--jobs <n>', 'one-pod Jobs', Number, 3000)
  .option('--capacity <n>', 'how many of them can run at the same time; a multiple of 10', Number, 50)
  .option('--in-flight <n>', 'creates that wait for their answer at the same time', Number, IN_FLIGHT)
  .option('--plain', 'first run as many Jobs without the queue and with capacity for all', false)
  .option('--json', 'print only one line of JSON on stdout', false)
  .parse()
  .opts<{ jobs: number; capacity: number; inFlight: number; plain: boolean; json: boolean }>();

const CORES_PER_NODE = 10;
const JOB_SECONDS = 1;
const NAMESPACE = 'deep';

async function main(): Promise<void> {
  const plain = options.plain ? await plainJobsPerSecond() : undefined;
  const stack = await startStack({
    cluster: {
      nodes: options.capacity / CORES_PER_NODE,
      nodeShape: { cpu: `${CORES_PER_NODE}`, memory: '640Gi' },
    },
    config: { logLevel: 'warn' },
    progress: print,
  });
  try {
    const result = await withAdmin(stack, (client) => measure(stack, client));
    const all = { ...result, ...(plain === undefined ? {} : { plainJobsPerSecond: round(plain) }) };
    if (!options.json) for (const [key, value] of Object.entries(all)) print(`${key.padEnd(20)} ${value}`);
    process.stdout.write(`${JSON.stringify(all)}\n`);
  } finally {
    await stack.stop();
  }
}

async function plainJobsPerSecond(): Promise<number> {
  const stack = await startStack({
    cluster: { nodes: 100, nodeShape: { cpu: '64', memory: '640Gi' } },
    progress: print,
  });
  try {
    await stack.namespace(NAMESPACE, false);
    const before = cpuSeconds(stack, {});
    const { seconds } = await withAdmin(stack, (client) => createJobs(client));
    printCpu(usedBetween(before, cpuSeconds(stack, {})));
    return options.jobs / seconds;
  } finally {
    await stack.stop();
  }
}

function createJobs(client: KubernetesClient): Promise<JobsRun> {
  return runJobs(client, NAMESPACE, 'job', options.jobs, { inFlight: options.inFlight });
}

async function measure(stack: Stack, client: KubernetesClient) {
  await stack.namespace(NAMESPACE);
  const controller = await stack.startController();
  const queue = openQueue({ url: stack.postgres.url, units: DEFAULT_UNITS });
  try {
    print(`${options.jobs} Jobs with capacity for ${options.capacity}`);
    const before = cpuSeconds(stack, { controller });
    const { seconds, uids } = await createJobs(client);
    await printCost(controller, usedBetween(before, cpuSeconds(stack, { controller })));
    const spans = await Promise.all(uids.map((uid) => spanOf(queue, uid)));
    const first = Math.min(...spans.map(({ from }) => from));
    // From here on no workload waits, so free capacity is not lost.
    const empty = Math.max(...spans.map(({ from }) => from));
    const last = Math.max(...spans.map(({ until }) => until));
    const held = spans.reduce((sum, { from, until }) => sum + Math.min(until, empty) - from, 0);
    return {
      jobs: options.jobs,
      capacity: options.capacity,
      inFlight: options.inFlight,
      jobsPerSecond: round(options.jobs / seconds),
      grantedShare: round(held / (options.capacity * (empty - first))),
      usefulShare: round((options.jobs * JOB_SECONDS) / (options.capacity * (last - first))),
      seconds: round(seconds),
    };
  } finally {
    await queue.close();
    await controller.stop();
  }
}

/** Prints CPU and writes of each Job: with both cores at work, they decide how many end each second. */
async function printCost(controller: RoleProcess, used: Readonly<Record<string, number>>): Promise<void> {
  const { byKind } = await writesOf(controller);
  printCpu(used);
  for (const [kind, count] of byKind)
    if (each(count) > 0) print(`  ${kind.padEnd(32)} ${each(count)} per Job`);
}

const each = (count: number) => round(count / options.jobs);

function printCpu(used: Readonly<Record<string, number>>): void {
  print(`  CPU ms per Job: ${each(sum(used) * 1000)}`);
  for (const [name, seconds] of Object.entries(used)) print(`  ${name.padEnd(32)} ${each(seconds * 1000)}`);
}

/** The span from grant to release in the event log, in Unix seconds. */
async function spanOf(queue: Queue, uid: string): Promise<{ from: number; until: number }> {
  const history = await queue.history(uid);
  const at = (event: string) => history.findLast((entry) => entry.event === event)?.at;
  const from = at('Allocated');
  const until = at('Finished');
  if (from === undefined || until === undefined)
    throw new Error(`${uid} has not finished: ${history.map(({ event }) => event).join(', ')}`);
  return { from, until };
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    print(String(error));
    process.exit(1);
  },
);
