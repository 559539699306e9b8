/**
 * `npm run -s bench:memory -- [--json] [--sizes 10000,100000] [--kinds pods,agents,jobs]`: heap of a leader per pod outside the queue, per pod of a
 * DaemonSet and per waiting Job, after a collection of garbage. Each figure is the difference between two terms, each in its
 * own process, that run on the real classes: one with so many of them, and one with none. 100,000 Jobs take six minutes: so
 * long does the leader write their FluxJobs, whose copies are measured, too.
 */
import { fork } from 'node:child_process';
import { parseArgs } from 'node:util';
import { writeHeapSnapshot } from 'node:v8';
import { parseConfig } from '../../runtime/config';
import { embeddedFluxion } from '../../runtime/fluxion/matcher/engine';
import { Term } from '../../runtime/leader/term';
import { createLogger } from '../../runtime/observability/log';
import { controllerMetrics, createRegistry } from '../../runtime/observability/metrics';
import { type MemoryCluster, memoryClient, memoryQueue } from './memory-cluster';

interface TermFigures {
  /** After a collection of garbage. */
  readonly heapBytes: number;
  readonly rssMiB: number;
  /** Seconds of CPU until everything was reconciled. */
  readonly cpuSeconds: number;
  /** Writes to the cluster. */
  readonly writes: number;
}

/** Milliseconds without a waiting key and with little CPU time after which nothing is left to do: status writes settle for 7 s. */
const QUIET_MS = 9_000;
const POLL_MS = 250;

const NONE: MemoryCluster = { jobs: 0, pods: 0, agents: 0 };

/** Runs a term until it has nothing to do any more. */
async function runTerm(cluster: MemoryCluster, snapshot: string | undefined): Promise<TermFigures> {
  let writes = 0;
  const metrics = controllerMetrics(createRegistry());
  const fluxion = embeddedFluxion();
  const term = new Term({
    config: parseConfig({ database: { url: 'postgres://memory' } }),
    client: memoryClient(cluster, () => {
      writes += 1;
    }),
    queue: memoryQueue(cluster),
    fluxion,
    fence: 1,
    logger: createLogger('bench', 'warn'),
    metrics,
    onFenced: (error) => {
      throw error;
    },
  });
  await term.start();
  await untilQuiet(() => [...metrics.queueDepths.values()].reduce((sum, depth) => sum + depth(), 0));
  const { user, system } = process.cpuUsage();
  globalThis.gc!();
  globalThis.gc!();
  const heapBytes = process.memoryUsage().heapUsed;
  if (snapshot !== undefined) writeHeapSnapshot(snapshot);
  const rssMiB = process.resourceUsage().maxRSS / 1024;
  await term.stop();
  await fluxion.close();
  return { heapBytes, rssMiB, cpuSeconds: (user + system) / 1e6, writes };
}

async function untilQuiet(waiting: () => number): Promise<void> {
  for (let quiet = 0, before = process.cpuUsage(); quiet < QUIET_MS; ) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const { user } = process.cpuUsage(before);
    before = process.cpuUsage();
    quiet = waiting() === 0 && user < (POLL_MS * 1000) / 20 ? quiet + POLL_MS : 0;
  }
}

function inOwnProcess(cluster: MemoryCluster, snapshot?: string): Promise<TermFigures> {
  return new Promise((resolve, reject) => {
    const child = fork(__filename, [
      '--term',
      JSON.stringify(cluster),
      ...(snapshot === undefined ? [] : ['--snapshot', snapshot]),
    ]);
    let figures: TermFigures | undefined;
    child.on('message', (message) => {
      figures = message as TermFigures;
    });
    child.on('error', reject);
    child.on('exit', (code) => {
      if (figures === undefined) reject(new Error(`the term ended with ${code}`));
      else resolve(figures);
    });
  });
}

async function measure(size: number, baseline: TermFigures, kind: keyof MemoryCluster) {
  const { heapBytes, rssMiB, cpuSeconds, writes } = await inOwnProcess({ ...NONE, [kind]: size });
  return {
    size,
    kind,
    bytesEach: Math.round((heapBytes - baseline.heapBytes) / size),
    heapMiB: Math.round(heapBytes / 2 ** 20),
    rssMiB: Math.round(rssMiB),
    cpuMsEach: Math.round(((cpuSeconds - baseline.cpuSeconds) / size) * 1e5) / 100,
    writes,
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      sizes: { type: 'string', default: '10000,100000' },
      kinds: { type: 'string', default: 'pods,agents,jobs' },
      term: { type: 'string' },
      snapshot: { type: 'string' },
    },
  });
  if (values.term !== undefined) {
    const figures = await runTerm(JSON.parse(values.term) as MemoryCluster, values.snapshot);
    process.send?.(figures);
    return;
  }
  const baseline = await inOwnProcess(NONE);
  const figures = [];
  for (const size of values.sizes.split(',').map(Number))
    for (const kind of values.kinds.split(',') as (keyof MemoryCluster)[]) {
      const measured = await measure(size, baseline, kind);
      figures.push(measured);
      if (!values.json)
        process.stdout.write(
          `${size} ${kind}: ${measured.bytesEach} bytes each, heap ${measured.heapMiB} MiB, at most ${measured.rssMiB} MiB resident, ${measured.cpuMsEach} ms CPU each, ${measured.writes} writes\n`,
        );
    }
  if (values.json)
    process.stdout.write(
      `${JSON.stringify({ baselineMiB: Math.round(baseline.heapBytes / 2 ** 20), figures })}\n`,
    );
}

main().then(
  () => process.disconnect?.(),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exitCode = 1;
  },
);
