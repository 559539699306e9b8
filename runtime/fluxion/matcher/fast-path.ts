/**
 * Selects the same candidates as the traverser without visiting all nodes. A request that chooses nodes, or slots in
 * nodes, by score needs only the best few: the fast path visits nodes in the order of their best possible score and
 * stops when the remaining nodes can only score worse. If candidates with equal scores compete for the last places,
 * the order of the full sort decides, so the traverser repeats the selection.
 */
import type { Branch, LeafGroup } from './branch';
import type { CandidateLists } from './candidates';
import type { Matches } from './constraint';
import type { Policy } from './policy';
import type { Window } from './pruner';
import { needOf, type Request, type Resource } from './request';
import type { ResourceGraph } from './resource-graph';
import { resourceFor } from './resource-match';
import { NODE, SLOT } from './resource-types';
import type { Selector } from './schedule';
import type { Spans } from './spans';
import { TopScores } from './top-scores';
import type { Traverser } from './traverser';

/** Nodes with their best possible scores, best first. */
interface Ranking {
  readonly nodes: readonly Branch[];
  readonly best: Float64Array;
  /** Rows of the nodes in the spans. */
  readonly rows: Int32Array;
}

const MAX_RANKINGS = 64;
/** Constraints to at most so many nodes by name need no ranking of all nodes. */
const FEW_NAMES = 16;
/** The most slots of a request for which the free slots of all nodes are not counted first. */
const MOST_UNCOUNTED = 16;

export class FastPath implements Selector {
  /** Rankings by the request of one node; dropped when the graph changes. */
  private readonly rankings = new Map<string, Ranking>();
  /** Whether all units are children of nodes, and all nodes are below levels only. */
  private isPlainGraph: boolean | undefined;
  /** Types of vertices with children: a slot of them is not filled in a node. */
  private branchTypes: ReadonlySet<number> = new Set();
  /** Whether each node is the only one of its name, as in a graph of Kubernetes nodes. */
  private hasUniqueNames = false;
  /** Levels through which the traverser reaches nodes, for one request and window. */
  private readonly reachable = new Map<Branch, boolean>();
  private lastAbove: Branch | undefined;
  private lastAboveReachable = false;
  private freeSlots = new Float64Array(0);
  private enoughFrom: number | undefined;
  private last: { readonly request: Request; readonly eligible: Ranking } | undefined;

  constructor(
    private readonly graph: ResourceGraph,
    private readonly spans: Spans,
    private readonly policy: Policy,
    private readonly traverser: Traverser,
  ) {}

  /** The caller has added or removed nodes. */
  graphChanged(): void {
    this.rankings.clear();
    this.last = undefined;
    this.isPlainGraph = undefined;
  }

  /** After a search step that found too few nodes: the first time at which enough of them may be free. */
  notBefore(): number | undefined {
    return this.enoughFrom;
  }

  select(request: Request, window: Window): boolean {
    this.enoughFrom = undefined;
    if (!this.fitsRoot(request, window)) return false;
    const resource = this.rankedResource(request);
    if (resource === undefined) return this.traverser.select(request, window);
    const ranking = this.eligible(resource, request);
    this.traverser.begin(request, window);
    const top = this.traverser.level(0).clear();
    const enough =
      resource.type === NODE
        ? this.visitNodes(ranking, resource, top)
        : this.visitSlots(ranking, resource, top);
    if (enough === 'too few') return false;
    if (window.empty) return true;
    if (enough === 'tie') return this.traverser.select(request, window);
    this.traverser.exclusive = false;
    return this.traverser.finishGraph(top, this.graph.size[this.graph.root.vertex]!);
  }

  /** Whether the free units of the whole graph are enough for the request. */
  private fitsRoot(request: Request, { start, end, empty }: Window): boolean {
    const { root } = this.graph;
    const need = needOf(request.total);
    if (need.dimensions.some((dimension, j) => need.amounts[j]! > root.totals[dimension]!)) return false;
    return empty || root.planner.fits(need, root.totals, start, end, this.spans.now);
  }

  /** The single resource that is chosen by score; undefined if request, policy or graph need the traverser. */
  private rankedResource({ resources }: Request): Resource | undefined {
    const { prefer, stopOnFirst } = this.policy;
    const [resource] = resources;
    if (resource === undefined || resources.length > 1 || prefer === 'locality' || stopOnFirst)
      return undefined;
    if (resource.min !== resource.max) return undefined;
    if (!this.hasPlainGraph()) return undefined;
    if (resource.type === NODE) return resource;
    return resource.type === SLOT && resource.with.every((inside) => this.isUnit(inside))
      ? resource
      : undefined;
  }

  private hasPlainGraph(): boolean {
    if (this.isPlainGraph === undefined) {
      this.isPlainGraph = isPlain(this.graph.root);
      const types = [...this.graph.branchOf.values()].map(({ type }) => type);
      this.branchTypes = new Set(types);
      this.hasUniqueNames = types.filter((type) => type === NODE).length === this.graph.nodes.size;
    }
    return this.isPlainGraph;
  }

  /** Whether the resource is a leaf with a fixed count. */
  private isUnit({ type, with: inside, min, max }: Resource): boolean {
    return type !== NODE && !this.branchTypes.has(type) && inside.length === 0 && min === max;
  }

  private visitNodes(
    { nodes, best, rows }: Ranking,
    resource: Resource,
    top: CandidateLists,
  ): 'found' | 'too few' | 'tie' {
    const { candidates } = this.traverser;
    this.clearReachable();
    const list = top.list(NODE);
    const resources = [resource];
    if (this.traverser.pruner.searching && !this.hasEnoughNodes(nodes, resource, resources)) return 'too few';
    for (let i = 0; i < nodes.length; i++) {
      const full = list.length > 0 && list.total >= resource.min;
      if (full && best[i] !== candidates.score[list.data[list.length - 1]!]) break;
      if (!this.visitNode(nodes[i]!, rows[i]!, resource, resources, top)) continue;
      if (full) return 'tie';
      const { available, score } = this.traverser.level(2);
      list.push(candidates.add(nodes[i]!.vertex, score, available, this.traverser.exclusive), available);
    }
    return list.total >= resource.min ? 'found' : 'too few';
  }

  private visitNode(
    node: Branch,
    row: number,
    resource: Resource,
    resources: readonly Resource[],
    top: CandidateLists,
  ): boolean {
    if (this.traverser.pruner.atNow && this.spans.isShortNow(row, resource.need)) return false;
    return this.isReachable(node, resources) && this.traverser.visit(node, resources, true, false, top, 2);
  }

  /** Checks nodes without visiting units first: in a search, most starts fail. */
  private hasEnoughNodes(
    nodes: readonly Branch[],
    resource: Resource,
    resources: readonly Resource[],
  ): boolean {
    const { pruner } = this.traverser;
    let open = 0;
    /** When each of the other nodes may be free; a level that is closed may open at any time. */
    const closed: number[] = [];
    for (let i = 0; i < nodes.length && open < resource.min; i++) {
      const node = nodes[i]!;
      const reachable = this.isReachable(node, resources);
      if (reachable && !pruner.isPruned(node, resource, resource.exclusive)) open++;
      else closed.push(reachable ? pruner.notBeforeOf(node) : pruner.start);
    }
    if (open >= resource.min) return true;
    this.enoughFrom = Float64Array.from(closed).sort()[resource.min - open - 1] ?? Number.POSITIVE_INFINITY;
    return false;
  }

  private visitSlots(
    { nodes, best, rows }: Ranking,
    resource: Resource,
    top: CandidateLists,
  ): 'found' | 'too few' | 'tie' {
    const { candidates } = this.traverser;
    this.clearReachable();
    const list = top.list(SLOT);
    const leaders = new TopScores(resource.min, this.policy.prefer === 'low');
    const resources = [resource];
    let seen = 0;
    const { sum, slotsAt } = this.possibleSlots(nodes, resource, resources);
    let possible = sum;
    for (let i = 0; i < nodes.length; i++) {
      if (list.length + possible < resource.min) return 'too few';
      if (leaders.full && leaders.isWorse(best[i]!)) break;
      const slots = slotsAt(i);
      possible -= slots;
      if (slots > 0) this.visitNode(nodes[i]!, rows[i]!, resource, resources, top);
      for (; seen < list.length; seen++) leaders.offer(candidates.score[list.data[seen]!]!);
    }
    if (!leaders.full) return 'too few';
    return leaders.reachedBy(list, candidates.score) === resource.min ? 'found' : 'tie';
  }

  /** To count first saves visits that find too few; for few slots these cost less than to look at every node. */
  private possibleSlots(nodes: readonly Branch[], slot: Resource, resources: readonly Resource[]) {
    if (!this.traverser.pruner.searching && slot.min <= MOST_UNCOUNTED)
      return {
        sum: Number.POSITIVE_INFINITY,
        slotsAt: (i: number) => this.slotsIn(nodes[i]!, slot, resources),
      };
    const sum = this.countFreeSlots(nodes, slot, resources);
    return { sum, slotsAt: (i: number) => this.freeSlots[i]! };
  }

  /** Computes an upper bound of the slots of each node. @returns their sum */
  private countFreeSlots(nodes: readonly Branch[], slot: Resource, resources: readonly Resource[]): number {
    if (this.freeSlots.length < nodes.length) this.freeSlots = new Float64Array(nodes.length);
    let sum = 0;
    for (let i = 0; i < nodes.length; i++) {
      const slots = this.slotsIn(nodes[i]!, slot, resources);
      this.freeSlots[i] = slots;
      sum += slots;
    }
    return sum;
  }

  /** An upper bound of the slots of a node. */
  private slotsIn(node: Branch, slot: Resource, resources: readonly Resource[]): number {
    return this.isReachable(node, resources) ? this.traverser.pruner.mostSlots(node, slot) : 0;
  }

  /** Whether the traverser reaches this node from the root. */
  private isReachable(node: Branch, resources: readonly Resource[]): boolean {
    const above = node.parent;
    if (above === undefined) return true;
    if (above === this.lastAbove) return this.lastAboveReachable;
    const known = this.reachable.get(above);
    const passes =
      known ??
      (this.isReachable(above, resources) &&
        !this.traverser.pruner.isPruned(above, resourceFor(above.type, resources) ?? undefined, false));
    this.reachable.set(above, passes);
    this.lastAbove = above;
    this.lastAboveReachable = passes;
    return passes;
  }

  private clearReachable(): void {
    this.reachable.clear();
    this.lastAbove = undefined;
  }

  private ranking(resource: Resource): Ranking {
    const key =
      resource.type === NODE ? 'node' : resource.with.map(({ type, min }) => `${type}:${min}`).join(',');
    const known = this.rankings.get(key);
    if (known !== undefined) return known;
    if (this.rankings.size >= MAX_RANKINGS) this.rankings.clear();
    const ranking = this.rank(resource, nodesBelow(this.graph.root));
    this.rankings.set(key, ranking);
    return ranking;
  }

  /** The nodes that match the constraint: a search for a start looks at them again and again. */
  private eligible(resource: Resource, request: Request): Ranking {
    if (request.constraint === undefined) return this.ranking(resource);
    if (this.last?.request === request) return this.last.eligible;
    const eligible = this.matching(resource, request.constraint);
    this.last = { request, eligible };
    return eligible;
  }

  private matching(resource: Resource, constraint: Matches<Branch>): Ranking {
    const { names } = constraint;
    if (names !== undefined && names.size <= FEW_NAMES && this.hasUniqueNames) {
      const named = [...names].flatMap((name) => this.graph.nodes.get(name) ?? []);
      return this.rank(resource, named.filter(constraint));
    }
    const ranking = this.ranking(resource);
    const places = [...ranking.nodes.keys()].filter((i) => constraint(ranking.nodes[i]!));
    return {
      nodes: places.map((i) => ranking.nodes[i]!),
      best: Float64Array.from(places, (i) => ranking.best[i]!),
      rows: Int32Array.from(places, (i) => ranking.rows[i]!),
    };
  }

  private rank(resource: Resource, among: readonly Branch[]): Ranking {
    const best = new Map<Branch, number>();
    for (const node of among) {
      const score = resource.type === NODE ? 2 + this.graph.id[node.vertex]! : this.bestSlot(node, resource);
      if (score !== undefined) best.set(node, score);
    }
    const sign = this.policy.prefer === 'low' ? 1 : -1;
    const nodes = [...best.keys()].sort((a, b) => sign * (best.get(a)! - best.get(b)!));
    return {
      nodes,
      best: Float64Array.from(nodes, (node) => best.get(node)!),
      rows: Int32Array.from(nodes, ({ row }) => row),
    };
  }

  /** The best possible score of a slot in this node; undefined when the node can't contain one. */
  private bestSlot(node: Branch, slot: Resource): number | undefined {
    const low = this.policy.prefer === 'low';
    const factor = this.traverser.nodeScoreOf(node);
    let score = 1;
    for (const { type, min } of slot.with) {
      const group = node.group(type);
      if (group === undefined) return undefined;
      const { lowestId, highestId, smallest, largest } = this.extremes(group);
      if (smallest <= 0) return undefined;
      const pieces = Math.ceil(min / (low ? largest : smallest));
      score += pieces * (2 + factor + (low ? lowestId : highestId));
    }
    return score;
  }

  private extremes({ members }: LeafGroup) {
    const { id, size, run } = this.graph;
    let [lowestId, highestId, smallest, largest] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const v of members) {
      lowestId = Math.min(lowestId, id[v]!);
      highestId = Math.max(highestId, id[v]! + run[v]! - 1);
      smallest = Math.min(smallest, size[v]!);
      largest = Math.max(largest, size[v]!);
    }
    return { lowestId, highestId, smallest, largest };
  }
}

/** In the order of the graph. */
function nodesBelow(branch: Branch): Branch[] {
  return branch.type === NODE ? [branch] : branch.branches.flatMap(nodesBelow);
}

/** Whether the graph consists of root, levels, nodes and units only, with units below nodes only. */
function isPlain(branch: Branch): boolean {
  if (branch.type === NODE) return branch.branches.length === 0;
  return branch.groups.length === 0 && branch.branches.every(isPlain);
}
