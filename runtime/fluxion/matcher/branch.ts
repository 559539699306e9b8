/** A vertex with something below it: the cluster, a zone, a rack, a node, a socket. */

import { Planner } from '../../resources/planner';
import type { Candidate } from './constraint';

/** The leaves of one type directly below a branch, in the order of their edges. */
export interface LeafGroup {
  readonly type: number;
  readonly members: number[];
  /** Ids and unique ids ascend in this order: then nothing needs sorting. */
  ascending: boolean;
  /** By unique id, made when first needed and `ascending` does not say it. */
  byUniqId?: number[] | undefined;
}

export class Branch implements Candidate {
  /** In the order of the edges. */
  readonly children: number[] = [];
  /** Their numbers ascend. */
  ascending = true;
  readonly groups: LeafGroup[] = [];
  /** Children that are branches, in the order of the edges. */
  readonly branches: Branch[] = [];
  /** How many of them there are of each type. */
  private readonly branchTypes = new Map<number, number>();
  /** Sizes of what is below, by dimension. */
  totals: Float64Array;
  planner: Planner;
  properties: ReadonlySet<string> = new Set();
  /** What `first` sorts by; stays as it is when a job is cancelled. */
  weight = Number.POSITIVE_INFINITY;
  /** Children by (weight, unique id) ascending; kept for policies that explore by weight, where a child is a branch. */
  order: number[] = [];

  /** In the search of this number, nothing can start here before `notBefore`. */
  search = 0;
  notBefore = 0;

  constructor(
    readonly vertex: number,
    readonly type: number,
    readonly name: string,
    readonly rank: number,
    readonly parent: Branch | undefined,
    /** Counts the branches of the graph. */
    readonly row: number,
    dimensions: number,
  ) {
    this.totals = new Float64Array(dimensions);
    this.planner = new Planner(dimensions);
  }

  addChild(v: number): void {
    const last = this.children[this.children.length - 1];
    if (last !== undefined && last > v) this.ascending = false;
    this.children.push(v);
  }

  addBranch(branch: Branch): void {
    this.addChild(branch.vertex);
    this.branches.push(branch);
    this.branchTypes.set(branch.type, (this.branchTypes.get(branch.type) ?? 0) + 1);
  }

  removeBranch(branch: Branch): void {
    drop(this.children, branch.vertex);
    drop(this.order, branch.vertex);
    drop(this.branches, branch);
    this.branchTypes.set(branch.type, (this.branchTypes.get(branch.type) ?? 0) - 1);
  }

  group(type: number): LeafGroup | undefined {
    for (const group of this.groups) if (group.type === type) return group;
    return undefined;
  }

  hasChildOfType(type: number): boolean {
    return this.group(type) !== undefined || (this.branchTypes.get(type) ?? 0) > 0;
  }

  /** A deep copy of this and what is below. */
  clone(parent: Branch | undefined): Branch {
    const copy = new Branch(this.vertex, this.type, this.name, this.rank, parent, this.row, 0);
    for (const child of this.children) copy.children.push(child);
    copy.ascending = this.ascending;
    for (const { type, members, ascending } of this.groups) {
      copy.groups.push({ type, members: members.slice(), ascending });
    }
    copy.totals = this.totals.slice();
    copy.planner = this.planner.clone();
    copy.properties = this.properties;
    copy.weight = this.weight;
    for (const branch of this.branches) copy.branches.push(branch.clone(copy));
    for (const [type, count] of this.branchTypes) copy.branchTypes.set(type, count);
    copy.order = this.order.slice();
    return copy;
  }
}

function drop<T>(list: T[], item: T): void {
  const at = list.indexOf(item);
  if (at >= 0) list.splice(at, 1);
}
