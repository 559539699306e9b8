/**
 * Which workloads to evict for one of higher priority: as few as suffice, of those the youngest. Free units are counted
 * node by node, so no eviction has to be tried in Fluxion.
 */

import type { FluxionState } from '../../fluxion/types';
import { podsOn } from '../../jobspec/capacity';
import { type Ask, askOf } from '../../jobspec/jobspec';
import { matchingNodes } from '../../jobspec/matching-nodes';
import type { Jobspec } from '../../jobspec/types';
import { countIdset } from '../../resources/idset';
import type { Allocation, UnitCounts } from '../../resources/types';

/** A workload that may be evicted. */
export interface EvictionCandidate {
  readonly uid: string;
  readonly allocation: Allocation;
  /** The youngest has the highest. */
  readonly allocatedAt: number | null;
}

/** Free units on each node that the jobspec may use. Allocations can be released and taken to see what would fit. */
export class FreeCapacity {
  private readonly nodes = new Map<
    string,
    { readonly total: UnitCounts; readonly free: Record<string, number> }
  >();
  private readonly ask: Ask;

  constructor(jobspec: Jobspec, state: Pick<FluxionState, 'nodes'>) {
    this.ask = askOf(jobspec);
    const constraint = jobspec.attributes.system.constraints ?? {};
    for (const { name, up, total, free } of matchingNodes(constraint, state.nodes))
      if (up) this.nodes.set(name, { total, free: { ...free } });
  }

  release(allocation: Allocation): void {
    this.shift(allocation, 1);
  }

  take(allocation: Allocation): void {
    this.shift(allocation, -1);
  }

  private shift({ nodes }: Allocation, sign: 1 | -1): void {
    for (const { name, units } of nodes) {
      const free = this.nodes.get(name)?.free;
      if (free === undefined) continue;
      for (const type in units) free[type] = (free[type] ?? 0) + sign * countIdset(units[type]!);
    }
  }

  get suffices(): boolean {
    return this.pods() >= this.ask.pods;
  }

  /** How many more pods fit without this candidate. */
  gain({ allocation }: EvictionCandidate): number {
    const before = this.pods(allocation);
    this.release(allocation);
    const after = this.pods(allocation);
    this.take(allocation);
    return after - before;
  }

  /** Pods that fit on the nodes of this allocation. @param on @default - all nodes */
  private pods(on?: Allocation): number {
    const names = on === undefined ? this.nodes.keys() : on.nodes.map(({ name }) => name);
    let sum = 0;
    for (const name of names) sum += this.podsAt(name);
    return sum;
  }

  private podsAt(name: string): number {
    const node = this.nodes.get(name);
    if (node === undefined) return 0;
    const { total, free } = node;
    if (this.ask.exclusive && Object.keys(total).some((type) => (free[type] ?? 0) < total[type]!)) return 0;
    return Math.max(0, podsOn(free, this.ask));
  }
}

/** @returns none if it fits already; undefined if it would not fit without all candidates either */
export function victims<C extends EvictionCandidate>(
  capacity: FreeCapacity,
  candidates: readonly C[],
): readonly C[] | undefined {
  if (capacity.suffices) return [];
  for (const { allocation } of candidates) capacity.release(allocation);
  const possible = capacity.suffices;
  for (const { allocation } of candidates) capacity.take(allocation);
  if (!possible) return undefined;
  const youngest = [...candidates].sort((a, b) => (b.allocatedAt ?? 0) - (a.allocatedAt ?? 0));
  return withoutSuperfluous(capacity, gather(capacity, youngest));
}

/** The candidate that frees most comes first; of equal ones the youngest. */
function gather<C extends EvictionCandidate>(capacity: FreeCapacity, youngest: readonly C[]): C[] {
  const left = [...youngest];
  const taken: C[] = [];
  while (!capacity.suffices) {
    const gains = left.map((candidate) => capacity.gain(candidate));
    const best = firstSufficient(capacity, left) ?? gains.indexOf(Math.max(...gains));
    const [victim] = left.splice(best, 1);
    capacity.release(victim!.allocation);
    taken.push(victim!);
  }
  return taken;
}

/** The youngest candidate that alone frees what is missing. */
function firstSufficient(
  capacity: FreeCapacity,
  candidates: readonly EvictionCandidate[],
): number | undefined {
  const index = candidates.findIndex(({ allocation }) => {
    capacity.release(allocation);
    const { suffices } = capacity;
    capacity.take(allocation);
    return suffices;
  });
  return index < 0 ? undefined : index;
}

/** Spares those that later choices made superfluous, the oldest first. */
function withoutSuperfluous<C extends EvictionCandidate>(capacity: FreeCapacity, taken: readonly C[]): C[] {
  const oldest = [...taken].sort((a, b) => (a.allocatedAt ?? 0) - (b.allocatedAt ?? 0));
  return oldest.filter(({ allocation }) => {
    capacity.take(allocation);
    if (capacity.suffices) return false;
    capacity.release(allocation);
    return true;
  });
}
