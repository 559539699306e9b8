/** Finds the free leaves below a branch, and their scores. A leaf of several units is found as runs of free units. */
import type { LeafGroup } from './branch';
import type { CandidateList, Candidates } from './candidates';
import type { Pruner } from './pruner';
import type { Resource } from './request';
import type { ResourceGraph } from './resource-graph';
import type { Spans } from './spans';
import { StopCondition } from './stop-condition';

export class Leaves {
  /** The part of the score that comes from the node above (`node_centric`). */
  nodeScore = 0;
  /** Free units of the last leaf, as pairs of first and last + 1. */
  private readonly runs: number[] = [];

  constructor(
    private readonly graph: ResourceGraph,
    private readonly spans: Spans,
    private readonly pruner: Pruner,
    private readonly candidates: Candidates,
  ) {}

  scoreOf(vertex: number): number {
    return 2 + this.nodeScore + this.graph.id[vertex]!;
  }

  tryLeaf(v: number, resource: Resource, exclusive: boolean, list: CandidateList): boolean {
    const { size, up } = this.graph;
    const count = size[v]!;
    if (this.graph.run[v]! > 1) return this.tryRuns(v, resource, exclusive, list) > 0;
    if (!this.pruner.empty) {
      if (up[v] === 0) return false;
      if (this.spans.head[v]! >= 0 && !this.isLeafFree(v, exclusive || resource.exclusive)) return false;
    }
    const score = this.scoreOf(v);
    if (count === 0 || score <= 0) return false;
    list.push(this.candidates.add(v, score, count, exclusive || resource.exclusive), count);
    return true;
  }

  /** Adds the free units of a leaf of several units, at most as many as wanted, the best first. @returns their number */
  private tryRuns(
    v: number,
    resource: Resource,
    exclusiveAbove: boolean,
    list: CandidateList,
    wanted = Number.POSITIVE_INFINITY,
  ): number {
    const { empty, start, end, atNow } = this.pruner;
    const exclusive = exclusiveAbove || resource.exclusive;
    if (!empty && this.graph.up[v] === 0) return 0;
    const { runs } = this;
    let pairs = 1;
    if (empty) [runs[0], runs[1]] = [0, this.graph.run[v]!];
    else pairs = this.spans.freeRuns(v, start, end, exclusive && atNow, runs);
    let found = 0;
    for (let i = pairs - 1; i >= 0 && found < wanted; i--) {
      const to = runs[2 * i + 1]!;
      const from = Math.max(runs[2 * i]!, to - (wanted - found));
      found += to - from;
      list.push(this.candidates.addRun(v, from, to, this.scoreOf(v), exclusive), to - from);
    }
    return found;
  }

  private isLeafFree(v: number, exclusive: boolean): boolean {
    const { start, end, atNow } = this.pruner;
    if (!this.spans.isFree(v, start, end)) return false;
    return !(exclusive && atNow && this.spans.isAllocated(v));
  }

  /** Leaves keep their initial weight, so the highest unique id comes first. */
  byWeight(
    group: LeafGroup,
    resource: Resource,
    exclusive: boolean,
    shares: number,
    list: CandidateList,
  ): void {
    const stop = new StopCondition(resource, shares);
    const members = group.ascending ? group.members : this.byUniqId(group);
    for (let i = members.length - 1; i >= 0 && !stop.satisfied; i--) {
      const v = members[i]!;
      if (this.graph.run[v]! > 1) stop.updateByUnit(this.tryRuns(v, resource, exclusive, list, stop.missing));
      else if (this.tryLeaf(v, resource, exclusive, list)) stop.update(list.total);
    }
  }

  private byUniqId(group: LeafGroup): number[] {
    const { uniqId } = this.graph;
    group.byUniqId ??= group.members.slice().sort((a, b) => uniqId[a]! - uniqId[b]!);
    return group.byUniqId;
  }
}
