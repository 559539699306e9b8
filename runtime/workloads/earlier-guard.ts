/** While a version replaces another, the guard of the earlier one may be there still, and refuse what a release writes now. */
import { messageOf } from '../errors';
import { isStatus } from '../kubernetes/errors';

/** The stack's own guards say it in their messages. */
const GUARD_CODE = 'FLUXQ_RESERVED';

/** Whether the apiserver or an admission policy rejected the request itself. */
function isRejection(error: unknown): boolean {
  return isStatus(error, 422) || isStatus(error, 403) || isStatus(error, 400);
}

/** Whether it is about this write: a webhook that fails for it answers with 500. */
export function isAnswer(error: unknown): boolean {
  return isRejection(error) || isStatus(error, 500);
}

/**
 * Writes the patch, and where a guard of the stack refuses it, the lesser one.
 * @param lesser undefined: no guard of an earlier version refuses the patch
 */
export async function writeOrLess<P, Result>(
  write: (patch: P) => Promise<Result>,
  patch: P,
  lesser: () => P | undefined,
): Promise<Result> {
  try {
    return await write(patch);
  } catch (error) {
    const less = isRejection(error) && messageOf(error).includes(GUARD_CODE) ? lesser() : undefined;
    if (less === undefined) throw error;
    return write(less);
  }
}
