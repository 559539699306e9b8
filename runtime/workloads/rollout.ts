/**
 * Rolling updates: a new pod of a Deployment waits in the queue while its older pods, which Kubernetes ends only when the new one
 * runs, hold nodes and quota. Where nothing else becomes free the rollout would never go on, so its user has to know.
 */
import { ADMITTED_LABEL } from '../../constructs/api/labels';
import { controllerOf } from '../kubernetes/owner';
import type { Pod } from '../kubernetes/types';

const HASH_LABEL = 'pod-template-hash';

/** `namespace/name` of the Deployment of a pod in the queue, as an index of pods has it. @returns [] for other pods */
export function deploymentsOf({ metadata }: Pod): readonly string[] {
  const { namespace, labels } = metadata;
  if (labels?.[ADMITTED_LABEL] !== 'true') return [];
  const owner = controllerOf({ metadata });
  const suffix = `-${labels[HASH_LABEL]}`;
  if (owner?.kind !== 'ReplicaSet' || !owner.name.endsWith(suffix)) return [];
  return [`${namespace}/${owner.name.slice(0, -suffix.length)}`];
}

/**
 * What a waiting pod of a Deployment waits behind.
 * @param siblings the pods of its Deployment that use nodes
 * @returns undefined if it has no older pods that hold something
 */
export function olderPodsText(pod: Pod, siblings: readonly Pod[]): string | undefined {
  const [deployment] = deploymentsOf(pod);
  if (deployment === undefined) return undefined;
  const hash = pod.metadata.labels?.[HASH_LABEL];
  if (siblings.every(({ metadata }) => metadata.labels?.[HASH_LABEL] === hash)) return undefined;
  return `Deployment ${deployment.split('/')[1]} keeps older pods until new ones run. If nothing else becomes free, the rollout goes on with maxUnavailable of at least 1 or type Recreate in its strategy, or with more quota`;
}
