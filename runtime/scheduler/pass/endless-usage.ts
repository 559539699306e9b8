/**
 * What services and pods outside the queue take from the nodes. Nobody knows when they end, so a workload that does not
 * fit beside them can't be planned: it reserves nothing and blocks nobody. Counting the nodes tells that without Fluxion,
 * and also which services would have to leave.
 */

import { podsOn } from '../../jobspec/capacity';
import { type Ask, askOf } from '../../jobspec/jobspec';
import { matchingNodes } from '../../jobspec/matching-nodes';
import { setsOf } from '../../jobspec/pod-sets';
import type { Jobspec } from '../../jobspec/types';
import { isImmovable, type WorkloadRow } from '../../queue/workload';
import { isEndless } from '../../resources/endless';
import type { AllocatedNode, GraphNode, UnitCounts } from '../../resources/types';
import { countsOf } from '../../resources/unit-counts';

/** What keeps a workload from being planned. */
export interface EndlessBlock {
  /** Services that would have to leave, the oldest first, at most {@link NAMES}. */
  readonly services: readonly Pick<WorkloadRow, 'namespace' | 'name'>[];
  /** Whether there are more services than are named. */
  readonly more: boolean;
  /** Nodes on which pods outside the queue would have to end too, in the order of the graph. */
  readonly unmanaged: readonly string[];
}

/** A message that named all services would be long, and would change whenever one of them does. */
const NAMES = 3;
/** How many shapes are counted over all nodes in one pass; the rest is left to Fluxion. */
const SCANS = 20;

/** A workload that nobody will end: a Pod without a walltime, but not one that may be preempted. */
export function isService(row: WorkloadRow): boolean {
  const { allocation, preemptible } = row;
  return allocation !== null && isEndless(allocation) && (isImmovable(row) || !preemptible);
}

/** Those that a message names. */
export function oldestOf(services: readonly WorkloadRow[]): Pick<EndlessBlock, 'services' | 'more'> {
  const there = services.toSorted(
    (a, b) => (a.allocatedAt ?? Infinity) - (b.allocatedAt ?? Infinity) || a.seq - b.seq,
  );
  return { services: there.slice(0, NAMES), more: there.length > NAMES };
}

type Usage = Map<string, Record<string, number>>;

export class EndlessUsage {
  private readonly ofServices: Usage = new Map();
  private readonly verdicts = new Map<string, EndlessBlock | undefined>();
  private readonly rooms = new Map<string, number>();
  private scansLeft = SCANS;
  private roomsLeft = SCANS;
  private fixed: EndlessUsage | undefined;

  /** @param unmanaged units that pods outside the queue use, by node */
  constructor(
    private readonly nodes: readonly GraphNode[],
    private readonly services: readonly WorkloadRow[],
    private readonly unmanaged: ReadonlyMap<string, UnitCounts>,
  ) {
    for (const { allocation } of services) for (const node of allocation!.nodes) this.add(node);
  }

  /** The same object, ready for the next pass, if it is still true; else a new one. */
  next(
    nodes: readonly GraphNode[],
    services: readonly WorkloadRow[],
    unmanaged: ReadonlyMap<string, UnitCounts>,
  ): EndlessUsage {
    const same =
      nodes === this.nodes &&
      services.length === this.services.length &&
      services.every(({ allocation }, i) => allocation === this.services[i]!.allocation) &&
      sameUsage(unmanaged, this.unmanaged);
    if (!same) return new EndlessUsage(nodes, services, unmanaged);
    this.renew();
    return this;
  }

  private renew(): void {
    this.scansLeft = SCANS;
    this.roomsLeft = SCANS;
    if (this.fixed !== this) this.fixed?.renew();
  }

  /** The same without services that can be suspended: those of queues that have borrowed may have to leave. */
  get ofImmovable(): EndlessUsage {
    const { nodes, services, unmanaged } = this;
    this.fixed ??= services.every(isImmovable)
      ? this
      : new EndlessUsage(nodes, services.filter(isImmovable), unmanaged);
    return this.fixed;
  }

  /** @returns why the row can't be planned; undefined if it can, as far as counting tells */
  blocks(row: Pick<WorkloadRow, 'shape' | 'jobspec'>): EndlessBlock | undefined {
    if (this.services.length === 0 && this.unmanaged.size === 0) return undefined;
    if (this.verdicts.has(row.shape)) return this.verdicts.get(row.shape);
    if (this.scansLeft === 0) return undefined;
    this.scansLeft -= 1;
    const verdict = this.firstBlock(row.jobspec);
    this.verdicts.set(row.shape, verdict);
    return verdict;
  }

  /** How many pods of the row the nodes that are up hold beside what is endless; undefined: all, as far as is known. */
  roomFor({ shape, jobspec }: Pick<WorkloadRow, 'shape' | 'jobspec'>): number | undefined {
    if (this.services.length === 0 && this.unmanaged.size === 0) return undefined;
    const known = this.rooms.get(shape);
    if (known !== undefined || this.roomsLeft === 0) return known;
    this.roomsLeft -= 1;
    const room = roomOn(askOf(jobspec), this.nodesFor(jobspec), [this.ofServices, this.unmanaged]);
    this.rooms.set(shape, room);
    return room;
  }

  private nodesFor(jobspec: Jobspec): readonly GraphNode[] {
    const constraint = jobspec.attributes.system.constraints ?? {};
    return matchingNodes(constraint, this.nodes).filter(({ up }) => up !== false);
  }

  /** Each pod set is counted as if it were alone. */
  private firstBlock(jobspec: Jobspec): EndlessBlock | undefined {
    for (const set of setsOf(jobspec)) {
      const block = this.judge(set);
      if (block !== undefined) return block;
    }
    return undefined;
  }

  private judge(jobspec: Jobspec): EndlessBlock | undefined {
    const ask = askOf(jobspec);
    const nodes = this.nodesFor(jobspec);
    const both = [this.ofServices, this.unmanaged];
    if (fits(ask, nodes, both)) return undefined;
    if (fits(ask, nodes, [this.unmanaged])) return { ...this.serving(ask, nodes), unmanaged: [] };
    const unmanaged = this.gaining(ask, nodes, this.unmanaged, this.ofServices);
    if (fits(ask, nodes, [this.ofServices])) return { services: [], more: false, unmanaged };
    // Without either it does not fit the nodes that are up: that is another reason.
    return fits(ask, nodes, []) ? { ...this.serving(ask, nodes), unmanaged } : undefined;
  }

  /** The services on nodes that would hold more of the pods without them. */
  private serving(ask: Ask, nodes: readonly GraphNode[]): Pick<EndlessBlock, 'services' | 'more'> {
    const gained = new Set(this.gaining(ask, nodes, this.ofServices, this.unmanaged));
    return oldestOf(
      this.services.filter(({ allocation }) => allocation!.nodes.some(({ name }) => gained.has(name))),
    );
  }

  /** The nodes that would hold more of the pods without `one`, with or without `other`. */
  private gaining(
    ask: Ask,
    nodes: readonly GraphNode[],
    one: ReadonlyMap<string, UnitCounts>,
    other: ReadonlyMap<string, UnitCounts>,
  ): readonly string[] {
    return nodes
      .filter(
        (node) =>
          podsBeside(ask, node, []) > podsBeside(ask, node, [one]) ||
          podsBeside(ask, node, [other]) > podsBeside(ask, node, [one, other]),
      )
      .map(({ name }) => name);
  }

  private add(node: AllocatedNode): void {
    const used = this.ofServices.get(node.name) ?? {};
    this.ofServices.set(node.name, used);
    const counts = keptCounts(node);
    for (const type in counts) used[type] = (used[type] ?? 0) + counts[type]!;
  }
}

/** Allocations never change, so the counts are kept with them. */
const counted = new WeakMap<AllocatedNode, UnitCounts>();

function keptCounts(node: AllocatedNode): UnitCounts {
  const known = counted.get(node);
  if (known !== undefined) return known;
  const counts = countsOf(node.units);
  counted.set(node, counts);
  return counts;
}

type Used = readonly ReadonlyMap<string, UnitCounts>[];

function fits(ask: Ask, nodes: readonly GraphNode[], used: Used): boolean {
  return roomOn(ask, nodes, used) >= ask.pods;
}

/** How many of the pods fit beside this usage; no more are counted than are asked for. */
function roomOn(ask: Ask, nodes: readonly GraphNode[], used: Used): number {
  let pods = 0;
  for (const node of nodes) {
    pods += podsBeside(ask, node, used);
    if (pods >= ask.pods) return ask.pods;
  }
  return pods;
}

/** How many of the pods fit the node beside this usage; with `exclusive` none on a node that is used at all. */
function podsBeside(ask: Ask, { name, units }: GraphNode, used: Used): number {
  const there = used.map((usage) => usage.get(name)).filter((counts) => counts !== undefined);
  if (there.length === 0) return podsOn(units, ask);
  if (ask.exclusive && there.some((counts) => Object.values(counts).some((count) => count > 0))) return 0;
  const free = Object.fromEntries(
    Object.entries(units).map(([type, total]) => [
      type,
      total - there.reduce((sum, counts) => sum + (counts[type] ?? 0), 0),
    ]),
  );
  return Math.max(0, podsOn(free, ask));
}

function sameUsage(a: ReadonlyMap<string, UnitCounts>, b: ReadonlyMap<string, UnitCounts>): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [name, counts] of a) {
    const others = b.get(name);
    if (others === counts) continue;
    if (others === undefined || Object.keys(counts).length !== Object.keys(others).length) return false;
    if (Object.entries(counts).some(([type, count]) => others[type] !== count)) return false;
  }
  return true;
}
