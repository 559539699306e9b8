/** The user annotation of a workload. Admission overwrites what a user claims, and removes it if a controller is the creator. */
import { USER_ANNOTATION } from '../../constructs/api/labels';
import { type JsonPatch, type Metadata, pointerToken } from './review';

const PATH = `/metadata/annotations/${pointerToken(USER_ANNOTATION)}`;

/** @param username the user who sent the request */
export function recordUser(metadata: Metadata | undefined, username: string): JsonPatch[] {
  const annotations = metadata?.annotations;
  const claimed = annotations?.[USER_ANNOTATION];
  if (isController(username)) return claimed === undefined ? [] : [{ op: 'remove', path: PATH }];
  if (annotations === undefined)
    return [{ op: 'add', path: '/metadata/annotations', value: { [USER_ANNOTATION]: username } }];
  return claimed === username ? [] : [{ op: 'add', path: PATH, value: username }];
}

/** Whether the creator is a part of Kubernetes. A ServiceAccount in a user's namespace counts as a user. */
function isController(username: string): boolean {
  return (
    username === '' ||
    username.startsWith('system:serviceaccount:kube-system:') ||
    (username.startsWith('system:') && !username.startsWith('system:serviceaccount:'))
  );
}
