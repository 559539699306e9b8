/**
 * fast-check with the seed of the day. `PROPERTY_FACTOR=100` runs a hundred times as many cases of the properties that use
 * `cases`.
 */
import fc from 'fast-check';
import { seedOfToday } from './seed';

fc.configureGlobal({ seed: seedOfToday() });

/** How many cases of a property are run, and after how long they hang in Jest. */
export function cases(numRuns: number): { readonly numRuns: number; readonly milliseconds: number } {
  const factor = Number(process.env.PROPERTY_FACTOR ?? 1);
  return { numRuns: Math.ceil(numRuns * factor), milliseconds: 600_000 * Math.max(1, factor) };
}

export default fc;
