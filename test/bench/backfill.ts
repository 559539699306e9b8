/**
 * Replays made traces with `easy` and tells what the number of queues and the order of backfill change, beside the reference for EASY:
 *
 *   npm run -s bench:backfill -- --tools FOLDER [--queues 1,10,50] [--loads 0.8,1.2] [--factors 1,3,10] [--seeds 1] [--max-waits 6,24]
 *
 * FOLDER has make-swf.py and backfill-reference.py. Jobs are dealt to the queues by their number, so each queue has all kinds of them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { type ReplayOptions, replay } from '../../runtime/simulation/replay';
import { statisticsOf } from '../../runtime/simulation/statistics';
import type { TraceJob } from '../../runtime/simulation/swf';
import { readTrace } from '../../runtime/simulation/trace-file';
import { CORES, MACHINE, makeTrace, referenceWait, type TraceKey } from './made-traces';

interface Options {
  readonly tools: string;
  readonly jobs: string;
  readonly loads: string;
  readonly factors: string;
  readonly seeds: string;
  readonly queues: string;
  readonly maxWaits: string;
}

function optionsOf(argv: readonly string[]): Options {
  return new Command('npm run -s bench:backfill --')
    .description('Compares easy with one and with many queues on made traces.')
    .requiredOption('--tools <folder>', 'folder with make-swf.py and backfill-reference.py')
    .option('--jobs <number>', 'jobs of a trace', '3000')
    .option('--loads <list>', 'loads of the machine', '0.8,1.2')
    .option('--factors <list>', 'walltime requested, as a multiple of the runtime', '1,3,10')
    .option('--seeds <list>', 'seeds of the traces', '1')
    .option('--queues <list>', 'numbers of queues', '1,10,50')
    .option('--max-waits <list>', 'hours of backfillMaxWait, each with shortestArea', '')
    .parse(argv)
    .opts<Options>();
}

const numbersIn = (list: string) => list.split(',').map(Number);

function tracesOf({ jobs, loads, factors, seeds }: Options): readonly TraceKey[] {
  return numbersIn(loads).flatMap((load) =>
    numbersIn(factors).flatMap((factor) =>
      numbersIn(seeds).map((seed) => ({ jobs: Number(jobs), load, factor, seed })),
    ),
  );
}

async function printTrace(trace: TraceKey, options: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'backfill-'));
  const file = join(folder, 'trace.swf');
  try {
    makeTrace(trace, file, options.tools);
    const reference = referenceWait(file, options.tools);
    process.stdout.write(
      `load ${trace.load}, factor ${trace.factor}, seed ${trace.seed}: reference ${Math.round(reference)} s\n`,
    );
    for (const queues of numbersIn(options.queues))
      for (const variant of variantsOf(options)) {
        const jobs = dealt(readTrace(file).jobs, queues);
        process.stdout.write(`  ${queues} queues, ${await runText(jobs, variant, reference)}\n`);
      }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Variant = Pick<ReplayOptions, 'backfillOrder' | 'backfillMaxWait'>;

function variantsOf({ maxWaits }: Options): readonly Variant[] {
  const hours = maxWaits === '' ? [] : numbersIn(maxWaits);
  const byArea = hours.map(
    (one) => ({ backfillOrder: 'shortestArea', backfillMaxWait: 3600 * one }) as const,
  );
  return [{ backfillOrder: 'submission' }, ...byArea];
}

function dealt(jobs: readonly TraceJob[], queues: number): readonly TraceJob[] {
  return jobs.map((job) => ({ ...job, queue: `q${job.number % queues}` }));
}

async function runText(trace: readonly TraceJob[], variant: Variant, reference: number): Promise<string> {
  const from = process.cpuUsage();
  const { jobs } = await replay(trace, { ...MACHINE, policy: 'easy', ...variant });
  const { user, system } = process.cpuUsage(from);
  const { meanWait, maxWait, wideMeanWait, meanBoundedSlowdown, delayedReservations } = statisticsOf(
    jobs,
    CORES,
  );
  const { backfillOrder, backfillMaxWait } = variant;
  const order =
    backfillMaxWait === undefined ? backfillOrder : `${backfillOrder} up to ${backfillMaxWait / 3600} h`;
  return [
    `${order}: mean wait ${Math.round(meanWait)} s (${(meanWait / reference).toFixed(3)} of the reference)`,
    `wide ${Math.round(wideMeanWait)} s`,
    `longest ${Math.round(maxWait)} s`,
    `slowdown ${meanBoundedSlowdown.toFixed(1)}`,
    `${delayedReservations} delayed`,
    `${((user + system) / 1e6).toFixed(1)} s of the processor`,
  ].join(', ');
}

async function main(): Promise<void> {
  const options = optionsOf(process.argv);
  for (const trace of tracesOf(options)) await printTrace(trace, options);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
