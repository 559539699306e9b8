/**
 * Plans a workload with placement rules in time: the first start at which its units are free through its whole walltime
 * on nodes that kube-scheduler accepts beside the pods that are there then.
 */
import type { FluxionState } from '../../fluxion/types';
import { matcherOf } from '../../jobspec/matching-nodes';
import type { Jobspec, PlacementRules } from '../../jobspec/types';
import type { WorkloadRow } from '../../queue/workload';
import type { Allocation, UnitCounts } from '../../resources/types';
import { type GangPlan, planGang } from './gang-plan';
import { type GangNode, Groups } from './groups';
import { Occupancy, type StateNode } from './occupancy';
import { amountRoom, type PlacedPods, type Span, type Surroundings, usedAmounts } from './placed-pods';
import { type Placed, placeInOrders } from './pod-set-orders';
import {
  mergedParts,
  type PodSetPlanned,
  podSetRequests,
  type SetPart,
  withinGang,
} from './pod-set-requests';
import { type PlannerJobs, PodsInTime } from './pods-in-time';
import { type RoomBounds, roomBounds } from './room-bounds';
import { WorkBudget } from './work-budget';

export interface RuleRequest {
  readonly row: WorkloadRow;
  readonly rules: PlacementRules;
  readonly jobid: number;
  readonly jobspec: Jobspec;
  /** The nodes that may be used, in the order in which they are filled. @default - all, in the order of Fluxion's state */
  readonly among?: readonly string[];
}

export interface UsableNode {
  readonly name: string;
  /** How many pods of the request fit. */
  readonly room: number;
  /** Units of the whole node. */
  readonly units: UnitCounts;
}

/** How many ends of jobs are tried one by one; the starts behind them are searched by halves. */
const NEAREST_STARTS = 8;
/** What the plans of one search may cost together; each of them may cost as much as one workload may. */
const SEARCH_STEPS = 4_000_000;

export class RulePlanner {
  private readonly occupancy: Occupancy;
  private readonly groups: Groups;
  private readonly pods: PodsInTime;

  constructor(
    private readonly state: Pick<FluxionState, 'nodes' | 'jobs'>,
    private readonly now: number,
    private readonly surroundings: Surroundings,
    jobs: PlannerJobs,
  ) {
    this.occupancy = new Occupancy(state, now);
    this.pods = new PodsInTime(this.occupancy, now, surroundings, jobs);
    this.groups = new Groups(state.nodes);
  }

  add(allocation: Allocation): void {
    this.remove(allocation.jobid);
    this.occupancy.add(allocation);
  }

  remove(jobid: number): void {
    this.occupancy.remove(jobid);
    this.pods.forget(jobid);
  }

  /** An allocation that starts now. @returns undefined if there is none */
  startNow(request: RuleRequest): Allocation | undefined {
    return this.allocate(request, this.now);
  }

  /**
   * The earliest allocation that starts when a job ends. @returns undefined if there is none, or if finding it costs more
   * than one workload may
   */
  startLater(request: RuleRequest): Allocation | undefined {
    const ends = this.occupancy.endsAfter();
    const work = new WorkBudget(SEARCH_STEPS);
    for (const start of ends.slice(0, NEAREST_STARTS)) {
      if (work.isSpent) return undefined;
      const allocation = this.allocate(request, start, work);
      if (allocation !== undefined) return allocation;
    }
    return this.searchByHalves(request, ends.slice(NEAREST_STARTS), work);
  }

  /**
   * How many of the pods fit the nodes if these are empty. Pods of others that have to be there are taken for granted,
   * because they may come.
   * @param withDown whether nodes that are down count
   */
  fittingEmpty(
    { jobspec, rules }: Pick<RuleRequest, 'jobspec' | 'rules'>,
    withDown: boolean,
  ): Pick<GangPlan, 'complete' | 'placed'> {
    const nodes = withDown ? this.state.nodes.map((node) => ({ ...node, up: true })) : this.state.nodes;
    const occupancy = new Occupancy({ nodes, jobs: [] }, this.now);
    const sets = podSetRequests(jobspec, { namespace: '', labels: {}, rules });
    const alone = sets.map((set) => ({ ...set, rules: withinGang(set, sets) }));
    const context = { occupancy, others: [], span: { start: this.now, end: this.now + 1 } };
    return placeInOrders(alone, (order) => this.planEach(order, context));
  }

  /** The more jobs have ended the more is free, but for reservations: so what is found is checked, and may be late. */
  private searchByHalves(
    request: RuleRequest,
    starts: readonly number[],
    work: WorkBudget,
  ): Allocation | undefined {
    let found: Allocation | undefined;
    let low = 0;
    let high = starts.length - 1;
    while (low <= high && !work.isSpent) {
      // The last start first: if it fails, nothing is planned.
      const middle = found === undefined ? high : (low + high) >> 1;
      const allocation = this.allocate(request, starts[middle]!, work);
      if (allocation === undefined && found === undefined) return undefined;
      if (allocation === undefined) low = middle + 1;
      else {
        found = allocation;
        high = middle - 1;
      }
    }
    return found;
  }

  /** The seconds after `time` at which units become free, in order. */
  endsAfter(time: number): readonly number[] {
    return this.occupancy.endsAfter(time);
  }

  /** Nodes on which pods of the request have room from `start` to its end, with all units that they have. */
  usableAt({ row, rules, jobid, jobspec }: RuleRequest, start: number): readonly UsableNode[] {
    const { occupancy } = this;
    const span = spanOf(jobspec, start);
    const context = { occupancy, others: this.pods.ofOthers(span, jobid), span };
    const sets = podSetRequests(jobspec, this.traitsOf(row, rules));
    const rooms = sets.map((set) => this.gangNodes(set, context));
    return occupancy.nodes
      .map(({ name, total: units }, place) => {
        const room = rooms.reduce((sum, nodes) => sum + nodes[place]!.room, 0);
        return { name, room, units };
      })
      .filter(({ room }) => room > 0);
  }

  /** For a search whose starts are tried in ascending order. */
  boundsFor({ jobspec }: Pick<WorkloadRow, 'jobspec'>): RoomBounds | undefined {
    return roomBounds(jobspec, this.occupancy);
  }

  private traitsOf(row: WorkloadRow, rules: PlacementRules) {
    return { ...this.surroundings.traitsOf(row), rules };
  }

  /** @returns undefined if it does not fit at this start */
  allocate(
    { row, rules, jobid, jobspec, among }: RuleRequest,
    start: number,
    search = new WorkBudget(SEARCH_STEPS),
    bounds?: RoomBounds,
  ): Allocation | undefined {
    const { occupancy } = this;
    const span = spanOf(jobspec, start);
    const sets = podSetRequests(jobspec, this.traitsOf(row, rules));
    // Pods without rules on nodes that are full decide nothing for a request without rules.
    const isPlain = bounds !== undefined && Object.keys(rules).length === 0;
    const others = this.pods.ofOthers(span, jobid, isPlain ? this.nodesWithRoom(bounds, start) : undefined);
    const context = { occupancy, others, span, among, search, bounds };
    const { complete, parts } = placeInOrders(sets, (order) => this.planEach(order, context));
    return complete ? { jobid, ...span, nodes: mergedParts(parts) } : undefined;
  }

  /** Places the pod sets of a gang in this order: each beside the units and pods of those before it. */
  private planEach(order: readonly PodSetPlanned[], context: PlanContext): GangParts {
    const { occupancy, span } = context;
    const others = [...context.others];
    const parts: SetPart[] = [];
    let placed = 0;
    try {
      for (const [i, set] of order.entries()) {
        if (context.search?.isSpent === true) return { complete: false, placed, parts: [] };
        const plan = this.planSet(set, order.slice(i + 1), { ...context, others });
        placed += plan.placed;
        if (!plan.complete) return { complete: false, failed: set, placed, parts: [] };
        const taken = partsOf(plan, set, context);
        parts.push(...taken);
        occupancy.add({ jobid: OWN_PARTS - i, ...span, nodes: taken.map(({ part }) => part) });
        others.push(...podsOfParts(taken, set, span));
      }
      return { complete: true, placed, parts };
    } finally {
      for (const i of order.keys()) occupancy.remove(OWN_PARTS - i);
    }
  }

  /** @param rest the pod sets that are placed after it */
  private planSet(set: PodSetPlanned, rest: readonly PodSetPlanned[], context: PlanContext): GangPlan {
    const { others, span, search } = context;
    const work = new WorkBudget();
    const nodes = this.sparing(rest, context, this.gangNodes(set, context));
    work.spend(nodes.length * rest.length);
    const gang = { start: span.start, pods: set.ask.pods, rules: set.rules, traits: set.traits };
    const plan = planGang(gang, nodes, others, this.groups, work);
    search?.charge(work);
    return plan;
  }

  /** The nodes that the rest of the gang can use least come first. A choice of nodes has an order of its own. */
  private sparing(
    rest: readonly PodSetPlanned[],
    context: PlanContext,
    nodes: readonly GangNode[],
  ): readonly GangNode[] {
    if (rest.length === 0 || context.among !== undefined) return nodes;
    const rooms = rest.map((set) => this.gangNodes(set, context));
    const roomOf = new Map(
      nodes.map(({ name }, place) => [name, rooms.reduce((sum, each) => sum + each[place]!.room, 0)]),
    );
    return nodes.toSorted((a, b) => roomOf.get(a.name)! - roomOf.get(b.name)!);
  }

  private gangNodes(
    { jobspec, ask: { perPod, exclusive }, rules: { amounts } }: PodSetPlanned,
    { occupancy, others, span, among, bounds }: PlanContext,
  ): readonly GangNode[] {
    const constraint = jobspec.attributes.system.constraints ?? {};
    const used = usedAmounts(others);
    const wanted = { pods: 1, ...amounts };
    const countRoom = (node: StateNode) =>
      Math.min(
        amountRoom(wanted, this.surroundings.amountsOf(node.name), used.get(node.name)),
        occupancy.room(node, perPod, exclusive, span),
      );
    const roomOf = (node: StateNode, place: number) => {
      if (bounds?.isFull(place, span.start) === true) return 0;
      const room = countRoom(node);
      bounds?.set(place, { room, until: occupancy.nextEnd(node.name, span) });
      return room;
    };
    const isMatch = matcherOf(constraint, occupancy.nodes);
    const allowed = among && new Set(among);
    const all = occupancy.nodes.map((node, place) => {
      const { name, properties, up } = node;
      const mayUse = up && allowed?.has(name) !== false && isMatch(place);
      return { name, properties, room: mayUse ? roomOf(node, place) : 0 };
    });
    return among === undefined ? all : inOrderOf(among, all);
  }

  private nodesWithRoom(bounds: RoomBounds, start: number): ReadonlySet<string> {
    const { nodes } = this.occupancy;
    return new Set(nodes.filter((_, place) => !bounds.isFull(place, start)).map(({ name }) => name));
  }
}

interface PlanContext {
  readonly occupancy: Occupancy;
  readonly others: readonly PlacedPods[];
  readonly span: Span;
  readonly among?: readonly string[] | undefined;
  readonly bounds?: RoomBounds | undefined;
  readonly search?: WorkBudget | undefined;
}

interface GangParts extends Placed<PodSetPlanned> {
  readonly placed: number;
  readonly parts: readonly SetPart[];
}

/** No job of the queue has this id, nor one below it: what the first pod sets of a gang take while the next ones are placed. */
const OWN_PARTS = -1;

function partsOf(
  { pods }: GangPlan,
  { name: set, ask: { perPod, exclusive } }: PodSetPlanned,
  { occupancy, span }: PlanContext,
): readonly SetPart[] {
  return [...pods].map(([node, count]) => {
    const part = occupancy.take(node, perPod, count, exclusive, span);
    return { set, pods: count, part };
  });
}

function podsOfParts(
  parts: readonly SetPart[],
  { traits }: PodSetPlanned,
  span: Span,
): readonly PlacedPods[] {
  return parts.map(({ part: { name: node }, pods: count }) => ({ ...span, traits, node, count }));
}

function spanOf(jobspec: Jobspec, start: number): Span {
  return { start, end: start + Math.ceil(jobspec.attributes.system.duration) };
}

/** Those of these names first; the others have no room, but count where pods are spread. */
function inOrderOf(names: readonly string[], nodes: readonly GangNode[]): readonly GangNode[] {
  const rank = new Map(names.map((name, i) => [name, i]));
  const rankOf = ({ name }: GangNode) => rank.get(name) ?? names.length;
  return nodes.toSorted((a, b) => rankOf(a) - rankOf(b));
}
