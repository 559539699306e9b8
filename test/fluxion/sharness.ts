/** flux-sched's own matching tests (t/t30*.t) as recorded cases; test/fluxion/oracle/README.md says how they were made. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import type { JgfGraph } from '../../runtime/fluxion/jgf/types';
import type { Jobspec } from '../../runtime/jobspec/types';
import { EmbeddedOracleServer } from './embedded-oracle';
import type { OracleAnswer, OracleServer } from './oracle';

/** More than two vertices are recorded as a digest of their paths. */
type Held = readonly string[] | { readonly count: number; readonly sha256: string };

type Op =
  | { readonly op: 'cancel'; readonly id: number }
  | { readonly op: 'set_status'; readonly path: string; readonly status: 'up' | 'down' }
  | { readonly op: 'satisfiability'; readonly jobspec: number; readonly satisfiable: boolean }
  | ({
      readonly op: 'allocate' | 'allocate_orelse_reserve' | 'allocate_with_satisfiability';
      readonly id: number;
      readonly jobspec: number;
      readonly held?: Held;
    } & Omit<OracleAnswer, 'held'>);

export interface SharnessCase {
  /** The test file and the name of its output. */
  readonly name: string;
  readonly graph: string;
  /** Set before the first match: path and `property` or `property=value`. */
  readonly properties?: readonly (readonly [path: string, property: string])[];
  readonly options: Readonly<Record<string, string>>;
  readonly ops: readonly Op[];
}

type Line =
  | SharnessCase
  | { readonly graph: string; readonly jgf: JgfGraph }
  | { readonly jobspecs: readonly Jobspec[] };

export interface Sharness {
  readonly graphs: ReadonlyMap<string, JgfGraph>;
  readonly jobspecs: readonly Jobspec[];
  readonly cases: readonly SharnessCase[];
}

export async function readSharness(file: string): Promise<Sharness> {
  const graphs = new Map<string, JgfGraph>();
  const jobspecs: Jobspec[] = [];
  const cases: SharnessCase[] = [];
  for await (const text of createInterface({ input: createReadStream(file).pipe(createGunzip()) })) {
    const line = JSON.parse(text) as Line;
    if ('jgf' in line) graphs.set(line.graph, line.jgf);
    else if ('jobspecs' in line) jobspecs.push(...line.jobspecs);
    else cases.push(line);
  }
  return { graphs, jobspecs, cases };
}

/** @returns the number of the first operation with another answer; undefined if all are the same */
export async function firstDifference(
  { graphs, jobspecs }: Sharness,
  { graph, properties = [], options, ops }: SharnessCase,
): Promise<number | undefined> {
  const server = new EmbeddedOracleServer();
  await server.init(withProperties(graphs.get(graph)!, properties), options);
  for (const [i, op] of ops.entries()) if (!(await isSame(server, jobspecs, op))) return i;
  return undefined;
}

async function isSame(server: OracleServer, jobspecs: readonly Jobspec[], op: Op): Promise<boolean> {
  if (op.op === 'cancel') return (await server.cancel(op.id)) === 0;
  if (op.op === 'set_status') return (await server.setStatus(op.path, op.status === 'up')) === 0;
  const jobspec = jobspecs[op.jobspec]!;
  if (op.op === 'satisfiability') return (await server.satisfiable(jobspec)) === op.satisfiable;
  const { result, reserved, at, held } = await server.match(op.op, op.id, jobspec, 0);
  if (result !== op.result) return false;
  return result !== 'OK' || (reserved === op.reserved && at === op.at && holds(held!, op.held!));
}

function holds(paths: readonly string[], expected: Held): boolean {
  if ('sha256' in expected) {
    const digest = createHash('sha256').update(paths.join('\n')).digest('hex');
    return paths.length === expected.count && digest.startsWith(expected.sha256);
  }
  return paths.join() === expected.join();
}

function withProperties(jgf: JgfGraph, set: NonNullable<SharnessCase['properties']>): JgfGraph {
  const copy = structuredClone(jgf);
  for (const [path, property] of set) {
    const vertex = copy.graph.nodes.find(({ metadata }) => metadata.paths?.containment === path)!;
    const [key, value = ''] = property.split('=');
    Object.assign(vertex.metadata, { properties: { ...vertex.metadata.properties, [key!]: value } });
  }
  return copy;
}
