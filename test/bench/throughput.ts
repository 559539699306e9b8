/**
 * `npm run -s bench:throughput -- --json`: one-pod Jobs per second, alternating without and with the queue on one control
 * plane, and the cost of the queue.
 */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { type FluxJobObject, fluxJobs } from '../../runtime/kubernetes/custom-resources';
import type { Job, KubernetesObject } from '../../runtime/kubernetes/types';
import { openQueue } from '../../runtime/queue/queue';
import type { RoleProcess } from '../stack/roles';
import { type Stack, startStack } from '../stack/stack';
import { print, round, runJobs, withAdmin } from './jobs';
import { median, quantile } from './statistics';

interface Trial {
  readonly jobsPerSecond: number;
  /** CPU seconds of the control plane and, with the queue, of our processes. */
  readonly cpuSeconds: number;
  /** The cost of our processes, with the queue only. */
  readonly own?: {
    readonly writesPerJob: number;
    readonly eventsPerJob: number;
    readonly cpuSeconds: number;
    readonly rssMiB: number;
  };
}

const options = new Command('bench:throughput')
  .option('--jobs <n>', 'one-pod Jobs per trial', Number, 500)
  .option('--nodes <n>', 'nodes', Number, 100)
  .option('--pairs <n>', 'pairs of trials', Number, 3)
  .option('--sidecar', 'run Fluxion as a separate process instead of in the controller', false)
  .option(
    '--without-guards',
    'delete the ValidatingAdmissionPolicies first, to measure what they cost',
    false,
  )
  .option('--json', 'print only one line of JSON on stdout', false)
  .parse()
  .opts<{
    jobs: number;
    nodes: number;
    pairs: number;
    sidecar: boolean;
    withoutGuards: boolean;
    json: boolean;
  }>();

async function main(): Promise<void> {
  const stack = await startStack({
    cluster: { nodes: options.nodes, nodeShape: { cpu: '16', memory: '64Gi' } },
    config: { logLevel: 'warn' },
    progress: print,
  });
  try {
    await withAdmin(stack, async (client) => {
      if (options.withoutGuards) await deleteGuards(client);
      await measure(stack, client);
    });
  } finally {
    await stack.stop();
  }
}

const GUARD_BINDINGS = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';

async function deleteGuards(client: KubernetesClient): Promise<void> {
  const { items } = await client.list<KubernetesObject>(GUARD_BINDINGS);
  for (const { metadata } of items) await client.delete(`${GUARD_BINDINGS}/${metadata.name}`);
  print(`deleted ${items.length} guards`);
}

async function measure(stack: Stack, client: KubernetesClient): Promise<void> {
  await warmUp(stack, client);
  const plain: Trial[] = [];
  const queued: Trial[] = [];
  for (let pair = 0; pair < options.pairs; pair++) {
    plain.push(await trial(stack, client, `plain-${pair}`, false));
    queued.push(await trial(stack, client, `queue-${pair}`, true));
    print(
      `pair ${pair + 1}: plain ${plain.at(-1)!.jobsPerSecond.toFixed(1)} jobs/s, queue ${queued.at(-1)!.jobsPerSecond.toFixed(1)} jobs/s`,
    );
  }
  report(plain, queued);
}

/**
 * The first Jobs of a control plane are slow with and without the queue: caches, connections, kwok, and the schemas that
 * the apiserver loads once for its policies.
 */
async function warmUp(stack: Stack, client: KubernetesClient): Promise<void> {
  print('warming up');
  await trial(stack, client, 'warm-plain', false, 50);
  await trial(stack, client, 'warm-queue', true, 50);
}

/** Number of Jobs before the measured ones: the first seconds of a controller are not typical. */
const FIRST_JOBS = 100;

async function trial(
  stack: Stack,
  client: KubernetesClient,
  namespace: string,
  queue: boolean,
  count = options.jobs,
): Promise<Trial> {
  await stack.namespace(namespace, queue);
  const fluxion = queue && options.sidecar ? await stack.roles.startFluxion() : undefined;
  const controller = queue
    ? await stack.startController({
        fluxion: { address: options.sidecar ? stack.roles.fluxionAddress : 'embedded' },
      })
    : undefined;
  try {
    await runJobs(client, namespace, 'first', FIRST_JOBS);
    if (queue) await untilRecorded(stack, client, namespace, FIRST_JOBS);
    const before = controller && (await usage(controller, fluxion));
    const cpuBefore = controlPlaneCpu(stack);
    const { seconds, uids } = await runJobs(client, namespace, 'job', count);
    const jobsPerSecond = count / seconds;
    const used = PROGRAMS.map((_, i) => controlPlaneCpu(stack)[i]! - cpuBefore[i]!);
    const cpuSeconds = used.reduce((sum, one) => sum + one, 0);
    print(`  CPU seconds: ${PROGRAMS.map((name, i) => `${name} ${used[i]!.toFixed(1)}`).join(', ')}`);
    if (before === undefined) return { jobsPerSecond, cpuSeconds };
    const drained = await untilRecorded(stack, client, namespace, FIRST_JOBS + count);
    const after = await usage(controller!, fluxion);
    for (const [kind, number] of after.writesByKind) {
      const perJob = (number - (before.writesByKind.get(kind) ?? 0)) / count;
      if (perJob > 0) print(`  ${kind.padEnd(32)} ${perJob.toFixed(2)} per Job`);
    }
    print(`  all FluxJobs Finished ${drained.toFixed(1)} s after the last Job`);
    await printSteps(stack, uids);
    return {
      jobsPerSecond,
      cpuSeconds: cpuSeconds + after.cpuSeconds - before.cpuSeconds,
      own: {
        writesPerJob: (after.writes - before.writes) / count,
        eventsPerJob: (after.events - before.events) / count,
        cpuSeconds: after.cpuSeconds - before.cpuSeconds,
        rssMiB: after.rssMiB,
      },
    };
  } finally {
    await controller?.stop();
    await fluxion?.stop();
    await clean(stack, client, namespace);
  }
}

/** Prints quantiles of the steps of a workload, which show where the time goes. */
async function printSteps(stack: Stack, uids: readonly string[]): Promise<void> {
  const queue = openQueue({ url: stack.postgres.url, units: DEFAULT_UNITS });
  const rows = await queue.byUid(uids);
  await queue.close();
  const first = Math.min(...rows.map(({ submittedAt }) => submittedAt));
  const times = ['submittedAt', 'allocatedAt', 'releasedAt', 'startedAt', 'finishedAt'] as const;
  for (const time of times) {
    const values = rows.flatMap((row) => (row[time] === null ? [] : [row[time] - first]));
    print(
      `  ${time.padEnd(12)} p10 ${quantile(values, 0.1).toFixed(2)} p50 ${median(values).toFixed(2)} p100 ${quantile(values, 1).toFixed(2)} s`,
    );
  }
}

/** FluxJobs may lag under load, and their cost counts as well. @returns seconds until all are Finished */
async function untilRecorded(stack: Stack, client: KubernetesClient, namespace: string, count: number) {
  const started = performance.now();
  await stack.cluster.waitFor(
    'the FluxJobs',
    async () => {
      const { items } = await client.list<FluxJobObject>(fluxJobs(namespace));
      return items.filter(({ status }) => status?.phase === 'Finished').length === count;
    },
    { timeoutMs: 180_000, everyMs: 500 },
  );
  return (performance.now() - started) / 1000;
}

/** Deletes the namespace, so that the next trial starts with an empty cluster. */
async function clean(stack: Stack, client: KubernetesClient, namespace: string): Promise<void> {
  await client.delete(`/api/v1/namespaces/${namespace}`);
  await stack.cluster.waitFor(
    `namespace ${namespace} to be gone`,
    async () => {
      const { items } = await client.list<Job>('/api/v1/namespaces');
      return !items.some(({ metadata }) => metadata.name === namespace);
    },
    { timeoutMs: 120_000, everyMs: 250 },
  );
}

interface Usage {
  readonly writes: number;
  /** By verb, resource and status, also Events. */
  readonly writesByKind: ReadonlyMap<string, number>;
  readonly events: number;
  readonly cpuSeconds: number;
  readonly rssMiB: number;
}

const WRITES = new Set(['create', 'update', 'patch', 'apply', 'delete']);

/** Work of controller and Fluxion since their start, from /proc and from the metrics of the controller. */
async function usage(controller: RoleProcess, fluxion: RoleProcess | undefined): Promise<Usage> {
  let writes = 0;
  let events = 0;
  const writesByKind = new Map<string, number>();
  for (const line of (await controller.metrics()).split('\n')) {
    const match = /^fluxqueue_kubernetes_requests_total\{verb="(\w+)",resource="([^"]+)"(.*)\} (\d+)/.exec(
      line,
    );
    // Leader election updates its Lease every two seconds, independent of the load.
    if (match === null || !WRITES.has(match[1]!) || match[2] === 'leases') continue;
    const [, verb, resource, status, number] = match;
    writesByKind.set(`${verb} ${resource} ${status?.replace(/[^0-9]/g, '')}`, Number(number));
    if (resource === 'events') events += Number(number);
    else writes += Number(number);
  }
  const pids = [controller, fluxion].flatMap((role) => (role === undefined ? [] : [role.process.pid]));
  return {
    writes,
    writesByKind,
    events,
    cpuSeconds: pids.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0),
    rssMiB: pids.reduce((sum, pid) => sum + rssMiBOf(pid), 0),
  };
}

const PROGRAMS = ['kube-apiserver', 'etcd', 'kube-controller-manager', 'kube-scheduler', 'kwok'] as const;

function controlPlaneCpu(stack: Stack): number[] {
  return PROGRAMS.map((program) => cpuSecondsOf(stack.cluster.component(program).pid));
}

const CLOCK_TICKS = 100;

function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS;
}

function rssMiBOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
}

function report(plain: readonly Trial[], queued: readonly Trial[]): void {
  const own = queued.map((trial) => trial.own!);
  const result = {
    jobs: options.jobs,
    nodes: options.nodes,
    pairs: options.pairs,
    plainJobsPerSecond: round(median(plain.map((trial) => trial.jobsPerSecond))),
    queueJobsPerSecond: round(median(queued.map((trial) => trial.jobsPerSecond))),
    ratio: round(median(queued.map((trial, i) => trial.jobsPerSecond / plain[i]!.jobsPerSecond))),
    cpuRatio: round(median(queued.map((trial, i) => trial.cpuSeconds / plain[i]!.cpuSeconds))),
    writesPerJob: round(median(own.map(({ writesPerJob }) => writesPerJob))),
    eventsPerJob: round(median(own.map(({ eventsPerJob }) => eventsPerJob))),
    cpuSecondsPer1000Jobs: round((median(own.map(({ cpuSeconds }) => cpuSeconds)) * 1000) / options.jobs),
    rssMiB: round(median(own.map(({ rssMiB }) => rssMiB))),
  };
  if (!options.json) for (const [key, value] of Object.entries(result)) print(`${key.padEnd(24)} ${value}`);
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    print(String(error));
    process.exit(1);
  },
);
