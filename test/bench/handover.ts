/**
 * `npm run -s bench:handover -- [--json] [--waiting N] [--running N]`: the time without a leader, with two controller
 * processes, a real apiserver and a real Postgres. It counts from the signal to the first pass of the other process.
 * `graceful`: SIGTERM. `killed`: SIGKILL, from which the duration of the lease is subtracted.
 */
import { parseArgs } from 'node:util';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { jobs } from '../../runtime/kubernetes/paths';
import { openQueue } from '../../runtime/queue/queue';
import { waitFor } from '../cluster/wait';
import type { RoleProcess } from '../stack/roles';
import { type Stack, startStack } from '../stack/stack';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    waiting: { type: 'string', default: '10000' },
    running: { type: 'string', default: '1000' },
  },
});
const waiting = Number(values.waiting);
const running = Number(values.running);
const LEASE_SECONDS = 15;
const NAMESPACE = 'handover';
const CORES = 50;
const PARALLEL = 16;

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

/** Seconds from the end of the leader to the first pass of the standby. */
async function handOver(stack: Stack, leader: RoleProcess, end: 'stop' | 'crash') {
  const standby = await stack.startController();
  // Its watches have read everything.
  await waitFor(
    'the standby to be warm',
    async () => /^fluxqueue_standby_warm 1$/m.test(await standby.metrics()),
    {
      timeoutMs: 300_000,
    },
  );
  const began = performance.now();
  const ended = leader[end]();
  await waitFor('the standby to schedule', () => schedules(standby), { timeoutMs: 300_000, everyMs: 20 });
  const seconds = (performance.now() - began) / 1000;
  await ended;
  return { seconds, standby };
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
    const first = await stack.startController();
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
    const graceful = await handOver(stack, first, 'stop');
    const killed = await handOver(stack, graceful.standby, 'crash');
    const figures = {
      running,
      waiting,
      gracefulSeconds: round(graceful.seconds),
      killedSeconds: round(killed.seconds),
      killedBeyondLeaseSeconds: round(killed.seconds - LEASE_SECONDS),
    };
    const summary = `graceful ${figures.gracefulSeconds} s, killed ${figures.killedSeconds} s (lease ${LEASE_SECONDS} s)`;
    process.stdout.write(`${values.json ? JSON.stringify(figures) : summary}\n`);
    if (figures.gracefulSeconds > 2 || figures.killedBeyondLeaseSeconds > 2) process.exitCode = 1;
  } finally {
    client.close();
    await queue.close();
    await stack.stop();
  }
}

const round = (seconds: number) => Math.round(seconds * 100) / 100;

void main();
