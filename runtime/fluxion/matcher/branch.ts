/** A vertex with children: the cluster, a zone, a rack, a node, a socket. */

import { Planner } from '../../resources/planner';
import type { Candidate } from './constraint';

/** The leaves of one type that are children of a branch, in the order of their edges. */
export interface LeafGroup {
  readonly type: number;
  readonly members: number[];
  /** Ids and unique ids ascend in this order, so no sort is needed. */
  ascending: boolean;
  /** Members sorted by unique id, made on first use for groups that are not ascending. */
  byUniqId?: number[] | undefined;
}

export class Branch implements Candidate {
  /** All children in the order of the edges. */
  readonly children: number[] = [];
  /** The numbers of the children ascend. */
  ascending = true;
  readonly groups: LeafGroup[] = [];
  /** Children that are branches, in the order of the edges. */
  readonly branches: Branch[] = [];
  /** Number of child branches by type. */
  private readonly branchTypes = new Map<number, number>();
  /** Total size of the vertices below, by dimension. */
  totals: Float64Array;
  planner: Planner;
  properties: ReadonlySet<string> = new Set();
  /** The weight by which policy `first` orders branches; a cancel does not change it. */
  weight = Number.POSITIVE_INFINITY;
  /** Children by (weight, unique id) ascending, for policies that explore by weight; empty without child branches. */
  order: number[] = [];

  /** In search number `search`, no job can start here before `notBefore`. */
  search = 0;
  notBefore = 0;

  constructor(
    readonly vertex: number,
    readonly type: number,
    readonly name: string,
    readonly rank: number,
    readonly parent: Branch | undefined,
    /** Consecutive number of the branch in the graph. */
    readonly row: number,
    dimensions: number,
    uncounted?: ReadonlySet<number>,
  ) {
    this.totals = new Float64Array(dimensions);
    this.planner = new Planner(dimensions, uncounted);
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

  /** A deep copy of the branch and of all branches below it. */
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
