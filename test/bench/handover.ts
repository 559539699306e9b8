/**
 * `npm run -s bench:handover -- [--json] [--waiting N] [--running N] [--engine in-process|embedded|library]`: the time
 * without a leader, with two controller processes, a real apiserver and a real Postgres. It counts from the signal to the
 * first pass of the other process. `graceful`: SIGTERM. `killed`: SIGKILL, from which the duration of the lease is
 * subtracted. An engine other than in-process answers in a Fluxion service, one for each controller. It also measures
 * what a standby costs (standby-cost.ts).
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { jobs } from '../../runtime/kubernetes/paths';
import { openQueue } from '../../runtime/queue/queue';
import { waitFor } from '../cluster/wait';
import type { RoleProcess } from '../stack/roles';
import { type Stack, startStack } from '../stack/stack';
import { connectionsNow, type StandbyCost, standbyCost } from './standby-cost';
import { median } from './statistics';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    repeat: { type: 'string', default: '3' },
    waiting: { type: 'string', default: '10000' },
    running: { type: 'string', default: '1000' },
    engine: { type: 'string', default: 'in-process' },
  },
});
const waiting = Number(values.waiting);
const running = Number(values.running);
const repeat = Number(values.repeat);
const LEASE_SECONDS = 15;
const NAMESPACE = 'handover';
const CORES = 50;
const PARALLEL = 16;
/** A process that uses less of a core in two seconds is idle. */
const IDLE_CPU_SECONDS = 0.2;

const print = (line: string) => process.stderr.write(`${line}\n`);

async function createJobs(client: KubernetesClient): Promise<void> {
  const count = running + waiting;
  let next = 0;
  await Promise.all(
    Array.from({ length: PARALLEL }, async () => {
      for (let i = next++; i < count; i = next++) {
        await client.create(jobs(NAMESPACE), job(i));
        if (i % 1_000 === 0) print(`${i} of ${count} Jobs`);
      }
    }),
  );
}

function job(i: number): object {
  const requests = { cpu: '1', memory: '1Gi' };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: `job-${i}`, annotations: { 'fluxqueue/walltime': '24h' } },
    spec: {
      template: {
        // kwok ends a pod after this time.
        metadata: { annotations: { 'fluxqueue.test/duration': '24h' } },
        spec: {
          restartPolicy: 'Never',
          containers: [{ name: 'main', image: 'none', resources: { requests } }],
        },
      },
    },
  };
}

/** Whether the process leads and its passes succeed. */
async function schedules(role: RoleProcess): Promise<boolean> {
  const metrics = await role.metrics();
  const passes = Number(/^fluxqueue_pass_seconds_count (\d+)/m.exec(metrics)?.[1] ?? 0);
  return /^fluxqueue_leader 1$/m.test(metrics) && passes > 0;
}

let services = 0;

/** Beside its Fluxion service, if it does not match in process. */
async function startController(stack: Stack): Promise<RoleProcess> {
  if (values.engine === 'in-process') return stack.startController();
  const engine = values.engine === 'library' ? 'library' : 'embedded';
  const address = `${stack.roles.fluxionAddress}.${services++}`;
  await stack.roles.startFluxion({ listen: address, engine });
  return stack.startController({ fluxion: { address, engine } });
}

/** Seconds from the end of the leader to the first pass of the standby. The logs of both say what took how long. */
async function handOver(stack: Stack, leader: RoleProcess, end: 'stop' | 'crash') {
  const standby = await startController(stack);
  await waitFor('the standby to be warm', () => isWarm(standby), { timeoutMs: 300_000 });
  await isIdle(leader);
  await isIdle(standby);
  const at = Date.now();
  const began = performance.now();
  const ended = leader[end]();
  await waitFor('the standby to schedule', () => schedules(standby), { timeoutMs: 300_000, everyMs: 20 });
  const seconds = (performance.now() - began) / 1000;
  await ended;
  const log = [
    ...linesSince(leader, at).map((line) => ({ from: 'leader', ...line })),
    ...linesSince(standby, at),
  ];
  print(`${end}: ${round(seconds)} s, load ${loadavg()[0]!.toFixed(1)}`);
  for (const line of log) print(`  ${JSON.stringify(line)}`);
  return { seconds, standby };
}

/** Its watches have read everything. */
async function isWarm(role: RoleProcess): Promise<boolean> {
  return /^fluxqueue_standby_warm 1$/m.test(await role.metrics());
}

/** It has done what the last hand-over or the last Jobs caused. */
async function isIdle(role: RoleProcess): Promise<void> {
  const cpuSeconds = async () =>
    Number(/^process_cpu_seconds_total ([\d.e-]+)/m.exec(await role.metrics())?.[1] ?? 0);
  let last = await cpuSeconds();
  await waitFor(
    'the controller to be idle',
    async () => {
      const before = last;
      last = await cpuSeconds();
      return last - before < IDLE_CPU_SECONDS;
    },
    { timeoutMs: 600_000, everyMs: 2_000 },
  );
}

function linesSince(role: RoleProcess, at: number): readonly object[] {
  return role.process
    .logTail(1_000)
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { time: string; role: string; level: number; message: string })
    .map(({ time, role: _, level: __, message, ...fields }) => ({
      ms: Date.parse(time) - at,
      message,
      ...fields,
    }))
    .filter(({ ms }) => ms >= 0)
    .slice(0, 30);
}

async function main(): Promise<void> {
  const nodes = Math.ceil(running / CORES);
  const stack = await startStack({
    cluster: { nodes, nodeShape: { cpu: String(CORES), memory: `${CORES}Gi`, pods: 200 } },
    config: { leaderElection: { leaseDurationSeconds: LEASE_SECONDS } },
    progress: print,
  });
  const client = createClient({ kubeconfig: stack.cluster.kubeconfig });
  const queue = openQueue({ url: stack.postgres.url, units: DEFAULT_UNITS });
  try {
    await stack.namespace(NAMESPACE);
    const first = await startController(stack);
    await createJobs(client);
    await waitFor(
      'the Jobs to be queued and running',
      async () => {
        const rows = await queue.active();
        return (
          rows.length === running + waiting &&
          rows.filter(({ phase }) => phase === 'Running').length >= running
        );
      },
      { timeoutMs: 3_600_000, everyMs: 2_000 },
    );
    let leader = first;
    const standby = await measureStandby(stack, first);
    const graceful: number[] = [];
    const killed: number[] = [];
    for (let i = 0; i < repeat; i++)
      for (const [end, seconds] of [
        ['stop', graceful],
        ['crash', killed],
      ] as const) {
        const result = await handOver(stack, leader, end);
        leader = result.standby;
        seconds.push(round(result.seconds));
      }
    const beyond = killed.map((seconds) => round(seconds - LEASE_SECONDS));
    const figures = {
      running,
      waiting,
      gracefulSeconds: median(graceful),
      killedBeyondLeaseSeconds: median(beyond),
      graceful,
      beyond,
      engine: values.engine,
      standby,
      load: loadavg().map(round),
    };
    const summary = `graceful ${figures.gracefulSeconds} s, killed lease + ${figures.killedBeyondLeaseSeconds} s`;
    process.stdout.write(`${values.json ? JSON.stringify(figures) : summary}\n`);
    if (figures.gracefulSeconds > 2 || figures.killedBeyondLeaseSeconds > 2) process.exitCode = 1;
  } finally {
    client.close();
    await queue.close();
    await stack.stop();
  }
}

/** Of a standby that has read everything; it is stopped afterwards. */
async function measureStandby(stack: Stack, leader: RoleProcess): Promise<StandbyCost> {
  const database = new Client({ connectionString: stack.postgres.url });
  await database.connect();
  try {
    await isIdle(leader);
    const others = await connectionsNow(database);
    const standby = await startController(stack);
    await waitFor('the standby to be warm', () => isWarm(standby), { timeoutMs: 300_000 });
    await isIdle(standby);
    const cost = await standbyCost(database, { leader, standby, others });
    print(`standby: ${JSON.stringify(cost)}, load ${loadavg()[0]!.toFixed(1)}`);
    await standby.stop();
    return cost;
  } finally {
    await database.end();
  }
}

const round = (seconds: number) => Math.round(seconds * 100) / 100;

void main();
