/** The match operations: the windows that each one tries, and the verdict on failure (flux-sched's traverser). */
import type { Need } from '../../resources/planner';
import type { MatchOperation } from '../types';
import { collectGrant } from './grant';
import type { Window } from './pruner';
import { GRAPH_DURATION, needOf, type Request } from './request';
import type { ResourceGraph } from './resource-graph';
import type { Grant, Spans } from './spans';
import type { Traverser } from './traverser';

export type Placement = {
  readonly status: 'OK';
  readonly grant: Grant;
  readonly start: number;
  readonly end: number;
};
export type Verdict = Placement | { readonly status: 'BUSY' | 'UNSATISFIABLE' };

/** Selects vertices for a request in a window and marks them; changes no spans. */
export interface Selector {
  select(request: Request, window: Window): boolean;
  /** During a search, after a selection that failed: no earlier start can succeed. @default - not known */
  notBefore?(): number | undefined;
}

/**
 * Branches that one search for a start may look at: some 50 ms. Only with thousands of jobs that end one by one on thousands of
 * nodes does a search look at more.
 */
const MOST_SEARCH_STEPS = 2_000_000;

export class Scheduler {
  constructor(
    private readonly graph: ResourceGraph,
    private readonly spans: Spans,
    private readonly traverser: Traverser,
    private readonly selector: Selector,
    /** Types counted at the root, which decide the times at which a reservation is tried. */
    private readonly rootTypes: () => readonly number[],
  ) {}

  /** @param fitsEmpty whether the request fits the empty graph */
  find(request: Request, operation: MatchOperation, fitsEmpty: () => boolean): Verdict {
    const { now } = this.spans;
    const refused = this.precheck(request, operation);
    if (refused !== undefined) return refused;
    const found = this.try(request, now);
    if (found !== undefined) return found;
    if (operation === 'allocate' || operation === 'without_allocating') return { status: 'BUSY' };
    if (operation !== 'allocate_with_satisfiability') {
      const later = this.reserve(request);
      if (later !== undefined) return later;
    }
    return { status: fitsEmpty() ? 'BUSY' : 'UNSATISFIABLE' };
  }

  private try(request: Request, start: number): Placement | undefined {
    const end = Math.min(start + request.duration, this.spans.now + GRAPH_DURATION);
    if (!this.selector.select(request, { start, end, empty: false })) return undefined;
    return { status: 'OK', grant: collectGrant(this.graph, this.traverser, request.wholeTypes), start, end };
  }

  /** Tries the times at which spans end; undefined when the request fits at none of them. */
  private reserve(request: Request): Placement | undefined {
    const totals = this.graph.rootTotals;
    const counted = new Float64Array(this.graph.dimensions);
    for (const type of this.rootTypes()) {
      const dimension = this.graph.dimensionOf[type] ?? 0;
      if (dimension > 0) counted[dimension] = request.total[dimension]!;
    }
    const need = needOf(counted);
    if (need.dimensions.some((dimension, j) => need.amounts[j]! > totals[dimension]!)) return undefined;
    const { pruner } = this.traverser;
    pruner.beginSearch();
    const found = this.search(request, need);
    pruner.endSearch();
    return found;
  }

  private search(request: Request, need: Need): Placement | undefined {
    const { now } = this.spans;
    const { planner } = this.graph.root;
    const totals = this.graph.rootTotals;
    const { pruner } = this.traverser;
    let earliest = now;
    let skipped: number | undefined;
    for (const at of planner.pointsAfter(now)) {
      if (at >= now + GRAPH_DURATION) break;
      if (pruner.steps > MOST_SEARCH_STEPS) skipped = at;
      if (at < earliest || skipped !== undefined || !this.spans.isCandidate(at)) continue;
      earliest = planner.blockedUntil(need, totals, at, at + request.duration, now);
      const found = at < earliest ? undefined : this.try(request, at);
      if (found !== undefined) return found;
      earliest = Math.max(earliest, this.selector.notBefore?.() ?? now);
    }
    // Too many starts: the last one, at which everything is free, is late but keeps the workload from being overtaken.
    return skipped === undefined ? undefined : this.try(request, skipped);
  }

  /** flux-sched's `request_feasible`: compares node counts before the traversal, differently for each operation. */
  private precheck(request: Request, operation: MatchOperation): Verdict | undefined {
    if (request.nodes === 0) return undefined;
    const refused = {
      status: operation === 'allocate_with_satisfiability' ? 'UNSATISFIABLE' : 'BUSY',
    } as const;
    if (request.nodes > this.graph.nodesUp) return refused;
    const { constraint } = request;
    if (constraint === undefined) return undefined;
    const { now } = this.spans;
    const nowOnly = operation === 'allocate' || operation === 'without_allocating';
    const at = nowOnly ? now : now + GRAPH_DURATION - 1;
    let feasible = 0;
    for (const node of this.graph.nodes.values()) {
      if (operation !== 'allocate_with_satisfiability' && this.graph.up[node.vertex] === 0) continue;
      if (!constraint(node) || !this.spans.isFree(node.vertex, at, at + 1)) continue;
      if (++feasible >= request.nodes) return undefined;
    }
    return refused;
  }
}
