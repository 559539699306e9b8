/** From an allocation to pods: how many on which node. */
import { FluxqError } from '../errors';
import { parseIdset } from '../resources/idset';
import type { AllocatedNode, Allocation } from '../resources/types';
import type { Ask } from './jobspec';

export interface NodePods {
  readonly node: string;
  readonly pods: number;
}

/**
 * In the order of the allocation. Without `exclusive` a node takes as many
 * pods as its units make; nodes that a policy of whole nodes (lonodex, …) gave
 * away entirely take what is left of the workload, as many as fit.
 *
 * @param ask what the workload's jobspec asks for (`askOf`)
 * @throws FluxqError `FLUXQ_ALLOCATION` if a node's units are not a whole number of pods
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
  const room = Math.min(...shares.map(Math.floor));
  const pods = exclusive ? Math.min(1, room) : node.exclusive === true ? Math.min(room, left) : room;
  const divides = exclusive || node.exclusive === true || shares.every((share) => share === pods);
  if (!divides || !Number.isInteger(pods) || pods < 1) {
    throw new FluxqError('FLUXQ_ALLOCATION', `node ${node.name} was given units that are not whole pods`, {
      field: 'allocation',
      value: { units: node.units, perPod },
      remedy: 'requeue the workload; please report this with the Fluxion policy in use',
    });
  }
  return pods;
}
