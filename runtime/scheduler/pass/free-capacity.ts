import type { FluxionState } from '../../fluxion/types';
import { podsOn } from '../../jobspec/capacity';
import { type Ask, askOf } from '../../jobspec/jobspec';
import { matchingNodes } from '../../jobspec/matching-nodes';
import { uniformOf } from '../../jobspec/pod-sets';
import type { Jobspec } from '../../jobspec/types';
import { formatIdset, parseIdset } from '../../resources/idset';
import type { Allocation, UnitCounts } from '../../resources/types';
import { countsOf } from '../../resources/unit-counts';

interface Node {
  readonly total: UnitCounts;
  readonly free: Record<string, number>;
  /** How many pods of the request fit. */
  pods: number;
}

/**
 * Free units on each node that a request may use. Allocations can be released and taken to see what would fit: units are
 * counted node by node, so nothing has to be tried in Fluxion.
 */
export class FreeCapacity {
  private readonly nodes = new Map<string, Node>();
  private readonly ask: Ask;
  private pods = 0;

  constructor(given: Jobspec, state: Pick<FluxionState, 'nodes'>) {
    const jobspec = uniformOf(given);
    this.ask = askOf(jobspec);
    const constraint = jobspec.attributes.system.constraints ?? {};
    for (const { name, up, total, free } of matchingNodes(constraint, state.nodes)) {
      if (!up) continue;
      const node = { total, free: { ...free }, pods: 0 };
      this.nodes.set(name, node);
      this.count(node);
    }
  }

  /** How many pods of the request do not fit; 0: all of them fit. */
  get missing(): number {
    return Math.max(0, this.ask.pods - this.pods);
  }

  release(units: Units): void {
    this.shift(units, 1);
  }

  take(units: Units): void {
    this.shift(units, -1);
  }

  private shift(allocation: Units, sign: 1 | -1): void {
    for (const { name, units } of partsOf(allocation)) {
      const node = this.nodes.get(name);
      if (node === undefined) continue;
      const { free } = node;
      for (const type in units) free[type] = (free[type] ?? 0) + sign * units[type]!;
      this.count(node);
    }
  }

  private count(node: Node): void {
    const pods = this.podsAt(node);
    this.pods += pods - node.pods;
    node.pods = pods;
  }

  private podsAt({ total, free }: Node): number {
    if (this.ask.exclusive && Object.keys(total).some((type) => (free[type] ?? 0) < total[type]!)) return 0;
    return Math.max(0, podsOn(free, this.ask));
  }
}

/** Node -> type of unit -> numbers of units. */
type UnitsByNode = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<number>>>;

/** The units of allocations. */
export function unitsByNode(allocations: readonly Units[]): UnitsByNode {
  const found = new Map<string, Map<string, Set<number>>>();
  for (const { name, units } of allocations.flatMap(({ nodes }) => nodes)) {
    const onNode = found.get(name) ?? new Map<string, Set<number>>();
    found.set(name, onNode);
    for (const [type, ids] of Object.entries(units))
      onNode.set(type, new Set([...(onNode.get(type) ?? []), ...parseIdset(ids)]));
  }
  return found;
}

/** What an allocation takes of the nodes beside the units of others. */
export function withoutUnits(allocation: Units, others: UnitsByNode): Units {
  if (!allocation.nodes.some(({ name }) => others.has(name))) return allocation;
  const nodes = allocation.nodes.map((part) => {
    const taken = others.get(part.name);
    const units = Object.entries(part.units).map(([type, ids]) => {
      const left = parseIdset(ids).filter((id) => taken?.get(type)?.has(id) !== true);
      return [type, formatIdset(left)] as const;
    });
    return { ...part, units: Object.fromEntries(units) };
  });
  return { nodes };
}

interface CountedPart {
  readonly name: string;
  readonly units: UnitCounts;
}

type Units = Pick<Allocation, 'nodes'>;

/** The search for victims releases and takes each candidate hundreds of times. */
const counted = new WeakMap<Units, readonly CountedPart[]>();

function partsOf(allocation: Units): readonly CountedPart[] {
  const known =
    counted.get(allocation) ?? allocation.nodes.map(({ name, units }) => ({ name, units: countsOf(units) }));
  counted.set(allocation, known);
  return known;
}
