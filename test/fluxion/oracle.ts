/**
 * `npm run -s oracle -- FILE.jsonl[.gz] [--server embedded|URL] [--json]`: replays the requests that were sent to
 * flux-sched and compares the answers, to the vertex and second. It prints one JSON object, and without `--json` also a
 * summary and the first differences on stderr.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { createGunzip } from 'node:zlib';
import type { JgfGraph } from '../../runtime/fluxion/jgf/types';
import type { MatchOperation } from '../../runtime/fluxion/types';
import type { Jobspec } from '../../runtime/jobspec/types';
import { EmbeddedOracleServer } from './embedded-oracle';
import { RemoteOracleServer } from './remote-oracle';

/** The recorded answer to a match. */
export interface OracleAnswer {
  readonly result: 'OK' | 'BUSY' | 'UNSATISFIABLE' | 'INVALID';
  readonly reserved?: boolean;
  readonly at?: number;
  readonly held?: readonly string[];
}

/** A server that can answer the recorded requests. Calls are serial. */
export interface OracleServer {
  /** Starts with this graph and no jobs. */
  init(graph: JgfGraph, options: Readonly<Record<string, string>>, now: number): Promise<void>;
  match(operation: MatchOperation, id: number, jobspec: Jobspec, now: number): Promise<OracleAnswer>;
  satisfiable(jobspec: Jobspec): Promise<boolean>;
  /** @returns 0, or -1 for an unknown job */
  cancel(id: number): Promise<number>;
  setStatus(path: string, up: boolean): Promise<number>;
  close(): Promise<void>;
}

type RecordedOp =
  | { readonly op: 'cancel'; readonly id: number; readonly rc: number }
  | { readonly op: 'set_status'; readonly path: string; readonly status: 'up' | 'down'; readonly rc: number }
  | { readonly op: 'satisfiability'; readonly jobspec: Jobspec; readonly satisfiable: boolean }
  | ({ readonly op: MatchOperation; readonly id: number; readonly jobspec: Jobspec } & OracleAnswer);

export interface RecordedCase {
  readonly seed: number;
  readonly graph: JgfGraph;
  readonly options: Readonly<Record<string, string>>;
  readonly ops?: readonly RecordedOp[];
  readonly passes?: readonly {
    readonly now: number;
    readonly ended: readonly number[];
    readonly ops: readonly RecordedOp[];
  }[];
}

export interface Difference {
  readonly seed: number;
  readonly policy: string | undefined;
  readonly now: number;
  readonly index: number;
  readonly op: string;
  readonly expected: unknown;
  readonly got: unknown;
}

export interface OracleReport {
  cases: number;
  identical: number;
  ops: number;
  identicalOps: number;
  /** The first difference of each case, for at most ten cases. */
  readonly differences: Difference[];
}

const MAX_DIFFERENCES = 10;

/** Reads the cases of a recording, one JSON object per line. */
export async function* readCases(file: string): AsyncGenerator<RecordedCase> {
  const raw = createReadStream(file);
  const input = file.endsWith('.gz') ? raw.pipe(createGunzip()) : raw;
  for await (const line of createInterface({ input })) if (line.trim() !== '') yield JSON.parse(line);
}

/** Replays a recording on a server. */
export async function runOracle(
  cases: AsyncIterable<RecordedCase>,
  server: OracleServer,
): Promise<OracleReport> {
  const report: OracleReport = { cases: 0, identical: 0, ops: 0, identicalOps: 0, differences: [] };
  for await (const recorded of cases) {
    const differences = await runCase(recorded, server, report);
    report.cases++;
    if (differences.length === 0) report.identical++;
    else if (report.differences.length < MAX_DIFFERENCES) report.differences.push(differences[0]!);
  }
  return report;
}

async function runCase(
  recorded: RecordedCase,
  server: OracleServer,
  report: OracleReport,
): Promise<Difference[]> {
  const passes = recorded.passes ?? [{ now: 0, ended: [], ops: recorded.ops ?? [] }];
  const differences: Difference[] = [];
  const { seed, options } = recorded;
  await server.init(recorded.graph, options, passes[0]?.now ?? 0);
  for (const { now, ended, ops } of passes) {
    for (const id of ended) await server.cancel(id);
    const answers = await runPass(ops, now, server);
    report.ops += answers.length;
    for (const [index, { op, expected, got }] of answers.entries()) {
      if (isDeepStrictEqual(expected, got)) report.identicalOps++;
      else differences.push({ seed, policy: options.matcher_policy, now, index, op: op.op, expected, got });
    }
    // When time moves, a pass drops its reservations at its end.
    const reservations = recorded.passes === undefined ? [] : answers.filter(isReservation);
    for (const { op } of reservations) await server.cancel(op.id);
  }
  return differences;
}

interface Answered<Op extends RecordedOp = RecordedOp> {
  readonly op: Op;
  readonly expected: unknown;
  readonly got: unknown;
}

async function runPass(ops: readonly RecordedOp[], now: number, server: OracleServer): Promise<Answered[]> {
  const answers: Answered[] = [];
  for (const op of ops) answers.push({ op, ...(await ask(server, op, now)) });
  return answers;
}

function isReservation(answer: Answered): answer is Answered<RecordedOp & { readonly id: number }> {
  return answer.op.op === 'allocate_orelse_reserve' && (answer.got as OracleAnswer).reserved === true;
}

async function ask(
  server: OracleServer,
  op: RecordedOp,
  now: number,
): Promise<{ readonly expected: unknown; readonly got: unknown }> {
  switch (op.op) {
    case 'cancel':
      return { expected: op.rc, got: await server.cancel(op.id) };
    case 'set_status':
      return { expected: op.rc, got: await server.setStatus(op.path, op.status === 'up') };
    case 'satisfiability':
      return { expected: op.satisfiable, got: await server.satisfiable(op.jobspec) };
    default: {
      const { op: operation, id, jobspec, ...expected } = op;
      return { expected, got: await server.match(operation, id, jobspec, now) };
    }
  }
}

/** The server for a name: `embedded`, or the address of a Fluxion service. */
export async function serverFor(name: string): Promise<OracleServer> {
  if (name === 'embedded') return new EmbeddedOracleServer();
  return new RemoteOracleServer(name);
}

function describe({ seed, policy, now, index, op, expected, got }: Difference): string {
  return [
    `seed ${seed} (${policy}), now ${now}, op ${index} ${op}:`,
    `  expected ${JSON.stringify(expected)}`,
    `  got      ${JSON.stringify(got)}`,
  ].join('\n');
}

function summary({ cases, identical, ops, identicalOps }: OracleReport): string {
  return `${identical} of ${cases} cases identical, ${identicalOps} of ${ops} operations`;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      server: { type: 'string', default: 'embedded' },
      json: { type: 'boolean', default: false },
    },
  });
  const [file] = positionals;
  if (file === undefined) throw new Error('usage: oracle FILE.jsonl[.gz] [--server embedded|URL] [--json]');
  const server = await serverFor(values.server);
  const report = await runOracle(readCases(file), server);
  await server.close();
  if (!values.json)
    for (const line of [...report.differences.map(describe), summary(report)])
      process.stderr.write(`${line}\n`);
  process.stdout.write(`${JSON.stringify(report)}\n`);
  if (report.identical < report.cases) process.exitCode = 1;
}

if (require.main === module) {
  main().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exitCode = 2;
  });
}
