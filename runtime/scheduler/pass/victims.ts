/**
 * Whom to take back for a more urgent workload: as few as will do, of those the
 * youngest. Counts free units node by node, so it can tell without trying.
 */

import type { FluxionState } from '../../fluxion/types';
import { podsOn } from '../../jobspec/capacity';
import { matches } from '../../jobspec/constraints';
import { type Ask, askOf } from '../../jobspec/jobspec';
import type { Jobspec } from '../../jobspec/types';
import { countIdset } from '../../resources/idset';
import type { Allocation, UnitCounts } from '../../resources/types';

/** Until pods that are told to go are gone: Kubernetes' grace of 30 seconds, and time to see it. */
export const LEAVING_SECONDS = 45;

/** May be taken back. */
export interface Candidate {
  readonly uid: string;
  readonly allocation: Allocation;
  /** Later is younger. */
  readonly allocatedAt: number | null;
}

/** What is free on each node that the jobspec may use; to be changed by what if. */
export class Room {
  private readonly nodes = new Map<
    string,
    { readonly total: UnitCounts; readonly free: Record<string, number> }
  >();
  private readonly ask: Ask;

  constructor(jobspec: Jobspec, state: Pick<FluxionState, 'nodes'>) {
    this.ask = askOf(jobspec);
    const constraint = jobspec.attributes.system.constraints ?? {};
    for (const { name, up, total, free, properties } of state.nodes)
      if (up && matches(constraint, { name, units: total, properties }))
        this.nodes.set(name, { total, free: { ...free } });
  }

  /** @param sign 1 gives the units back, -1 takes them */
  shift({ nodes }: Allocation, sign: 1 | -1): void {
    for (const { name, units } of nodes) {
      const free = this.nodes.get(name)?.free;
      if (free === undefined) continue;
      for (const type in units) free[type] = (free[type] ?? 0) + sign * countIdset(units[type]!);
    }
  }

  /** Pods that fit on these nodes, on all without an allocation. */
  pods(on?: Allocation): number {
    const names = on === undefined ? this.nodes.keys() : on.nodes.map(({ name }) => name);
    let sum = 0;
    for (const name of names) sum += this.podsAt(name);
    return sum;
  }

  get suffices(): boolean {
    return this.pods() >= this.ask.pods;
  }

  private podsAt(name: string): number {
    const node = this.nodes.get(name);
    if (node === undefined) return 0;
    const { total, free } = node;
    if (this.ask.exclusive && Object.keys(total).some((type) => (free[type] ?? 0) < total[type]!)) return 0;
    return Math.max(0, podsOn(free, this.ask));
  }

  /** How many more pods fit without this one. */
  gain({ allocation }: Candidate): number {
    const before = this.pods(allocation);
    this.shift(allocation, 1);
    const after = this.pods(allocation);
    this.shift(allocation, -1);
    return after - before;
  }
}

/** @returns none if there is room already; undefined if not even all of them would do */
export function victims<C extends Candidate>(room: Room, candidates: readonly C[]): readonly C[] | undefined {
  if (room.suffices) return [];
  for (const { allocation } of candidates) room.shift(allocation, 1);
  const possible = room.suffices;
  for (const { allocation } of candidates) room.shift(allocation, -1);
  if (!possible) return undefined;
  const youngest = [...candidates].sort((a, b) => (b.allocatedAt ?? 0) - (a.allocatedAt ?? 0));
  return needed(room, gather(room, youngest));
}

/** Most useful first, the youngest of those. */
function gather<C extends Candidate>(room: Room, youngest: readonly C[]): C[] {
  const left = [...youngest];
  const taken: C[] = [];
  while (!room.suffices) {
    const gains = left.map((candidate) => room.gain(candidate));
    const best = single(room, left) ?? gains.indexOf(Math.max(...gains));
    const [victim] = left.splice(best, 1);
    room.shift(victim!.allocation, 1);
    taken.push(victim!);
  }
  return taken;
}

/** The youngest that is all that is missing. */
function single(room: Room, candidates: readonly Candidate[]): number | undefined {
  const index = candidates.findIndex(({ allocation }) => {
    room.shift(allocation, 1);
    const { suffices } = room;
    room.shift(allocation, -1);
    return suffices;
  });
  return index < 0 ? undefined : index;
}

/** Without those that the others made superfluous, the oldest first. */
function needed<C extends Candidate>(room: Room, taken: readonly C[]): C[] {
  const oldest = [...taken].sort((a, b) => (a.allocatedAt ?? 0) - (b.allocatedAt ?? 0));
  return oldest.filter(({ allocation }) => {
    room.shift(allocation, -1);
    if (room.suffices) return false;
    room.shift(allocation, 1);
    return true;
  });
}
