/**
 * The same answers without looking at everything. A request that chooses among
 * nodes (or slots of nodes) by score takes the best few: nodes are visited in the
 * order of the best score they could give, and the rest is left alone as soon as it
 * can only be worse. Where equal scores would be cut in two, the order in which the full
 * sort leaves them decides, so then the full walk is made.
 */
import type { Branch, LeafGroup } from './branch';
import type { CandidateList, Found } from './candidates';
import type { Policy } from './policy';
import { needOf, type Request, type Resource } from './request';
import type { ResourceGraph } from './resource-graph';
import type { Selector } from './schedule';
import { concerning } from './shape';
import type { Spans } from './spans';
import { NODE, SLOT } from './typetable';
import type { Walk, Window } from './walk';

/** Nodes with the best score that each could give, best first. */
interface Ranking {
  readonly nodes: readonly Branch[];
  readonly best: Float64Array;
  /** Of the nodes in the spans. */
  readonly rows: Int32Array;
}

const KEPT_RANKINGS = 64;

export class FastPath implements Selector {
  /** What is asked of a node -> ranking; dropped when the graph changes. */
  private readonly rankings = new Map<string, Ranking>();
  /** Whether all units hang on nodes, and all nodes on nothing but levels. */
  private plain: boolean | undefined;
  /** Levels that the walk passes, for one request and window. */
  private readonly passable = new Map<Branch, boolean>();
  private lastAbove: Branch | undefined;
  private lastPasses = false;
  private countFree = new Float64Array(0);

  constructor(
    private readonly graph: ResourceGraph,
    private readonly spans: Spans,
    private readonly policy: Policy,
    private readonly walk: Walk,
  ) {}

  /** To be called when nodes came or went. */
  graphChanged(): void {
    this.rankings.clear();
    this.plain = undefined;
  }

  select(request: Request, window: Window): boolean {
    if (!this.rootHolds(request, window)) return false;
    const resource = this.applies(request);
    if (resource === undefined) return this.walk.select(request, window);
    const ranking = this.ranking(resource);
    this.walk.begin(request, window);
    const top = this.walk.level(0).clear();
    const enough =
      resource.type === NODE
        ? this.visitNodes(ranking, resource, top)
        : this.visitSlots(ranking, resource, top);
    if (enough === 'too few') return false;
    if (window.empty) return true;
    if (enough === 'tie') return this.walk.select(request, window);
    this.walk.exclusive = false;
    return this.walk.finishGraph(top, this.graph.size[this.graph.root.vertex]!);
  }

  /** No place can be found if all that is free together is not enough. */
  private rootHolds(request: Request, { start, end, empty }: Window): boolean {
    const { root } = this.graph;
    const need = needOf(request.total);
    if (need.dimensions.some((dimension, j) => need.amounts[j]! > root.totals[dimension]!)) return false;
    return empty || root.planner.fits(need, root.totals, start, end, this.spans.now);
  }

  /** The one resource that is chosen by score, if there is one and the graph has the shape. */
  private applies({ resources }: Request): Resource | undefined {
    const { prefer, stopOnFirst } = this.policy;
    const [resource] = resources;
    if (resource === undefined || resources.length > 1 || prefer === 'locality' || stopOnFirst)
      return undefined;
    if (resource.min !== resource.max) return undefined;
    this.plain ??= isPlain(this.graph.root);
    if (!this.plain) return undefined;
    if (resource.type === NODE) return resource;
    return resource.type === SLOT && resource.with.every(isUnit) ? resource : undefined;
  }

  private visitNodes(
    { nodes, best, rows }: Ranking,
    resource: Resource,
    top: Found,
  ): 'found' | 'too few' | 'tie' {
    const { candidates } = this.walk;
    this.forgetPassable();
    const list = top.list(NODE);
    const resources = [resource];
    if (this.walk.searching && !this.areEnough(nodes, resource, resources)) return 'too few';
    for (let i = 0; i < nodes.length; i++) {
      const full = list.length > 0 && list.total >= resource.min;
      if (full && best[i] !== candidates.score[list.data[list.length - 1]!]) break;
      if (!this.visitNode(nodes[i]!, rows[i]!, resource, resources, top)) continue;
      if (full) return 'tie';
      const { available, score } = this.walk.level(2);
      list.push(candidates.add(nodes[i]!.vertex, score, available, this.walk.exclusive), available);
    }
    return list.total >= resource.min ? 'found' : 'too few';
  }

  private visitNode(
    node: Branch,
    row: number,
    resource: Resource,
    resources: readonly Resource[],
    top: Found,
  ): boolean {
    if (this.walk.atNow && this.spans.isShortNow(row, resource.need)) return false;
    return this.reaches(node, resources) && this.walk.visit(node, resources, true, false, top, 2);
  }

  /** A look at the nodes without what is below them, where most starts are in vain. */
  private areEnough(nodes: readonly Branch[], resource: Resource, resources: readonly Resource[]): boolean {
    let open = 0;
    for (let i = 0; i < nodes.length && open < resource.min; i++) {
      const node = nodes[i]!;
      if (this.reaches(node, resources) && !this.walk.isPruned(node, resource, resource.exclusive)) open++;
    }
    return open >= resource.min;
  }

  private visitSlots(
    { nodes, best, rows }: Ranking,
    resource: Resource,
    top: Found,
  ): 'found' | 'too few' | 'tie' {
    const { candidates } = this.walk;
    this.forgetPassable();
    const list = top.list(SLOT);
    const leaders = new Leaders(resource.min, this.policy.prefer === 'low');
    const resources = [resource];
    let seen = 0;
    let hope = this.countRoom(nodes, resource, resources);
    for (let i = 0; i < nodes.length; i++) {
      if (list.length + hope < resource.min) return 'too few';
      if (leaders.full && leaders.isWorse(best[i]!)) break;
      const most = this.countFree[i]!;
      hope -= most;
      if (most > 0) this.visitNode(nodes[i]!, rows[i]!, resource, resources, top);
      for (; seen < list.length; seen++) leaders.offer(candidates.score[list.data[seen]!]!);
    }
    if (!leaders.full) return 'too few';
    return leaders.reachedBy(list, candidates.score) === resource.min ? 'found' : 'tie';
  }

  /** How many slots each node has room for by count, into `room`. @returns their sum */
  private countRoom(nodes: readonly Branch[], slot: Resource, resources: readonly Resource[]): number {
    if (this.countFree.length < nodes.length) this.countFree = new Float64Array(nodes.length);
    let sum = 0;
    for (let i = 0; i < nodes.length; i++) {
      const node = nodes[i]!;
      const most = this.reaches(node, resources) ? this.walk.mostSlots(node, slot) : 0;
      this.countFree[i] = most;
      sum += most;
    }
    return sum;
  }

  /** Whether the walk gets from the root to this node. */
  private reaches(node: Branch, resources: readonly Resource[]): boolean {
    const above = node.parent;
    if (above === undefined) return true;
    if (above === this.lastAbove) return this.lastPasses;
    const known = this.passable.get(above);
    const passes =
      known ??
      (this.reaches(above, resources) &&
        !this.walk.isPruned(above, concerning(above.type, resources) ?? undefined, false));
    this.passable.set(above, passes);
    this.lastAbove = above;
    this.lastPasses = passes;
    return passes;
  }

  private forgetPassable(): void {
    this.passable.clear();
    this.lastAbove = undefined;
  }

  private ranking(resource: Resource): Ranking {
    const key =
      resource.type === NODE ? 'node' : resource.with.map(({ type, min }) => `${type}:${min}`).join(',');
    const known = this.rankings.get(key);
    if (known !== undefined) return known;
    if (this.rankings.size >= KEPT_RANKINGS) this.rankings.clear();
    const ranking = this.rank(resource);
    this.rankings.set(key, ranking);
    return ranking;
  }

  private rank(resource: Resource): Ranking {
    const nodes: Branch[] = [];
    const best = new Map<Branch, number>();
    const collect = (branch: Branch): void => {
      if (branch.type === NODE) {
        const score =
          resource.type === NODE ? 2 + this.graph.id[branch.vertex]! : this.bestSlot(branch, resource);
        if (score === undefined) return;
        nodes.push(branch);
        best.set(branch, score);
      } else branch.branches.forEach(collect);
    };
    collect(this.graph.root);
    const sign = this.policy.prefer === 'low' ? 1 : -1;
    nodes.sort((a, b) => sign * (best.get(a)! - best.get(b)!));
    return {
      nodes,
      best: Float64Array.from(nodes, (node) => best.get(node)!),
      rows: Int32Array.from(nodes, ({ row }) => row),
    };
  }

  /** No slot of this node has a better score; undefined when it never has one. */
  private bestSlot(node: Branch, slot: Resource): number | undefined {
    const low = this.policy.prefer === 'low';
    const factor = this.walk.nodeFactorOf(node);
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
    const { id, size } = this.graph;
    let [lowestId, highestId, smallest, largest] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const v of members) {
      lowestId = Math.min(lowestId, id[v]!);
      highestId = Math.max(highestId, id[v]!);
      smallest = Math.min(smallest, size[v]!);
      largest = Math.max(largest, size[v]!);
    }
    return { lowestId, highestId, smallest, largest };
  }
}

/** The best scores so far, as many as are wanted; a heap with the worst of them on top. */
class Leaders {
  private readonly heap: number[] = [];

  constructor(
    private readonly wanted: number,
    low: boolean,
  ) {
    this.sign = low ? 1 : -1;
  }

  /** Scores are kept so that less is better. */
  private readonly sign: number;

  get full(): boolean {
    return this.heap.length === this.wanted;
  }

  /** Worse than all that lead. */
  isWorse(score: number): boolean {
    return this.sign * score > this.heap[0]!;
  }

  /** How many candidates are as good as the worst that leads. */
  reachedBy(list: CandidateList, score: Float64Array): number {
    let reached = 0;
    for (let i = 0; i < list.length; i++) if (!this.isWorse(score[list.data[i]!]!)) reached++;
    return reached;
  }

  offer(score: number): void {
    const value = this.sign * score;
    const { heap } = this;
    if (!this.full) {
      heap.push(value);
      this.rise(heap.length - 1);
    } else if (value < heap[0]!) {
      heap[0] = value;
      this.sink();
    }
  }

  private rise(from: number): void {
    const { heap } = this;
    for (let i = from; i > 0; ) {
      const above = (i - 1) >> 1;
      if (heap[above]! >= heap[i]!) return;
      [heap[above], heap[i]] = [heap[i]!, heap[above]!];
      i = above;
    }
  }

  private sink(): void {
    const { heap } = this;
    for (let i = 0; ; ) {
      let next = 2 * i + 1;
      if (next >= heap.length) return;
      if (next + 1 < heap.length && heap[next + 1]! > heap[next]!) next++;
      if (heap[i]! >= heap[next]!) return;
      [heap[i], heap[next]] = [heap[next]!, heap[i]!];
      i = next;
    }
  }
}

/** A leaf, and exactly so many of it. */
function isUnit(resource: Resource): boolean {
  return resource.type !== NODE && resource.with.length === 0 && resource.min === resource.max;
}

/** Root, levels, nodes, units: nothing else below a node, and nothing but nodes and levels above. */
function isPlain(branch: Branch): boolean {
  if (branch.type === NODE) return branch.branches.length === 0;
  return branch.groups.length === 0 && branch.branches.every(isPlain);
}
