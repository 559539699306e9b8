/**
 * How many pods of one request each node takes at most, while its starts are tried in ascending order: a later start is only more in
 * the way of others, until one of them has ended. So most starts are ruled out by the few nodes on which something ends.
 */
import { askOf } from '../../jobspec/jobspec';
import { matcherOf } from '../../jobspec/matching-nodes';
import { podSetsOf } from '../../jobspec/pod-sets';
import type { Jobspec } from '../../jobspec/types';
import type { Occupancy } from './occupancy';

/** How many pods a node takes, or fewer; until when that holds for later starts. */
export interface Bound {
  readonly room: number;
  /** The first end of those that use the node; Infinity: nobody does. */
  readonly until: number;
}

export class RoomBounds {
  private readonly rooms: Float64Array;
  private readonly until: Float64Array;
  /** The sum of all bounds, also of those that do not hold any more. */
  private sum = 0;

  /** @param measure the bound of a node for a start */
  constructor(
    nodes: number,
    private readonly pods: number,
    private readonly measure: (place: number, start: number) => Bound,
  ) {
    this.rooms = new Float64Array(nodes);
    this.until = new Float64Array(nodes).fill(Number.NEGATIVE_INFINITY);
  }

  set(place: number, { room, until }: Bound): void {
    this.sum += room - this.rooms[place]!;
    this.rooms[place] = room;
    this.until[place] = until;
  }

  /** Whether the node has no room at this start. */
  isFull(place: number, start: number): boolean {
    return this.rooms[place] === 0 && this.until[place]! > start;
  }

  /** Whether the nodes together could take all pods at this start. */
  allow(start: number): boolean {
    const { until } = this;
    for (let place = 0; place < until.length; place++)
      if (until[place]! <= start) this.set(place, this.measure(place, start));
    return this.sum >= this.pods;
  }
}

const NEVER: Bound = { room: 0, until: Infinity };

/** @returns undefined for a request of several pod sets: where one has no room, another may have */
export function roomBounds(jobspec: Jobspec, occupancy: Occupancy): RoomBounds | undefined {
  if (podSetsOf(jobspec) !== undefined) return undefined;
  const { constraints = {}, duration } = jobspec.attributes.system;
  const { nodes } = occupancy;
  const { pods, perPod, exclusive } = askOf(jobspec);
  const isMatch = matcherOf(constraints, nodes);
  const roomAt = occupancy.roomNow(perPod, exclusive);
  return new RoomBounds(nodes.length, pods, (place, start) => {
    const node = nodes[place]!;
    if (!node.up || !isMatch(place)) return NEVER;
    const atStart = roomAt(node, start);
    if (atStart.room === 0) return atStart;
    const span = { start, end: start + Math.ceil(duration) };
    return { room: occupancy.room(node, perPod, exclusive, span), until: occupancy.nextEnd(node.name, span) };
  });
}
