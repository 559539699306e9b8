/**
 * `npm run -s simulate -- --swf FILE --policy easy,hybrid --nodes 128,+20 --cores-per-node 8 [--scale 1.5] [--json]
 * [--html FILE]`: replays a trace on a machine with a policy, or with several of both side by side.
 */
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import type { QueuePolicy } from '../../constructs/api/policies';
import { QUEUE_RANGES } from '../../constructs/api/queue-defaults';
import { FluxqError, messageOf } from '../errors';
import { curvesOf } from './curves';
import { page } from './page';
import { replay } from './replay';
import type { Result } from './results';
import { statisticsOf } from './statistics';
import type { Trace, TraceJob } from './swf';
import { table } from './table';
import { readTrace } from './trace-file';
import { MAX_VARIANTS, parseNodes, parsePolicies, type Variant, variantsOf } from './variants';

interface Options {
  readonly swf: string;
  readonly policy: readonly QueuePolicy[];
  readonly reservations?: number;
  readonly nodes: readonly number[];
  readonly coresPerNode: number;
  readonly scale: number;
  readonly json: boolean;
  readonly html?: string;
}

const MAX_CORES = 1_000_000;
const MAX_RESERVATIONS = QUEUE_RANGES.reservations.max;
/** Progress is shown after this time, and then this often. */
const SILENT_MS = 2_000;
const UPDATE_MS = 500;

function parseOptions(argv: readonly string[]): Options {
  return new Command('npm run -s simulate --')
    .description('Replays a Standard Workload Format trace through the scheduling engine.')
    .requiredOption('--swf <file>', 'the trace, plain or gzip')
    .option('--policy <names>', 'policies of the queue, separated by commas, or all', parsePolicies, ['easy'])
    .option('--reservations <n>', 'reservations of policy hybrid (default: 8)', whole(MAX_RESERVATIONS))
    .requiredOption('--nodes <numbers>', 'nodes of the machine; 128,+20 compares 128 with 148', parseNodes)
    .requiredOption('--cores-per-node <n>', 'cores of each node', whole(MAX_CORES))
    .option('--scale <x>', 'stretches the times between submissions: 2 halves the load', factor, 1)
    .option('--json', 'one line of JSON; a list if several are compared', false)
    .option('--html <file>', 'also writes a page with the table and plots; it needs no network')
    .parse(argv)
    .opts<Options>();
}

function whole(most: number) {
  return (text: string): number => {
    const value = Number(text);
    if (text.trim() !== '' && Number.isInteger(value) && value >= 1 && value <= most) return value;
    throw new InvalidArgumentError(`must be a whole number from 1 to ${most}.`);
  };
}

function factor(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('must be a number above 0.');
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv);
  const variants = variantsOf(options.policy, options.nodes, options.coresPerNode);
  check(options, variants);
  const trace = readTrace(options.swf);
  if (trace.unknown > 0) warn(`${trace.unknown} jobs of unknown runtime or width are left out`);
  const results: Result[] = [];
  for (const variant of variants) results.push(await simulate(trace, variant, options));
  if (options.html !== undefined) write(options.html, page(basename(options.swf), results));
  process.stdout.write(`${options.json ? json(results) : text(results)}\n`);
}

function check({ reservations, policy }: Options, variants: readonly Variant[]): void {
  if (reservations !== undefined && !policy.includes('hybrid'))
    throw new InvalidArgumentError('--reservations requires --policy hybrid');
  if (variants.length > MAX_VARIANTS) {
    throw new FluxqError('FLUXQ_SIMULATION_SIZE', `at most ${MAX_VARIANTS} replays are compared`, {
      field: '--policy x --nodes',
      value: variants.length,
      remedy: 'give fewer policies or sizes',
    });
  }
  const cores = Math.max(...variants.map(coresOf));
  if (cores <= MAX_CORES) return;
  throw new FluxqError(
    'FLUXQ_SIMULATION_SIZE',
    `machines of more than ${MAX_CORES} cores are not supported`,
    {
      field: '--nodes x --cores-per-node',
      value: cores,
      remedy: 'simulate a part of it, with that part of the trace',
    },
  );
}

function coresOf({ nodes, coresPerNode }: Variant): number {
  return nodes * coresPerNode;
}

async function simulate(
  { jobs }: Trace,
  variant: Variant,
  { scale, reservations }: Options,
): Promise<Result> {
  const progress = new Progress(jobs.length, variant.label);
  const replayed = await replay(jobs, {
    ...variant,
    scale,
    ...(reservations !== undefined && variant.policy === 'hybrid' ? { reservations } : {}),
    onProgress: (started) => progress.show(started),
  });
  progress.end();
  const cores = coresOf(variant);
  if (replayed.tooLarge.length > 0) warn(tooLarge(replayed.tooLarge, cores));
  return { variant, statistics: statisticsOf(replayed.jobs, cores), curves: curvesOf(replayed.jobs, cores) };
}

function write(file: string, content: string): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw new FluxqError('FLUXQ_SIMULATION_OUTPUT', messageOf(error).split('\n')[0]!, {
      field: '--html',
      value: file,
      remedy: 'give a file in a folder that you may write to',
      cause: error,
    });
  }
}

function json(results: readonly Result[]): string {
  const shown = results.map(({ variant: { policy, nodes }, statistics }) =>
    results.length === 1 ? statistics : { policy, nodes, ...statistics },
  );
  return JSON.stringify(shown.length === 1 ? shown[0] : shown);
}

function text(results: readonly Result[]): string {
  const [first] = results;
  return results.length === 1 ? summary(first!) : table(results);
}

function warn(text: string): void {
  process.stderr.write(`${text}\n`);
}

function tooLarge(jobs: readonly TraceJob[], cores: number): string {
  const [first] = jobs;
  const count = jobs.length === 1 ? '1 job asks' : `${jobs.length} jobs ask`;
  return `${count} for more than the machine's ${cores} cores and never start (the first: job ${first!.number}, ${first!.processors})`;
}

function summary({ variant: { policy, nodes, coresPerNode }, statistics: s }: Result): string {
  return [
    `${s.jobs} jobs on ${nodes} nodes of ${coresPerNode} cores, policy ${policy}`,
    `  wait                  mean ${seconds(s.meanWait)}, median ${seconds(s.medianWait)}, 90 % at most ${seconds(s.waitP90)}, longest ${seconds(s.maxWait)}`,
    `  wait of wide jobs     mean ${seconds(s.wideMeanWait)}, longest ${seconds(s.wideMaxWait)} (a quarter of the machine and more)`,
    `  bounded slowdown      mean ${s.meanBoundedSlowdown.toFixed(2)}`,
    `  utilisation           ${(s.utilisation * 100).toFixed(1)} %`,
    `  delayed reservations  ${s.delayedReservations}`,
    `  estimates             for ${(s.estimated * 100).toFixed(1)} % of the jobs, mean error ${seconds(s.meanEstimateError)}, half at most ${seconds(s.estimateErrorP50)}, 90 % at most ${seconds(s.estimateErrorP90)}`,
  ].join('\n');
}

function seconds(value: number): string {
  return `${Math.round(value)} s`;
}

/** One line on a terminal that is overwritten. */
class Progress {
  private next = Date.now() + SILENT_MS;
  private shown = false;

  constructor(
    private readonly jobs: number,
    private readonly label: string,
  ) {}

  show(started: number): void {
    if (!process.stderr.isTTY || Date.now() < this.next) return;
    this.next = Date.now() + UPDATE_MS;
    this.shown = true;
    process.stderr.write(`\r${this.label}: ${started} of ${this.jobs} jobs have started`);
  }

  end(): void {
    if (this.shown) process.stderr.write('\r\x1b[K');
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
});
