/**
 * Measures the tables of the queue: submissions per second, and the time from the start of a new leader to its first
 * grant.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { parseConfig } from '../../runtime/config';
import { embeddedFluxion } from '../../runtime/fluxion/matcher/engine';
import { createClient } from '../../runtime/kubernetes/client';
import { Term } from '../../runtime/leader/term';
import { createLogger } from '../../runtime/observability/log';
import { controllerMetrics, createRegistry } from '../../runtime/observability/metrics';
import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { type Postgres, startPostgres } from '../cluster/postgres';
import { serveCluster } from './queue-cluster';
import { askOf, benchSubmission, fillTables, UNITS } from './queue-rows';

export interface DatabaseFigures {
  /** Single submissions with the concurrency and the write batching of the controller. */
  readonly submitsPerSecond: number;
  /** Many concurrent submissions without a batching delay. */
  readonly bulkSubmitsPerSecond: number;
  /** Seconds from the connection to Postgres to the commit of the first grants, with 1,000 running and 10,000 waiting jobs. */
  readonly restartSeconds: number;
  /** The part of it until rows and objects are loaded and all workloads are enqueued. */
  readonly syncSeconds: number;
  /** Number of grants in the first pass with grants. */
  readonly grants: number;
  /** Writes to objects before the first release and to rows of waiting workloads; 0 if rows and objects agree. */
  readonly corrections: number;
  /** Maximum memory of the process. */
  readonly rssMiB: number;
}

/** The values of term.ts and controller.ts. */
const RECONCILERS = 32;
const GATHER_MS = 30;

const RUNNING = 1_000;
const WAITING = 10_000;

export async function measureDatabase(): Promise<DatabaseFigures> {
  const postgres = await startPostgres({ own: true });
  try {
    const submitsPerSecond = await submitRate(postgres, RECONCILERS, GATHER_MS, 3_000);
    const bulkSubmitsPerSecond = await submitRate(postgres, WAITING, 0, WAITING);
    return { submitsPerSecond, bulkSubmitsPerSecond, ...(await measureRestart(postgres)) };
  } finally {
    await postgres.stop();
  }
}

/** @param callers number of concurrent callers */
async function submitRate(
  postgres: Postgres,
  callers: number,
  gatherMs: number,
  count: number,
): Promise<number> {
  const queue = openQueue({ url: await postgres.freshDatabase(), gatherMs, units: UNITS });
  await queue.migrate();
  const workloadCache = new WorkloadCache(queue, await queue.acquireFence('bench'));
  await workloadCache.reload();
  const submissions = Array.from({ length: count }, (_, i) => benchSubmission(i, askOf(i % 1_000)));
  const from = performance.now();
  const left = submissions.values();
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (const submission of left) await workloadCache.submit(submission);
    }),
  );
  const seconds = (performance.now() - from) / 1000;
  await queue.close();
  return count / seconds;
}

type Restart = Pick<DatabaseFigures, 'restartSeconds' | 'syncSeconds' | 'grants' | 'rssMiB'>;

/** Runs in its own process, so that memory and warm-up are not shared. */
async function measureRestart(postgres: Postgres): Promise<Restart & { readonly corrections: number }> {
  const url = await postgres.freshDatabase();
  const queue = openQueue({ url, units: UNITS });
  await queue.migrate();
  await fillTables(queue, RUNNING, WAITING);
  const cluster = await serveCluster(await queue.active(), RUNNING);
  await queue.close();
  const folder = mkdtempSync(join(tmpdir(), 'fluxqueue-bench-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, cluster.kubeconfig);
  try {
    const figures = await childsFigures({ url, kubeconfig });
    // The first patches release the granted workloads; any earlier write is a difference between rows and objects.
    const first = cluster.writes.indexOf('PATCH jobs');
    const writes = first === -1 ? cluster.writes.length : first;
    return { ...figures, corrections: writes + (await updates(url)) };
  } finally {
    await cluster.stop();
    rmSync(folder, { recursive: true });
  }
}

async function updates(url: string): Promise<number> {
  const database = new Client({ connectionString: url });
  await database.connect();
  const { rows } = await database.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM fluxqueue.events WHERE event IN ('Updated', 'Requeued', 'Finished')`,
  );
  await database.end();
  return rows[0]!.n;
}

interface RestartInput {
  readonly url: string;
  readonly kubeconfig: string;
}

function childsFigures(input: RestartInput): Promise<Restart> {
  return new Promise((resolve, reject) => {
    const child = fork(__filename, [JSON.stringify(input)]);
    let figures: Restart | undefined;
    child.on('message', (message) => {
      figures = message as Restart;
    });
    child.on('error', reject);
    child.on('exit', (code) => {
      if (figures === undefined) reject(new Error(`the restart ended with ${code}`));
      else resolve(figures);
    });
  });
}

/** Starts a term as the controller does and stops it after the commit of the first grants. */
async function restart({ url, kubeconfig }: RestartInput): Promise<Restart> {
  const config = parseConfig({ database: { url } });
  const from = performance.now();
  const since = () => (performance.now() - from) / 1000;
  const queue = openQueue({ url, gatherMs: GATHER_MS, units: UNITS });
  const client = createClient({ kubeconfig });
  const fluxion = embeddedFluxion();
  const granted = Promise.withResolvers<number>();
  const watched: Queue = Object.create(queue, {
    allocate: {
      value: async (...given: Parameters<Queue['allocate']>) => {
        const rows = await queue.allocate(...given);
        granted.resolve(rows.length);
        return rows;
      },
    },
  });
  const term = new Term({
    config,
    client,
    queue: watched,
    fluxion,
    fence: await queue.acquireFence('restart'),
    logger: createLogger('bench', 'warn'),
    metrics: controllerMetrics(createRegistry()),
    onFenced: granted.reject,
  });
  await term.start();
  const syncSeconds = since();
  const grants = await granted.promise;
  const restartSeconds = since();
  const rssMiB = process.resourceUsage().maxRSS / 1024;
  await term.stop();
  client.close();
  await Promise.all([fluxion.close(), queue.close()]);
  return { restartSeconds, syncSeconds, grants, rssMiB };
}

const [input] = process.argv.slice(2);
if (require.main === module && input !== undefined)
  void restart(JSON.parse(input)).then((figures) => process.send!(figures));
