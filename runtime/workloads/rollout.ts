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

const KEEPS = 'keeps older pods until new ones run';
const STRATEGY = 'maxUnavailable of at least 1 or type Recreate in its strategy';

/**
 * What a waiting pod of a Deployment waits behind.
 * @param siblings the pods of its Deployment that use nodes
 * @returns undefined if it has no older pods that hold something
 */
export function olderPodsText(pod: Pod, siblings: readonly Pod[]): string | undefined {
  const deployment = rolledOut(pod, siblings);
  if (deployment === undefined) return undefined;
  return `Deployment ${deployment} ${KEEPS}. If nothing else becomes free, the rollout goes on with ${STRATEGY}, or with more quota`;
}

/**
 * The same of a pod that has no place in its group, which no node or quota can give it.
 * @param live the pods that have one
 */
export function olderMembersText(pod: Pod, live: readonly Pod[]): string | undefined {
  const [own] = deploymentsOf(pod);
  const siblings = live.filter((other) => deploymentsOf(other)[0] === own);
  const deployment = rolledOut(pod, siblings);
  if (deployment === undefined) return undefined;
  return `Deployment ${deployment} ${KEEPS}, so its rollout goes on with ${STRATEGY}`;
}

/** The name of the Deployment that the pod belongs to, if pods of another template of it are there. */
function rolledOut(pod: Pod, siblings: readonly Pod[]): string | undefined {
  const [deployment] = deploymentsOf(pod);
  const hash = pod.metadata.labels?.[HASH_LABEL];
  if (siblings.every(({ metadata }) => metadata.labels?.[HASH_LABEL] === hash)) return undefined;
  return deployment?.split('/')[1];
}
