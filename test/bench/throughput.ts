/**
 * `npm run -s bench:throughput -- --json`: one-pod Jobs per second, alternating without and with the queue on one control
 * plane, and the CPU of all processes until everything is written. `--sustained` is a stream instead of bursts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { FLUXJOB_POLICIES, type FluxJobPolicy } from '../../constructs/api/policies';
import { STACK_DEFAULTS } from '../../constructs/api/queue-defaults';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import type { Job, KubernetesObject } from '../../runtime/kubernetes/types';
import { openQueue } from '../../runtime/queue/queue';
import type { RoleProcess } from '../stack/roles';
import { type Stack, startStack } from '../stack/stack';
import { IN_FLIGHT, type JobsRun, print, round, runJobs, withAdmin } from './jobs';
import { cpuSeconds, rssMiB, sum, usedBetween, writesOf } from './processes';
import { PROFILED_APISERVER, Profiler } from './profile';
import { Records } from './records';
import { quantile } from './statistics';
import {
  figuresOf,
  lagsOf,
  type OwnCost,
  perJob,
  perJobOfEach,
  printApiserver,
  printFunctions,
  startsOf,
  type Trial,
} from './throughput-report';

const options = new Command('bench:throughput')
  .option('--jobs <n>', 'one-pod Jobs per trial', Number, 500)
  .option('--nodes <n>', 'nodes', Number, 100)
  .option('--pairs <n>', 'pairs of trials', Number, 3)
  .option('--in-flight <n>', 'creates that wait for their answer at the same time', Number, IN_FLIGHT)
  .option('--sidecar', 'run Fluxion as a separate process instead of in the controller', false)
  .option(
    '--without-guards',
    'delete the ValidatingAdmissionPolicies first, to measure what they cost',
    false,
  )
  .option('--sustained', 'a stream of Jobs with the queue at --rate instead of pairs of bursts', false)
  .addOption(
    new Option('--flux-jobs <policy>', 'which workloads have a FluxJob')
      .choices(FLUXJOB_POLICIES)
      .default(STACK_DEFAULTS.fluxJobs),
  )
  .option('--minutes <n>', 'length of the stream', Number, 5)
  .option('--rate <n>', 'Jobs per second of the stream. Default: 70 % of what a burst reaches', Number)
  .option('--profile <folder>', 'write CPU profiles of the apiserver and the controller into this folder')
  .option('--json', 'print only one line of JSON on stdout', false)
  .parse()
  .opts<{
    jobs: number;
    nodes: number;
    pairs: number;
    inFlight: number;
    sidecar: boolean;
    withoutGuards: boolean;
    sustained: boolean;
    fluxJobs: FluxJobPolicy;
    minutes: number;
    rate?: number;
    profile?: string;
    json: boolean;
  }>();

async function main(): Promise<void> {
  const stack = await startStack({
    cluster: {
      nodes: options.nodes,
      nodeShape: { cpu: '16', memory: '64Gi' },
      ...(options.profile !== undefined && { apiserverArgs: PROFILED_APISERVER }),
    },
    config: { logLevel: 'warn' },
    progress: print,
  });
  try {
    if (options.profile !== undefined) profiler = new Profiler(stack, options.profile);
    await withAdmin(stack, async (client) => {
      if (options.withoutGuards) await deleteGuards(client);
      await (options.sustained ? sustain(stack, client) : measure(stack, client));
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
  if (profiler !== undefined) {
    printApiserver(plain, queued);
    printFunctions(perJobOfEach(profiler.controller(), FIRST_JOBS + options.jobs));
  }
  const { jobs, nodes, pairs, inFlight } = options;
  show({ jobs, nodes, pairs, inFlight, ...figuresOf(plain, queued) });
}

/**
 * The first Jobs of a control plane are slow with and without the queue: caches, connections, kwok, and the schemas that
 * the apiserver loads once for its policies.
 */
async function warmUp(stack: Stack, client: KubernetesClient): Promise<void> {
  print('warming up');
  await trial(stack, client, 'warm-plain', false, { count: 50 });
  await trial(stack, client, 'warm-queue', true, { count: 50 });
}

/** Number of Jobs before the measured ones: the first seconds of a controller are not typical, because V8 compiles it. */
const FIRST_JOBS = 500;

/** Milliseconds after the last Job in which Kubernetes writes its last Events and removes the last finalizers, with and without the queue. */
const REST_MS = 3_000;

/** The whole of a burst, and what is written after it. */
const PROFILE_SECONDS = 40;

let profiler: Profiler | undefined;

async function trial(
  stack: Stack,
  client: KubernetesClient,
  namespace: string,
  queue: boolean,
  { count = options.jobs, perSecond }: { readonly count?: number; readonly perSecond?: number } = {},
): Promise<Trial> {
  await stack.namespace(namespace, queue);
  const roles = queue ? await startRoles(stack) : {};
  const records = new Records(client, namespace);
  await records.start();
  try {
    await runJobs(client, namespace, 'first', FIRST_JOBS, { inFlight: options.inFlight });
    await rest(roles, records, FIRST_JOBS);
    const events = await eventCounter(stack, count);
    const before = cpuSeconds(stack, roles);
    const writesBefore = roles.controller && (await writesOf(roles.controller));
    const profile = profiler?.apiserver(namespace, PROFILE_SECONDS);
    const { inFlight } = options;
    const run = await runJobs(client, namespace, 'job', count, { ...(perSecond && { perSecond }), inFlight });
    const atLastJob = usedBetween(before, cpuSeconds(stack, roles));
    const eventsAtLastJob = await events();
    await rest(roles, records, FIRST_JOBS + count);
    const untilWritten = usedBetween(before, cpuSeconds(stack, roles));
    print(`  Events per Job: ${eventsAtLastJob} until the last Job, ${await events()} until all is written`);
    const apiserver = await profile;
    const shares = Object.entries(untilWritten).map(([name, cpu]) => `${name} ${perJob(cpu, count)}`);
    print(`  CPU ms per Job until all is written: ${shares.join(', ')}`);
    return {
      jobsPerSecond: count / run.seconds,
      cpuMs: {
        atLastJob: perJob(sum(atLastJob), count),
        untilWritten: perJob(sum(untilWritten), count),
      },
      ...(apiserver && { apiserverMs: perJobOfEach(apiserver, count) }),
      ...(roles.controller === undefined || writesBefore === undefined
        ? {}
        : { own: await ownCost(stack, roles, { run, records, untilWritten, writesBefore, count }) }),
    };
  } finally {
    await records.stop();
    await roles.controller?.stop();
    await roles.fluxion?.stop();
    await clean(stack, client, namespace);
  }
}

/**
 * Events per Job since now, of all programs. Kubernetes writes those of each of its programs one after the other and drops what
 * comes too fast, so a faster trial writes fewer of them.
 */
async function eventCounter(stack: Stack, count: number): Promise<() => Promise<number>> {
  const before = await stack.cluster.counters();
  return async () => {
    const written = (await stack.cluster.counters()).since(before);
    return round(written.count({ verb: 'POST', resource: 'events' }) / count);
  };
}

/** Resolves when everything that so many Jobs cause is written. */
async function rest({ controller }: Started, records: Records, count: number): Promise<void> {
  await sleep(REST_MS);
  if (controller !== undefined) await records.until(count, controller);
}

interface Started extends Readonly<Record<string, RoleProcess | undefined>> {
  readonly controller?: RoleProcess;
  readonly fluxion?: RoleProcess;
}

async function startRoles(stack: Stack): Promise<Started> {
  const fluxion = options.sidecar ? await stack.roles.startFluxion() : undefined;
  const address = options.sidecar ? stack.roles.fluxionAddress : 'embedded';
  const fluxJobs = { policy: options.fluxJobs };
  const controller = await stack.startController({ fluxion: { address }, fluxJobs });
  return { controller, ...(fluxion && { fluxion }) };
}

interface Measured {
  readonly run: JobsRun;
  readonly records: Records;
  readonly untilWritten: Readonly<Record<string, number>>;
  readonly writesBefore: Awaited<ReturnType<typeof writesOf>>;
  readonly count: number;
}

async function ownCost(stack: Stack, roles: Started, measured: Measured): Promise<OwnCost> {
  const { run, records, untilWritten, writesBefore, count } = measured;
  const { writes, events, byKind } = await writesOf(roles.controller!);
  for (const [kind, number] of byKind) {
    const each = (number - (writesBefore.byKind.get(kind) ?? 0)) / count;
    if (each > 0) print(`  ${kind.padEnd(32)} ${each.toFixed(2)} per Job`);
  }
  const lags = run.uids.map((uid) => {
    const shown = records.finished.get(uid);
    return shown === undefined ? undefined : shown - run.completed.get(uid)!;
  });
  return {
    writesPerJob: (writes - writesBefore.writes) / count,
    eventsPerJob: (events - writesBefore.events) / count,
    cpuMs: perJob((untilWritten.controller ?? 0) + (untilWritten.fluxion ?? 0), count),
    rssMiB: rssMiB(roles.controller!.process.pid),
    lags,
    creates: sinceCreate(run, run.answered),
    deliveries: sinceCreate(run, run.delivered),
    releases: await printSteps(stack, run),
  };
}

function sinceCreate({ uids, created }: JobsRun, at: ReadonlyMap<string, number>): readonly number[] {
  return uids.map((uid) => at.get(uid)! - created.get(uid)!);
}

/**
 * Prints quantiles of the steps of a workload, which show where the time goes.
 * @returns seconds from the create to the release of each Job
 */
async function printSteps(stack: Stack, { uids, created }: JobsRun): Promise<readonly number[]> {
  const queue = openQueue({ url: stack.postgres.url, units: DEFAULT_UNITS });
  const rowOf = new Map((await queue.byUid(uids)).map((row) => [row.uid, row]));
  await queue.close();
  const rows = uids.map((uid) => rowOf.get(uid)!);
  const times = ['submittedAt', 'allocatedAt', 'releasedAt', 'startedAt', 'finishedAt'] as const;
  const after = (time: (typeof times)[number]) =>
    rows.flatMap((row) => (row[time] === null ? [] : [row[time] - created.get(row.uid)!]));
  for (const time of times) {
    const [p10, p50, p100] = [0.1, 0.5, 1].map((q) => quantile(after(time), q).toFixed(2));
    print(`  ${time.padEnd(12)} p10 ${p10} p50 ${p50} p100 ${p100} s after the create`);
  }
  return after('releasedAt');
}

/** A stream shows whether the FluxJobs keep up. */
async function sustain(stack: Stack, client: KubernetesClient): Promise<void> {
  await warmUp(stack, client);
  const perSecond = options.rate ?? round(0.7 * (await trial(stack, client, 'maximum', true)).jobsPerSecond);
  const count = Math.round(perSecond * options.minutes * 60);
  const { own, cpuMs } = await trial(stack, client, 'stream', true, { count, perSecond });
  const { lags, ...cost } = own!;
  const minute = Math.round(perSecond * 60);
  show({
    jobs: count,
    perSecond,
    cpuMsPerJob: cpuMs.untilWritten,
    ...lagsOf(lags),
    lagP99FirstMinute: lagsOf(lags.slice(0, minute)).lagP99Seconds,
    lagP99LastMinute: lagsOf(lags.slice(-minute)).lagP99Seconds,
    ...startsOf([cost]),
    writesPerJob: round(cost.writesPerJob),
    rssMiB: round(cost.rssMiB),
  });
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

function show(result: Readonly<Record<string, number>>): void {
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
