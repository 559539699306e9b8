/** Who made a workload: written by admission whatever the object said, and left out where a controller made it. */
import { USER_ANNOTATION } from '../../constructs/api/labels';
import { type JsonPatch, type Metadata, pointerToken } from './review';

const PATH = `/metadata/annotations/${pointerToken(USER_ANNOTATION)}`;

/** @param username of the request */
export function markUser(metadata: Metadata | undefined, username: string): JsonPatch[] {
  const annotations = metadata?.annotations;
  const said = annotations?.[USER_ANNOTATION];
  if (isController(username)) return said === undefined ? [] : [{ op: 'remove', path: PATH }];
  if (annotations === undefined)
    return [{ op: 'add', path: '/metadata/annotations', value: { [USER_ANNOTATION]: username } }];
  return said === username ? [] : [{ op: 'add', path: PATH, value: username }];
}

/** Its name, if it has one, says nothing of who wanted the workload. ServiceAccounts of users' namespaces are users. */
function isController(username: string): boolean {
  return (
    username === '' ||
    username.startsWith('system:serviceaccount:kube-system:') ||
    (username.startsWith('system:') && !username.startsWith('system:serviceaccount:'))
  );
}
