/**
 * How many pods of one request each node takes at most, while its starts are tried in ascending order: a later start is only more in
 * the way of others, until one of them has ended. So most starts are ruled out by the few nodes on which something ends.
 */
export class RoomBounds {
  private readonly rooms: Float64Array;
  /** Until when the bound of a node holds. */
  private readonly until: Float64Array;
  /** The sum of all bounds, also of those that do not hold any more. */
  private sum = 0;

  constructor(private readonly nodes: number) {
    this.rooms = new Float64Array(nodes);
    this.until = new Float64Array(nodes).fill(Number.NEGATIVE_INFINITY);
  }

  /** @param until the first end of those that use the node; Infinity: nobody does */
  set(place: number, room: number, until: number): void {
    this.sum += room - this.rooms[place]!;
    this.rooms[place] = room;
    this.until[place] = until;
  }

  /** Whether the node has no room at this start. */
  isFull(place: number, start: number): boolean {
    return this.rooms[place] === 0 && this.until[place]! > start;
  }

  /**
   * Whether the nodes could take so many pods at this start.
   * @param count counts the room of a node whose bound does not hold any more
   */
  allow(pods: number, start: number, count: (place: number) => void): boolean {
    for (let place = 0; place < this.nodes; place++) if (this.until[place]! <= start) count(place);
    return this.sum >= pods;
  }
}
