/**
 * The depth-first traversal of the resource graph (flux-sched's `dfu_traverser`, `select`). Candidates found below a
 * vertex are chosen there or handed up. It changes nothing but marks: the vertices of the answer carry the number of
 * the round.
 */
import type { Branch } from './branch';
import { type CandidateList, CandidateLists, Candidates } from './candidates';
import { calcCount } from './count';
import { Leaves } from './leaves';
import { sortByInterval } from './locality';
import type { Piece } from './piece';
import type { Policy } from './policy';
import { Pruner, type Window } from './pruner';
import type { Request, Resource } from './request';
import type { ResourceGraph } from './resource-graph';
import { resourceFor, resourceForLeaf, slotAt } from './resource-match';
import { NODE, SLOT } from './resource-types';
import { packSlots } from './slots';
import type { Spans } from './spans';
import { allSatisfied, isSatisfied, StopCondition } from './stop-condition';

const NOTHING: readonly Resource[] = [];

export class Traverser {
  readonly candidates: Candidates;
  /** By vertex: twice the number of the round that chose it, plus one if it is allocated exclusively. */
  mark = new Int32Array(0);
  round = 0;
  /** The vertices marked in this round. */
  readonly marked: number[] = [];
  /** The units that this round allocates of leaves with more than one unit, by leaf. */
  readonly pieces = new Map<number, Piece[]>();
  /** Whether the request wants the last visited vertex exclusively. */
  exclusive = false;
  private levels: CandidateLists[] = [];
  private slotLevels: CandidateLists[] = [];
  private request!: Request;
  readonly pruner: Pruner;
  private readonly leaves: Leaves;

  constructor(
    private readonly graph: ResourceGraph,
    spans: Spans,
    private readonly policy: Policy,
  ) {
    this.pruner = new Pruner(graph, spans);
    this.candidates = new Candidates(policy.prefer !== 'low');
    this.leaves = new Leaves(graph, spans, this.pruner, this.candidates);
  }

  /** Prepares for one request in one window. */
  begin(request: Request, window: Window): void {
    if (this.mark.length < this.graph.count) this.mark = new Int32Array(this.graph.type.length);
    if (++this.round === 0x3fffffff) {
      this.mark.fill(0);
      this.round = 1;
    }
    this.marked.length = 0;
    this.pieces.clear();
    this.candidates.clear();
    this.request = request;
    this.pruner.begin(request, window);
    this.leaves.nodeScore = 0;
    this.exclusive = false;
  }

  /** Selects vertices for the whole request from the root down. @returns whether the request fits; the answer is marked then */
  select(request: Request, window: Window): boolean {
    this.begin(request, window);
    const top = this.level(0).clear();
    if (!this.visit(this.graph.root, request.resources, true, false, top, 1)) return false;
    const root = this.level(1);
    const exclusive = this.exclusive;
    const { vertex, type } = this.graph.root;
    top.list(type).push(this.candidates.add(vertex, root.score, root.available, exclusive), root.available);
    if (!this.finishGraph(top, root.available)) return false;
    this.exclusive = exclusive;
    return true;
  }

  /** Chooses the top-level resources of the request from the candidates of the whole graph. */
  finishGraph(top: CandidateLists, rootAvailable: number): boolean {
    const { resources } = this.request;
    const chosen: number[] = [];
    for (const resource of resources) {
      const count = calcCount(resource, top.total(resource.type));
      if (count === 0) return false;
      chosen.push(this.chooseBest(top.list(resource.type), count, true));
    }
    const { root } = this.graph;
    for (const resource of resources) {
      if (resource.type === root.type && calcCount(resource, rootAvailable) === 0) return false;
    }
    resources.forEach((resource, i) => {
      const { data } = top.list(resource.type);
      for (let j = 0; j < chosen[i]!; j++)
        if (this.candidates.vertex[data[j]!] !== root.vertex) this.enforce(data[j]!, root.vertex);
    });
    return true;
  }

  level(depth: number): CandidateLists {
    this.levels[depth] ??= new CandidateLists();
    return this.levels[depth];
  }

  /**
   * Visits a branch and merges its candidates into `parent` unless some are chosen here; they stay in `level(depth)`.
   * @param pristine no resource of the request has matched above (as in flux-sched)
   */
  visit(
    branch: Branch,
    resources: readonly Resource[],
    pristine: boolean,
    exclusiveAbove: boolean,
    parent: CandidateLists,
    depth: number,
  ): boolean {
    const wanted = resourceFor(branch.type, resources);
    if (wanted === null) return false;
    const match = wanted?.type === branch.type ? wanted : undefined;
    const exclusive = exclusiveAbove || match?.exclusive === true;
    if (this.pruner.isPruned(branch, wanted, exclusive)) return false;
    const slot = slotAt(branch, wanted, match);
    const passing = slot === undefined && match === undefined;
    if (passing && !pristine) return false;
    const found = this.level(depth).clear();
    const factor = this.nodeScoreOf(branch);
    this.leaves.nodeScore += factor;
    const next = passing ? resources : (match?.with ?? NOTHING);
    if (slot !== undefined) this.fillSlots(branch, slot, found, depth);
    else this.explore(branch, next, passing, exclusive, 1, found, depth);
    this.leaves.nodeScore -= factor;
    if (!this.selectChildren(branch, match, found)) return false;
    if (!found.chosen) parent.merge(found);
    this.exclusive = exclusive;
    return true;
  }

  /** The id of a node counts in the scores of the vertices below it. */
  nodeScoreOf(branch: Branch): number {
    if (!this.policy.nodeCentric || branch.type !== NODE) return 0;
    const { id, uniqId } = this.graph;
    return (id[branch.vertex]! + 2) * 10_000 + Math.abs((uniqId[branch.vertex]! % 10_000) - 1);
  }

  private selectChildren(branch: Branch, match: Resource | undefined, found: CandidateLists): boolean {
    found.available = this.graph.size[branch.vertex]!;
    found.score = this.leaves.scoreOf(branch.vertex);
    // A node id below -1 makes the score invalid.
    if (found.available === 0 || found.score <= 0) return false;
    if (match === undefined) return true;
    for (const child of match.with) if (calcCount(child, found.total(child.type)) === 0) return false;
    for (const child of match.with) {
      const list = found.list(child.type);
      const taken = this.chooseBest(list, calcCount(child, list.total), false);
      for (let i = 0; i < taken; i++) this.enforce(list.data[i]!, branch.vertex);
      found.chosen = true;
    }
    return true;
  }

  /** Sorts the list. @returns how many of its first candidates reach `count` */
  private chooseBest(list: CandidateList, count: number, atGraphEnd: boolean): number {
    const { score, count: counts } = this.candidates;
    if (this.policy.prefer === 'locality' && atGraphEnd) sortByInterval(list, score);
    else list.sort(score, this.policy.prefer !== 'low');
    let sum = 0;
    let taken = 0;
    while (sum < count && taken < list.length) sum += counts[list.data[taken++]!]!;
    const last = list.data[taken - 1]!;
    if (sum > count && this.candidates.isRun(last))
      list.data[taken - 1] = this.candidates.partOf(last, 0, this.candidates.count[last]! - (sum - count));
    return taken;
  }

  /** Marks a chosen candidate and the vertices between it and `top`, where it was chosen (flux-sched's `enforce`). */
  private enforce(candidate: number, top: number): void {
    const { vertex, from, to, items, exclusive } = this.candidates;
    if (vertex[candidate]! >= 0) this.markCandidate(candidate, exclusive[candidate] === 1, top);
    for (let i = from[candidate]!; i < to[candidate]!; i++) this.markCandidate(items[i]!, true, top);
  }

  private markCandidate(candidate: number, exclusive: boolean, top: number): void {
    const v = this.candidates.vertex[candidate]!;
    this.markVertex(v, exclusive, top);
    if (!exclusive || !this.candidates.isRun(candidate)) return;
    const from = this.candidates.firstUnit[candidate]!;
    const piece = { vertex: v, from, to: from + this.candidates.count[candidate]! };
    const pieces = this.pieces.get(v);
    if (pieces === undefined) this.pieces.set(v, [piece]);
    else pieces.push(piece);
  }

  private markVertex(v: number, exclusive: boolean, top: number): void {
    const { parent } = this.graph;
    const marked = this.round * 2;
    if (this.mark[v]! < marked) this.marked.push(v);
    this.mark[v] = marked + (exclusive ? 1 : 0);
    for (let above = parent[v]!; above !== top && above >= 0; above = parent[above]!) {
      if (this.mark[above]! >= marked) continue;
      this.marked.push(above);
      this.mark[above] = marked;
    }
  }

  private explore(
    branch: Branch,
    resources: readonly Resource[],
    pristine: boolean,
    exclusive: boolean,
    shares: number,
    found: CandidateLists,
    depth: number,
  ): void {
    if (branch.branches.length === 0) this.exploreLeaves(branch, resources, exclusive, shares, found);
    else if (this.policy.stopOnFirst)
      this.exploreByWeight(branch, resources, pristine, exclusive, shares, found, depth);
    else if (branch.groups.length === 0) {
      for (const below of branch.branches)
        this.tryBranch(below, resources, pristine, exclusive, found, depth);
    } else {
      for (const child of branch.children) this.tryChild(child, resources, pristine, exclusive, found, depth);
    }
  }

  private tryBranch(
    branch: Branch,
    resources: readonly Resource[],
    pristine: boolean,
    exclusive: boolean,
    found: CandidateLists,
    depth: number,
  ): boolean {
    if (!this.visit(branch, resources, pristine, exclusive, found, depth + 1)) return false;
    const { available, score } = this.level(depth + 1);
    const candidate = this.candidates.add(branch.vertex, score, available, this.exclusive);
    found.list(branch.type).push(candidate, available);
    return true;
  }

  private tryChild(
    v: number,
    resources: readonly Resource[],
    pristine: boolean,
    exclusive: boolean,
    found: CandidateLists,
    depth: number,
  ): boolean {
    const branch = this.graph.branchOf.get(v);
    if (branch !== undefined) return this.tryBranch(branch, resources, pristine, exclusive, found, depth);
    const type = this.graph.type[v]!;
    const resource = resourceForLeaf(type, resources);
    return resource !== undefined && this.leaves.tryLeaf(v, resource, exclusive, found.list(type));
  }

  private exploreLeaves(
    branch: Branch,
    resources: readonly Resource[],
    exclusive: boolean,
    shares: number,
    found: CandidateLists,
  ): void {
    for (const group of branch.groups) {
      const resource = resourceForLeaf(group.type, resources);
      if (resource === undefined) continue;
      const list = found.list(group.type);
      if (this.policy.stopOnFirst) this.leaves.byWeight(group, resource, exclusive, shares, list);
      else for (const v of group.members) this.leaves.tryLeaf(v, resource, exclusive, list);
    }
  }

  private exploreByWeight(
    branch: Branch,
    resources: readonly Resource[],
    pristine: boolean,
    exclusive: boolean,
    shares: number,
    found: CandidateLists,
    depth: number,
  ): void {
    const stops = resources.map((resource) => new StopCondition(resource, shares));
    const { order } = branch;
    for (let i = order.length - 1; i >= 0 && !allSatisfied(stops); i--) {
      const v = order[i]!;
      const type = this.graph.type[v]!;
      if (
        isSatisfied(stops, type) ||
        this.pruner.isShortNow(this.graph.row[v]!, resourceFor(type, resources))
      )
        continue;
      if (!this.tryChild(v, resources, pristine, exclusive, found, depth)) continue;
      for (const stop of stops) stop.update(found.total(stop.resource.type));
    }
  }

  private fillSlots(branch: Branch, slot: Resource, found: CandidateLists, depth: number): void {
    this.slotLevels[depth] ??= new CandidateLists();
    const elements = this.slotLevels[depth].clear();
    this.explore(branch, slot.with, false, true, slot.largestCount, elements, depth);
    const greaterFirst = this.policy.prefer !== 'low';
    packSlots(slot, elements, this.candidates, found.list(SLOT), greaterFirst, this.graph.countsUnits);
  }
}
