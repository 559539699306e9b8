/**
 * `npm run -s bench:match -- [--json] [--nodes 100,1000] [--policies first,lonode] [--seconds 5] [--core-millis 100]
 * [--memory-mib 128] [--engines embedded,service]`: the speed of the embedded matcher, in this process and over gRPC, and of
 * flux-sched's library if it is installed, on nodes with 64 cores, 256 GiB and 8 gpus in units of these sizes. Progress
 * goes to stderr, the result is the last line on stdout.
 *
 * The library needs minutes to load a million vertices, so it runs with at most --library-nodes nodes, in the units that
 * are the default for it.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { MATCH_POLICIES, type MatchPolicy } from '../../constructs/api/policies';
import { connectFluxion } from '../../runtime/fluxion/client/client';
import { loadLibraryEngine } from '../../runtime/fluxion/library/engine';
import { findLibrary } from '../../runtime/fluxion/library/find';
import { EmbeddedEngine } from '../../runtime/fluxion/matcher/engine';
import { startFluxionServer } from '../../runtime/fluxion/server/server';
import type { Fluxion, MatchOperation } from '../../runtime/fluxion/types';
import type { Jobspec } from '../../runtime/jobspec/types';
import type { GraphNode } from '../../runtime/resources/types';

/** The part of Fluxion that is measured. */
type Answering = Pick<Fluxion, 'init' | 'match' | 'cancel' | 'close'>;

interface EngineUnderTest {
  readonly name: string;
  readonly mostNodes: number;
  start(): Promise<Answering>;
}

/** The engines available on this machine. */
function enginesUnderTest(libraryNodes = Number.POSITIVE_INFINITY): EngineUnderTest[] {
  const embedded = {
    name: 'embedded',
    mostNodes: Number.POSITIVE_INFINITY,
    start: async () => new EmbeddedEngine(),
  };
  const path = findLibrary(undefined);
  const service = { ...embedded, name: 'service', start: startService };
  if (path === undefined) return [embedded, service];
  return [
    embedded,
    service,
    { name: 'library', mostNodes: libraryNodes, start: () => loadLibraryEngine(path) },
  ];
}

/** The embedded matcher behind the Fluxion service in another process, as the controller's sidecar runs it. */
async function startService(): Promise<Answering> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-match-'));
  const address = `unix:${join(folder, 'fluxion.sock')}`;
  const server = fork(__filename, ['--serve', address]);
  await once(server, 'message');
  const client = connectFluxion({ address });
  return {
    init: (request) => client.init(request),
    match: (request) => client.match(request),
    cancel: (jobid) => client.cancel(jobid),
    close: async () => {
      await client.close();
      server.kill();
      await once(server, 'exit');
      await rm(folder, { recursive: true });
    },
  };
}

async function serve(address: string): Promise<void> {
  const log = { info() {}, warn() {}, error() {} };
  const server = await startFluxionServer({ address, engine: new EmbeddedEngine(), log });
  process.once('SIGTERM', () => void server.stop().then(() => process.disconnect()));
  process.send!('listens');
}

export interface MatchFigures {
  readonly engine: string;
  readonly coreMillis: number;
  readonly memoryMiB: number;
  readonly nodes: number;
  readonly policy: string;
  readonly initMs: number;
  /** Matches of jobs with an eighth of a node until the graph is full, for at most the given seconds. */
  readonly fillMatches: number;
  readonly fillMatchesPerSecond: number;
  readonly fillP50Ms: number;
  readonly fillP99Ms: number;
  /** The first refused match on the full graph, and the median of the next ones. */
  readonly firstRefusalMs: number;
  readonly refusalP50Ms: number;
  /** The median reservation on the full graph. */
  readonly reserveP50Ms: number;
  /** Memory of the process, which runs only this measurement; of the service that of its client. */
  readonly rssMiB: number;
}

/** What a job asks for: an eighth of a node. */
const SHARE = { cores: 8, memoryGiB: 32, gpus: 1, perNode: 8 };

interface Units {
  readonly coreMillis: number;
  readonly memoryMiB: number;
}

function unitsOfShare({ coreMillis, memoryMiB }: Units): Readonly<Record<string, number>> {
  const { cores, memoryGiB, gpus } = SHARE;
  return { core: (cores * 1000) / coreMillis, memory: (memoryGiB * 1024) / memoryMiB, gpu: gpus };
}

function jobspecOf(slots: number, duration: number, units: Units): Jobspec {
  return {
    version: 1,
    resources: [
      {
        type: 'slot',
        count: slots,
        label: 'task',
        with: Object.entries(unitsOfShare(units)).map(([type, count]) => ({ type, count })),
      },
    ],
    tasks: [{ command: ['bench'], slot: 'task', count: { per_slot: 1 } }],
    attributes: { system: { duration } },
  };
}

async function timed<T>(work: () => Promise<T>): Promise<{ readonly ms: number; readonly result: T }> {
  const from = process.hrtime.bigint();
  const result = await work();
  return { ms: Number(process.hrtime.bigint() - from) / 1e6, result };
}

function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

/** An engine with a full or filling graph. */
class Bench {
  private lastId = 0;

  constructor(
    readonly engine: Answering,
    private readonly nodes: number,
    private readonly units: Units,
  ) {}

  async init(policy: MatchPolicy): Promise<number> {
    const nodes: GraphNode[] = Array.from({ length: this.nodes }, (_, i) => ({
      name: `node-${i}`,
      units: Object.fromEntries(
        Object.entries(unitsOfShare(this.units)).map(([type, n]) => [type, n * SHARE.perNode]),
      ),
    }));
    return (await timed(() => this.engine.init({ nodes, policy, now: 0 }))).ms;
  }

  /** Fills the graph with small jobs for some seconds, then with wide jobs. @returns the times of the small jobs */
  async fill(seconds: number): Promise<number[]> {
    const times: number[] = [];
    const capacity = this.nodes * SHARE.perNode;
    const until = Date.now() + seconds * 1000;
    while (times.length < capacity && Date.now() < until) {
      // Different walltimes, so that a reservation has several candidate times.
      times.push(await this.expect('OK', jobspecOf(1, 3600 + (times.length % 97), this.units), 'allocate'));
    }
    await this.fillRest(capacity - times.length);
    return times.sort((a, b) => a - b);
  }

  private async fillRest(slots: number): Promise<void> {
    for (let left = slots, width = slots; left > 0 && width > 0; ) {
      const wanted = Math.min(width, left);
      const call = {
        jobid: ++this.lastId,
        jobspec: jobspecOf(wanted, 3600, this.units),
        operation: 'allocate',
        now: 0,
      } as const;
      if ((await this.engine.match(call)).status === 'OK') left -= wanted;
      else width = Math.floor(width / 2);
    }
  }

  refuse(): Promise<number> {
    return this.expect('BUSY', jobspecOf(1, 3600, this.units), 'allocate_with_satisfiability');
  }

  async reserve(): Promise<number> {
    const ms = await this.expect('OK', jobspecOf(4, 600, this.units), 'allocate_orelse_reserve');
    await this.engine.cancel(this.lastId);
    return ms;
  }

  private async expect(status: string, jobspec: Jobspec, operation: MatchOperation): Promise<number> {
    const jobid = ++this.lastId;
    const { ms, result } = await timed(() => this.engine.match({ jobid, jobspec, operation, now: 0 }));
    if (result.status !== status) throw new Error(`the answer to ${operation} is ${result.status}`);
    return ms;
  }
}

async function repeat(times: number, work: () => Promise<number>): Promise<number[]> {
  const taken: number[] = [];
  for (let i = 0; i < times; i++) taken.push(await work());
  return taken.sort((a, b) => a - b);
}

async function measure(
  engineUnderTest: EngineUnderTest,
  { nodes, policy, seconds, units }: Order,
): Promise<MatchFigures> {
  const bench = new Bench(await engineUnderTest.start(), nodes, units);
  const initMs = await bench.init(policy);
  const fillTimes = await bench.fill(seconds);
  const firstRefusalMs = await bench.refuse();
  const refusals = await repeat(20, () => bench.refuse());
  const reservations = await repeat(10, () => bench.reserve());
  const rssMiB = process.memoryUsage().rss / 2 ** 20;
  await bench.engine.close();
  return {
    engine: engineUnderTest.name,
    ...units,
    nodes,
    policy,
    initMs,
    fillMatches: fillTimes.length,
    fillMatchesPerSecond: fillTimes.length / (fillTimes.reduce((sum, ms) => sum + ms, 0) / 1000),
    fillP50Ms: quantile(fillTimes, 0.5),
    fillP99Ms: quantile(fillTimes, 0.99),
    firstRefusalMs,
    refusalP50Ms: quantile(refusals, 0.5),
    reserveP50Ms: quantile(reservations, 0.5),
    rssMiB,
  };
}

interface Order {
  readonly engine: string;
  readonly nodes: number;
  readonly policy: MatchPolicy;
  readonly seconds: number;
  readonly units: Units;
}

/** Runs a measurement in its own process, so that memory and warm-up are not shared. */
function measureInProcess(order: Order): Promise<MatchFigures> {
  return new Promise((resolve, reject) => {
    const child = fork(__filename, ['--order', JSON.stringify(order)]);
    let figures: MatchFigures | undefined;
    child.on('message', (message) => {
      figures = message as MatchFigures;
    });
    child.on('error', reject);
    child.on('exit', (code) => {
      if (figures === undefined) reject(new Error(`${JSON.stringify(order)} ended with ${code}`));
      else resolve(figures);
    });
  });
}

async function measureOrder(text: string): Promise<void> {
  const order: Order = JSON.parse(text);
  const engineUnderTest = enginesUnderTest().find(({ name }) => name === order.engine)!;
  process.send!(await measure(engineUnderTest, order));
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      nodes: { type: 'string', default: '100,1000,5000,10000' },
      policies: { type: 'string', default: 'first,lonode' },
      seconds: { type: 'string', default: '5' },
      'core-millis': { type: 'string', default: '100' },
      'memory-mib': { type: 'string', default: '128' },
      'library-nodes': { type: 'string', default: '1000' },
      engines: { type: 'string', default: 'embedded,service,library' },
      order: { type: 'string' },
      serve: { type: 'string' },
    },
  });
  if (values.order !== undefined) return measureOrder(values.order);
  if (values.serve !== undefined) return serve(values.serve);
  const wanted = values.policies.split(',');
  const policies = MATCH_POLICIES.filter((policy) => wanted.includes(policy));
  const engines = values.engines.split(',');
  const all = enginesUnderTest(Number(values['library-nodes'])).filter(({ name }) => engines.includes(name));
  if (engines.includes('library') && findLibrary(undefined) === undefined)
    process.stderr.write("flux-sched's library is not installed: measuring the embedded matcher only\n");
  const figures: MatchFigures[] = [];
  for (const nodes of values.nodes.split(',').map(Number)) {
    for (const policy of policies) {
      for (const { name } of all.filter(({ mostNodes }) => nodes <= mostNodes)) {
        const seconds = Number(values.seconds);
        const units =
          name === 'library'
            ? { coreMillis: 1000, memoryMiB: 1024 }
            : { coreMillis: Number(values['core-millis']), memoryMiB: Number(values['memory-mib']) };
        const result = await measureInProcess({ engine: name, nodes, policy, seconds, units });
        figures.push(result);
        process.stderr.write(`${lineOf(result)}\n`);
      }
    }
  }
  process.stdout.write(`${values.json ? JSON.stringify({ figures }) : figures.map(lineOf).join('\n')}\n`);
}

function lineOf(f: MatchFigures): string {
  return [
    `${f.engine} ${f.nodes} nodes, units of ${f.coreMillis}m and ${f.memoryMiB} MiB, ${f.policy}: init ${f.initMs.toFixed(0)} ms`,
    `${f.fillMatchesPerSecond.toFixed(0)} matches/s (p50 ${f.fillP50Ms.toFixed(3)} ms, p99 ${f.fillP99Ms.toFixed(3)} ms)`,
    `first refusal ${f.firstRefusalMs.toFixed(2)} ms, then ${f.refusalP50Ms.toFixed(2)} ms`,
    `reserve ${f.reserveP50Ms.toFixed(2)} ms, RSS ${f.rssMiB.toFixed(0)} MiB`,
  ].join(', ');
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
