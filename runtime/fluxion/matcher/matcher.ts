/**
 * The embedded matcher: a resource graph, the spans that jobs hold on it, and a traverser that matches requests. It gives
 * the same answers as the C library of flux-sched 0.54. It does no I/O and takes the time from the caller.
 *
 * With `now` always 0 it behaves like the C library, which has no clock. When `now` moves, an allocation past its end
 * holds its vertices for one more second, until the caller cancels it; the caller also cancels reservations.
 */
import type { Jobspec } from '../../jobspec/types';
import { FEW_LITERALS, has, literalsOf } from '../../resources/node-index';
import type { Allocation, GraphNode } from '../../resources/types';
import { DEFAULT_PRUNE_FILTERS } from '../engine';
import { SkippedLevels } from '../jgf/skipped-levels';
import type { JgfGraph } from '../jgf/types';
import type { FluxionState, MatchOperation } from '../types';
import type { Branch } from './branch';
import { withNames } from './constraint';
import { FastPath } from './fast-path';
import { withoutNodes } from './grant';
import { addNodes, graphFromJgf, graphFromNodes } from './load';
import { allocationOf, pathsOf, writeJgf } from './match-writer';
import { type Policy, policyOf } from './policy';
import { PruneFilters } from './prune-filters';
import { grantFor } from './replay';
import { type Request, readRequest } from './request';
import type { ResourceGraph } from './resource-graph';
import { isAlwaysKnown, NODE } from './resource-types';
import { Scheduler, type Selector } from './schedule';
import { type Job, Spans } from './spans';
import { stateOf } from './state';
import { JobspecError } from './subset';
import { Traverser } from './traverser';
import { Weights } from './weights';

interface MatcherOptions {
  /** One of MATCH_POLICIES, or the custom form of flux-sched, `policy=low node_centric=true`. */
  readonly policy: string;
  /** flux-sched's `prune_filters`. @default DEFAULT_PRUNE_FILTERS */
  readonly pruneFilters?: string;
  /** Never uses the fast path: for tests that compare it with the traverser. @default false */
  readonly exhaustive?: boolean;
}

interface MatchCall {
  /** Unique among the jobs that hold vertices. */
  readonly jobid: number;
  readonly jobspec: Jobspec;
  readonly operation: MatchOperation;
  /** Seconds. Time never goes back: an earlier time than before counts as the time before. Always 0 as in the C library. */
  readonly now: number;
}

export interface Granted {
  readonly status: 'OK';
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  /** The job starts later than `now`. */
  readonly reserved: boolean;
  /** Containment paths of the exclusively allocated vertices, in the order of the answer. */
  readonly held: readonly string[];
  readonly allocation: Allocation;
}

interface Refused {
  readonly status: 'BUSY' | 'UNSATISFIABLE' | 'INVALID';
  readonly text: string;
}

export type MatchOutcome = Granted | Refused;

const MAX_VERDICTS = 1000;
const TEXTS = {
  BUSY: 'not enough resources are free',
  UNSATISFIABLE: 'the request does not fit the empty graph',
} as const;

export class Matcher {
  private readonly policy: Policy;
  private readonly pruneFilters: string;
  private filters: PruneFilters;
  private weights: Weights;
  private readonly selector: Selector;
  private readonly fastPath: FastPath;
  private readonly scheduler: Scheduler;
  /** Satisfiability by request: a waiting queue repeats the same requests. */
  private readonly verdicts = new Map<string, boolean>();
  private readonly skippedLevels: SkippedLevels;
  /** Parsed requests: a waiting queue repeats the same jobspec objects. */
  private requests = new WeakMap<Jobspec, Request>();

  private constructor(
    private readonly graph: ResourceGraph,
    private readonly options: MatcherOptions,
    private readonly spans = new Spans(graph),
  ) {
    this.policy = policyOf(options.policy);
    this.pruneFilters = options.pruneFilters ?? DEFAULT_PRUNE_FILTERS;
    this.filters = this.readFilters();
    this.weights = new Weights(graph, this.filters);
    if (this.policy.stopOnFirst) this.weights.sortAll();
    this.skippedLevels = new SkippedLevels(() => graph.vertices());
    const traverser = new Traverser(graph, spans, this.policy);
    this.fastPath = new FastPath(graph, spans, this.policy, traverser);
    this.selector = options.exhaustive === true ? traverser : this.fastPath;
    this.scheduler = new Scheduler(graph, spans, traverser, this.selector, () =>
      this.filters.typesAt(graph.root, graph),
    );
  }

  /** @throws FluxqError FLUXQ_FLUXION_GRAPH, FLUXQ_FLUXION_POLICY where `reapi_cli_initialize` fails */
  static fromJgf(jgf: JgfGraph | string, options: MatcherOptions): Matcher {
    policyOf(options.policy);
    return new Matcher(graphFromJgf(jgf), options);
  }

  /**
   * Builds the same matcher as `fromJgf` from the JGF of these nodes, without building the JGF.
   * @throws FluxqError FLUXQ_FLUXION_GRAPH, FLUXQ_FLUXION_POLICY
   */
  static fromNodes(nodes: readonly GraphNode[], options: MatcherOptions): Matcher {
    // Policy locality gives the units of a run one score, so the sort of single units decides between them.
    const countsUnits = policyOf(options.policy).prefer !== 'locality';
    const matcher = new Matcher(graphFromNodes(nodes, countsUnits), options);
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
    // An operation that allocates nothing makes no reservation either.
    const reserved = !dry && start > this.spans.now;
    if (!dry) this.spans.hold(jobid, grant, start, end, reserved);
    // Also for an operation that allocates nothing: the C library reorders then too.
    if (this.policy.stopOnFirst) this.weights.update(grant.touched, this.spans);
    const { graph } = this;
    return {
      status: 'OK',
      start,
      end,
      reserved,
      // Computed on demand: only tests read these thousands of paths.
      get held() {
        return grant.held.flatMap((piece) => pathsOf(graph, piece));
      },
      allocation: allocationOf(graph, { id: jobid, start, end }, grant),
    };
  }

  /** Whether the jobspec fits the empty graph, whatever is down or busy. */
  satisfiable(jobspec: Jobspec): { readonly satisfiable: boolean; readonly text: string } {
    const request = this.read(jobspec);
    if (request instanceof JobspecError) return { satisfiable: false, text: request.message };
    const satisfiable = this.fitsEmpty(request, jobspec);
    return { satisfiable, text: satisfiable ? '' : TEXTS.UNSATISFIABLE };
  }

  /** Frees an allocation or reservation. @returns false for an unknown job */
  cancel(jobid: number): boolean {
    const job = this.spans.jobs.get(jobid);
    if (job === undefined) return false;
    this.spans.release(job);
    return true;
  }

  /** Frees the vertices of a job on these nodes; a reservation as a whole. @returns true when no vertex is left */
  partialCancel(jobid: number, nodeNames: readonly string[]): boolean {
    const nodes = new Set(nodeNames.flatMap((name) => this.graph.nodes.get(name) ?? []));
    return this.free(jobid, nodes);
  }

  private free(jobid: number, nodes: ReadonlySet<Branch>): boolean {
    const job = this.spans.jobs.get(jobid);
    if (job === undefined) return true;
    if (job.start > this.spans.now) return this.jobsOn(nodes).includes(job) && this.cancel(jobid);
    if (job.held.some(({ vertex }) => this.graph.nodeAbove(vertex) === undefined))
      return this.freeOfLevel(job, nodes);
    const rest = withoutNodes(this.graph, job, nodes);
    if (rest.held.length === 0) this.spans.release(job);
    else if (rest.held.length < job.held.length) this.spans.shrink(job, rest);
    return rest.held.length === 0;
  }

  /** Of a job that holds a rack or zone as a whole: it keeps the other nodes. @returns true when no node is left */
  private freeOfLevel(job: Job, nodes: ReadonlySet<Branch>): boolean {
    const { graph, spans } = this;
    const names = new Set([...nodes].map(({ name }) => name));
    const allocation = allocationOf(graph, job, job);
    const rest = allocation.nodes.filter(({ name }) => !names.has(name));
    if (rest.length === allocation.nodes.length) return false;
    spans.release(job);
    if (rest.length === 0) return true;
    const grant = grantFor(graph, spans, { ...allocation, nodes: rest });
    spans.hold(job.id, grant, job.start, job.end, job.reserved);
    return false;
  }

  /**
   * Restores exactly this allocation.
   * @throws FluxqError FLUXQ_FLUXION_REPLAY, and holds none of its vertices
   */
  replay(allocation: Allocation, now: number): void {
    this.spans.advance(Math.floor(now));
    const grant = grantFor(this.graph, this.spans, allocation);
    // flux-sched would refuse these units to jobs that end before the start, as if they were held from now on.
    const reserved = allocation.start > this.spans.now;
    this.spans.hold(allocation.jobid, grant, allocation.start, allocation.end, reserved);
    if (this.policy.stopOnFirst) this.weights.update(grant.touched, this.spans);
  }

  /**
   * A vertex that is down keeps its allocations and gets no new ones.
   * @param nameOrPath name of a node, or containment path of any vertex
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

  /** @throws FluxqError FLUXQ_FLUXION_GRAPH, and adds no node */
  addNodes(nodes: readonly GraphNode[]): void {
    addNodes(this.graph, nodes);
    this.graphChanged();
    this.setDown(nodes);
  }

  /** The jobs that hold vertices of these nodes, or a rack or zone above them. */
  private jobsOn(nodes: ReadonlySet<Branch>): Job[] {
    const levels = new Set([...nodes].flatMap((node) => this.graph.levelsAbove(node)));
    return [...this.spans.jobs.values()].filter(
      ({ touched, held }) =>
        touched.some((branch) => nodes.has(branch)) || held.some(({ vertex }) => levels.has(vertex)),
    );
  }

  /** Frees the vertices of these nodes, then removes the nodes. @returns the ids of the jobs that lost vertices */
  removeNodes(names: readonly string[]): readonly number[] {
    const nodes = new Set(names.flatMap((name) => this.graph.nodes.get(name) ?? []));
    const affected = this.jobsOn(nodes).map(({ id }) => id);
    for (const id of affected) this.free(id, nodes);
    for (const node of nodes) this.graph.remove(node);
    this.graphChanged();
    return affected;
  }

  private graphChanged(): void {
    this.spans.fit();
    this.skippedLevels.graphChanged();
    this.verdicts.clear();
    this.requests = new WeakMap();
    this.fastPath.graphChanged();
    this.filters = this.readFilters();
    this.weights = new Weights(this.graph, this.filters);
    if (this.policy.stopOnFirst) this.weights.sortAll();
  }

  private readFilters(): PruneFilters {
    return new PruneFilters(this.graph, this.pruneFilters);
  }

  /** The allocations of all jobs, and the total and free units of all nodes at `now`. */
  state(now: number): Omit<FluxionState, 'bootId'> {
    this.spans.advance(Math.floor(now));
    return stateOf(this.graph, this.spans);
  }

  /** The job's allocation as flux-sched's `match_format: jgf` writes it; undefined for an unknown id. */
  jgfOf(jobid: number): string | undefined {
    const job = this.spans.jobs.get(jobid);
    return job === undefined ? undefined : writeJgf(this.graph, job);
  }

  /** An independent copy, for simulated changes. */
  clone(): Matcher {
    const graph = this.graph.clone();
    return new Matcher(graph, this.options, this.spans.clone(graph));
  }

  private read(jobspec: Jobspec): Request | JobspecError {
    const known = this.requests.get(jobspec);
    if (known !== undefined) return known;
    const request = this.tryRead(jobspec);
    if (request instanceof JobspecError) return request;
    const skipped = this.skippedLevels.refusalOf(jobspec.resources);
    if (skipped !== undefined) return new JobspecError(skipped);
    const prepared = withNodeSet(request, jobspec, this.graph);
    this.requests.set(jobspec, prepared);
    return prepared;
  }

  private tryRead(jobspec: unknown): Request | JobspecError {
    const { graph, policy, pruneFilters } = this;
    const isKnown = (type: string) => isAlwaysKnown(type, pruneFilters) || graph.hasType(type);
    try {
      return readRequest(jobspec, graph, policy, isKnown);
    } catch (error) {
      if (error instanceof JobspecError) return error;
      throw error;
    }
  }

  /** Whether the request fits the empty graph. */
  private fitsEmpty(request: Request, jobspec: Jobspec): boolean {
    const key = JSON.stringify([jobspec.resources, jobspec.attributes?.system?.constraints]);
    const known = this.verdicts.get(key);
    if (known !== undefined) return known;
    const fits = this.selector.select(request, { start: 0, end: 1, empty: true });
    // Which count of a range is found first depends on the weights, which change with every grant.
    if (this.policy.stopOnFirst && request.hasRange) return fits;
    if (this.verdicts.size >= MAX_VERDICTS) this.verdicts.clear();
    this.verdicts.set(key, fits);
    return fits;
  }
}

/** A long constraint is evaluated once for all nodes, until a node is added or removed. */
function withNodeSet(request: Request, jobspec: Jobspec, graph: ResourceGraph): Request {
  const { constraint } = request;
  if (constraint === undefined) return request;
  const { constraints } = jobspec.attributes.system;
  if (literalsOf(constraints) <= FEW_LITERALS) return request;
  const set = graph.nodeIndex().matching(constraints);
  if (set === undefined) return request;
  const isMatch = (node: Branch) => (node.type === NODE ? has(set, node.row) : constraint(node));
  return { ...request, constraint: withNames(isMatch, constraint.names) };
}
