import { ClusterFactsTracker } from '../../runtime/jobspec/cluster-facts';
import type { NodeFacts } from '../../runtime/jobspec/constraints';
import type { ClusterNode } from '../../runtime/jobspec/graph-nodes';

export function clusterFacts(nodes: readonly ClusterNode[]): NodeFacts {
  const tracker = new ClusterFactsTracker();
  for (const node of nodes) tracker.replace(undefined, node);
  return tracker.facts();
}
