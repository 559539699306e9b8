/**
 * Replays made traces with every policy, and EASY with a reference that only counts processors:
 *
 *   npm run -s bench:policies -- --tools FOLDER --csv docs/policies.csv [--jobs 3000] [--table]
 *
 * FOLDER has make-swf.py and backfill-reference.py. Runs that the CSV file has already are not repeated, so a matrix
 * can be made in pieces. `--table` prints the file as the tables of docs/scheduling.md.
 */
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { QUEUE_POLICIES, type QueuePolicy } from '../../constructs/api/policies';
import { replay } from '../../runtime/simulation/replay';
import { statisticsOf } from '../../runtime/simulation/statistics';
import { readTrace } from '../../runtime/simulation/trace-file';
import { CORES, MACHINE, makeTrace, referenceWait, type TraceKey } from './made-traces';
import { type PolicyRun, parseRuns, policyTables, RUN_HEADER, runLine } from './policy-runs';
import { widthsText } from './policy-widths';

interface Options {
  readonly tools?: string;
  readonly csv: string;
  readonly jobs: string;
  readonly loads: string;
  readonly factors: string;
  readonly seeds: string;
  readonly policies: string;
  readonly table?: boolean;
  readonly widths?: boolean;
}

function optionsOf(argv: readonly string[]): Options {
  return new Command('npm run -s bench:policies --')
    .description('Compares the policies of queues on made traces.')
    .option('--tools <folder>', 'folder with make-swf.py and backfill-reference.py')
    .requiredOption('--csv <file>', 'results; runs that it has are not repeated')
    .option('--jobs <list>', 'jobs of a trace', '3000')
    .option('--loads <list>', 'loads of the machine', '0.6,0.8,0.95,1.2')
    .option('--factors <list>', 'walltime requested, as a multiple of the runtime', '1,3,10')
    .option('--seeds <list>', 'seeds of the traces', '1,2,3')
    .option('--policies <list>', 'policies', QUEUE_POLICIES.join(','))
    .option('--widths', 'print who waits in each policy, and write no results', false)
    .option('--table', 'print the results as tables, and run nothing', false)
    .parse(argv)
    .opts<Options>();
}

function numbersIn(list: string): readonly number[] {
  return list.split(',').map(Number);
}

function tracesOf({ jobs, loads, factors, seeds }: Options): readonly TraceKey[] {
  return numbersIn(jobs).flatMap((count) =>
    numbersIn(loads).flatMap((load) =>
      numbersIn(factors).flatMap((factor) =>
        numbersIn(seeds).map((seed) => ({ jobs: count, load, factor, seed })),
      ),
    ),
  );
}

async function runTrace(trace: TraceKey, policies: readonly QueuePolicy[], options: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'policies-'));
  const file = join(folder, 'trace.swf');
  try {
    makeTrace(trace, file, options.tools!);
    if (options.widths) return await printWidths(trace, file);
    for (const policy of policies) {
      const run = await runPolicy(trace, policy, file, options.tools!);
      appendFileSync(options.csv, `${runLine(run)}\n`);
      process.stderr.write(`${runLine(run)}\n`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Hybrid is also shown with more reservations. */
async function printWidths({ load, factor, seed }: TraceKey, file: string): Promise<void> {
  process.stdout.write(`load ${load}, factor ${factor}, seed ${seed}\n`);
  const variants = [...QUEUE_POLICIES.map((policy) => ({ policy })), { policy: 'hybrid', reservations: 64 }];
  for (const variant of variants as { policy: QueuePolicy; reservations?: number }[]) {
    const { jobs } = await replay(readTrace(file).jobs, { ...MACHINE, ...variant });
    process.stdout.write(`  ${variant.policy}${variant.reservations ?? ''}: ${widthsText(jobs, CORES)}\n`);
  }
}

async function runPolicy(
  trace: TraceKey,
  policy: QueuePolicy,
  file: string,
  tools: string,
): Promise<PolicyRun> {
  const started = process.cpuUsage();
  const { jobs } = await replay(readTrace(file).jobs, { ...MACHINE, policy });
  const { user, system } = process.cpuUsage(started);
  return {
    ...trace,
    policy,
    ...statisticsOf(jobs, CORES),
    seconds: (user + system) / 1e6,
    referenceWait: policy === 'easy' ? referenceWait(file, tools) : undefined,
  };
}

async function main(): Promise<void> {
  const options = optionsOf(process.argv);
  if (!existsSync(options.csv)) writeFileSync(options.csv, `${RUN_HEADER}\n`);
  const known = () => parseRuns(readFileSync(options.csv, 'utf8'));
  if (options.table) {
    process.stdout.write(`${policyTables(known())}\n`);
    return;
  }
  if (options.tools === undefined) throw new Error('--tools is required to make traces');
  const done = new Set(known().map(keyOf));
  const policies = options.policies.split(',') as QueuePolicy[];
  for (const trace of tracesOf(options)) {
    const missing = options.widths
      ? policies
      : policies.filter((policy) => !done.has(keyOf({ ...trace, policy })));
    if (missing.length > 0) await runTrace(trace, missing, options);
  }
}

function keyOf({ jobs, load, factor, seed, policy }: TraceKey & { readonly policy: QueuePolicy }): string {
  return [jobs, load, factor, seed, policy].join(' ');
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
