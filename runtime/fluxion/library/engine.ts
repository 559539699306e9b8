/**
 * flux-sched's library behind the engine interface. The library has no clock, no check of job ids, unbounded memory, and
 * faults when nodes are added or removed; this engine works around that.
 */
import { randomUUID } from 'node:crypto';
import type { Jobspec } from '../../jobspec/types';
import type { Allocation, GraphNode } from '../../resources/types';
import {
  DEFAULT_PRUNE_FILTERS,
  type Engine,
  type EngineResult,
  type FluxionLog,
  type JgfInit,
} from '../engine';
import { checkJgf, GraphLayout } from '../jgf/layout';
import { notReady } from '../matcher/engine';
import { TimeAxis, walltimeOf } from '../time-axis';
import type { FluxionState, InitRequest, MatchOperation, MatchRequest } from '../types';
import { type FluxionLibrary, loadLibrary } from './bindings';
import { Session } from './session';
import { SizeWarning } from './size';

export interface LibraryLimits {
  /**
   * Number of matches after which a new context replaces the old one: the library keeps a record of every job forever.
   * @default 200000
   */
  readonly matchesPerContext?: number;
}

const NO_LOG: FluxionLog = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** @throws FluxqError FLUXQ_FLUXION_LIBRARY, FLUXQ_FLUXION_LIBRARY_TOO_OLD */
export async function loadLibraryEngine(
  path: string,
  limits: LibraryLimits = {},
  log: FluxionLog = NO_LOG,
): Promise<Engine> {
  return new LibraryEngine(
    await loadLibrary(path),
    limits.matchesPerContext ?? 200_000,
    new SizeWarning(log),
  );
}

const FUTURE: ReadonlySet<MatchOperation> = new Set(['allocate_orelse_reserve', 'without_allocating_future']);

class LibraryEngine implements Engine {
  readonly kind = 'library';
  bootId = '';
  private session: Session | undefined;

  constructor(
    private readonly library: FluxionLibrary,
    private readonly matchesPerContext: number,
    private readonly size: SizeWarning,
  ) {}

  async init({ nodes, policy, now, warm = false }: InitRequest): Promise<string> {
    const { session } = this;
    if (warm && session?.resume({ nodes, policy, now }) === true) return this.start(session, nodes);
    this.drop();
    const layout = new GraphLayout(nodes.map((node) => ({ ...node, up: true })));
    const source = { policy, layout, jgf: undefined, pruneFilters: DEFAULT_PRUNE_FILTERS };
    return this.start(new Session(this.library, source, new TimeAxis(Math.floor(now))), nodes);
  }

  async initJgf({ jgf, policy, now, pruneFilters = DEFAULT_PRUNE_FILTERS }: JgfInit): Promise<string> {
    this.drop();
    checkJgf(jgf);
    const source = { policy, layout: new GraphLayout([]), jgf, pruneFilters };
    return this.start(new Session(this.library, source, new TimeAxis(Math.floor(now))), []);
  }

  async match({ jobid, jobspec, operation, now }: MatchRequest): Promise<EngineResult> {
    const { session } = this;
    session?.settle();
    if (session === undefined) return { status: 'NOT_READY', text: 'the graph was never initialised' };
    if (session.jobs.has(jobid)) return { status: 'INVALID', text: `job id ${jobid} is in use` };
    const walltime = jobspec.attributes?.system?.duration ?? 0;
    session.axis.advanceTo(now);
    if (session.matches >= this.matchesPerContext) session.recycle();
    if (FUTURE.has(operation) && !session.isExact()) session.rebase();
    return session.match(jobid, jobspec, operation, walltimeOf(walltime));
  }

  async satisfiable(jobspec: Jobspec): Promise<{ satisfiable: boolean; text: string }> {
    return this.ready().satisfiable(jobspec);
  }

  async replay(allocations: readonly Allocation[], now: number): Promise<void> {
    const session = this.initialised();
    session.axis.advanceTo(now);
    // A reservation is made among what is held before it starts.
    for (const allocation of [...allocations].sort((a, b) => a.start - b.start)) session.replay(allocation);
  }

  async cancel(jobid: number): Promise<void> {
    this.ready().cancel(jobid);
  }

  async partialCancel(jobid: number, nodes: readonly string[]): Promise<boolean> {
    return this.ready().partialCancel(jobid, new Set(nodes));
  }

  async addNodes(nodes: readonly GraphNode[]): Promise<void> {
    const session = this.ready();
    session.addNodes(nodes);
    this.checkSize(session);
  }

  async removeNodes(names: readonly string[]): Promise<readonly number[]> {
    return this.ready().removeNodes(names);
  }

  async setStatus(names: readonly string[], up: boolean): Promise<void> {
    const session = this.ready();
    for (const name of names) session.setStatus(name, up);
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

  private start(session: Session, nodes: readonly GraphNode[]): string {
    this.session = session;
    this.bootId = randomUUID();
    this.checkSize(session);
    for (const { name, up = true } of nodes)
      if (up !== (session.layout.nodes.get(name)!.node.up ?? true)) session.setStatus(name, up);
    return this.bootId;
  }

  private checkSize({ layout }: Session): void {
    this.size.check([...layout.nodes.values()].map(({ node }) => node));
  }

  private drop(): void {
    this.session?.destroy();
    this.session = undefined;
    this.bootId = '';
  }

  /** The session, after the last replay. */
  private ready(): Session {
    const session = this.initialised();
    session.settle();
    return session;
  }

  private initialised(): Session {
    if (this.session === undefined) throw notReady();
    return this.session;
  }
}
