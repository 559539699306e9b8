/**
 * The real Fluxion behind the engine interface. What the library lacks is made
 * up here: a clock (axis.ts), unique job ids, an end to its memory growth, and
 * node counts that follow when nodes come and go.
 */
import { randomUUID } from 'node:crypto';
import type { Jobspec } from '../../jobspec/types';
import { TimeAxis, walltimeOf } from '../axis';
import { notReady } from '../embedded-engine';
import { DEFAULT_PRUNE_FILTERS, type Engine, type EngineResult, type JgfInit } from '../engine';
import { GraphLayout, jgfOf } from '../graph';
import { withoutNodes } from '../job-book';
import type {
  Allocation,
  FluxionState,
  GraphNode,
  InitRequest,
  MatchOperation,
  MatchRequest,
} from '../types';
import { type FluxionLibrary, loadLibrary } from './bindings';
import { LibraryGraph } from './graph';

export interface LibraryLimits {
  /**
   * Matches after which the context is made anew: the library keeps a record of every job it ever saw.
   * @default 200000
   */
  readonly matchesPerContext?: number;
}

/** @throws FluxqError FLUXQ_FLUXION_LIBRARY, FLUXQ_FLUXION_LIBRARY_TOO_OLD */
export async function loadLibraryEngine(path: string, limits: LibraryLimits = {}): Promise<Engine> {
  return new LibraryEngine(await loadLibrary(path), limits.matchesPerContext ?? 200_000);
}

const FUTURE: ReadonlySet<MatchOperation> = new Set(['allocate_orelse_reserve', 'without_allocating_future']);

class LibraryEngine implements Engine {
  readonly kind = 'library';
  bootId = '';
  private graph: LibraryGraph | undefined;

  constructor(
    private readonly library: FluxionLibrary,
    private readonly matchesPerContext: number,
  ) {}

  async init({ nodes, policy, now }: InitRequest): Promise<string> {
    this.drop();
    const layout = new GraphLayout(nodes.map((node) => ({ ...node, up: true })));
    const source = { policy, layout, jgf: undefined, pruneFilters: DEFAULT_PRUNE_FILTERS };
    return this.start(new LibraryGraph(this.library, source, new TimeAxis(Math.floor(now))), nodes);
  }

  async initJgf({ jgf, policy, now, pruneFilters = DEFAULT_PRUNE_FILTERS }: JgfInit): Promise<string> {
    this.drop();
    const source = { policy, layout: new GraphLayout([]), jgf, pruneFilters };
    return this.start(new LibraryGraph(this.library, source, new TimeAxis(Math.floor(now))), []);
  }

  async match({ jobid, jobspec, operation, now }: MatchRequest): Promise<EngineResult> {
    const { graph } = this;
    if (graph === undefined) return { status: 'NOT_READY', text: 'the graph was never initialised' };
    if (graph.jobs.has(jobid)) return { status: 'INVALID', text: `job ${jobid} holds something already` };
    const walltime = jobspec.attributes?.system?.duration ?? 0;
    graph.axis.at(now);
    if (graph.matches >= this.matchesPerContext) graph.recycle();
    if (FUTURE.has(operation) && !graph.isExact()) graph.rebase();
    return graph.match(jobid, jobspec, operation, walltimeOf(walltime));
  }

  async satisfiable(jobspec: Jobspec): Promise<{ satisfiable: boolean; text: string }> {
    return this.ready().context.satisfiable(JSON.stringify(jobspec));
  }

  async replay(allocations: readonly Allocation[], now: number): Promise<void> {
    const graph = this.ready();
    graph.axis.at(now);
    for (const allocation of allocations) graph.replay(allocation);
  }

  async cancel(jobid: number): Promise<void> {
    this.ready().cancel(jobid);
  }

  async partialCancel(jobid: number, nodes: readonly string[]): Promise<boolean> {
    const graph = this.ready();
    const job = graph.jobs.get(jobid);
    if (job === undefined) return true;
    const rest = withoutNodes(job.allocation, new Set(nodes));
    if (rest.nodes.length === job.allocation.nodes.length) return false;
    // The library's own partial cancel knows cores and gpus of whole ranks only: freed and given back instead.
    graph.cancel(jobid);
    if (rest.nodes.length === 0) return true;
    graph.replay(rest, job);
    return false;
  }

  async addNodes(nodes: readonly GraphNode[]): Promise<void> {
    const { layout, context } = this.ready();
    const placed = layout.add(nodes);
    // The library counts a node that comes up, not one that is added: so they come down and are brought up.
    context.addSubgraph(
      JSON.stringify(jgfOf(placed.map((one) => ({ ...one, node: { ...one.node, up: false } })))),
    );
    for (const { node, chain } of placed) if (node.up !== false) context.setStatus(chain.at(-1)!.path, true);
  }

  async removeNodes(names: readonly string[]): Promise<readonly number[]> {
    const { jobs, layout, context } = this.ready();
    const known = names.filter((name) => layout.nodes.has(name));
    const hit = jobs.on(new Set(known)).map(({ allocation }) => allocation.jobid);
    // The library takes a busy node away and leaves its jobs: freed first.
    for (const jobid of hit) await this.partialCancel(jobid, known);
    await this.setStatus(known, false);
    for (const name of known) {
      context.removeSubgraph(layout.nodes.get(name)!.chain.at(-1)!.path);
      layout.remove(name);
    }
    return hit;
  }

  async setStatus(names: readonly string[], up: boolean): Promise<void> {
    const { layout, context } = this.ready();
    for (const name of names) {
      const path = name.startsWith('/') ? name : layout.nodes.get(name)?.chain.at(-1)?.path;
      if (path === undefined) continue;
      context.setStatus(path, up);
      layout.setStatus(name, up);
    }
  }

  async state(): Promise<FluxionState> {
    const { jobs, layout, axis } = this.ready();
    return jobs.state(this.bootId, layout, axis.absolute(axis.second));
  }

  async jgf(jobid: number): Promise<string> {
    return this.ready().jobs.get(jobid)?.answer ?? '';
  }

  async close(): Promise<void> {
    this.drop();
  }

  private async start(graph: LibraryGraph, nodes: readonly GraphNode[]): Promise<string> {
    this.graph = graph;
    this.bootId = randomUUID();
    const down = nodes.filter(({ up }) => up === false).map(({ name }) => name);
    await this.setStatus(down, false);
    return this.bootId;
  }

  private drop(): void {
    this.graph?.context.destroy();
    this.graph = undefined;
    this.bootId = '';
  }

  private ready(): LibraryGraph {
    if (this.graph === undefined) throw notReady();
    return this.graph;
  }
}
