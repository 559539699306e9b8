/**
 * The real Fluxion behind the engine interface. What the library lacks is made
 * up here: a clock (axis.ts), unique job ids, an end to its memory growth, and
 * node counts that follow when nodes come and go.
 */
import { randomUUID } from 'node:crypto';
import type { Jobspec } from '../../jobspec/types';
import type { Allocation, GraphNode } from '../../resources/types';
import { TimeAxis, walltimeOf } from '../axis';
import { DEFAULT_PRUNE_FILTERS, type Engine, type EngineResult, type JgfInit } from '../engine';
import { checkJgf, GraphLayout } from '../jgf/layout';
import { notReady } from '../matcher/engine';
import type { FluxionState, InitRequest, MatchOperation, MatchRequest } from '../types';
import { type FluxionLibrary, loadLibrary } from './bindings';
import { LibraryGraph } from './session';

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
    checkJgf(jgf);
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
    return this.ready().satisfiable(jobspec);
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
    return this.ready().partialCancel(jobid, new Set(nodes));
  }

  async addNodes(nodes: readonly GraphNode[]): Promise<void> {
    this.ready().addNodes(nodes);
  }

  async removeNodes(names: readonly string[]): Promise<readonly number[]> {
    return this.ready().removeNodes(names);
  }

  async setStatus(names: readonly string[], up: boolean): Promise<void> {
    const graph = this.ready();
    for (const name of names) graph.setStatus(name, up);
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

  private start(graph: LibraryGraph, nodes: readonly GraphNode[]): string {
    this.graph = graph;
    this.bootId = randomUUID();
    for (const { name, up } of nodes) if (up === false) graph.setStatus(name, false);
    return this.bootId;
  }

  private drop(): void {
    this.graph?.destroy();
    this.graph = undefined;
    this.bootId = '';
  }

  private ready(): LibraryGraph {
    if (this.graph === undefined) throw notReady();
    return this.graph;
  }
}
