/**
 * The embedded matcher: a graph, who holds what of it, and a walk that finds a
 * place. Pure: no I/O, and time is what the caller says.
 *
 * With `now` always 0 it behaves as the C library does, whose clock stands
 * still. With `now` moving, an allocation past its end holds its vertices for one more
 * second until it is cancelled; reservations are the caller's to cancel.
 */
import type { Jobspec } from '../../jobspec/types';
import type { Allocation, GraphNode } from '../../resources/types';
import type { JgfGraph } from '../jgf/types';
import type { FluxionState, MatchOperation } from '../types';
import { allocationOf, writeJgf } from './answer';
import type { Branch } from './branch';
import { FastPath } from './fast-path';
import { PruneFilters } from './filters';
import { withoutNodes } from './grant';
import { addNodes, graphFromJgf, graphFromNodes } from './load';
import { type Policy, policyOf } from './policy';
import { grantFor } from './replay';
import { JobspecError, type Request, readRequest } from './request';
import type { ResourceGraph } from './resource-graph';
import { Scheduler, type Selector } from './schedule';
import { Spans } from './spans';
import { stateOf } from './state';
import { NODE } from './typetable';
import { Walk } from './walk';
import { Weights } from './weights';

interface MatcherOptions {
  /** One of MATCH_POLICIES, or flux-sched's custom form `policy=low node_centric=true`. */
  readonly policy: string;
  /** flux-sched's `prune_filters`. @default "ALL:core,ALL:node,ALL:memory,ALL:gpu" */
  readonly pruneFilters?: string;
  /** Always make the full walk: for tests of the shortcut, which must answer the same. @default false */
  readonly exhaustive?: boolean;
}

interface MatchCall {
  /** Unique among the jobs that hold something. */
  readonly jobid: number;
  readonly jobspec: Jobspec;
  readonly operation: MatchOperation;
  /** Whole second; an earlier one than before counts as the one before. Always 0 is the C library's axis. */
  readonly now: number;
}

export interface Granted {
  readonly status: 'OK';
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  /** It starts later than `now`. */
  readonly reserved: boolean;
  /** Containment paths of the vertices given exclusively, in the order of the answer. */
  readonly held: readonly string[];
  readonly allocation: Allocation;
}

interface Refused {
  readonly status: 'BUSY' | 'UNSATISFIABLE' | 'INVALID';
  readonly text: string;
}

export type MatchOutcome = Granted | Refused;

const DEFAULT_FILTERS = 'ALL:core,ALL:node,ALL:memory,ALL:gpu';
const KEPT_VERDICTS = 1000;
const TEXTS = {
  BUSY: 'not enough is free',
  UNSATISFIABLE: 'the graph can never hold this, not even empty',
} as const;

export class Matcher {
  private readonly policy: Policy;
  private filters: PruneFilters;
  private weights: Weights;
  private readonly selector: Selector;
  private readonly fastPath: FastPath;
  private readonly scheduler: Scheduler;
  /** Request -> whether the empty graph holds it; asked again and again while a queue waits. */
  private readonly verdicts = new Map<string, boolean>();
  /** What waits is asked for again and again, with the same object. */
  private requests = new WeakMap<Jobspec, Request>();

  private constructor(
    private readonly graph: ResourceGraph,
    private readonly options: MatcherOptions,
    private readonly spans = new Spans(graph),
  ) {
    this.policy = policyOf(options.policy);
    this.filters = this.readFilters();
    this.weights = new Weights(graph, this.filters);
    if (this.policy.stopOnFirst) this.weights.sortAll();
    const walk = new Walk(graph, spans, this.policy);
    this.fastPath = new FastPath(graph, spans, this.policy, walk);
    this.selector = options.exhaustive === true ? walk : this.fastPath;
    this.scheduler = new Scheduler(graph, spans, walk, this.selector, () =>
      this.filters.typesAt(graph.root, graph),
    );
  }

  /** @throws FluxqError FLUXQ_FLUXION_GRAPH, FLUXQ_FLUXION_POLICY: what `reapi_cli_initialize` refuses */
  static fromJgf(jgf: JgfGraph | string, options: MatcherOptions): Matcher {
    policyOf(options.policy);
    return new Matcher(graphFromJgf(jgf), options);
  }

  /**
   * Equal to `fromJgf(toJgf(nodes))`, without building the JGF.
   * @throws FluxqError FLUXQ_FLUXION_GRAPH, FLUXQ_FLUXION_POLICY
   */
  static fromNodes(nodes: readonly GraphNode[], options: MatcherOptions): Matcher {
    policyOf(options.policy);
    const matcher = new Matcher(graphFromNodes(nodes), options);
    matcher.setDown(nodes);
    return matcher;
  }

  match({ jobid, jobspec, operation, now }: MatchCall): MatchOutcome {
    this.spans.advance(Math.floor(now));
    const dry = operation === 'without_allocating' || operation === 'without_allocating_future';
    if (!dry && this.spans.jobs.has(jobid)) return { status: 'INVALID', text: `job id ${jobid} is in use` };
    const request = this.read(jobspec);
    if (request instanceof JobspecError) return { status: 'INVALID', text: request.message };
    const verdict = this.scheduler.find(request, operation, () => this.fitsEmpty(request, jobspec));
    if (verdict.status !== 'OK') return { status: verdict.status, text: TEXTS[verdict.status] };
    const { grant, start, end } = verdict;
    // A question that holds nothing reserves nothing either.
    const reserved = !dry && start > this.spans.now;
    if (!dry) this.spans.hold(jobid, grant, start, end, reserved);
    // Also of what was only asked: the C library reorders then too.
    if (this.policy.stopOnFirst) this.weights.update(grant.touched, this.spans);
    const { graph } = this;
    return {
      status: 'OK',
      start,
      end,
      reserved,
      // Thousands of paths that only tests look at are not made before someone looks.
      get held() {
        return grant.held.map((v) => graph.pathOf(v));
      },
      allocation: allocationOf(graph, { id: jobid, start, end }, grant),
    };
  }

  /** Whether it fits the empty graph, whatever is down or busy. */
  satisfiable(jobspec: Jobspec): { readonly satisfiable: boolean; readonly text: string } {
    const request = this.read(jobspec);
    if (request instanceof JobspecError) return { satisfiable: false, text: request.message };
    const satisfiable = this.fitsEmpty(request, jobspec);
    return { satisfiable, text: satisfiable ? '' : TEXTS.UNSATISFIABLE };
  }

  /** Frees an allocation or reservation. @returns whether there was one */
  cancel(jobid: number): boolean {
    const job = this.spans.jobs.get(jobid);
    if (job === undefined) return false;
    this.spans.release(job);
    return true;
  }

  /** Frees whole nodes of a job. @returns true when nothing is left of it */
  partialCancel(jobid: number, nodeNames: readonly string[]): boolean {
    const nodes = new Set(nodeNames.flatMap((name) => this.graph.nodes.get(name) ?? []));
    return this.free(jobid, nodes);
  }

  private free(jobid: number, nodes: ReadonlySet<Branch>): boolean {
    const job = this.spans.jobs.get(jobid);
    if (job === undefined) return true;
    const rest = withoutNodes(this.graph, job, nodes);
    if (rest.held.length === 0) this.spans.release(job);
    else if (rest.held.length < job.held.length) this.spans.shrink(job, rest);
    return rest.held.length === 0;
  }

  /**
   * Gives back exactly this allocation.
   * @throws FluxqError FLUXQ_FLUXION_REPLAY; nothing of it is held then
   */
  replay(allocation: Allocation, now: number): void {
    this.spans.advance(Math.floor(now));
    const grant = grantFor(this.graph, this.spans, allocation);
    this.spans.hold(allocation.jobid, grant, allocation.start, allocation.end, false);
    if (this.policy.stopOnFirst) this.weights.update(grant.touched, this.spans);
  }

  /**
   * What is down keeps its allocations and is given nothing new.
   * @param nameOrPath of a node, or the containment path of any vertex
   * @throws FluxqError FLUXQ_FLUXION_NO_VERTEX
   */
  setStatus(nameOrPath: string, up: boolean): void {
    const v = this.graph.find(nameOrPath);
    if ((this.graph.up[v] === 1) === up) return;
    this.graph.up[v] = up ? 1 : 0;
    const nodesBelow = (branch: Branch): number =>
      (branch.type === NODE ? 1 : 0) + branch.branches.reduce((sum, below) => sum + nodesBelow(below), 0);
    const branch = this.graph.branchOf.get(v);
    if (branch !== undefined) this.graph.nodesUp += (up ? 1 : -1) * nodesBelow(branch);
  }

  private setDown(nodes: readonly GraphNode[]): void {
    for (const { name, up } of nodes) if (up === false) this.setStatus(name, false);
  }

  /** @throws FluxqError FLUXQ_FLUXION_GRAPH; nothing was added then */
  addNodes(nodes: readonly GraphNode[]): void {
    addNodes(this.graph, nodes);
    this.graphChanged();
    this.setDown(nodes);
  }

  /** Frees what is on them, then removes them. @returns the ids of the jobs that lost something */
  removeNodes(names: readonly string[]): readonly number[] {
    const nodes = new Set(names.flatMap((name) => this.graph.nodes.get(name) ?? []));
    const losers = [...this.spans.jobs.values()]
      .filter(({ touched }) => touched.some((branch) => nodes.has(branch)))
      .map(({ id }) => id);
    for (const id of losers) this.free(id, nodes);
    for (const node of nodes) this.graph.remove(node);
    this.graphChanged();
    return losers;
  }

  private graphChanged(): void {
    this.spans.fit();
    this.verdicts.clear();
    this.requests = new WeakMap();
    this.fastPath.graphChanged();
    this.filters = this.readFilters();
    this.weights = new Weights(this.graph, this.filters);
    if (this.policy.stopOnFirst) this.weights.sortAll();
  }

  private readFilters(): PruneFilters {
    return new PruneFilters(this.graph, this.options.pruneFilters ?? DEFAULT_FILTERS);
  }

  /** Jobs with what they hold, and what every node has and has free at `now`. */
  state(now: number): Omit<FluxionState, 'bootId'> {
    this.spans.advance(Math.floor(now));
    return stateOf(this.graph, this.spans);
  }

  /** The job's allocation as flux-sched's `match_format: jgf` writes it; undefined for an unknown id. */
  jgfOf(jobid: number): string | undefined {
    const job = this.spans.jobs.get(jobid);
    return job === undefined ? undefined : writeJgf(this.graph, job);
  }

  /** One that answers the same and shares nothing: for what-if. */
  clone(): Matcher {
    const graph = this.graph.clone();
    return new Matcher(graph, this.options, this.spans.clone(graph));
  }

  private read(jobspec: Jobspec): Request | JobspecError {
    const known = this.requests.get(jobspec);
    if (known !== undefined) return known;
    const request = readOf(jobspec, this.graph, this.policy);
    if (!(request instanceof JobspecError)) this.requests.set(jobspec, request);
    return request;
  }

  /** Whether the empty graph holds it. */
  private fitsEmpty(request: Request, jobspec: Jobspec): boolean {
    const key = JSON.stringify([jobspec.resources, jobspec.attributes?.system?.constraints]);
    const known = this.verdicts.get(key);
    if (known !== undefined) return known;
    const fits = this.selector.select(request, { start: 0, end: 1, empty: true });
    // How much of a range is found first depends on weights, which change with every grant.
    if (this.policy.stopOnFirst && request.hasRange) return fits;
    if (this.verdicts.size >= KEPT_VERDICTS) this.verdicts.clear();
    this.verdicts.set(key, fits);
    return fits;
  }
}

function readOf(jobspec: unknown, graph: ResourceGraph, policy: Policy): Request | JobspecError {
  try {
    return readRequest(jobspec, graph, policy);
  } catch (error) {
    if (error instanceof JobspecError) return error;
    throw error;
  }
}
