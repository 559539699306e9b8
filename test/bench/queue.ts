/**
 * `npm run -s bench:queue -- [--json] [--cpu] [--limits none|ample|full|cohort] [--queues N] [--sizes 1000,10000] [--ends N]`: measures the
 * queue; `--cpu` counts the seconds of the processor. With `--limits` it has a quota and running limits: larger than the cluster, or
 * as large as what runs on it; with `cohort` each of N queues owns its part of the cluster and takes back what it has lent. With
 * limits or several queues the tables are not measured.
 *
 * Passes: the duration of a pass over a deep queue, with 1,000 full nodes of 64 cores and 1,000, 10,000 and 100,000 waiting
 * workloads in 10 and in 1,000 shapes. The figure of a size is its slowest pass: the first one over a new queue, one after
 * a job ended (the median of five, or of N: the first of a process run code that is not compiled yet), and one without changes.
 *
 * Tables: submissions per second to Postgres, and the duration of a restart (queue-database.ts).
 */
import { parseArgs } from 'node:util';
import { embeddedFluxion } from '../../runtime/fluxion/matcher/engine';
import type { Fluxion } from '../../runtime/fluxion/types';
import { jobspecOf, shapeOf } from '../../runtime/jobspec/jobspec';
import { newRow } from '../../runtime/queue/rows';
import type { QueueSettings } from '../../runtime/queue/settings';
import type { WorkloadRow } from '../../runtime/queue/workload';
import type { GraphNode } from '../../runtime/resources/types';
import { runPass } from '../../runtime/scheduler/pass/pass';
import type { Surroundings } from '../../runtime/scheduler/pass/placed-pods';
import type { PassInput, PassResult } from '../../runtime/scheduler/pass/types';
import { queueSettings } from '../scheduler/pass/settings';
import { measureDatabase } from './queue-database';
import { median } from './statistics';

const NODES = 1000;
const CORES = 64;
const SIZES = '1000,10000,100000';
const SHAPES = [10, 1000] as const;
/** The first passes of a process run code that is not compiled yet; a controller has run thousands. */
const ENDS = '5';

/** Seconds of what the passes are measured by. */
type Stopwatch = () => number;

const byTheWall: Stopwatch = () => performance.now() / 1000;

/** On a busy machine only this can be compared. */
const byTheProcessor: Stopwatch = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

interface PassFigures {
  readonly waiting: number;
  readonly shapes: number;
  readonly firstSeconds: number;
  readonly afterEndSeconds: number;
  readonly quietSeconds: number;
  readonly matches: number;
}

interface PassBench {
  readonly pass1kSeconds: number;
  readonly pass10kSeconds: number;
  readonly pass100kSeconds: number;
  readonly passes: readonly PassFigures[];
}

/** The part of the benchmark without a database. */
async function benchPasses(
  settings: readonly QueueSettings[],
  sizes: readonly number[],
  { stopwatch, ends }: { readonly stopwatch: Stopwatch; readonly ends: number },
  print: (line: string) => void,
): Promise<PassBench> {
  const passes: PassFigures[] = [];
  for (const waiting of sizes) {
    for (const shapes of SHAPES) {
      const figures = await measure({ waiting, shapes, ends }, settings, stopwatch);
      passes.push(figures);
      print(
        `${waiting} waiting in ${shapes} shapes: first pass ${figures.firstSeconds.toFixed(3)} s, after an end ${figures.afterEndSeconds.toFixed(3)} s, without changes ${figures.quietSeconds.toFixed(3)} s, ${figures.matches} matches`,
      );
    }
  }
  const slowest = (waiting: number) =>
    Math.max(
      0,
      ...passes
        .filter((figures) => figures.waiting === waiting)
        .flatMap((figures) => [figures.firstSeconds, figures.afterEndSeconds, figures.quietSeconds]),
    );
  return {
    pass1kSeconds: slowest(1_000),
    pass10kSeconds: slowest(10_000),
    pass100kSeconds: slowest(100_000),
    passes,
  };
}

async function measure(
  { waiting, shapes, ends }: { readonly waiting: number; readonly shapes: number; readonly ends: number },
  settings: readonly QueueSettings[],
  stopwatch: Stopwatch,
): Promise<PassFigures> {
  const fluxion = embeddedFluxion();
  const nodes: GraphNode[] = Array.from({ length: NODES }, (_, i) => ({
    name: `node-${i}`,
    units: { core: CORES, memory: 4 * CORES },
  }));
  await fluxion.init({ nodes, policy: 'lonode', now: 0 });
  const queue = new DeepQueue(fluxion, nodes, settings, stopwatch);
  await queue.fill();
  queue.submit(waiting, shapes);
  const first = await queue.timedPass({ freed: true, graphGrew: true });
  const afterEnds: { seconds: number; matches: number }[] = [];
  for (let i = 0; i < ends; i++) {
    await queue.endOne();
    afterEnds.push(await queue.timedPass({ freed: true }));
  }
  const quiet = await queue.timedPass({});
  return {
    waiting,
    shapes,
    firstSeconds: first.seconds,
    afterEndSeconds: median(afterEnds.map(({ seconds }) => seconds)),
    quietSeconds: quiet.seconds,
    matches: [first, ...afterEnds, quiet].reduce((all, { matches }) => all + matches, 0),
  };
}

class DeepQueue {
  private readonly rows = new Map<string, WorkloadRow>();
  private last: Pick<PassResult, 'reservations' | 'cache'> | undefined;
  private now = 0;

  constructor(
    private readonly fluxion: Fluxion,
    private readonly nodes: readonly GraphNode[],
    private readonly settings: readonly QueueSettings[],
    private readonly stopwatch: Stopwatch,
  ) {}

  /** Fills all nodes with jobs of half a node to two nodes with different ends; of many queues, each fills its part. */
  async fill(): Promise<void> {
    const most = Math.max(...this.settings.map(({ quota }) => quota.cores ?? 0)) || 2 * CORES;
    for (let i = 0, left = NODES * CORES; left > 0; i++) {
      const cores = Math.min(left, 32 * (1 + (i % 4)), most);
      this.add(cores / 8, 8, 3600 + 7 * i);
      left -= cores;
    }
    await this.timedPass({ freed: true, graphGrew: true });
  }

  submit(count: number, shapes: number): void {
    for (let i = 0; i < count; i++) {
      const shape = i % shapes;
      this.add(1 + Math.floor(shape / 20), 1 + (shape % 20), 600 + 60 * (i % 97));
    }
  }

  async endOne(): Promise<void> {
    const [running] = [...this.rows.values()].filter(({ phase }) => phase === 'Running');
    await this.fluxion.cancel(running!.jobid);
    this.rows.delete(running!.uid);
  }

  async timedPass(over: Partial<PassInput>): Promise<{ seconds: number; matches: number }> {
    this.now += 1;
    const byQueue = Map.groupBy(this.rows.values(), ({ queue }) => queue);
    const queues = this.settings.map((settings) => ({ settings, rows: byQueue.get(settings.name) ?? [] }));
    const from = this.stopwatch();
    const result = await runPass({
      now: this.now,
      queues,
      surroundings: SURROUNDINGS,
      matcher: this.fluxion,
      reservations: this.last?.reservations ?? [],
      cache: this.last?.cache,
      freed: false,
      graphGrew: false,
      nodes: this.nodes,
      ...over,
    });
    const seconds = this.stopwatch() - from;
    this.last = result;
    for (const { uid, allocation } of result.grants) this.change(uid, { phase: 'Running', allocation });
    for (const { uid, ...wait } of result.waits) this.change(uid, wait);
    for (const { uid, message, end } of result.evictions)
      this.change(uid, {
        evictionReason: message,
        allocation: { ...this.rows.get(uid)!.allocation!, end },
      });
    return { seconds, matches: result.matches };
  }

  private add(pods: number, cpu: number, walltime: number): void {
    const jobspec = jobspecOf({
      pod: { containers: [{ resources: { requests: { cpu, memory: `${cpu}Gi` } } }] },
      pods,
      walltime,
    });
    const seq = this.rows.size + 1_000_000 * (this.last === undefined ? 0 : 1);
    const row = newRow(
      {
        uid: `${seq}`,
        kind: 'Job',
        namespace: 'bench',
        name: `w-${seq}`,
        queue: this.settings[seq % this.settings.length]!.name,
        priority: 0,
        submittedAt: this.now,
        walltime,
        pods,
        jobspec,
        shape: shapeOf(jobspec),
        held: false,
        user: 'bench',
        after: [],
        preemptible: false,
      },
      seq + 1,
    );
    this.rows.set(row.uid, row);
  }

  private change(uid: string, over: Partial<WorkloadRow>): void {
    this.rows.set(uid, { ...this.rows.get(uid)!, ...over });
  }
}

/** As large as all that runs, or ten times as large. */
function limited(factor: number): Partial<QueueSettings> {
  const cores = NODES * CORES * factor;
  const running = 1_000 * factor;
  return {
    quota: { cores, memoryGiB: cores, nodes: NODES * factor, pods: cores, jobs: cores },
    limits: { queue: { running }, user: { running } },
  };
}

/** Each of so many queues owns its part of the cluster, and takes it back. */
function inCohort(queues: number): Partial<QueueSettings> {
  return { cohort: 'all', quota: { cores: (NODES * CORES) / queues }, reclaim: true };
}

const SETTINGS: Readonly<Record<string, (queues: number) => Partial<QueueSettings>>> = {
  none: () => ({}),
  ample: () => limited(10),
  full: () => limited(1),
  cohort: inCohort,
};

/** No pods but those of the queue, and no rules. */
const SURROUNDINGS: Surroundings = {
  unmanaged: () => [],
  repelling: () => [],
  unmanagedOn: () => 0,
  traitsOf: ({ namespace }) => ({ namespace, labels: {} }),
  amountsOf: () => ({}),
};

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      cpu: { type: 'boolean', default: false },
      limits: { type: 'string', default: 'none' },
      queues: { type: 'string', default: '1' },
      sizes: { type: 'string', default: SIZES },
      ends: { type: 'string', default: ENDS },
    },
  });
  const queues = Number(values.queues);
  const over = SETTINGS[values.limits]?.(queues);
  if (over === undefined) throw new Error(`--limits must be one of: ${Object.keys(SETTINGS).join(', ')}`);
  const settings = Array.from({ length: queues }, (_, i) =>
    queueSettings({ name: `q${i}`, depth: 100_000, ...over }),
  );
  const { passes, ...ofPasses } = await benchPasses(
    settings,
    values.sizes.split(',').map(Number),
    { stopwatch: values.cpu ? byTheProcessor : byTheWall, ends: Number(values.ends) },
    (line) => process.stderr.write(`${line}\n`),
  );
  const figures = {
    ...ofPasses,
    ...(values.limits === 'none' && queues === 1 ? await measureDatabase() : {}),
  };
  process.stdout.write(`${JSON.stringify(values.json ? figures : { ...figures, passes })}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
