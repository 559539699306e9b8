/**
 * The resource graph. Vertices are indexes into columns, so that half a million of them load in a second and a traversal
 * reads no objects. A vertex with children also has a {@link Branch}.
 */

import { FluxqError } from '../../errors';
import { NodeIndex } from '../../resources/node-index';
import type { PlacedVertex } from '../jgf/skipped-levels';
import { Branch, type LeafGroup } from './branch';
import { grown } from './columns';
import { NODE, ResourceTypes } from './resource-types';

export interface NewVertex {
  readonly type: number;
  readonly id: number;
  readonly uniqId: number;
  readonly rank: number;
  readonly size: number;
  readonly up: boolean;
  /** Number of units that the vertex stands for, with consecutive ids from `id` and `uniqId` on. @default 1 */
  readonly units?: number;
}

export class ResourceGraph {
  /** Number of vertices ever added; a vertex number is never reused. */
  count = 0;
  type = new Uint16Array(0);
  parent = new Int32Array(0);
  id = new Float64Array(0);
  uniqId = new Float64Array(0);
  rank = new Int32Array(0);
  size = new Float64Array(0);
  up = new Uint8Array(0);
  /**
   * Number of units that a leaf stands for: above 1 in a graph from nodes. All of them have the size 1 and the status
   * of the leaf, and their ids are consecutive.
   */
  run = new Int32Array(0);
  /** Row of a branch in the spans; -1 for a leaf. */
  row = new Int32Array(0);
  /** The number in the name of a unit (`core3`). */
  number = new Int32Array(0);
  /** Only exceptions: names that are not basename + number, basenames that are not the type, paths not made of names. */
  readonly names = new Map<number, string>();
  readonly basenames = new Map<number, string>();
  readonly paths = new Map<number, string>();
  readonly units = new Map<number, string>();
  readonly branchOf = new Map<number, Branch>();
  readonly nodes = new Map<string, Branch>();
  /** Dimension of each type in the planners; 0 for a type that is not counted. */
  readonly dimensionOf: number[] = [];
  /** Dimensions of types that no pruning filter counts. */
  readonly uncounted = new Set<number>();
  dimensions = 1;
  /** Number of branches ever added. */
  rows = 0;
  private readonly nextId: number[] = [];
  private nextUniqId = 0;
  root!: Branch;
  /** The totals of the root as the pruning filters count them: less than its own totals for levels that may be empty. */
  rootTotals = new Float64Array(0);
  /** The nodes by property: made when a constraint needs it. */
  private index: NodeIndex | undefined;
  /** The types of all vertices; undefined after a vertex was added or removed. */
  private present: Set<number> | undefined;
  /** Number of nodes that are up, minus the nodes loaded as down, as in flux-sched. */
  nodesUp = 0;

  /** @param countsUnits whether the units of a node are one leaf per type; else each unit is a vertex */
  constructor(
    readonly types = new ResourceTypes(),
    readonly countsUnits = false,
  ) {}

  reserve(more: number): void {
    const needed = this.count + more;
    if (needed <= this.type.length) return;
    const capacity = Math.max(needed, Math.ceil(this.type.length * 1.5));
    this.type = grown(this.type, new Uint16Array(capacity));
    this.parent = grown(this.parent, new Int32Array(capacity));
    this.id = grown(this.id, new Float64Array(capacity));
    this.uniqId = grown(this.uniqId, new Float64Array(capacity));
    this.rank = grown(this.rank, new Int32Array(capacity));
    this.size = grown(this.size, new Float64Array(capacity));
    this.up = grown(this.up, new Uint8Array(capacity));
    this.run = grown(this.run, new Int32Array(capacity));
    this.row = grown(this.row, new Int32Array(capacity));
    this.number = grown(this.number, new Int32Array(capacity));
  }

  /** Adds a vertex without edges. */
  add(vertex: NewVertex): number {
    this.reserve(1);
    this.present = undefined;
    const v = this.count++;
    const units = vertex.units ?? 1;
    this.nextId[vertex.type] = Math.max(this.nextId[vertex.type] ?? 0, vertex.id + units);
    this.nextUniqId = Math.max(this.nextUniqId, vertex.uniqId + units);
    this.type[v] = vertex.type;
    this.parent[v] = -1;
    this.id[v] = vertex.id;
    this.uniqId[v] = vertex.uniqId;
    this.rank[v] = vertex.rank;
    this.size[v] = vertex.size;
    this.up[v] = vertex.up ? 1 : 0;
    this.run[v] = units;
    this.row[v] = -1;
    this.number[v] = vertex.id;
    return v;
  }

  /** The next free ids for vertices of one type; {@link add} takes them. Ids are consecutive and never reused. */
  takeIds(type: number): { readonly id: number; readonly uniqId: number } {
    return { id: this.nextId[type] ?? 0, uniqId: this.nextUniqId };
  }

  /** Adds a dimension for a type to every planner. */
  countType(type: number): void {
    if ((this.dimensionOf[type] ?? 0) !== 0) return;
    this.dimensionOf[type] = this.dimensions++;
    for (const branch of this.branchOf.values()) {
      branch.planner = branch.planner.widened(this.dimensions);
      branch.totals = grown(branch.totals, new Float64Array(this.dimensions));
    }
  }

  /** Makes `v` a branch below `parent`; without a parent it is the root. */
  addBranch(v: number, parent: Branch | undefined, properties: ReadonlySet<string>): Branch {
    const branch = new Branch(
      v,
      this.type[v]!,
      this.nameOf(v),
      this.rank[v]!,
      parent,
      this.rows++,
      this.dimensions,
      this.uncounted,
    );
    branch.properties = properties;
    this.row[v] = branch.row;
    this.branchOf.set(v, branch);
    if (branch.type === NODE) {
      this.nodesUp += this.up[v] === 1 ? 1 : -1;
      if (!this.nodes.has(branch.name)) this.nodes.set(branch.name, branch);
      this.index?.add(branch.row, branch);
    }
    if (parent === undefined) this.root = branch;
    else {
      this.parent[v] = parent.vertex;
      parent.addBranch(branch);
    }
    return branch;
  }

  addLeaf(v: number, branch: Branch): void {
    this.parent[v] = branch.vertex;
    branch.addChild(v);
    const type = this.type[v]!;
    const group: LeafGroup | undefined = branch.group(type);
    if (group === undefined) {
      branch.groups.push({ type, members: [v], ascending: true });
      return;
    }
    const last = group.members[group.members.length - 1]!;
    if (this.uniqId[last]! >= this.uniqId[v]! || this.id[last]! >= this.id[v]!) group.ascending = false;
    group.members.push(v);
  }

  /**
   * Adds (1) or subtracts (-1) the totals of a branch to all its ancestors.
   * @param own counts only the branch itself and its leaves, because branches below were counted before
   */
  countBranch(branch: Branch, sign: 1 | -1, own = false): void {
    const dimension = this.dimensionOf[branch.type] ?? 0;
    const counts = own ? this.leavesOf(branch) : branch.totals;
    for (let above = branch.parent; above !== undefined; above = above.parent) {
      for (let k = 1; k < this.dimensions; k++) above.totals[k]! += sign * counts[k]!;
      if (dimension > 0) above.totals[dimension]! += sign * this.size[branch.vertex]!;
    }
  }

  /** Adds the leaves of a branch to its own totals. */
  countLeaves(branch: Branch): void {
    const counts = this.leavesOf(branch);
    for (let k = 1; k < this.dimensions; k++) branch.totals[k]! += counts[k]!;
  }

  private leavesOf(branch: Branch): Float64Array {
    const counts = new Float64Array(this.dimensions);
    for (const { type, members } of branch.groups) {
      const dimension = this.dimensionOf[type]!;
      for (const v of members) counts[dimension]! += this.size[v]! * this.run[v]!;
    }
    return counts;
  }

  nameOf(v: number, unit = 0): string {
    return this.names.get(v) ?? `${this.basenameOf(v)}${this.number[v]! + unit}`;
  }

  basenameOf(v: number): string {
    return this.basenames.get(v) ?? this.types.names[this.type[v]!]!.replaceAll('/', '_');
  }

  /** The containment path of a vertex, or of one of its units. */
  pathOf(v: number, unit = 0): string {
    const known = this.paths.get(v);
    if (known !== undefined) return known;
    const parent = this.parent[v]!;
    return `${parent < 0 ? '' : this.pathOf(parent)}/${this.nameOf(v, unit)}`;
  }

  /** The node that is `v` or an ancestor of it. */
  nodeAbove(v: number): Branch | undefined {
    for (let at = v; at >= 0; at = this.parent[at]!) if (this.type[at] === NODE) return this.branchOf.get(at);
    return undefined;
  }

  /** A unit that is not a vertex of its own is not found. @throws FluxqError FLUXQ_FLUXION_NO_VERTEX */
  find(nameOrPath: string): number {
    const node = this.nodes.get(nameOrPath);
    if (node !== undefined) return node.vertex;
    for (const [v, branch] of this.branchOf) {
      const path = this.pathOf(v);
      if (path === nameOrPath) return v;
      if (!nameOrPath.startsWith(`${path}/`)) continue;
      const leaf = branch.children.find(
        (child) => this.run[child] === 1 && this.pathOf(child) === nameOrPath,
      );
      if (leaf !== undefined) return leaf;
    }
    throw new FluxqError('FLUXQ_FLUXION_NO_VERTEX', 'the vertex is not in the graph', {
      value: nameOrPath,
      remedy: 'use the name of a node or the containment path of a vertex',
    });
  }

  /** The nodes by property; the rows are those of their branches. */
  nodeIndex(): NodeIndex {
    if (this.index === undefined) {
      this.index = new NodeIndex();
      for (const branch of this.branchOf.values())
        if (branch.type === NODE) this.index.add(branch.row, branch);
    }
    return this.index;
  }

  /** All branches, and one leaf of each type below them. */
  *vertices(): Generator<PlacedVertex> {
    const typeName = (type: number) => this.types.names[type]!;
    for (const [v, { type, groups }] of this.branchOf) {
      const path = this.pathOf(v);
      yield { path, type: typeName(type) };
      for (const group of groups) yield { path: `${path}/${group.type}`, type: typeName(group.type) };
    }
  }

  /** Whether a vertex has this type now. */
  hasType(name: string): boolean {
    if (this.present === undefined) {
      this.present = new Set();
      for (const branch of this.branchOf.values()) {
        this.present.add(branch.type);
        for (const group of branch.groups) this.present.add(group.type);
      }
    }
    return this.present.has(this.types.find(name) ?? -1);
  }

  /** The vertices above a node. */
  levelsAbove({ vertex }: Branch): number[] {
    const above = this.parent[vertex]!;
    return above < 0 ? [] : [above, ...this.levelsAbove(this.branchOf.get(above)!)];
  }

  /**
   * Removes a branch and all vertices below it, and a level above that has nothing left below it: a zone that comes back
   * is a new vertex, as in the layout of the library's graph.
   */
  remove(branch: Branch): void {
    const { parent } = branch;
    if (parent === undefined) return;
    this.countBranch(branch, -1);
    parent.removeBranch(branch);
    this.forget(branch);
    if (parent.children.length === 0) this.remove(parent);
  }

  private forget(branch: Branch): void {
    this.present = undefined;
    for (const below of branch.branches) this.forget(below);
    for (const v of [branch.vertex, ...branch.children]) {
      for (const map of [this.names, this.basenames, this.paths, this.units, this.branchOf]) map.delete(v);
    }
    if (branch.type !== NODE) return;
    if (this.nodes.get(branch.name) === branch) this.nodes.delete(branch.name);
    this.index?.remove(branch.row, branch);
    this.nodesUp -= this.up[branch.vertex] === 1 ? 1 : 0;
  }

  clone(): ResourceGraph {
    const copy = new ResourceGraph(this.types.clone(), this.countsUnits);
    copy.count = this.count;
    copy.type = this.type.slice();
    copy.parent = this.parent.slice();
    copy.id = this.id.slice();
    copy.uniqId = this.uniqId.slice();
    copy.rank = this.rank.slice();
    copy.size = this.size.slice();
    copy.up = this.up.slice();
    copy.run = this.run.slice();
    copy.row = this.row.slice();
    copy.number = this.number.slice();
    for (const [v, name] of this.names) copy.names.set(v, name);
    for (const [v, name] of this.basenames) copy.basenames.set(v, name);
    for (const [v, path] of this.paths) copy.paths.set(v, path);
    for (const [v, unit] of this.units) copy.units.set(v, unit);
    copy.dimensionOf.push(...this.dimensionOf);
    copy.dimensions = this.dimensions;
    copy.rows = this.rows;
    copy.nextId.push(...this.nextId);
    copy.nextUniqId = this.nextUniqId;
    copy.nodesUp = this.nodesUp;
    copy.root = this.root.clone(undefined);
    const index = (branch: Branch): void => {
      copy.branchOf.set(branch.vertex, branch);
      if (branch.type === NODE && this.nodes.get(branch.name)?.vertex === branch.vertex) {
        copy.nodes.set(branch.name, branch);
      }
      branch.branches.forEach(index);
    };
    index(copy.root);
    return copy;
  }
}
