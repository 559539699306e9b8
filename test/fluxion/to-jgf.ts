import { GraphLayout } from '../../runtime/fluxion/jgf/layout';
import type { JgfGraph } from '../../runtime/fluxion/jgf/types';
import type { GraphNode } from '../../runtime/resources/types';

/** The graph of these nodes in JGF. */
export function toJgf(nodes: readonly GraphNode[]): JgfGraph {
  return new GraphLayout(nodes).jgf();
}
