/** What counting the nodes tells without asking Fluxion. */
import { type Capacity, capacityOf, type NodeClass } from '../../jobspec/capacity';
import type { Jobspec } from '../../jobspec/types';
import { UsableNodes } from '../../jobspec/usable-nodes';
import type { GraphNode } from '../../resources/types';

export interface Cluster {
  /** Whether the jobspec fits the empty cluster, nodes that are down included. */
  fits(jobspec: Jobspec): boolean;
  /** Whether it fits the nodes that are up, if they were empty. */
  fitsUp(jobspec: Jobspec): boolean;
  isUp(node: string): boolean;
  /** The nodes that match the constraints of the jobspec, up or down. */
  classesFor(jobspec: Jobspec): readonly NodeClass[];
  /** Whether pods of the first jobspec may run wherever pods of the other may, if all nodes are empty. */
  mayUseNodesOf(jobspec: Jobspec, other: Jobspec): boolean;
}

/** To count a thousand nodes costs more than a pass without news, so the result is kept with the array. */
const clusters = new WeakMap<readonly GraphNode[], Cluster>();

export function clusterOf(nodes: readonly GraphNode[]): Cluster {
  const known = clusters.get(nodes) ?? countCluster(nodes);
  clusters.set(nodes, known);
  return known;
}

function countCluster(nodes: readonly GraphNode[]): Cluster {
  const up = nodes.filter((node) => node.up !== false);
  const names = new Set(up.map(({ name }) => name));
  let all: Capacity | undefined;
  let ofUp: Capacity | undefined;
  let usable: UsableNodes | undefined;
  return {
    fits(jobspec) {
      all ??= capacityOf(nodes);
      return all.fits(jobspec);
    },
    fitsUp(jobspec) {
      if (up.length === nodes.length) return true;
      ofUp ??= capacityOf(up);
      return ofUp.fits(jobspec);
    },
    isUp: (node) => names.has(node),
    classesFor(jobspec) {
      all ??= capacityOf(nodes);
      return all.classesFor(jobspec);
    },
    mayUseNodesOf(jobspec, other) {
      usable ??= new UsableNodes(nodes);
      return usable.covers(jobspec, other);
    },
  };
}
