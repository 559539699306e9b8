/** The state of the graph and its jobs, which callers compare with their own state. */

import type { Allocation, UnitCounts } from '../../resources/types';
import type { FluxionState } from '../types';
import type { Branch } from './branch';
import { allocationOf } from './match-writer';
import type { ResourceGraph } from './resource-graph';
import type { Spans } from './spans';

export function stateOf(graph: ResourceGraph, spans: Spans): Omit<FluxionState, 'bootId'> {
  const jobs = [...spans.jobs.values()].map((job): Allocation => allocationOf(graph, job, job));
  const inOrder = [...graph.nodes.values()].sort((a, b) => a.vertex - b.vertex);
  const nodes = inOrder.map((node) => ({
    name: node.name,
    up: graph.up[node.vertex] === 1,
    ...capacityOf(graph, spans, node),
    properties: [...node.properties],
    ...topologyOf(graph, node),
  }));
  return { jobs, nodes };
}

/** Zone and rack of a node; the layout writes their names as `zone=a`. */
function topologyOf(graph: ResourceGraph, node: Branch): { zone?: string; rack?: string } {
  const topology: { zone?: string; rack?: string } = {};
  for (let above = node.parent; above !== undefined; above = above.parent) {
    const type = graph.types.names[above.type];
    if (type === 'zone' || type === 'rack') topology[type] = above.name.replace(`${type}=`, '');
  }
  return topology;
}

/** Counts leaves; a node that is held as a whole, or whose rack or zone is, has no free units. */
function capacityOf(
  graph: ResourceGraph,
  spans: Spans,
  node: Branch,
): { total: UnitCounts; free: UnitCounts } {
  const total: Record<string, number> = {};
  const free: Record<string, number> = {};
  const { now } = spans;
  let whole = false;
  for (let at = node.vertex; at >= 0; at = graph.parent[at]!) whole ||= !spans.isFree(at, now, now + 1);
  const count = (branch: Branch): void => {
    for (const { type, members } of branch.groups) {
      const name = graph.types.names[type]!;
      const unheld = whole ? 0 : sum(members, (v) => spans.freeUnits(v, now, now + 1));
      total[name] = (total[name] ?? 0) + sum(members, (v) => graph.run[v]!);
      free[name] = (free[name] ?? 0) + unheld;
    }
    branch.branches.forEach(count);
  };
  count(node);
  return { total, free };
}

function sum(members: readonly number[], count: (v: number) => number): number {
  return members.reduce((total, v) => total + count(v), 0);
}
