/**
 * The C interface of flux-sched (libreapi_cli.so, 0.53 or newer) through koffi. One context is one graph. The library
 * is not thread-safe: errno and the error text describe the last call.
 */
import { constants } from 'node:os';
import { FluxqError, messageOf } from '../../errors';
import type { JgfGraph } from '../jgf/types';
import { filteredTypes } from '../matcher/resource-types';
import type { MatchOperation } from '../types';
import { inDoubt } from '../wire';

/** Values of flux-sched's match_op_t. */
const OPERATIONS: Readonly<Record<MatchOperation, number>> = {
  allocate: 1,
  allocate_with_satisfiability: 2,
  allocate_orelse_reserve: 3,
  without_allocating: 5,
  without_allocating_future: 6,
};

export type LibraryAnswer =
  | { readonly status: 'OK'; readonly reserved: boolean; readonly at: number; readonly answer: string }
  | { readonly status: 'BUSY' | 'UNSATISFIABLE' | 'INVALID'; readonly text: string };

type Status = Exclude<LibraryAnswer['status'], 'OK'>;
type Pointer = unknown;
type Out<T> = [T | null];

interface Functions {
  create(): Pointer;
  destroy(context: Pointer): void;
  initialize(context: Pointer, graph: string, options: string): number;
  match(
    context: Pointer,
    operation: number,
    jobspec: string,
    jobid: number,
    reserved: Out<boolean>,
    answer: Out<string>,
    at: Out<number>,
    overhead: Out<number>,
  ): number;
  satisfy(context: Pointer, jobspec: string, satisfiable: Out<boolean>, overhead: Out<number>): number;
  update(
    context: Pointer,
    jobid: number,
    resources: string,
    at: Out<number>,
    overhead: Out<number>,
    answer: Out<string>,
  ): number;
  cancel(context: Pointer, jobid: number, noEntryIsFine: boolean): number;
  addSubgraph(context: Pointer, graph: string): number;
  setStatus(context: Pointer, path: string, status: number): number;
  errorText(context: Pointer): string;
  clearError(context: Pointer): void;
  errno(): number;
}

/** Parameter types in C: `out` types are pointers, `text` is a char * that the caller frees. */
type Parameter =
  | 'context'
  | 'string'
  | 'int'
  | 'bool'
  | 'uint64'
  | 'out text'
  | 'out bool'
  | 'out int64'
  | 'out double';
type Result = 'int' | 'void' | 'context' | 'text';
type Signature = readonly [symbol: string, result: Result, ...parameters: Parameter[]];

const SIGNATURES: Readonly<Record<Exclude<keyof Functions, 'errno'>, Signature>> = {
  create: ['new', 'context'],
  destroy: ['destroy', 'void', 'context'],
  initialize: ['initialize', 'int', 'context', 'string', 'string'],
  match: [
    'match_with_jobid',
    'int',
    'context',
    'int',
    'string',
    'uint64',
    'out bool',
    'out text',
    'out int64',
    'out double',
  ],
  satisfy: ['match_satisfy', 'int', 'context', 'string', 'out bool', 'out double'],
  update: ['update_allocate', 'int', 'context', 'uint64', 'string', 'out int64', 'out double', 'out text'],
  cancel: ['cancel', 'int', 'context', 'uint64', 'bool'],
  addSubgraph: ['add_subgraph', 'int', 'context', 'string'],
  setStatus: ['set_status', 'int', 'context', 'string', 'int'],
  errorText: ['get_err_msg', 'text', 'context'],
  clearError: ['clear_err_msg', 'void', 'context'],
};

/** @throws FluxqError FLUXQ_FLUXION_LIBRARY, FLUXQ_FLUXION_LIBRARY_TOO_OLD */
export async function loadLibrary(path: string): Promise<FluxionLibrary> {
  const { default: koffi } = await import('koffi');
  let library: ReturnType<typeof koffi.load>;
  try {
    library = koffi.load(path);
  } catch (error) {
    throw new FluxqError('FLUXQ_FLUXION_LIBRARY', `the library can not be loaded: ${messageOf(error)}`, {
      field: 'fluxion.library',
      value: path,
      remedy: 'add the folder of libflux and libfluxion-data to LD_LIBRARY_PATH',
      cause: error,
    });
  }
  // Anonymous types: koffi's type names are global, so a second load would fail.
  const text = koffi.disposable('str');
  const types = {
    context: 'void *',
    string: 'str',
    int: 'int',
    bool: 'bool',
    uint64: 'uint64_t',
    void: 'void',
    text,
    'out text': koffi.out(koffi.pointer(text)),
    'out bool': koffi.out('bool *'),
    'out int64': koffi.out('int64_t *'),
    'out double': koffi.out('double *'),
  } satisfies Record<Parameter | Result, unknown>;
  const functions: Record<string, unknown> = { errno: () => koffi.errno() };
  for (const [name, [symbol, result, ...parameters]] of Object.entries(SIGNATURES)) {
    try {
      const spec = parameters.map((parameter) => types[parameter]);
      functions[name] = library.func(`reapi_cli_${symbol}`, types[result], spec);
    } catch (error) {
      throw tooOld(path, `reapi_cli_${symbol}`, error);
    }
  }
  return new FluxionLibrary(functions as unknown as Functions);
}

function tooOld(path: string, symbol: string, cause: unknown): FluxqError {
  return new FluxqError('FLUXQ_FLUXION_LIBRARY_TOO_OLD', `this flux-sched has no ${symbol}`, {
    field: 'fluxion.library',
    value: path,
    remedy: 'install flux-sched 0.53 or newer',
    cause,
  });
}

export class FluxionLibrary {
  /** Resource types that the library has interned, for the lifetime of the process. */
  private readonly internedTypes = new Set<string>();

  constructor(private readonly functions: Functions) {}

  /**
   * Creates a context with this graph.
   * @param types resource types of the graph, in the order of their first vertices
   * @throws FluxqError FLUXQ_FLUXION_GRAPH
   */
  open(jgf: string, types: Iterable<string>, policy: string, pruneFilters: string): LibraryContext {
    // The library reads the graph before the filters: types keep the order that they have in a new process.
    this.internTypes(
      [...new Set([...types, ...filteredTypes(pruneFilters)])].filter(
        (type) => !this.internedTypes.has(type),
      ),
    );
    return this.openKnown(jgf, policy, pruneFilters);
  }

  /**
   * Up to 0.54 the library accepts no new resource types after the first graph of a process, except in a subgraph. So a
   * temporary context interns them through a subgraph.
   */
  private internTypes(types: readonly string[]): void {
    if (types.length === 0) return;
    const scratch = this.openKnown(JSON.stringify(scratchGraph(['core'], 1)), 'first', 'ALL:core');
    try {
      scratch.addSubgraph(JSON.stringify(scratchGraph(types, 2)));
      for (const type of types) this.internedTypes.add(type);
    } finally {
      scratch.destroy();
    }
  }

  private openKnown(jgf: string, policy: string, pruneFilters: string): LibraryContext {
    const context = this.functions.create();
    const opened = new LibraryContext(this.functions, context);
    const options = JSON.stringify({
      // Versions from 0.47 on read GraphML by default.
      load_format: 'jgf',
      match_format: 'jgf',
      matcher_policy: policy,
      prune_filters: pruneFilters,
    });
    opened.initialize(jgf, options);
    return opened;
  }
}

/** A root with one vertex of each type. */
function scratchGraph(types: readonly string[], first: number): JgfGraph {
  const vertex = (type: string, uniqId: number, path: string) => ({
    id: `${uniqId}`,
    metadata: {
      type,
      basename: type,
      name: `t${uniqId}`,
      id: uniqId,
      uniq_id: uniqId,
      rank: -1,
      paths: { containment: path },
    },
  });
  // The library takes an existing path for the same vertex, so each call needs its own numbers.
  const below = types.map((type, i) => vertex(type, first + i, `/t0/t${first + i}`));
  const edges = below.map(({ id }) => ({ source: '0', target: id }));
  return { graph: { nodes: [vertex('cluster', 0, '/t0'), ...below], edges } };
}

export class LibraryContext {
  constructor(
    private readonly functions: Functions,
    private context: Pointer,
  ) {}

  initialize(jgf: string, options: string): void {
    this.functions.clearError(this.context);
    if (this.functions.initialize(this.context, jgf, options) === 0) return;
    const text = this.text();
    this.destroy();
    throw new FluxqError('FLUXQ_FLUXION_GRAPH', `flux-sched refused the graph: ${text}`);
  }

  match(operation: MatchOperation, jobspec: string, jobid: number): LibraryAnswer {
    const reserved: Out<boolean> = [null];
    const answer: Out<string> = [null];
    const at: Out<number> = [null];
    this.functions.clearError(this.context);
    const rc = this.functions.match(
      this.context,
      OPERATIONS[operation],
      jobspec,
      jobid,
      reserved,
      answer,
      at,
      [null],
    );
    if (rc !== 0) return this.refusal();
    return { status: 'OK', reserved: reserved[0] === true, at: Number(at[0]), answer: answer[0] ?? '' };
  }

  satisfiable(jobspec: string): { satisfiable: boolean; text: string } {
    const satisfiable: Out<boolean> = [null];
    this.functions.clearError(this.context);
    const rc = this.functions.satisfy(this.context, jobspec, satisfiable, [null]);
    if (rc === 0 && satisfiable[0] === true) return { satisfiable: true, text: '' };
    const refusal = this.refusal();
    return { satisfiable: false, text: refusal.text };
  }

  /** Allocates exactly these resources (rv1). @returns the text of the refusal, or undefined */
  update(jobid: number, rv1: string): string | undefined {
    this.functions.clearError(this.context);
    const rc = this.functions.update(this.context, jobid, rv1, [null], [null], [null]);
    return rc === 0 ? undefined : this.text();
  }

  /** Cancels a job; an unknown id is no error. */
  cancel(jobid: number): void {
    this.functions.clearError(this.context);
    this.check(this.functions.cancel(this.context, jobid, true), `cancel of job ${jobid}`);
  }

  addSubgraph(jgf: string): void {
    this.functions.clearError(this.context);
    this.check(this.functions.addSubgraph(this.context, jgf), 'add_subgraph');
  }

  setStatus(path: string, up: boolean): void {
    this.functions.clearError(this.context);
    this.check(this.functions.setStatus(this.context, path, up ? 0 : 1), `set_status of ${path}`);
  }

  destroy(): void {
    if (this.context !== null) this.functions.destroy(this.context);
    this.context = null;
  }

  private refusal(): { status: Status; text: string } {
    // Read errno first: the next call into the library overwrites it.
    const errno = this.functions.errno();
    const text = this.text();
    if (errno === constants.errno.EBUSY) return { status: 'BUSY', text: text || 'busy' };
    if (errno === constants.errno.ENODEV) return { status: 'UNSATISFIABLE', text: text || 'unsatisfiable' };
    return { status: 'INVALID', text: text || `errno ${errno}` };
  }

  private text(): string {
    return this.functions.errorText(this.context).trim();
  }

  private check(rc: number, call: string): void {
    if (rc === 0) return;
    throw inDoubt(`${call} failed in flux-sched: ${this.text()}`);
  }
}
