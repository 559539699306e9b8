/** Evidence that a command goes without, where its user may not see it, or the stack has no read API. */
import { hasCode } from '../errors';

const WITHOUT = ['FLUXQ_READ_FORBIDDEN', 'FLUXQ_READ_API_MISSING', 'FLUXQ_READ_API_DOWN'] as const;

export async function withoutReadApi<T>(question: () => Promise<T>): Promise<T | undefined> {
  try {
    return await question();
  } catch (error) {
    if (WITHOUT.some((code) => hasCode(error, code))) return undefined;
    throw error;
  }
}
