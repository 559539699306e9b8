/** Whose limits and history a workload has. */
import { USER_ANNOTATION } from '../../constructs/api/labels';
import type { ObjectMeta } from '../kubernetes/types';

/** User names of ServiceAccounts begin with this. */
const SERVICE_ACCOUNT = 'system:serviceaccount:';

/**
 * The person that admission recorded. What a controller or a ServiceAccount created belongs to its namespace: otherwise
 * whoever may create ServiceAccounts had the limits of a user once for each.
 */
export function rowUserOf({
  annotations,
  namespace = '',
}: Pick<ObjectMeta, 'annotations' | 'namespace'>): string {
  const user = annotations?.[USER_ANNOTATION] ?? '';
  return isPerson(user) ? user : `namespace:${namespace}`;
}

/** @param user as admission recorded it; '' for a controller */
function isPerson(user: string): boolean {
  return user !== '' && !user.startsWith(SERVICE_ACCOUNT);
}

/** Whether a person made it who is not the user of the row: it would run for that one, and be charged to that one. */
export function isOfAnotherPerson(
  { annotations }: Pick<ObjectMeta, 'annotations'>,
  rowUser: string,
): boolean {
  const user = annotations?.[USER_ANNOTATION] ?? '';
  return isPerson(user) && user !== rowUser;
}
