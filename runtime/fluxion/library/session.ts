/**
 * One graph in the library and the jobs on it, on a time axis. Allocations are
 * exact on the axis; a reservation is asked for T too long, so a second one
 * needs an axis that starts now: then the running jobs are freed and given back
 * with their remaining time (rebase).
 */
import { isDeepStrictEqual } from 'node:util';
import type { MatchPolicy } from '../../../constructs/api/policies';
import { FluxqError } from '../../errors';
import { narrowed } from '../../jobspec/constraints';
import type { Jobspec, JobspecResource } from '../../jobspec/types';
import type { Allocation, GraphNode } from '../../resources/types';
import { TimeAxis } from '../axis';
import type { EngineResult } from '../engine';
import { formatRv1, heldPaths, parseAnswer, wrapRv1 } from '../jgf/allocation';
import type { GraphLayout } from '../jgf/layout';
import type { JgfGraph } from '../jgf/types';
import { type BookedJob, JobRegistry, withoutNodes } from '../job-registry';
import type { MatchOperation } from '../types';
import { inDoubt } from '../wire';
import type { FluxionLibrary, LibraryContext } from './bindings';
import { gapsOn } from './gaps';

export interface LibraryJob extends BookedJob {
  /** Reservations: to make them again on another axis. */
  readonly jobspec?: Jobspec;
  /** Public callers: the library's answer. */
  readonly answer?: string;
}

export interface GraphSource {
  readonly policy: MatchPolicy;
  readonly layout: GraphLayout;
  /** A public caller's graph instead of the layout. */
  readonly jgf: string | undefined;
  readonly pruneFilters: string;
}

/** Job ids of what is there for a moment only, downwards: no queue counts that far. */
const FILLER = Number.MAX_SAFE_INTEGER;
const NO_NODES = 'the graph has no nodes';

export class LibraryGraph {
  readonly jobs = new JobRegistry<LibraryJob>();
  /** None while there is no node: the library aborts the process on a satisfiability check of a bare root. */
  private context: LibraryContext | undefined;
  /** Since the context was made. */
  matches = 0;

  constructor(
    private readonly library: FluxionLibrary,
    private readonly source: GraphSource,
    public axis: TimeAxis,
  ) {
    this.context = this.open();
  }

  get layout(): GraphLayout {
    return this.source.layout;
  }

  match(jobid: number, jobspec: Jobspec, operation: MatchOperation, walltime: number): EngineResult {
    const { axis, context } = this;
    if (context === undefined) return noNodes(jobspec, operation);
    this.matches++;
    const answer = context.match(operation, this.onAxis(jobspec), jobid);
    if (answer.status !== 'OK') return answer;
    const later = answer.at > 0;
    const start = axis.absolute(later ? answer.at : axis.second);
    const allocation = parseAnswer(answer.answer, { jobid, start, end: start + walltime });
    const held = () => heldPaths(answer.answer);
    if (operation.startsWith('without_')) return { status: 'OK', allocation, reserved: false, held };
    this.jobs.set({
      allocation,
      reserved: later,
      ...(later ? { jobspec } : {}),
      ...(this.source.jgf === undefined ? {} : { answer: answer.answer }),
    });
    return { status: 'OK', allocation, reserved: later, held };
  }

  /** @throws FluxqError FLUXQ_FLUXION_REPLAY */
  replay(allocation: Allocation, job: Partial<LibraryJob> = {}): void {
    const { jobid } = allocation;
    if (this.jobs.has(jobid)) throw refusedReplay(jobid, 'it holds something already');
    const refusal = this.give(allocation, job.answer);
    if (refusal !== undefined) throw refusedReplay(jobid, refusal);
    this.jobs.set({ reserved: false, ...job, allocation });
  }

  cancel(jobid: number): void {
    if (!this.jobs.has(jobid)) return;
    this.context?.cancel(jobid);
    this.jobs.delete(jobid);
  }

  satisfiable(jobspec: Jobspec): { satisfiable: boolean; text: string } {
    return this.context?.satisfiable(JSON.stringify(jobspec)) ?? { satisfiable: false, text: NO_NODES };
  }

  /**
   * Frees these nodes of a job and gives the rest back: the library's own partial cancel knows cores and gpus of
   * whole ranks only.
   * @returns whether nothing is left
   */
  partialCancel(jobid: number, names: ReadonlySet<string>): boolean {
    const job = this.jobs.get(jobid);
    if (job === undefined) return true;
    const rest = withoutNodes(job.allocation, names);
    if (rest.nodes.length === job.allocation.nodes.length) return false;
    this.checkOwnGraph();
    this.cancel(jobid);
    if (rest.nodes.length === 0) return true;
    this.replay(rest, job);
    return false;
  }

  /**
   * Nodes come and go by a new context. In place, flux-sched 0.54 loops for ever in a reservation after a node was
   * added beside running jobs, and crashes in a match after one was added and another removed.
   */
  addNodes(nodes: readonly GraphNode[]): void {
    this.checkOwnGraph();
    if (this.layout.add(nodes).length > 0) this.recycle();
  }

  /** @returns the jobs that lost units */
  removeNodes(names: readonly string[]): number[] {
    const known = new Set(names.filter((name) => this.layout.nodes.has(name)));
    const hit = this.jobs.on(known).map(({ allocation }) => allocation.jobid);
    for (const jobid of hit) this.partialCancel(jobid, known);
    for (const name of known) this.layout.remove(name);
    if (known.size > 0) this.recycle();
    return hit;
  }

  /** @param name or containment path of a node; an unknown name is left alone */
  setStatus(name: string, up: boolean): void {
    const path = name.startsWith('/') ? name : this.layout.nodes.get(name)?.chain.at(-1)?.path;
    if (path === undefined) return;
    this.context?.setStatus(path, up);
    this.layout.setStatus(name, up);
  }

  destroy(): void {
    this.context?.destroy();
    this.context = undefined;
  }

  /** Whether the next reservation's start comes out right on this axis. */
  isExact(): boolean {
    if (this.axis.second === 0) return true;
    const now = this.axis.absolute(this.axis.second);
    return this.jobs.values().every(({ reserved, allocation }) => !reserved && allocation.end > now);
  }

  /** Begins a new axis now, on the same context. */
  rebase(): void {
    const jobs = this.jobs.values();
    for (const { allocation } of jobs) this.cancel(allocation.jobid);
    this.giveBack(jobs);
  }

  /** A new context with the same graph and jobs. */
  recycle(): void {
    const jobs = this.jobs.values();
    for (const { allocation } of jobs) this.jobs.delete(allocation.jobid);
    this.destroy();
    this.context = this.open();
    this.matches = 0;
    this.giveBack(jobs);
  }

  /** A graph that came as JGF is known to the library alone. */
  private checkOwnGraph(): void {
    if (this.source.jgf === undefined) return;
    throw new FluxqError('FLUXQ_FLUXION_GRAPH', 'a graph that came as JGF can not be changed', {
      remedy: 'initialise with nodes instead of JGF',
    });
  }

  private open(): LibraryContext | undefined {
    const { layout, policy, jgf, pruneFilters } = this.source;
    if (jgf === undefined && layout.nodes.size === 0) return undefined;
    const placed = [...layout.nodes.values()];
    // All up first: the library counts a node that is loaded as down against one that is up.
    const up = placed.map((one) => ({ ...one, node: { ...one.node, up: true } }));
    const graph: JgfGraph = jgf === undefined ? layout.jgf(up) : JSON.parse(jgf);
    const types = new Set(graph.graph.nodes.map(({ metadata }) => metadata.type));
    const context = this.library.open(jgf ?? JSON.stringify(graph), types, policy, pruneFilters);
    for (const { node, chain } of placed) {
      if (node.up === false) context.setStatus(chain.at(-1)!.path, false);
    }
    return context;
  }

  /** Running jobs first, so that reservations find what they found. */
  private giveBack(jobs: readonly LibraryJob[]): void {
    const now = this.axis.absolute(this.axis.second);
    this.axis = new TimeAxis(now);
    const runs = (job: LibraryJob) => job.allocation.start <= now;
    try {
      for (const job of jobs.filter(runs)) this.replay(job.allocation, job);
      const later = jobs.filter((job) => !runs(job));
      for (const job of later.sort((a, b) => a.allocation.start - b.allocation.start)) this.reserveAgain(job);
    } catch (error) {
      throw inDoubt('the running jobs could not be given back on a new time axis', error);
    }
  }

  /** As it was promised, whatever has ended since: what may come earlier the caller asks for anew. */
  private reserveAgain(job: LibraryJob): void {
    if (job.jobspec === undefined || !(this.comesBack(job) || this.comesBackAlone(job)))
      // A fixed window: matches that ask for its nodes now don't get them, even if they end before it.
      this.replay(job.allocation, job);
    this.jobs.set(job);
  }

  /** Reserves it on the nodes it had. @returns whether it is what it was; else it is not there */
  private comesBack({ allocation, jobspec }: LibraryJob): boolean {
    const { jobid, start, end, nodes } = allocation;
    const again = this.match(jobid, onNodes(jobspec!, nodes), 'allocate_orelse_reserve', end - start);
    if (again.status === 'OK' && again.allocation !== undefined && sameGrant(again.allocation, allocation))
      return true;
    this.cancel(jobid);
    return false;
  }

  /** The same while all else that is free on its nodes is taken. */
  private comesBackAlone(job: LibraryJob): boolean {
    const { nodes, end } = job.allocation;
    // The nodes of a graph that came as JGF are known to the library alone.
    if (this.source.jgf !== undefined) return false;
    const now = this.axis.absolute(this.axis.second);
    const names = new Set(nodes.map(({ name }) => name));
    const held = this.jobs.on(names).map(({ allocation }) => this.untilItEnds(allocation));
    const known = [...names].map((name) => this.layout.nodes.get(name)!.node);
    const fillers = gapsOn(known, [...held, job.allocation], now, end).map((gap, i) => ({
      ...gap,
      jobid: FILLER - i,
    }));
    const taken = fillers.filter((filler) => this.give(filler, undefined) === undefined);
    const same = this.comesBack(job);
    for (const { jobid } of taken) this.context?.cancel(jobid);
    return same;
  }

  private give(allocation: Allocation, answer: string | undefined): string | undefined {
    const { axis, layout } = this;
    const start = Math.max(allocation.start - axis.epoch, 0);
    const end = this.untilItEnds(allocation).end - axis.epoch;
    const rv1 =
      answer === undefined
        ? formatRv1(allocation, layout, start, end)
        : wrapRv1(JSON.parse(answer), allocation.nodes, start, end);
    return this.context === undefined ? NO_NODES : this.context.update(allocation.jobid, rv1);
  }

  /** One that has overrun holds on for a second more. */
  private untilItEnds(allocation: Allocation): Allocation {
    const soon = this.axis.absolute(this.axis.second + 1);
    return { ...allocation, end: Math.max(allocation.end, soon) };
  }

  private onAxis(jobspec: Jobspec): string {
    const system = jobspec.attributes?.system;
    // Without the part that time stands in: the library says what is wrong with it.
    if (system === undefined) return JSON.stringify(jobspec);
    const duration = this.axis.duration(this.axis.second, system.duration ?? 0);
    return JSON.stringify({
      ...jobspec,
      attributes: { ...jobspec.attributes, system: { ...system, duration } },
    });
  }
}

/** Same start, same units of the same nodes. */
function sameGrant(a: Allocation, b: Allocation): boolean {
  const nodesOf = ({ nodes }: Allocation) => new Map(nodes.map((node) => [node.name, node]));
  return a.start === b.start && isDeepStrictEqual(nodesOf(a), nodesOf(b));
}

/** The same, on no other nodes. */
function onNodes(jobspec: Jobspec, nodes: Allocation['nodes']): Jobspec {
  const { attributes } = jobspec;
  const constraints = narrowed(attributes.system.constraints, { hostlist: nodes.map(({ name }) => name) });
  return { ...jobspec, attributes: { ...attributes, system: { ...attributes.system, constraints } } };
}

/** As Fluxion refuses where there are nodes: more nodes than are up is busy to all but one operation. */
function noNodes(jobspec: Jobspec, operation: MatchOperation): EngineResult {
  const looksAhead = operation === 'allocate_orelse_reserve' || operation === 'without_allocating_future';
  const unsatisfiable =
    operation === 'allocate_with_satisfiability' || (looksAhead && !asksNodes(jobspec.resources));
  return { status: unsatisfiable ? 'UNSATISFIABLE' : 'BUSY', text: NO_NODES };
}

function asksNodes(resources: readonly JobspecResource[]): boolean {
  return resources.some(({ type, with: inside = [] }) => type === 'node' || asksNodes(inside));
}

function refusedReplay(jobid: number, what: string): FluxqError {
  return new FluxqError('FLUXQ_FLUXION_REPLAY', what, {
    field: 'jobid',
    value: jobid,
    remedy: 'requeue the workload',
  });
}
