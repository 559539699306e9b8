/**
 * fast-check with the same seed every time, so that a build fails for what changed and not by chance.
 * `PROPERTY_SEED=random` looks for new cases; a number repeats a seed. `PROPERTY_FACTOR=100` runs a hundred times as many
 * cases of the properties that use `cases`.
 */
import fc from 'fast-check';

const seed = process.env.PROPERTY_SEED ?? '1';
if (seed !== 'random') fc.configureGlobal({ seed: Number.parseInt(seed, 10) });

/** How many cases of a property are run, and how long they may take in Jest. */
export function cases(numRuns: number): { readonly numRuns: number; readonly milliseconds: number } {
  const factor = Number(process.env.PROPERTY_FACTOR ?? 1);
  return { numRuns: Math.ceil(numRuns * factor), milliseconds: 120_000 * Math.max(1, factor) };
}

export default fc;
