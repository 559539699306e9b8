/** The user annotation of a workload. Admission overwrites what a user claims, and removes it if a controller is the creator. */
import { JUDGED_OWNERS } from '../../constructs/api/creators';
import { GITOPS_USERS } from '../../constructs/api/gitops-users';
import {
  KUEUE_QUEUE_LABEL,
  OWNER_ANNOTATION,
  QUEUED_BY_ANNOTATION,
  USER_ANNOTATION,
} from '../../constructs/api/labels';
import { WORKLOAD_KINDS, type WorkloadKind } from '../../constructs/api/workload-kinds';
import { type JsonPatch, patchEntries } from '../kubernetes/json-patch';
import type { Metadata } from './review';

export interface UserOptions {
  /** User names of the runtime at the apiserver. @default - none */
  readonly controllerUsers?: readonly string[];
  /** User names of engines of GitOps, which apply what others wrote. @default GITOPS_USERS */
  readonly gitOpsUsers?: readonly string[];
  /** The kinds that admission holds by a field of their own. @default - all of them */
  readonly kinds?: readonly WorkloadKind[];
}

/** @param username the user who sent the request */
export function recordUser(
  metadata: Metadata | undefined,
  username: string,
  options: UserOptions = {},
): JsonPatch[] {
  return patchEntries(
    '/metadata/annotations',
    metadata?.annotations,
    recordedUser(metadata, username, options),
  );
}

/** The entry of the annotation that the object gets; undefined in it: none. */
export function recordedUser(
  metadata: Metadata | undefined,
  username: string,
  options: UserOptions = {},
): Readonly<Record<string, string | undefined>> {
  if (carriesUser(metadata, username, options)) return {};
  return { [USER_ANNOTATION]: isController(username, options) ? undefined : username };
}

/** Whether the creator is a part of Kubernetes or an engine of GitOps. A ServiceAccount in a user's namespace counts as a user. */
export function isController(username: string, { gitOpsUsers = GITOPS_USERS }: UserOptions = {}): boolean {
  return (
    username === '' ||
    gitOpsUsers.includes(username) ||
    username.startsWith('system:serviceaccount:kube-system:') ||
    (username.startsWith('system:') && !username.startsWith('system:serviceaccount:'))
  );
}

/** What a Job gets that admission leaves alone: its metadata claim no other user than its own, and its template has notes for its pods. */
export function noteOtherJob(
  metadata: Metadata | undefined,
  template: Metadata | undefined,
  username: string,
  options: UserOptions = {},
): JsonPatch[] {
  const isClaimed = metadata?.annotations?.[USER_ANNOTATION] !== undefined;
  const claim = isClaimed ? recordUser(metadata, username, options) : [];
  return [...claim, ...noteInTemplate(metadata, template, username, options)];
}

/** The user of the Job, for whom its pods count, the other queue that has them, and the object for which they are made. */
function noteInTemplate(
  metadata: Metadata | undefined,
  template: Metadata | undefined,
  username: string,
  options: UserOptions,
): JsonPatch[] {
  const sender = isController(username, options) ? undefined : username;
  const user = carriesUser(metadata, username, options) ? metadata?.annotations?.[USER_ANNOTATION] : sender;
  const path = '/spec/template/metadata';
  const queuedBy = metadata?.labels?.[KUEUE_QUEUE_LABEL] === undefined ? undefined : 'kueue';
  const owner = ownerOfKind(metadata, options);
  const annotations = {
    [USER_ANNOTATION]: user,
    [QUEUED_BY_ANNOTATION]: queuedBy,
    [OWNER_ANNOTATION]: owner,
  };
  if (template !== undefined) return patchEntries(`${path}/annotations`, template.annotations, annotations);
  const written = Object.entries(annotations).filter(([, value]) => value !== undefined);
  return written.length === 0
    ? []
    : [{ op: 'add', path, value: { annotations: Object.fromEntries(written) } }];
}

/** `KIND/NAME/UID` of the object of a workload kind for which something is made, as its owners say; undefined for others. */
export function ownerOfKind(
  metadata: Metadata | undefined,
  { kinds = WORKLOAD_KINDS }: UserOptions = {},
): string | undefined {
  const owner = metadata?.ownerReferences?.find(
    ({ apiVersion, kind, controller }) =>
      controller === true &&
      kinds.some((held) => held.kind === kind && apiVersion.startsWith(`${held.group}/`)),
  );
  return owner && `${owner.kind}/${owner.name}/${owner.uid}`;
}

/**
 * Whether the annotation comes from another object, where admission wrote it. The runtime creates the Jobs of MiniClusters,
 * and the controllers of Kubernetes those of CronJobs and the pods of Deployments.
 */
export function carriesUser(
  metadata: Metadata | undefined,
  username: string,
  { controllerUsers = [], gitOpsUsers = GITOPS_USERS }: UserOptions,
): boolean {
  if (controllerUsers.includes(username)) return true;
  if (gitOpsUsers.includes(username) || !isOfKubernetes(username)) return false;
  const owners = metadata?.ownerReferences ?? [];
  return owners.some(
    ({ apiVersion, kind, controller }) =>
      controller === true && JUDGED_OWNERS.includes(`${apiVersion}/${kind}`),
  );
}

function isOfKubernetes(username: string): boolean {
  return (
    username.startsWith('system:serviceaccount:kube-system:') || username === 'system:kube-controller-manager'
  );
}
