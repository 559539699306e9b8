/**
 * What the queue's tables cost: how many submissions a second reach them, and
 * how long a new leader needs from nothing but Postgres to its first grant.
 */
import { fork } from 'node:child_process';
import { parseConfig } from '../../runtime/config';
import { FluxionGraph } from '../../runtime/controllers/fluxion-graph';
import { ownQueue } from '../../runtime/controllers/queue-settings';
import { SchedulingLoop } from '../../runtime/controllers/scheduling-loop';
import { steadySeconds, systemTime } from '../../runtime/controllers/time';
import { embeddedFluxion } from '../../runtime/fluxion/embedded-engine';
import { createLogger } from '../../runtime/observability/log';
import { controllerMetrics, createRegistry } from '../../runtime/observability/metrics';
import { Ledger } from '../../runtime/queue/ledger';
import { openQueue } from '../../runtime/queue/queue';
import { type Postgres, startPostgres } from '../cluster/postgres';
import { benchSubmission, fillTables, machine } from './queue-rows';

export interface DatabaseFigures {
  /** One by one, as many at a time as the controller reconciles, its gathering of writes included. */
  readonly submitsPerSecond: number;
  /** The same without gathering: each statement takes what has come meanwhile. */
  readonly bulkSubmitsPerSecond: number;
  /** From the connection to Postgres to the commit of the first new grants. */
  readonly restartSeconds: number;
  /** Of that: until all rows are in the mirror. */
  readonly reloadSeconds: number;
  readonly grants: number;
  /** Most that the process of the restart had in memory. */
  readonly rssMiB: number;
}

/** As in term.ts and controller.ts. */
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

/** @param callers how many wait for an answer at the same time */
async function submitRate(
  postgres: Postgres,
  callers: number,
  gatherMs: number,
  count: number,
): Promise<number> {
  const queue = openQueue({ url: await postgres.freshDatabase(), gatherMs });
  await queue.migrate();
  const ledger = new Ledger(queue, await queue.acquireFence('bench'));
  await ledger.reload();
  const submissions = Array.from({ length: count }, (_, i) => benchSubmission(i, 1_000, 0));
  const from = performance.now();
  const left = submissions.values();
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (const submission of left) await ledger.submit(submission);
    }),
  );
  const seconds = (performance.now() - from) / 1000;
  await queue.close();
  return count / seconds;
}

type Restart = Pick<DatabaseFigures, 'restartSeconds' | 'reloadSeconds' | 'grants' | 'rssMiB'>;

/** In a process of its own: its memory is then its own, and nothing is warm. */
async function measureRestart(postgres: Postgres): Promise<Restart> {
  const url = await postgres.freshDatabase();
  const queue = openQueue({ url });
  await queue.migrate();
  await fillTables(queue, RUNNING, WAITING);
  await queue.close();
  return new Promise((resolve, reject) => {
    const child = fork(__filename, [url]);
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

/** A term without its apiserver: the rows are read, Fluxion is built from nothing, a pass decides, grants are committed. */
async function restart(url: string): Promise<Restart> {
  const config = parseConfig({ database: { url } });
  const nodes = machine(RUNNING);
  const metrics = controllerMetrics(createRegistry());
  const logger = createLogger('bench', 'warn');
  const from = performance.now();
  const since = () => (performance.now() - from) / 1000;
  const queue = openQueue({ url, gatherMs: GATHER_MS });
  const fence = await queue.acquireFence('restart');
  const ledger = new Ledger(queue, fence);
  const { fluxion: settings, queue: own, units } = config;
  const fluxion = embeddedFluxion();
  const graph = new FluxionGraph({
    fluxion,
    fence,
    logger,
    policy: settings.policy,
    onRebuild: () => undefined,
  });
  await ledger.reload();
  const reloadSeconds = since();
  const granted = Promise.withResolvers<void>();
  let grants = 0;
  const loop = new SchedulingLoop({
    ledger,
    graph,
    nodes: () => nodes,
    foreign: () => new Map(),
    units,
    queueSettings: () => ownQueue(own),
    fairUsage: () => undefined,
    onRecalled: () => undefined,
    onGranted: () => {
      grants += 1;
      granted.resolve();
    },
    onReloaded: () => undefined,
    onFenced: granted.reject,
    logger,
    metrics,
    clock: systemTime.clock,
    now: steadySeconds(systemTime),
  });
  loop.start();
  await granted.promise;
  const restartSeconds = since();
  await loop.stop();
  await Promise.all([fluxion.close(), queue.close()]);
  return { restartSeconds, reloadSeconds, grants, rssMiB: process.resourceUsage().maxRSS / 1024 };
}

const [url] = process.argv.slice(2);
if (require.main === module && url !== undefined) void restart(url).then((figures) => process.send!(figures));
