/**
 * One graph in the library with its jobs on a time axis. Allocations are exact on the axis, but a reservation is
 * requested T seconds too long. So a second reservation needs an axis that starts now: {@link Session.rebase} cancels
 * the running jobs and restores them with their remaining time.
 */
import { isDeepStrictEqual } from 'node:util';
import { FluxqError } from '../../errors';
import type { Jobspec } from '../../jobspec/types';
import type { Allocation, GraphNode } from '../../resources/types';
import type { EngineResult } from '../engine';
import { formatRv1, heldPaths, parseAnswer, wrapRv1 } from '../jgf/allocation';
import type { GraphLayout } from '../jgf/layout';
import type { JgfGraph } from '../jgf/types';
import { JobRegistry, type RegisteredJob, withoutNodes } from '../job-registry';
import { HUNDRED_YEARS, TimeAxis } from '../time-axis';
import type { InitRequest, MatchOperation } from '../types';
import { inDoubt } from '../wire';
import type { FluxionLibrary, LibraryContext } from './bindings';
import { gapsOn } from './gaps';
import { onAxis } from './on-axis';
import { NO_NODES, noNodes, refusedReplay } from './refusals';
import { onNodes, requestFor, sameGrant } from './reservations';
import { type GraphSource, KnownGraph } from './source';

export interface SessionJob extends RegisteredJob {
  /** Of a reservation: the request, to repeat it on another axis. */
  readonly jobspec?: Jobspec;
  /** Of a graph that came as JGF, and of a job that holds zones or racks as a whole: the answer of the library. */
  readonly answer?: string;
}

/** Temporary allocations count their job ids down from here; no queue reaches these ids. */
const FIRST_FILLER_JOBID = Number.MAX_SAFE_INTEGER;
/** Seconds. Walltimes on the axis grow with its age, so an older one is not resumed. */
const LONGEST_RESUMED_AXIS = 86_400;

export class Session {
  readonly jobs = new JobRegistry<SessionJob>();
  /** By job id: allocations that the library holds from before {@link resume}. */
  private readonly kept = new Map<number, Allocation>();
  /** Undefined while there are no nodes: the library aborts the process on a satisfiability check of a bare root. */
  private context: LibraryContext | undefined;
  private readonly graph: KnownGraph;
  /** Paths of the nodes that are down. */
  private readonly down = new Set<string>();
  /** Number of matches in this context. */
  matches = 0;

  constructor(
    private readonly library: FluxionLibrary,
    private readonly source: GraphSource,
    public axis: TimeAxis,
  ) {
    this.graph = new KnownGraph(source);
    this.context = this.open();
  }

  get layout(): GraphLayout {
    return this.source.layout;
  }

  private get now(): number {
    return this.axis.absolute(this.axis.second);
  }

  match(jobid: number, jobspec: Jobspec, operation: MatchOperation, walltime: number): EngineResult {
    const { axis, context } = this;
    const refused = this.graph.refusalOf(jobspec);
    if (refused !== undefined) return { status: 'INVALID', text: refused };
    if (context === undefined) return noNodes(jobspec, operation);
    this.matches++;
    const answer = context.match(operation, JSON.stringify(onAxis(axis, jobspec)), jobid);
    if (answer.status !== 'OK') return answer;
    const later = answer.at > 0;
    const start = axis.absolute(later ? answer.at : axis.second);
    let hasLevels = false;
    const nodesOf = (levelPath: string) => {
      hasLevels = true;
      return this.graph.nodesBelow(levelPath);
    };
    const window = { jobid, start, end: Math.min(start + walltime, this.now + HUNDRED_YEARS) };
    const allocation = parseAnswer(answer.answer, window, nodesOf);
    const held = () => heldPaths(answer.answer);
    if (operation.startsWith('without_')) return { status: 'OK', allocation, reserved: false, held };
    this.jobs.set({
      allocation,
      reserved: later,
      ...(later ? { jobspec } : {}),
      ...(this.source.jgf !== undefined || hasLevels ? { answer: answer.answer } : {}),
    });
    return { status: 'OK', allocation, reserved: later, held };
  }

  /**
   * Starts again with this graph and no jobs, if it is the graph of this session. The library keeps the allocations until
   * {@link settle}: what is replayed before as it was costs nothing.
   * @returns false if the graph differs, or nothing is gained
   */
  resume({ nodes, policy, now }: Pick<InitRequest, 'nodes' | 'policy' | 'now'>): boolean {
    const { source, axis } = this;
    if (source.jgf !== undefined || source.policy !== policy || this.context === undefined) return false;
    if (Math.floor(now) - axis.epoch > LONGEST_RESUMED_AXIS || !this.layout.restart(nodes)) return false;
    axis.advanceTo(now);
    this.settle();
    for (const job of this.jobs.values()) {
      // A new graph holds the nodes of a rack, not the rack.
      if (job.reserved || job.answer !== undefined) this.cancel(job.allocation.jobid);
      else this.kept.set(job.allocation.jobid, job.allocation);
      this.jobs.delete(job.allocation.jobid);
    }
    return true;
  }

  /** Frees the allocations from before {@link resume} that were not replayed. */
  settle(): void {
    for (const jobid of this.kept.keys()) this.context?.cancel(jobid);
    this.kept.clear();
  }

  /** @throws FluxqError FLUXQ_FLUXION_REPLAY */
  replay(allocation: Allocation, job: Partial<SessionJob> = {}): void {
    const { jobid } = allocation;
    if (this.jobs.has(jobid)) throw refusedReplay(jobid, 'the job id is in use');
    if (this.replayReservation(allocation, job)) return;
    const refusal = this.keeps(allocation) ? undefined : this.updateAllocate(allocation, job.answer);
    if (refusal !== undefined) {
      if (this.kept.size === 0) throw refusedReplay(jobid, refusal);
      // One of them may hold the units.
      this.settle();
      this.replay(allocation, job);
      return;
    }
    this.jobs.set({ reserved: false, ...job, allocation });
  }

  /** What is new here and starts later is reserved. @returns false if it has to be held from now on */
  private replayReservation(allocation: Allocation, { jobspec, answer }: Partial<SessionJob>): boolean {
    if (allocation.start <= this.now || (jobspec ?? answer ?? this.source.jgf) !== undefined) return false;
    const request = requestFor(allocation);
    if (request === undefined || this.context === undefined) return false;
    this.settle();
    // Starts and units are exact on an axis that begins now.
    if (this.axis.second !== 0) this.rebase();
    this.restoreReservation({ allocation, reserved: true, jobspec: request });
    return true;
  }

  /** Whether the library still holds exactly this allocation. */
  private keeps(allocation: Allocation): boolean {
    const { jobid } = allocation;
    const before = this.kept.get(jobid);
    if (before === undefined) return false;
    this.kept.delete(jobid);
    if (isDeepStrictEqual(before, allocation)) return true;
    this.context?.cancel(jobid);
    return false;
  }

  cancel(jobid: number): void {
    if (!this.jobs.has(jobid)) return;
    this.context?.cancel(jobid);
    this.jobs.delete(jobid);
  }

  satisfiable(jobspec: Jobspec): { satisfiable: boolean; text: string } {
    const refused = this.graph.refusalOf(jobspec);
    if (refused !== undefined) return { satisfiable: false, text: refused };
    return this.context?.satisfiable(JSON.stringify(jobspec)) ?? { satisfiable: false, text: NO_NODES };
  }

  /**
   * Cancels a job and restores it without these nodes, unless it is a reservation: the library's own partial cancel supports
   * only cores and gpus of whole ranks.
   * @returns whether no node is left
   */
  partialCancel(jobid: number, names: ReadonlySet<string>): boolean {
    const job = this.jobs.get(jobid);
    if (job === undefined) return true;
    const rest = withoutNodes(job.allocation, names);
    if (rest.nodes.length === job.allocation.nodes.length) return false;
    this.checkOwnGraph();
    this.cancel(jobid);
    if (job.allocation.start > this.now || rest.nodes.length === 0) return true;
    // Of a rack, it keeps the other nodes.
    const { answer: _, ...restored } = job;
    this.replay(rest, restored);
    return false;
  }

  /**
   * Creates a new context with the additional nodes. With an in-place change, flux-sched 0.54 loops forever in a
   * reservation after a node was added beside running jobs, and crashes in a match after one node was added and another
   * removed.
   */
  addNodes(nodes: readonly GraphNode[]): void {
    this.checkOwnGraph();
    const added = this.layout.add(nodes);
    for (const { node, chain } of added) if (node.up === false) this.down.add(chain.at(-1)!.path);
    if (added.length > 0) this.recycle();
  }

  /** @returns the jobs that lost units */
  removeNodes(names: readonly string[]): number[] {
    const known = new Set(names.filter((name) => this.layout.nodes.has(name)));
    const affected = this.jobs.withUnitsOn(known).map(({ allocation }) => allocation.jobid);
    for (const jobid of affected) this.partialCancel(jobid, known);
    for (const name of known) {
      this.down.delete(this.layout.nodes.get(name)!.chain.at(-1)!.path);
      this.layout.remove(name);
    }
    if (known.size > 0) this.recycle();
    return affected;
  }

  /** @param name or containment path of a node; an unknown name is ignored */
  setStatus(name: string, up: boolean): void {
    const path = name.startsWith('/') ? name : this.layout.nodes.get(name)?.chain.at(-1)?.path;
    if (path === undefined) return;
    this.context?.setStatus(path, up);
    this.layout.setStatus(name, up);
    if (up) this.down.delete(path);
    else this.down.add(path);
  }

  destroy(): void {
    this.context?.destroy();
    this.context = undefined;
  }

  /** Whether the library computes the start of the next reservation correctly on this axis. */
  isExact(): boolean {
    if (this.axis.second === 0) return true;
    const { now } = this;
    return this.jobs.values().every(({ reserved, allocation }) => !reserved && allocation.end > now);
  }

  /** Starts a new axis at the current time, in the same context. */
  rebase(): void {
    const jobs = this.jobs.values();
    for (const { allocation } of jobs) this.cancel(allocation.jobid);
    this.restoreJobs(jobs);
  }

  /** Replaces the context by a new one with the same graph and jobs. */
  recycle(): void {
    const jobs = this.jobs.values();
    for (const { allocation } of jobs) this.jobs.delete(allocation.jobid);
    this.destroy();
    this.context = this.open();
    this.graph.changed();
    this.matches = 0;
    this.restoreJobs(jobs);
  }

  /** Only the library knows the nodes of a graph that came as JGF. */
  private checkOwnGraph(): void {
    if (this.source.jgf === undefined) return;
    throw new FluxqError('FLUXQ_FLUXION_GRAPH', 'a graph that came as JGF can not be changed', {
      remedy: 'initialise with nodes instead of JGF',
    });
  }

  private open(): LibraryContext | undefined {
    const { layout, policy, jgf, pruneFilters } = this.source;
    if (jgf === undefined && layout.nodes.size === 0) return undefined;
    // Load all nodes as up: the library subtracts a node that is loaded as down from the number of up nodes.
    const up = [...layout.nodes.values()].map((one) => ({ ...one, node: { ...one.node, up: true } }));
    const graph: JgfGraph = jgf === undefined ? layout.jgf(up) : JSON.parse(jgf);
    const types = new Set(graph.graph.nodes.map(({ metadata }) => metadata.type));
    const context = this.library.open(jgf ?? JSON.stringify(graph), types, policy, pruneFilters);
    for (const path of this.down) context.setStatus(path, false);
    return context;
  }

  /** Restores running jobs first, so that the reservations see the same allocations as before. */
  private restoreJobs(jobs: readonly SessionJob[]): void {
    const { now } = this;
    this.axis = new TimeAxis(now);
    const runs = (job: SessionJob) => job.allocation.start <= now;
    try {
      for (const job of jobs.filter(runs)) this.replay(job.allocation, job);
      const later = jobs.filter((job) => !runs(job));
      // A node that went down keeps its reservations, but the library gives it no new ones.
      if (later.length > 0) for (const path of this.down) this.context?.setStatus(path, true);
      for (const job of later.sort((a, b) => a.allocation.start - b.allocation.start))
        this.restoreReservation(job);
      if (later.length > 0) for (const path of this.down) this.context?.setStatus(path, false);
    } catch (error) {
      throw inDoubt('the running jobs could not be restored on a new time axis', error);
    }
  }

  /** Keeps the promised start even if jobs have ended since: the caller requests an earlier start itself. */
  private restoreReservation(job: SessionJob): void {
    if (job.jobspec === undefined || !(this.reserveOnItsNodes(job) || this.reserveAmongFillers(job)))
      // Holds the nodes from now on: a job that would end before the reservation can't use them either.
      this.replay(job.allocation, job);
    this.jobs.set(job);
  }

  /** Repeats a reservation on its nodes. @returns whether start and units are the same; else the job is cancelled */
  private reserveOnItsNodes({ allocation, jobspec }: SessionJob): boolean {
    const { jobid, start, end, nodes } = allocation;
    const again = this.match(jobid, onNodes(jobspec!, nodes), 'allocate_orelse_reserve', end - start);
    if (again.status === 'OK' && again.allocation !== undefined && sameGrant(again.allocation, allocation))
      return true;
    this.cancel(jobid);
    return false;
  }

  /** Repeats a reservation while temporary allocations fill all other gaps on its nodes. */
  private reserveAmongFillers(job: SessionJob): boolean {
    const { nodes, end } = job.allocation;
    // Only the library knows the nodes of a graph that came as JGF.
    if (this.source.jgf !== undefined) return false;
    const { now } = this;
    // The constraint to its nodes does not keep a rack as a whole in its place.
    const isLevel = job.answer !== undefined;
    const names = new Set(isLevel ? this.layout.nodes.keys() : nodes.map(({ name }) => name));
    const held = this.jobs.withUnitsOn(names).map(({ allocation }) => this.withOverrun(allocation));
    const known = [...names].map((name) => this.layout.nodes.get(name)!.node);
    const fillers = gapsOn(known, [...held, job.allocation], now, end).map((gap, i) => ({
      ...gap,
      jobid: FIRST_FILLER_JOBID - i,
    }));
    const taken = fillers.filter((filler) => this.updateAllocate(filler, undefined) === undefined);
    const same = this.reserveOnItsNodes(job);
    for (const { jobid } of taken) this.context?.cancel(jobid);
    return same;
  }

  private updateAllocate(allocation: Allocation, answer: string | undefined): string | undefined {
    const { axis, layout } = this;
    const start = Math.max(allocation.start - axis.epoch, 0);
    const end = this.withOverrun(allocation).end - axis.epoch;
    const rv1 =
      answer === undefined
        ? formatRv1(allocation, layout, start, end)
        : wrapRv1(JSON.parse(answer), allocation.nodes, start, end);
    return this.context === undefined ? NO_NODES : this.context.update(allocation.jobid, rv1);
  }

  /** A job that overruns its walltime holds for one more second. */
  private withOverrun(allocation: Allocation): Allocation {
    const soon = this.axis.absolute(this.axis.second + 1);
    return { ...allocation, end: Math.max(allocation.end, soon) };
  }
}
