/**
 * `npm run -s simulate -- --swf FILE --policy easy --nodes 128 --cores-per-node 8 [--scale 1.5] [--json]`: replays a
 * trace on a machine with a policy.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import { QUEUE_POLICIES, type QueuePolicy } from '../../constructs/api/policies';
import { QUEUE_RANGES } from '../../constructs/api/queue-defaults';
import { FluxqError, messageOf } from '../errors';
import { type Machine, replay } from './replay';
import { type Statistics, statisticsOf } from './statistics';
import type { TraceJob } from './swf';
import { readTrace } from './trace-file';

interface Options extends Machine {
  readonly swf: string;
  readonly policy: QueuePolicy;
  readonly reservations?: number;
  readonly scale: number;
  readonly json: boolean;
}

const MAX_NODES = 100_000;
const MAX_CORES = 1_000_000;
const MAX_RESERVATIONS = QUEUE_RANGES.reservations.max;
/** Progress is shown after this time, and then this often. */
const SILENT_MS = 2_000;
const UPDATE_MS = 500;

function parseOptions(argv: readonly string[]): Options {
  return new Command('npm run -s simulate --')
    .description('Replays a Standard Workload Format trace through the scheduling engine.')
    .requiredOption('--swf <file>', 'the trace, plain or gzip')
    .addOption(new Option('--policy <name>', 'policy of the queue').choices(QUEUE_POLICIES).default('easy'))
    .option('--reservations <n>', 'reservations of policy hybrid (default: 8)', whole(MAX_RESERVATIONS))
    .requiredOption('--nodes <n>', 'nodes of the machine', whole(MAX_NODES))
    .requiredOption('--cores-per-node <n>', 'cores of each node', whole(MAX_CORES))
    .option('--scale <x>', 'stretches the times between submissions: 2 halves the load', factor, 1)
    .option('--json', 'one line of JSON', false)
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
  if (options.reservations !== undefined && options.policy !== 'hybrid')
    throw new InvalidArgumentError('--reservations requires --policy hybrid');
  const cores = options.nodes * options.coresPerNode;
  if (cores > MAX_CORES) {
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
  const { jobs, unknown } = readTrace(options.swf);
  if (unknown > 0) warn(`${unknown} jobs of unknown runtime or width are left out`);
  const progress = new Progress(jobs.length);
  const replayed = await replay(jobs, { ...options, onProgress: (started) => progress.show(started) });
  progress.end();
  if (replayed.tooLarge.length > 0) warn(tooLarge(replayed.tooLarge, cores));
  const statistics = statisticsOf(replayed.jobs, cores);
  process.stdout.write(`${options.json ? JSON.stringify(statistics) : summary(options, statistics)}\n`);
}

function warn(text: string): void {
  process.stderr.write(`${text}\n`);
}

function tooLarge(jobs: readonly TraceJob[], cores: number): string {
  const [first] = jobs;
  const count = jobs.length === 1 ? '1 job asks' : `${jobs.length} jobs ask`;
  return `${count} for more than the machine's ${cores} cores and never start (the first: job ${first!.number}, ${first!.processors})`;
}

function summary({ policy, nodes, coresPerNode }: Options, s: Statistics): string {
  return [
    `${s.jobs} jobs on ${nodes} nodes of ${coresPerNode} cores, policy ${policy}`,
    `  wait                  mean ${seconds(s.meanWait)}, longest ${seconds(s.maxWait)}`,
    `  wait of wide jobs     mean ${seconds(s.wideMeanWait)}, longest ${seconds(s.wideMaxWait)} (a quarter of the machine and more)`,
    `  bounded slowdown      mean ${s.meanBoundedSlowdown.toFixed(2)}`,
    `  utilisation           ${(s.utilisation * 100).toFixed(1)} %`,
    `  delayed reservations  ${s.delayedReservations}`,
    `  estimates             for ${(s.estimated * 100).toFixed(1)} % of the jobs, mean error ${seconds(s.meanEstimateError)}`,
  ].join('\n');
}

function seconds(value: number): string {
  return `${Math.round(value)} s`;
}

/** One line on a terminal that is overwritten. */
class Progress {
  private next = Date.now() + SILENT_MS;
  private shown = false;

  constructor(private readonly jobs: number) {}

  show(started: number): void {
    if (!process.stderr.isTTY || Date.now() < this.next) return;
    this.next = Date.now() + UPDATE_MS;
    this.shown = true;
    process.stderr.write(`\r${started} of ${this.jobs} jobs have started`);
  }

  end(): void {
    if (this.shown) process.stderr.write('\r\x1b[K');
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
});
