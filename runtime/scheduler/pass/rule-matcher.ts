/**
 * Fluxion as a pass sees it, with what kube-scheduler checks beside units and constraints. A workload with placement rules
 * is planned on the units that Fluxion's state leaves free, and Fluxion gets the result as a replay, which every server can
 * do. Any other workload is matched by Fluxion, and its answer is checked against the pods that are there.
 */
import { hasCode, messageOf } from '../../errors';
import type { FluxionState, MatchRequest, MatchResult } from '../../fluxion/types';
import { type Capacity, capacityOf, podsOn as podsOnEmpty } from '../../jobspec/capacity';
import { rulesText } from '../../jobspec/explain';
import { askOf } from '../../jobspec/jobspec';
import type { PodTraits } from '../../jobspec/placement-rules';
import { hasPlacementRules, podSetsOf } from '../../jobspec/pod-sets';
import type { Jobspec, PlacementRules } from '../../jobspec/types';
import type { UnitSettings } from '../../jobspec/units';
import type { WorkloadRow } from '../../queue/workload';
import type { Allocation, GraphNode } from '../../resources/types';
import { podsOfJob, podsOn, type Surroundings, traitsOfSet } from './placed-pods';
import { RepellingRules } from './repelling-rules';
import type { Reservation } from './reservations';
import { RulePlanner, type RuleRequest } from './rule-planner';
import type { Matcher } from './types';
import { COSTLY_NOW } from './wait-reasons';
import { TOO_COSTLY } from './work-budget';

export interface RuleMatcherOptions {
  readonly fluxion: Matcher;
  readonly surroundings: Surroundings;
  readonly now: number;
  readonly nodes: readonly GraphNode[];
  readonly units: UnitSettings;
  /** The rows of all queues. */
  readonly rows: readonly WorkloadRow[];
  /** Those from the pass before. */
  readonly reservations: readonly Reservation[];
}

export class RuleMatcher implements Matcher {
  private readonly rows: ReadonlyMap<number, WorkloadRow>;
  /** Created when the first workload needs it. */
  private planner: RulePlanner | undefined;
  private readonly podCounts: PodCounts;
  /** Jobs that start in this pass. */
  private readonly started = new Set<number>();
  /** As they were granted or reserved: Fluxion's state does not say which pod set has which units. */
  private readonly allocations = new Map<number, Allocation>();
  /** Of the pods that are there, or come in this pass. */
  private readonly repelling = new RepellingRules();
  /** By uid, until there are more of these rules: every workload that waits is judged several times. */
  private readonly repelled = new Map<string, boolean>();
  /** By node that is short of pods: how many outside the queue there are, once pods and not units keep a workload from starting. */
  crowding: ReadonlyMap<string, number> | undefined;

  constructor(private readonly options: RuleMatcherOptions) {
    const { rows, surroundings } = options;
    this.rows = new Map(rows.map((row) => [row.jobid, row]));
    this.podCounts = new PodCounts(options);
    for (const { traits } of surroundings.repelling()) this.addRules(traits);
    for (const row of rows) if (row.allocation !== null) this.addRepelling(row, row.allocation);
    for (const { jobid, allocation } of options.reservations) this.allocations.set(jobid, allocation);
  }

  async match(request: MatchRequest): Promise<MatchResult> {
    const { jobid, jobspec } = request;
    const row = this.rows.get(jobid)!;
    const isPlanned = podSetsOf(jobspec) !== undefined || this.isRepelled(row);
    const rules = jobspec.attributes.user?.placement ?? (isPlanned ? {} : undefined);
    if (rules !== undefined) return this.plan(request, { row, rules, jobid, jobspec });
    const answer = await this.options.fluxion.match(request);
    if (answer.status !== 'OK') return answer;
    if (!this.podCounts.allow(row, answer.allocation)) {
      this.noteCrowding();
      await this.options.fluxion.cancel(jobid);
      return this.plan(request, { row, rules: {}, jobid, jobspec });
    }
    this.record(answer.allocation);
    return answer;
  }

  /** What is planned from now on counts no pods that have ended before. */
  private noteCrowding(): void {
    if (this.crowding !== undefined) return;
    const { nodes, surroundings } = this.options;
    this.crowding = new Map(
      nodes
        .filter(({ name }) => !this.podCounts.hasRoomForAll(name))
        .map(({ name }) => [name, surroundings.unmanagedOn(name)]),
    );
    this.planner = undefined;
  }

  async satisfiable(jobspec: Jobspec): Promise<{ satisfiable: boolean; text: string }> {
    if (podSetsOf(jobspec) === undefined) {
      const answer = await this.options.fluxion.satisfiable(jobspec);
      if (!answer.satisfiable) return answer;
    }
    const { placement = {} } = jobspec.attributes.user ?? {};
    try {
      const { complete, text } = await this.onEmptyCluster(jobspec, placement, true);
      return { satisfiable: complete, text };
    } catch (error) {
      // With the nodes that are down it costs too much to tell: it is asked again when they are up.
      if (!hasCode(error, TOO_COSTLY)) throw error;
      return { satisfiable: true, text: error.message };
    }
  }

  /** How many pods of the jobspec the empty cluster takes by number, nodes that are down included; Infinity: enough. */
  podRoom(jobspec: Jobspec): number {
    return this.podCounts.roomFor(jobspec);
  }

  /**
   * How many pods of the jobspec its placement rules allow on the empty cluster, nodes that are down included.
   * @param most as many have units; a plan that costs too much finds no fewer
   */
  async widthOf(jobspec: Jobspec, most: number): Promise<number> {
    const { placement: rules = {} } = jobspec.attributes.user ?? {};
    try {
      return (await this.currentPlanner()).fittingEmpty({ jobspec, rules }, true).placed;
    } catch (error) {
      if (!hasCode(error, TOO_COSTLY)) throw error;
      return most;
    }
  }

  async cancel(jobid: number): Promise<void> {
    await this.options.fluxion.cancel(jobid);
    this.started.delete(jobid);
    this.planner?.remove(jobid);
    this.podCounts.remove(jobid);
  }

  async replay(allocations: readonly Allocation[], now: number): Promise<void> {
    await this.options.fluxion.replay(allocations, now);
    for (const allocation of allocations) this.record(allocation);
  }

  state(): Promise<FluxionState> {
    return this.options.fluxion.state();
  }

  /** A plan that costs too much is none: its workload would take the time of all others in every pass. */
  private async plan(asked: MatchRequest, request: RuleRequest): Promise<MatchResult> {
    try {
      return await this.planWithin(asked, request);
    } catch (error) {
      if (!hasCode(error, TOO_COSTLY)) throw error;
      return this.tooCostly(request);
    }
  }

  /** INVALID for good only if it costs as much on an empty cluster. */
  private async tooCostly(request: RuleRequest): Promise<MatchResult> {
    try {
      const refusal = await this.refusal(request);
      return refusal.status === 'BUSY' ? { status: 'INVALID', text: COSTLY_NOW } : refusal;
    } catch (error) {
      if (!hasCode(error, TOO_COSTLY)) throw error;
      return { status: 'INVALID', text: error.message };
    }
  }

  private async planWithin({ operation, now }: MatchRequest, request: RuleRequest): Promise<MatchResult> {
    const planner = await this.currentPlanner();
    const mayReserve = operation === 'allocate_orelse_reserve';
    const allocation = planner.startNow(request) ?? (mayReserve ? planner.startLater(request) : undefined);
    if (allocation === undefined) return this.refusal(request);
    try {
      await this.replay([allocation], now);
    } catch (error) {
      // Fluxion knows of something on these units that its state does not show.
      if (!hasCode(error, 'FLUXQ_FLUXION_REPLAY')) throw error;
      return { status: 'BUSY', text: messageOf(error) };
    }
    return { status: 'OK', allocation, reserved: allocation.start > now };
  }

  /** BUSY, or UNSATISFIABLE if it does not fit the nodes that are up when they are empty. */
  private async refusal({ jobspec, rules }: RuleRequest): Promise<MatchResult> {
    const { complete, text } = await this.onEmptyCluster(jobspec, rules, false);
    return { status: complete ? 'BUSY' : 'UNSATISFIABLE', text };
  }

  private async onEmptyCluster(jobspec: Jobspec, rules: PlacementRules, withDown: boolean) {
    const planner = await this.currentPlanner();
    const { complete, placed } = planner.fittingEmpty({ jobspec, rules }, withDown);
    return { complete, text: rulesText(jobspec, placed, this.options.units) };
  }

  /** The planner, with everything that Fluxion holds. */
  async currentPlanner(): Promise<RulePlanner> {
    const { fluxion, now, surroundings } = this.options;
    this.planner ??= new RulePlanner(await fluxion.state(), now, surroundings, {
      rowOf: (jobid) => this.rows.get(jobid),
      allocationOf: (jobid) => this.rows.get(jobid)?.allocation ?? this.allocations.get(jobid),
      hasStarted: ({ jobid, allocation }) => allocation !== null || this.started.has(jobid),
    });
    return this.planner;
  }

  private record(allocation: Allocation): void {
    const row = this.rows.get(allocation.jobid)!;
    this.allocations.set(allocation.jobid, allocation);
    if (allocation.start <= this.options.now) this.started.add(allocation.jobid);
    this.planner?.add(allocation);
    this.podCounts.add(row, allocation);
    this.addRepelling(row, allocation);
  }

  private addRepelling(row: WorkloadRow, allocation: Allocation): void {
    if (!hasPlacementRules(row.jobspec)) return;
    for (const { traits } of podsOfJob(row, allocation, this.options.surroundings)) this.addRules(traits);
  }

  private addRules({ rules }: PodTraits): void {
    for (const rule of rules?.apart ?? []) if (this.repelling.add(rule)) this.repelled.clear();
  }

  /** Anti-affinity works both ways: pods that are there refuse others. */
  isRepelled(row: WorkloadRow): boolean {
    if (this.repelling.isEmpty) return false;
    const known = this.repelled.get(row.uid);
    if (known !== undefined) return known;
    const all = podSetsOf(row.jobspec)?.map(traitsOfSet) ?? [this.options.surroundings.traitsOf(row)];
    const isRepelled = all.some((traits) => this.repelling.repel(traits));
    this.repelled.set(row.uid, isRepelled);
    return isRepelled;
  }
}

/** Pods of the queue on each node, for the number of pods that a node takes. */
class PodCounts {
  /** Undefined until a node is so full that pods have to be counted. */
  private byNode: Map<string, number> | undefined;
  private readonly jobs = new Map<number, readonly [WorkloadRow, Allocation]>();
  /** Units are read only of nodes that are granted. */
  private readonly units: ReadonlyMap<string, GraphNode['units']>;

  constructor(private readonly options: RuleMatcherOptions) {
    this.units = unitsByName(options.nodes);
    for (const row of options.rows)
      if (row.allocation !== null) this.jobs.set(row.jobid, [row, row.allocation]);
  }

  add(row: WorkloadRow, allocation: Allocation): void {
    this.remove(allocation.jobid);
    if (allocation.start > this.options.now) return;
    this.jobs.set(allocation.jobid, [row, allocation]);
    this.count(row, allocation, 1);
  }

  remove(jobid: number): void {
    const job = this.jobs.get(jobid);
    if (job === undefined) return;
    this.count(...job, -1);
    this.jobs.delete(jobid);
  }

  private count(row: WorkloadRow, { nodes }: Allocation, sign: 1 | -1): void {
    const counts = this.byNode;
    if (counts === undefined) return;
    for (const part of nodes) counts.set(part.name, (counts.get(part.name) ?? 0) + sign * podsOn(row, part));
  }

  private countOn(node: string): number {
    if (this.byNode === undefined) {
      this.byNode = new Map();
      for (const job of this.jobs.values()) this.count(...job, 1);
    }
    return this.byNode.get(node) ?? 0;
  }

  /** How many pods of the jobspec the nodes take if they are empty; Infinity: any node takes all. */
  roomFor(jobspec: Jobspec): number {
    const { nodes, surroundings } = this.options;
    const { pods, perPod, exclusive } = askOf(jobspec);
    const known = countedPods.get(nodes) ?? countPods(nodes, surroundings);
    countedPods.set(nodes, known);
    if (pods <= known.fewest) return Infinity;
    const ask = { perPod: { ...perPod, pods: 1 }, exclusive };
    return known.capacity
      .classesFor(jobspec)
      .reduce((room, { units, count }) => room + count * podsOnEmpty(units, ask), 0);
  }

  /** Whether the nodes take as many pods more. */
  allow(row: WorkloadRow, { nodes }: Allocation): boolean {
    const { unmanagedOn, amountsOf } = this.options.surroundings;
    return nodes.every((part) => {
      if (this.hasRoomForAll(part.name)) return true;
      const { pods: most = Infinity } = amountsOf(part.name);
      return this.countOn(part.name) + unmanagedOn(part.name) + podsOn(row, part) <= most;
    });
  }

  /** Whether the number of pods limits no pod of the queue there: each takes a core unit at least. */
  hasRoomForAll(node: string): boolean {
    const { unmanagedOn, amountsOf } = this.options.surroundings;
    const { pods: most = Infinity } = amountsOf(node);
    return (this.units.get(node)?.core ?? 0) + unmanagedOn(node) <= most;
  }
}

interface CountedPods {
  /** As many pods as every node takes. */
  readonly fewest: number;
  /** Nodes of which `pods` is a unit like others. */
  readonly capacity: Capacity;
}

const countedPods = new WeakMap<readonly GraphNode[], CountedPods>();

function countPods(nodes: readonly GraphNode[], { amountsOf }: Pick<Surroundings, 'amountsOf'>): CountedPods {
  const most = nodes.map(({ name }) => amountsOf(name).pods ?? Infinity);
  return {
    fewest: most.reduce((fewest, pods) => Math.min(fewest, pods), Infinity),
    capacity: capacityOf(nodes.map((node, i) => ({ ...node, units: { ...node.units, pods: most[i]! } }))),
  };
}

const namedUnits = new WeakMap<readonly GraphNode[], ReadonlyMap<string, GraphNode['units']>>();

/** The same for as long as no node changes. */
function unitsByName(nodes: readonly GraphNode[]): ReadonlyMap<string, GraphNode['units']> {
  const known = namedUnits.get(nodes) ?? new Map(nodes.map(({ name, units }) => [name, units]));
  namedUnits.set(nodes, known);
  return known;
}
