/**
 * The command `simulate`, also as `npm run -s simulate`: replays a trace on a machine with a policy, or compares several policies,
 * sizes and weights of queues. It needs no cluster.
 */
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../constructs/api/durations';
import type { QueuePolicy } from '../../constructs/api/policies';
import { FluxqError, messageOf } from '../errors';
import { requireRolesNode } from '../node-version';
import { curvesOf } from './curves';
import {
  type FairShareMode,
  type GivenWeights,
  parseFairShare,
  parseWeights,
  sharingsOf,
} from './fair-share';
import { machineOf } from './machine';
import { page } from './page';
import { Progress } from './progress';
import { queueStatisticsOf } from './queues';
import { replay } from './replay';
import { jsonOf, textOf } from './report';
import type { Result } from './results';
import { statisticsOf } from './statistics';
import type { Trace, TraceJob } from './swf';
import { readTrace, readTraceFrom } from './trace-file';
import {
  MAX_VARIANTS,
  type NodeCount,
  parseNodes,
  parsePolicies,
  parseReservations,
  sizesOf,
  type Variant,
  variantsOf,
} from './variants';

interface Options {
  readonly swf?: string;
  readonly policy: readonly QueuePolicy[];
  readonly reservations?: readonly number[];
  readonly nodes: readonly NodeCount[];
  readonly coresPerNode?: number;
  readonly fairShare: readonly FairShareMode[];
  readonly weights: readonly GivenWeights[];
  readonly halfLife?: number;
  readonly scale: number;
  readonly json: boolean;
  readonly html?: string;
}

const MAX_CORES = 1_000_000;

export function addSimulateCommand(program: Command): void {
  program
    .command('simulate')
    .description('replay a trace, such as the output of `trace`, with other policies, sizes or weights')
    .argument('[file]', 'a trace in Standard Workload Format, plain or gzip; - is the standard input')
    .option('--policy <names>', 'policies of the queues, separated by commas, or all', parsePolicies, [
      'easy',
    ])
    .option('--reservations <numbers>', 'reservations of policy hybrid (default: 8)', parseReservations)
    .option(
      '--nodes <numbers>',
      'nodes of the machine; 128,+20 compares 128 with 148, and +20 the machine of the trace with 20 more',
      parseNodes,
      [],
    )
    .option('--cores-per-node <n>', 'cores of each node (default: those of the trace)', coresOfNode)
    .option('--fair-share <modes>', 'fair share: off, on, or off,on', parseFairShare, [])
    .option(
      '--weights <queues>',
      'fair share with weights, as in a=3,b=1; repeat it to compare',
      parseWeights,
      [],
    )
    .option(
      '--half-life <time>',
      'time after which past usage counts half in fair share (default: 168h)',
      seconds,
    )
    .option('--scale <x>', 'stretches the times between submissions: 2 halves the load', factor, 1)
    .option('--json', 'one line of JSON; a list if several are compared', false)
    .option('--html <file>', 'also writes a page with the tables and plots; it needs no network')
    .addOption(new Option('--swf <file>', 'the same as the argument').hideHelp())
    .action(simulate);
}

function coresOfNode(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= MAX_CORES) return value;
  throw new InvalidArgumentError(`must be a whole number from 1 to ${MAX_CORES}.`);
}

function factor(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('must be a number above 0.');
}

function seconds(text: string): number {
  const value = parseDuration(text);
  if (value !== undefined && value >= 1) return value;
  throw new InvalidArgumentError('must be a duration of at least 1s, as in 36h.');
}

async function simulate(file: string | undefined, options: Options): Promise<void> {
  requireRolesNode('simulations', 'run them with');
  const { policy, reservations = [], fairShare, weights, swf } = options;
  const source = file ?? swf;
  check(options, source);
  const trace = source === '-' ? await readTraceFrom(process.stdin, 'standard input') : readTrace(source);
  const { coresPerNode, sizes, note } = machinesOf(trace, options);
  const sharings = sharingsOf(trace, fairShare, weights);
  const variants = variantsOf({ policies: policy, reservations, sizes, coresPerNode, sharings });
  checkSize(variants);
  if (note !== undefined) warn(note);
  if (trace.unknown > 0) warn(`${trace.unknown} jobs of unknown runtime or width are left out`);
  const results: Result[] = [];
  for (const variant of variants) results.push(await simulateOne(trace, variant, options));
  if (options.html !== undefined) write(options.html, page(nameOf(source), results));
  process.stdout.write(`${options.json ? jsonOf(results) : textOf(results)}\n`);
}

function nameOf(source: string): string {
  return source === '-' ? 'the standard input' : basename(source);
}

/** @throws InvalidArgumentError for what cannot be together */
function check(
  { policy, reservations, fairShare, weights, halfLife, swf }: Options,
  source: string | undefined,
): asserts source is string {
  if (source === undefined)
    throw new InvalidArgumentError('missing required argument: the file of the trace, or -');
  if (swf !== undefined && swf !== source) throw new InvalidArgumentError('give one trace, without --swf');
  if (reservations !== undefined && !policy.includes('hybrid'))
    throw new InvalidArgumentError('--reservations requires --policy hybrid');
  if (halfLife !== undefined && !fairShare.includes('on') && weights.length === 0)
    throw new InvalidArgumentError('--half-life requires --fair-share on, or --weights');
}

function machinesOf(trace: Trace, { nodes: counts, coresPerNode }: Options) {
  const [first] = counts;
  const machine = machineOf(trace, {
    ...(first?.isMore === false && { nodes: first.count }),
    ...(coresPerNode !== undefined && { coresPerNode }),
  });
  return { ...machine, sizes: sizesOf(counts, machine.nodes) };
}

function checkSize(variants: readonly Variant[]): void {
  if (variants.length > MAX_VARIANTS) {
    throw new FluxqError('FLUXQ_SIMULATION_SIZE', `at most ${MAX_VARIANTS} replays are compared`, {
      field: '--policy x --reservations x --nodes x --fair-share and --weights',
      value: variants.length,
      remedy: 'give fewer of them',
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

async function simulateOne(
  { jobs }: Trace,
  { label, sharing, ...variant }: Variant,
  { scale, halfLife }: Options,
): Promise<Result> {
  const progress = new Progress(jobs.length, label);
  const replayed = await replay(jobs, {
    ...variant,
    scale,
    ...(sharing.weights && { weights: sharing.weights }),
    ...(halfLife !== undefined && { halfLife }),
    onProgress: (started) => progress.show(started),
  });
  progress.end();
  const cores = variant.nodes * variant.coresPerNode;
  if (replayed.tooLarge.length > 0) warn(tooLarge(replayed.tooLarge, cores));
  return {
    variant: { ...variant, sharing, label },
    statistics: statisticsOf(replayed.jobs, cores),
    queues: queueStatisticsOf(replayed.jobs, sharing.weights),
    curves: curvesOf(replayed.jobs, cores),
  };
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

function warn(text: string): void {
  process.stderr.write(`${text}\n`);
}

function tooLarge(jobs: readonly TraceJob[], cores: number): string {
  const [first] = jobs;
  const count = jobs.length === 1 ? '1 job asks' : `${jobs.length} jobs ask`;
  return `${count} for more than the machine's ${cores} cores and never start (the first: job ${first!.number}, ${first!.processors})`;
}
