/**
 * Pruning: whether a traversal turns back at a branch without visiting the vertices below it (flux-sched's `prune`). It
 * looks at status, constraint, exclusive spans and the counts of the planner, never at single units.
 */
import type { Need } from '../../resources/planner';
import type { Branch } from './branch';
import type { Request, Resource } from './request';
import type { ResourceGraph } from './resource-graph';
import { NODE, STORAGE_NODE } from './resource-types';
import type { Spans } from './spans';

/** The time span that a traversal tries. */
export interface Window {
  readonly start: number;
  readonly end: number;
  /** Matches against the empty graph and ignores the status of vertices. */
  readonly empty: boolean;
}

/** Dimension 0 counts jobs and its total is 0: not one more job may be there. */
const UNTOUCHED: Need = { dimensions: Int32Array.of(0), amounts: Float64Array.of(0) };

export class Pruner {
  start = 0;
  end = 0;
  empty = false;
  /** The window starts now. */
  atNow = false;
  /** Several starts are tried for one request: {@link beginSearch}. */
  searching = false;
  /** How many branches the present search has looked at. */
  steps = 0;
  private search = 0;
  private constraint: Request['constraint'];

  constructor(
    private readonly graph: ResourceGraph,
    private readonly spans: Spans,
  ) {}

  /** Prepares for one request in one window. */
  begin({ constraint }: Request, { start, end, empty }: Window): void {
    this.constraint = constraint;
    this.start = start;
    this.end = end;
    this.empty = empty;
    this.atNow = !empty && start === this.spans.now;
  }

  /**
   * From here to {@link endSearch} the request stays the same, starts only get later and no job is added or freed. So
   * a branch that can't serve a start needs no second look before the time at which it can.
   */
  beginSearch(): void {
    this.search++;
    this.searching = true;
    this.steps = 0;
  }

  endSearch(): void {
    this.searching = false;
  }

  /** In this search, no start before this time fits a branch that was pruned. */
  notBeforeOf({ search, notBefore }: Branch): number {
    return search === this.search ? notBefore : Number.POSITIVE_INFINITY;
  }

  /** @param wanted the resource that the request wants at this vertex, or its slot */
  isPruned(branch: Branch, wanted: Resource | undefined, exclusive: boolean): boolean {
    this.steps++;
    if (!this.empty && this.graph.up[branch.vertex] === 0) return true;
    if (this.isShortNow(branch.row, wanted)) return true;
    if (this.searching && branch.search === this.search && this.start < branch.notBefore) return true;
    const { constraint } = this;
    if (constraint !== undefined && isConstrained(branch.type) && !constraint(branch)) {
      return this.notBefore(branch, Number.POSITIVE_INFINITY);
    }
    if (!this.empty && this.spans.head[branch.vertex]! >= 0) {
      const until = this.spans.takenUntil(branch.vertex, this.start, this.end);
      if (until > this.start) return this.notBefore(branch, until);
    }
    if (wanted === undefined) return false;
    if (wanted.type === branch.type && exclusive && !this.isUntouched(branch)) return true;
    return !this.hasBelow(branch, wanted);
  }

  /** A cheap check first: most branches of a busy graph have not enough left. */
  isShortNow(row: number, wanted: Resource | null | undefined): boolean {
    if (!this.atNow || row < 0 || wanted === undefined || wanted === null) return false;
    return this.spans.isShortNow(row, wanted.need);
  }

  /** An upper bound of these slots at and below a branch, from counts alone. */
  mostSlots(branch: Branch, slot: Resource): number {
    if (this.empty) return slot.min;
    if (this.isPruned(branch, slot, false)) return 0;
    return branch.planner.countFree(slot.need, branch.totals, this.start, this.end, this.spans.now);
  }

  private isUntouched(branch: Branch): boolean {
    if (this.empty) return true;
    if (this.atNow && this.spans.isAllocated(branch.vertex)) return false;
    const { planner, totals } = branch;
    const { start, end } = this;
    const { now } = this.spans;
    if (planner.untouched(start, end, now)) return true;
    if (this.searching) this.notBefore(branch, planner.blockedUntil(UNTOUCHED, totals, start, end, now));
    return false;
  }

  private hasBelow(branch: Branch, { need }: Resource): boolean {
    if (need.dimensions.length === 0 || branch.children.length === 0) return true;
    const { planner } = branch;
    const totals = branch === this.graph.root ? this.graph.rootTotals : branch.totals;
    for (let j = 0; j < need.dimensions.length; j++)
      if (need.amounts[j]! > totals[need.dimensions[j]!]!) return false;
    if (this.empty) return true;
    const { start, end } = this;
    const { now } = this.spans;
    if (planner.fits(need, totals, start, end, now)) return true;
    if (this.searching) this.notBefore(branch, planner.blockedUntil(need, totals, start, end, now));
    return false;
  }

  /** Remembers during a search that no start before `time` fits here. */
  private notBefore(branch: Branch, time: number): true {
    if (this.searching) {
      branch.search = this.search;
      branch.notBefore = time;
    }
    return true;
  }
}

/** Constraints of RFC 31 are about hosts. */
function isConstrained(type: number): boolean {
  return type === NODE || type === STORAGE_NODE;
}
