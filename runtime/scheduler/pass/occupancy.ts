/** Which units of which node are taken from when to when: Fluxion's state, kept up to date through a pass. */
import type { FluxionState } from '../../fluxion/types';
import { formatRanges, type IdRange, parseRanges } from '../../resources/idset';
import type { AllocatedNode, Allocation, UnitCounts } from '../../resources/types';
import type { Span } from './placed-pods';
import { SortedTimes } from './sorted-times';

export type StateNode = FluxionState['nodes'][number];

/** What is free on a node from `since` on, until a job there ends. */
interface RoomFrom {
  readonly since: number;
  readonly until: number;
  readonly room: number;
}

interface Hold extends Span {
  readonly jobid: number;
  readonly part: AllocatedNode;
  /** By type, as they are needed: the same part is looked at for every start that is tried. */
  readonly ranges: Map<string, readonly IdRange[]>;
}

function rangesOf({ part, ranges }: Hold, type: string): readonly IdRange[] {
  const known = ranges.get(type) ?? parseRanges(part.units[type] ?? '');
  ranges.set(type, known);
  return known;
}

export class Occupancy {
  readonly nodes: readonly StateNode[];
  private readonly held = new Map<string, Hold[]>();
  readonly jobs = new Map<number, Allocation>();
  private readonly jobEnds = new SortedTimes();
  /** By request and node. A pass plans many workloads that ask for the same. */
  private readonly rooms = new Map<string, Map<string, RoomFrom[]>>();
  private readonly totals = new Map<string, UnitCounts>();

  constructor(
    { nodes, jobs }: Pick<FluxionState, 'nodes' | 'jobs'>,
    private readonly now: number,
  ) {
    this.nodes = nodes;
    for (const { name, total } of nodes) this.totals.set(name, total);
    for (const job of jobs) this.add(job);
  }

  add(allocation: Allocation): void {
    const { jobid, start, nodes } = allocation;
    const end = this.endOf(allocation);
    this.jobs.set(jobid, allocation);
    this.jobEnds.add(end);
    for (const part of nodes) {
      const holds = this.held.get(part.name) ?? [];
      holds.push({ jobid, start, end, part, ranges: new Map() });
      this.held.set(part.name, holds);
      this.forgetRooms(part.name);
    }
  }

  private forgetRooms(node: string): void {
    for (const byNode of this.rooms.values()) byNode.delete(node);
  }

  /** A job past its end still holds its units, as in Fluxion for one more second. */
  private endOf({ end }: Allocation): number {
    return Math.max(end, this.now + 1);
  }

  remove(jobid: number): void {
    const allocation = this.jobs.get(jobid);
    if (allocation === undefined) return;
    this.jobs.delete(jobid);
    this.jobEnds.remove(this.endOf(allocation));
    for (const { name } of allocation.nodes) {
      const rest = this.held.get(name)!.filter((hold) => hold.jobid !== jobid);
      this.held.set(name, rest);
      this.forgetRooms(name);
    }
  }

  /** The seconds after `time`, and after now, at which units become free, in order. */
  endsAfter(time = this.now): readonly number[] {
    return this.jobEnds.after(time);
  }

  /** How many pods with these units fit the node through the whole span. */
  room({ name, total }: StateNode, perPod: UnitCounts, exclusive: boolean, span: Span): number {
    const holds = this.holdsIn(name, span);
    if (exclusive && holds.length > 0) return 0;
    let room = exclusive ? 1 : Infinity;
    for (const type in perPod) {
      const free = holds.length === 0 ? (total[type] ?? 0) : countFree(total[type] ?? 0, type, holds);
      room = Math.min(room, Math.floor(free / perPod[type]!));
      if (room === 0) break;
    }
    return room;
  }

  /** Counts how many pods with these units fit a node in one second, and until which later one no more will. */
  roomNow(perPod: UnitCounts, exclusive: boolean): (node: StateNode, at: number) => RoomFrom {
    const key = JSON.stringify([exclusive, perPod]);
    const byNode = this.rooms.get(key) ?? new Map<string, RoomFrom[]>();
    this.rooms.set(key, byNode);
    return (node, at) => {
      const known = byNode.get(node.name) ?? [];
      const found = known.find(({ since, until }) => since <= at && at < until);
      if (found !== undefined) return found;
      const span = { start: at, end: at + 1 };
      const room = this.room(node, perPod, exclusive, span);
      const counted = { since: at, until: this.nextEnd(node.name, span), room };
      byNode.set(node.name, [...known, counted]);
      return counted;
    };
  }

  /** The first free units of the node for these pods. */
  take(name: string, perPod: UnitCounts, pods: number, exclusive: boolean, span: Span): AllocatedNode {
    const holds = this.holdsIn(name, span);
    const wanted = exclusive ? this.totals.get(name)! : perPod;
    const units = Object.entries(wanted)
      .map(([type, count]) => {
        const free = this.freeRanges(name, type, holds);
        return [type, formatRanges(firstOf(free, exclusive ? count : count * pods))] as const;
      })
      .filter(([, ids]) => ids !== '');
    return { name, units: Object.fromEntries(units), ...(exclusive ? { exclusive } : {}) };
  }

  /** When the first of those that hold units of the node in this span ends; Infinity: none does. */
  nextEnd(name: string, span: Span): number {
    return Math.min(...this.holdsIn(name, span).map(({ end }) => end));
  }

  private holdsIn(name: string, { start, end }: Span): readonly Hold[] {
    return (this.held.get(name) ?? []).filter((hold) => hold.start < end && hold.end > start);
  }

  /** By ranges: a node has thousands of small units, but few jobs. */
  private freeRanges(name: string, type: string, holds: readonly Hold[]): readonly IdRange[] {
    if (holds.some(({ part }) => part.exclusive === true)) return [];
    const total = this.totals.get(name)?.[type] ?? 0;
    const taken = holds.flatMap((hold) => rangesOf(hold, type));
    const free: IdRange[] = [];
    let from = 0;
    for (const [first, end] of taken.sort(([a], [b]) => a - b)) {
      const until = Math.min(first, total);
      if (until > from) free.push([from, until]);
      from = Math.max(from, end);
    }
    if (from < total) free.push([from, total]);
    return free;
  }
}

/** Ranges that are taken, as pairs in order. A pass counts a hundred thousand nodes, and makes no objects for them. */
const taken: number[] = [];

/** How many units none of them holds. */
function countFree(total: number, type: string, holds: readonly Hold[]): number {
  taken.length = 0;
  for (const hold of holds) {
    if (hold.part.exclusive === true) return 0;
    for (const [from, end] of rangesOf(hold, type)) insertRange(from, end);
  }
  let free = 0;
  let from = 0;
  for (let i = 0; i < taken.length; i += 2) {
    free += Math.max(0, Math.min(taken[i]!, total) - from);
    from = Math.max(from, taken[i + 1]!);
  }
  return free + Math.max(0, total - from);
}

/** A node has few jobs, and most of their units are one range. */
function insertRange(from: number, end: number): void {
  let i = taken.length;
  for (; i > 0 && taken[i - 2]! > from; i -= 2) {
    taken[i] = taken[i - 2]!;
    taken[i + 1] = taken[i - 1]!;
  }
  taken[i] = from;
  taken[i + 1] = end;
}

function firstOf(ranges: readonly IdRange[], count: number): readonly IdRange[] {
  const first: IdRange[] = [];
  let left = count;
  for (const [from, end] of ranges) {
    if (left <= 0) break;
    first.push([from, Math.min(end, from + left)]);
    left -= end - from;
  }
  return first;
}
