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
  return user === '' || user.startsWith(SERVICE_ACCOUNT) ? `namespace:${namespace}` : user;
}
