/**
 * The walk: depth first over the tree, what is found below a vertex is chosen
 * from or handed up (flux-sched's `select`). It changes nothing but marks: an
 * edge whose target belongs to the answer carries the number of the walk.
 */

import type { Need } from '../../resources/planner';
import type { Branch, LeafGroup } from './branch';
import { type CandidateList, Candidates, Found } from './candidates';
import { calcCount } from './count';
import { sortByInterval } from './locality';
import type { Policy } from './policy';
import type { Request, Resource } from './request';
import type { ResourceGraph } from './resource-graph';
import { concerning, concerningLeaf, slotAt } from './shape';
import { packSlots } from './slots';
import type { Spans } from './spans';
import { allSatisfied, isSatisfied, Tally } from './tally';
import { NODE, SLOT, STORAGE_NODE } from './typetable';

/** When, and against what. */
export interface Window {
  readonly start: number;
  readonly end: number;
  /** Against the empty graph, whatever its vertices' status. */
  readonly empty: boolean;
}

const NOTHING: readonly Resource[] = [];
/** Not one job more than the total of dimension 0, which is none. */
const UNTOUCHED: Need = { dimensions: Int32Array.of(0), amounts: Float64Array.of(0) };

export class Walk {
  readonly candidates = new Candidates();
  /** Of a vertex: twice the number of the walk that chose it, plus one if given exclusively. */
  mark = new Int32Array(0);
  round = 0;
  /** The vertices marked in this round. */
  readonly marked: number[] = [];
  /** Whether the vertex visited last is wanted exclusively. */
  exclusive = false;
  private levels: Found[] = [];
  private slotLevels: Found[] = [];
  /** What the nodes above add to scores below them. */
  private nodeFactor = 0;
  private request!: Request;
  private start = 0;
  private end = 0;
  private empty = false;
  /** Whether the window starts now. */
  atNow = false;
  searching = false;
  private search = 0;

  constructor(
    private readonly graph: ResourceGraph,
    private readonly spans: Spans,
    private readonly policy: Policy,
  ) {}

  /** Makes ready for one request in one window. */
  begin(request: Request, window: Window): void {
    if (this.mark.length < this.graph.count) this.mark = new Int32Array(this.graph.type.length);
    if (++this.round === 0x3fffffff) {
      this.mark.fill(0);
      this.round = 1;
    }
    this.marked.length = 0;
    this.candidates.clear();
    this.request = request;
    this.start = window.start;
    this.end = window.end;
    this.empty = window.empty;
    this.atNow = !window.empty && window.start === this.spans.now;
    this.nodeFactor = 0;
    this.exclusive = false;
  }

  /** Looks for the whole request from the root down; true when the answer is marked. */
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

  /** Chooses the request's own resources, wherever below they were found. */
  finishGraph(top: Found, rootAvailable: number): boolean {
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

  level(depth: number): Found {
    this.levels[depth] ??= new Found();
    return this.levels[depth];
  }

  /** Visits a branch for `resources` and puts what it gives into `parent`; its own findings stay in `level(depth)`. */
  visit(
    branch: Branch,
    resources: readonly Resource[],
    pristine: boolean,
    exclusiveAbove: boolean,
    parent: Found,
    depth: number,
  ): boolean {
    const concerned = concerning(branch.type, resources);
    if (concerned === null) return false;
    const match = concerned?.type === branch.type ? concerned : undefined;
    const exclusive = exclusiveAbove || match?.exclusive === true;
    if (this.isPruned(branch, concerned, exclusive)) return false;
    const slot = slotAt(branch, concerned, match);
    const passing = slot === undefined && match === undefined;
    if (passing && !pristine) return false;
    const found = this.level(depth).clear();
    const factor = this.nodeFactorOf(branch);
    this.nodeFactor += factor;
    const next = passing ? resources : (match?.with ?? NOTHING);
    if (slot !== undefined) this.fillSlots(branch, slot, found, depth);
    else this.explore(branch, next, passing, exclusive, 1, found, depth);
    this.nodeFactor -= factor;
    if (!this.finish(branch, match, found)) return false;
    if (!found.chosen) parent.merge(found);
    this.exclusive = exclusive;
    return true;
  }

  /**
   * Whether the walk turns back here.
   * @param concerned what the request wants of this vertex or of a slot at it
   */
  isPruned(branch: Branch, concerned: Resource | undefined, exclusive: boolean): boolean {
    if (!this.empty && this.graph.up[branch.vertex] === 0) return true;
    if (this.isShortNow(branch.row, concerned)) return true;
    if (this.searching && branch.search === this.search && this.start < branch.notBefore) return true;
    const { constraint } = this.request;
    if (constraint !== undefined && isConstrained(branch.type) && !constraint(branch)) {
      return this.notBefore(branch, Number.POSITIVE_INFINITY);
    }
    if (!this.empty && this.spans.head[branch.vertex]! >= 0) {
      const until = this.spans.takenUntil(branch.vertex, this.start, this.end);
      if (until > this.start) return this.notBefore(branch, until);
    }
    if (concerned === undefined) return false;
    if (concerned.type === branch.type && exclusive && !this.isUntouched(branch)) return true;
    return !this.hasBelow(branch, concerned);
  }

  /** A first, cheap look: most branches of a busy graph have not enough left. */
  private isShortNow(row: number, concerned: Resource | null | undefined): boolean {
    if (!this.atNow || row < 0 || concerned === undefined || concerned === null) return false;
    return this.spans.isShortNow(row, concerned.need);
  }

  /** Remembers in a search over several starts that none before `time` will do here. */
  private notBefore(branch: Branch, time: number): true {
    if (this.searching) {
      branch.search = this.search;
      branch.notBefore = time;
    }
    return true;
  }

  /** From here to endSearch: one request, starts that only get later, nothing held in between. */
  beginSearch(): void {
    this.search++;
    this.searching = true;
  }

  endSearch(): void {
    this.searching = false;
  }

  private isUntouched(branch: Branch): boolean {
    if (this.empty) return true;
    if (this.atNow && this.spans.isAllocated(branch.vertex)) return false;
    const { planner, totals } = branch;
    const { start, end } = this;
    const { now } = this.spans;
    if (planner.untouched(start, end, now)) return true;
    if (this.searching) this.notBefore(branch, planner.blockedUntil(UNTOUCHED, totals, start, end, now));
    return false;
  }

  private hasBelow(branch: Branch, { need }: Resource): boolean {
    if (need.dimensions.length === 0 || branch.children.length === 0) return true;
    const { totals, planner } = branch;
    for (let j = 0; j < need.dimensions.length; j++)
      if (need.amounts[j]! > totals[need.dimensions[j]!]!) return false;
    if (this.empty) return true;
    const { start, end } = this;
    const { now } = this.spans;
    if (planner.fits(need, totals, start, end, now)) return true;
    if (this.searching) this.notBefore(branch, planner.blockedUntil(need, totals, start, end, now));
    return false;
  }

  /** No more of these slots than this are found at and below a branch; a look at counts, not at units. */
  mostSlots(branch: Branch, slot: Resource): number {
    if (this.empty) return slot.min;
    if (this.isPruned(branch, slot, false)) return 0;
    return branch.planner.countFree(slot.need, branch.totals, this.start, this.end, this.spans.now);
  }

  /** A node's id weighs in what is below it. */
  nodeFactorOf(branch: Branch): number {
    if (!this.policy.nodeCentric || branch.type !== NODE) return 0;
    const { id, uniqId } = this.graph;
    return (id[branch.vertex]! + 2) * 10_000 + Math.abs((uniqId[branch.vertex]! % 10_000) - 1);
  }

  private scoreOf(vertex: number): number {
    return 2 + this.nodeFactor + this.graph.id[vertex]!;
  }

  private finish(branch: Branch, match: Resource | undefined, found: Found): boolean {
    found.available = this.graph.size[branch.vertex]!;
    found.score = this.scoreOf(branch.vertex);
    // A node's id below -1 makes the score no score.
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

  /** Sorts, and tells how many of the first make `count`. */
  private chooseBest(list: CandidateList, count: number, atGraphEnd: boolean): number {
    const { score, count: counts } = this.candidates;
    if (this.policy.prefer === 'locality' && atGraphEnd) sortByInterval(list, score);
    else list.sort(score, this.policy.prefer !== 'low');
    let sum = 0;
    let taken = 0;
    while (sum < count && taken < list.length) sum += counts[list.data[taken++]!]!;
    return taken;
  }

  /** Marks a chosen candidate and the vertices passed between it and `top`, where it was chosen. */
  private enforce(candidate: number, top: number): void {
    const { vertex, from, to, items, exclusive } = this.candidates;
    if (vertex[candidate]! >= 0) this.markVertex(vertex[candidate]!, exclusive[candidate] === 1, top);
    for (let i = from[candidate]!; i < to[candidate]!; i++) this.markVertex(vertex[items[i]!]!, true, top);
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
    found: Found,
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
    found: Found,
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
    found: Found,
    depth: number,
  ): boolean {
    const branch = this.graph.branchOf.get(v);
    if (branch !== undefined) return this.tryBranch(branch, resources, pristine, exclusive, found, depth);
    const type = this.graph.type[v]!;
    const resource = concerningLeaf(type, resources);
    return resource !== undefined && this.tryLeaf(v, resource, exclusive, found.list(type));
  }

  private tryLeaf(v: number, resource: Resource, exclusive: boolean, list: CandidateList): boolean {
    const { size, up } = this.graph;
    const count = size[v]!;
    if (!this.empty) {
      if (up[v] === 0) return false;
      if (this.spans.head[v]! >= 0 && !this.isLeafFree(v, exclusive || resource.exclusive)) return false;
    }
    const score = this.scoreOf(v);
    if (count === 0 || score <= 0) return false;
    list.push(this.candidates.add(v, score, count, exclusive || resource.exclusive), count);
    return true;
  }

  private isLeafFree(v: number, exclusive: boolean): boolean {
    if (!this.spans.isFree(v, this.start, this.end)) return false;
    return !(exclusive && this.atNow && this.spans.isAllocated(v));
  }

  private exploreLeaves(
    branch: Branch,
    resources: readonly Resource[],
    exclusive: boolean,
    shares: number,
    found: Found,
  ): void {
    for (const group of branch.groups) {
      const resource = concerningLeaf(group.type, resources);
      if (resource === undefined) continue;
      const list = found.list(group.type);
      if (this.policy.stopOnFirst) this.leavesByWeight(group, resource, exclusive, shares, list);
      else for (const v of group.members) this.tryLeaf(v, resource, exclusive, list);
    }
  }

  /** Leaves keep their first weight: the highest unique id comes first. */
  private leavesByWeight(
    group: LeafGroup,
    resource: Resource,
    exclusive: boolean,
    shares: number,
    list: CandidateList,
  ): void {
    const tally = new Tally(resource, shares);
    const members = group.ascending ? group.members : this.byUniqId(group);
    for (let i = members.length - 1; i >= 0 && !tally.satisfied; i--) {
      if (this.tryLeaf(members[i]!, resource, exclusive, list)) tally.see(list.total);
    }
  }

  private byUniqId(group: LeafGroup): number[] {
    const { uniqId } = this.graph;
    group.byUniqId ??= group.members.slice().sort((a, b) => uniqId[a]! - uniqId[b]!);
    return group.byUniqId;
  }

  private exploreByWeight(
    branch: Branch,
    resources: readonly Resource[],
    pristine: boolean,
    exclusive: boolean,
    shares: number,
    found: Found,
    depth: number,
  ): void {
    const tallies = resources.map((resource) => new Tally(resource, shares));
    const { order } = branch;
    for (let i = order.length - 1; i >= 0 && !allSatisfied(tallies); i--) {
      const v = order[i]!;
      const type = this.graph.type[v]!;
      if (isSatisfied(tallies, type) || this.isShortNow(this.graph.row[v]!, concerning(type, resources)))
        continue;
      if (!this.tryChild(v, resources, pristine, exclusive, found, depth)) continue;
      for (const tally of tallies) tally.see(found.total(tally.resource.type));
    }
  }

  private fillSlots(branch: Branch, slot: Resource, found: Found, depth: number): void {
    this.slotLevels[depth] ??= new Found();
    const elements = this.slotLevels[depth].clear();
    this.explore(branch, slot.with, false, true, slot.most, elements, depth);
    packSlots(slot, elements, this.candidates, found.list(SLOT), this.policy.prefer !== 'low');
  }
}

/** Constraints are about hosts. */
function isConstrained(type: number): boolean {
  return type === NODE || type === STORAGE_NODE;
}
