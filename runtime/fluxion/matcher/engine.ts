/** The embedded matcher behind the Fluxion interface, in this process and without gRPC. */
import { randomUUID } from 'node:crypto';
import { FluxqError } from '../../errors';
import type { Jobspec } from '../../jobspec/types';
import type { Allocation, GraphNode } from '../../resources/types';
import type { Engine, EngineResult, JgfInit } from '../engine';
import { checkNodes } from '../jgf/layout';
import { tolerating } from '../tolerating';
import type { Fluxion, FluxionState, InitRequest, MatchRequest } from '../types';
import { Matcher } from './matcher';

/** Creates a Fluxion in this process; close() drops the graph. */
export function embeddedFluxion(): Fluxion {
  return tolerating(new EmbeddedEngine());
}

export class EmbeddedEngine implements Engine {
  readonly kind = 'embedded';
  bootId = '';
  private matcher: Matcher | undefined;
  private lastNow = 0;

  async init({ nodes, policy, now }: InitRequest): Promise<string> {
    checkNodes(nodes, new Set());
    return this.start(() => Matcher.fromNodes(nodes, { policy }), now);
  }

  async initJgf({ jgf, policy, now, pruneFilters }: JgfInit): Promise<string> {
    const filters = pruneFilters === undefined ? {} : { pruneFilters };
    return this.start(() => Matcher.fromJgf(jgf, { policy, ...filters }), now);
  }

  async match({ jobid, jobspec, operation, now }: MatchRequest): Promise<EngineResult> {
    if (this.matcher === undefined) return { status: 'NOT_READY', text: 'the graph was never initialised' };
    const outcome = this.matcher.match({ jobid, jobspec, operation, now: this.advance(now) });
    if (outcome.status !== 'OK') return { status: outcome.status, text: outcome.text };
    const { allocation, reserved } = outcome;
    // Computed on demand: few callers need the paths.
    return { status: 'OK', allocation, reserved, held: () => outcome.held };
  }

  async satisfiable(jobspec: Jobspec): Promise<{ satisfiable: boolean; text: string }> {
    return this.ready().satisfiable(jobspec);
  }

  async replay(allocations: readonly Allocation[], now: number): Promise<void> {
    const matcher = this.ready();
    const second = this.advance(now);
    for (const allocation of allocations) matcher.replay(allocation, second);
  }

  async cancel(jobid: number): Promise<void> {
    this.ready().cancel(jobid);
  }

  async partialCancel(jobid: number, nodes: readonly string[]): Promise<boolean> {
    return this.ready().partialCancel(jobid, nodes);
  }

  async addNodes(nodes: readonly GraphNode[]): Promise<void> {
    this.ready().addNodes(nodes);
  }

  async removeNodes(names: readonly string[]): Promise<readonly number[]> {
    return this.ready().removeNodes(names);
  }

  async setStatus(names: readonly string[], up: boolean): Promise<void> {
    const matcher = this.ready();
    for (const name of names) matcher.setStatus(name, up);
  }

  async state(): Promise<FluxionState> {
    return { bootId: this.bootId, ...this.ready().state(this.lastNow) };
  }

  async jgf(jobid: number): Promise<string> {
    return this.ready().jgfOf(jobid) ?? '';
  }

  async close(): Promise<void> {
    this.matcher = undefined;
    this.bootId = '';
  }

  private start(make: () => Matcher, now: number): string {
    // As in flux-sched's library, a refused graph still drops the old one.
    this.matcher = undefined;
    this.bootId = '';
    this.matcher = make();
    this.lastNow = Math.floor(now);
    this.bootId = randomUUID();
    return this.bootId;
  }

  /** Rounds down to a whole second and never goes back: the clock of a new leader may be behind. */
  private advance(now: number): number {
    this.lastNow = Math.max(this.lastNow, Math.floor(now));
    return this.lastNow;
  }

  private ready(): Matcher {
    if (this.matcher === undefined) throw notReady();
    return this.matcher;
  }
}

export function notReady(): FluxqError {
  return new FluxqError('FLUXQ_FLUXION_NOT_READY', 'the graph was never initialised', {
    remedy: 'call init with the nodes first',
    retryable: true,
  });
}
