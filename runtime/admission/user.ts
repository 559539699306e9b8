/** The user annotation of a workload. Admission overwrites what a user claims, and removes it if a controller is the creator. */
import { USER_ANNOTATION } from '../../constructs/api/labels';
import { type JsonPatch, patchEntries } from '../kubernetes/json-patch';
import type { Metadata } from './review';

export interface UserOptions {
  /** User names of the runtime at the apiserver. @default - none */
  readonly controllerUsers?: readonly string[];
}

/** @param username the user who sent the request @param controllerUsers user names of the runtime */
export function recordUser(
  metadata: Metadata | undefined,
  username: string,
  controllerUsers: readonly string[] = [],
): JsonPatch[] {
  if (carriesUser(metadata, username, controllerUsers)) return [];
  const user = isController(username) ? undefined : username;
  return patchEntries('/metadata/annotations', metadata?.annotations, { [USER_ANNOTATION]: user });
}

/** Whether the creator is a part of Kubernetes. A ServiceAccount in a user's namespace counts as a user. */
export function isController(username: string): boolean {
  return (
    username === '' ||
    username.startsWith('system:serviceaccount:kube-system:') ||
    (username.startsWith('system:') && !username.startsWith('system:serviceaccount:'))
  );
}

/**
 * Whether the annotation comes from the template of another object, where admission wrote it. The runtime creates the Jobs
 * of MiniClusters, and the controllers of Kubernetes those of CronJobs and the pods of Deployments.
 */
function carriesUser(
  metadata: Metadata | undefined,
  username: string,
  controllerUsers: readonly string[],
): boolean {
  if (controllerUsers.includes(username)) return true;
  const isOwned = metadata?.ownerReferences?.some(({ controller }) => controller === true) === true;
  return isOwned && isOfKubernetes(username);
}

function isOfKubernetes(username: string): boolean {
  return (
    username.startsWith('system:serviceaccount:kube-system:') || username === 'system:kube-controller-manager'
  );
}
