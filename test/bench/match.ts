/**
 * `npm run -s bench:match -- [--json] [--nodes 100,1000] [--policies first,lonode] [--seconds 3]`: how fast
 * engines match on nodes of 64 cores and 8 gpus. Progress goes to stderr, the
 * result is the last line on stdout.
 */
import { parseArgs } from 'node:util';
import { Matcher } from '../../runtime/fluxion/matcher';
import type { GraphNode, MatchOperation } from '../../runtime/fluxion/types';
import type { Jobspec } from '../../runtime/jobspec/types';

/** One that matches: the embedded matcher, the real library, ... Calls are serial. */
export interface Engine {
  readonly name: string;
  init(nodes: readonly GraphNode[], policy: string): void;
  match(jobid: number, jobspec: Jobspec, operation: MatchOperation, now: number): string;
  cancel(jobid: number): void;
  close(): void;
}

class EmbeddedEngine implements Engine {
  readonly name = 'embedded';
  private matcher: Matcher | undefined;

  init(nodes: readonly GraphNode[], policy: string): void {
    this.matcher = Matcher.fromNodes(nodes, { policy });
  }

  match(jobid: number, jobspec: Jobspec, operation: MatchOperation, now: number): string {
    return this.matcher!.match({ jobid, jobspec, operation, now }).status;
  }

  cancel(jobid: number): void {
    this.matcher!.cancel(jobid);
  }

  close(): void {
    this.matcher = undefined;
  }
}

/** Every engine that is here. */
function engines(): Engine[] {
  return [new EmbeddedEngine()];
}

export interface MatchFigures {
  readonly engine: string;
  readonly nodes: number;
  readonly policy: string;
  readonly initMs: number;
  /** One-eighth-of-a-node jobs while the graph fills, for at most the given seconds. */
  readonly fillMatches: number;
  readonly fillMatchesPerSecond: number;
  readonly fillP50Ms: number;
  readonly fillP99Ms: number;
  /** The first match that a full graph refuses, and the median of those after it. */
  readonly firstRefusalMs: number;
  readonly refusalP50Ms: number;
  /** A reservation on the full graph, median. */
  readonly reserveP50Ms: number;
  readonly rssMiB: number;
}

const UNIT = { cores: 8, gpus: 1, perNode: 8 };

function jobspecOf(slots: number, duration: number): Jobspec {
  return {
    version: 1,
    resources: [
      {
        type: 'slot',
        count: slots,
        label: 'task',
        with: [
          { type: 'core', count: UNIT.cores },
          { type: 'gpu', count: UNIT.gpus },
        ],
      },
    ],
    tasks: [{ command: ['bench'], slot: 'task', count: { per_slot: 1 } }],
    attributes: { system: { duration } },
  };
}

function timed<T>(work: () => T): { readonly ms: number; readonly result: T } {
  const from = process.hrtime.bigint();
  const result = work();
  return { ms: Number(process.hrtime.bigint() - from) / 1e6, result };
}

function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

/** Job ids from 1 up. */
class Ids {
  private last = 0;

  next(): number {
    return ++this.last;
  }
}

function fill(engine: Engine, ids: Ids, capacity: number, seconds: number): number[] {
  const times: number[] = [];
  const until = Date.now() + seconds * 1000;
  while (times.length < capacity && Date.now() < until) {
    // Walltimes differ, so that reservations have several times to try.
    const jobspec = jobspecOf(1, 3600 + (times.length % 97));
    const { ms, result } = timed(() => engine.match(ids.next(), jobspec, 'allocate', 0));
    if (result !== 'OK') throw new Error(`${engine.name}: match ${times.length} was answered ${result}`);
    times.push(ms);
  }
  fillRest(engine, ids, capacity - times.length);
  return times;
}

/** In few, wide jobs. */
function fillRest(engine: Engine, ids: Ids, slots: number): void {
  for (let left = slots, width = slots; left > 0 && width > 0; ) {
    const granted = engine.match(ids.next(), jobspecOf(Math.min(width, left), 3600), 'allocate', 0) === 'OK';
    if (granted) left -= Math.min(width, left);
    else width = Math.floor(width / 2);
  }
}

function repeat(times: number, work: () => void): number[] {
  return Array.from({ length: times }, () => timed(work).ms).sort((a, b) => a - b);
}

function measure(engine: Engine, count: number, policy: string, seconds: number): MatchFigures {
  const nodes: GraphNode[] = Array.from({ length: count }, (_, i) => ({
    name: `node-${i}`,
    units: { core: UNIT.cores * UNIT.perNode, gpu: UNIT.gpus * UNIT.perNode },
  }));
  const init = timed(() => engine.init(nodes, policy));
  const ids = new Ids();
  const fillTimes = fill(engine, ids, count * UNIT.perNode, seconds).sort((a, b) => a - b);
  const refuse = () => {
    const answer = engine.match(ids.next(), jobspecOf(1, 3600), 'allocate_with_satisfiability', 0);
    if (answer !== 'BUSY') throw new Error(`${engine.name}: a full graph answered ${answer}`);
  };
  const first = timed(refuse);
  const refusals = repeat(20, refuse);
  const reservations = repeat(10, () => {
    const id = ids.next();
    const answer = engine.match(id, jobspecOf(4, 600), 'allocate_orelse_reserve', 0);
    if (answer !== 'OK') throw new Error(`${engine.name}: no reservation but ${answer}`);
    engine.cancel(id);
  });
  const rssMiB = process.memoryUsage().rss / 2 ** 20;
  engine.close();
  return {
    engine: engine.name,
    nodes: count,
    policy,
    initMs: init.ms,
    fillMatches: fillTimes.length,
    fillMatchesPerSecond: fillTimes.length / (fillTimes.reduce((sum, ms) => sum + ms, 0) / 1000),
    fillP50Ms: quantile(fillTimes, 0.5),
    fillP99Ms: quantile(fillTimes, 0.99),
    firstRefusalMs: first.ms,
    refusalP50Ms: quantile(refusals, 0.5),
    reserveP50Ms: quantile(reservations, 0.5),
    rssMiB,
  };
}

function main(): void {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      nodes: { type: 'string', default: '100,1000,5000,10000' },
      policies: { type: 'string', default: 'first,lonode' },
      seconds: { type: 'string', default: '5' },
    },
  });
  const figures: MatchFigures[] = [];
  for (const engine of engines()) {
    for (const count of values.nodes.split(',').map(Number)) {
      for (const policy of values.policies.split(',')) {
        const result = measure(engine, count, policy, Number(values.seconds));
        figures.push(result);
        process.stderr.write(`${lineOf(result)}\n`);
      }
    }
  }
  process.stdout.write(`${values.json ? JSON.stringify({ figures }) : figures.map(lineOf).join('\n')}\n`);
}

function lineOf(f: MatchFigures): string {
  return [
    `${f.engine} ${f.nodes} nodes ${f.policy}: init ${f.initMs.toFixed(0)} ms`,
    `${f.fillMatchesPerSecond.toFixed(0)} matches/s (p50 ${f.fillP50Ms.toFixed(3)} ms, p99 ${f.fillP99Ms.toFixed(3)} ms)`,
    `first refusal ${f.firstRefusalMs.toFixed(2)} ms, then ${f.refusalP50Ms.toFixed(2)} ms`,
    `reserve ${f.reserveP50Ms.toFixed(2)} ms, RSS ${f.rssMiB.toFixed(0)} MiB`,
  ].join(', ');
}

main();
