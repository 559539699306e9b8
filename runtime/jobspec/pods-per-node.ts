/** From an allocation to the number of pods on each node. */
import { FluxqError } from '../errors';
import { parseIdset } from '../resources/idset';
import type { AllocatedNode, Allocation } from '../resources/types';
import type { Ask } from './jobspec';

export interface NodePods {
  readonly node: string;
  readonly pods: number;
}

/**
 * Pods by node, in the order of the allocation. A node takes as many pods as its units make. Nodes that a policy of
 * whole nodes (lonodex, …) allocated take as many of the remaining pods as fit.
 * @param ask the request of the jobspec (`askOf`)
 * @throws FluxqError `FLUXQ_ALLOCATION` if the units of a node are not a whole number of pods
 */
export function podsPerNode(allocation: Allocation, ask: Ask): NodePods[] {
  let left = ask.pods;
  return allocation.nodes.map((node) => {
    const pods = podsOn(node, ask, left);
    left -= pods;
    return { node: node.name, pods };
  });
}

function podsOn(node: AllocatedNode, { perPod, exclusive }: Ask, left: number): number {
  const shares = Object.entries(perPod).map(
    ([type, count]) => parseIdset(node.units[type] ?? '').length / count,
  );
  const fitting = Math.min(...shares.map(Math.floor));
  const most = node.exclusive === true ? left : fitting;
  const pods = Math.min(fitting, exclusive ? 1 : most);
  const divides = exclusive || node.exclusive === true || shares.every((share) => share === pods);
  if (!divides || !Number.isInteger(pods) || pods < 1) {
    throw new FluxqError(
      'FLUXQ_ALLOCATION',
      `the units of node ${node.name} are not a whole number of pods`,
      {
        field: 'allocation',
        value: { units: node.units, perPod },
        remedy: 'requeue the workload; please report this with the Fluxion policy in use',
      },
    );
  }
  return pods;
}
