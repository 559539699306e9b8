/** Which pods still use their nodes. */
import type { Pod } from '../kubernetes/types';
import { isTerminal } from './adapter';
import { isGated } from './pod';

/** What is known of the nodes of the cluster. */
export interface NodeView {
  readonly exists: (name: string) => boolean;
  /** Whether the condition Ready of the node is True. */
  readonly isReady: (name: string) => boolean;
}

/**
 * Whether the pod runs or can still run. The pods of a deleted node are gone with it. A pod that Kubernetes is deleting
 * on a node that is not ready stays until somebody deletes the node: nobody can tell whether it runs, so the queue counts
 * it as a pod outside the queue and waits for it no longer.
 */
export function isLive(pod: Pod, nodes: NodeView): boolean {
  if (isTerminal(pod) || isGated(pod)) return false;
  const { nodeName } = pod.spec;
  const isDeleting = pod.metadata.deletionTimestamp !== undefined;
  if (nodeName === undefined) return !isDeleting;
  return nodes.exists(nodeName) && !(isDeleting && !nodes.isReady(nodeName));
}
