/**
 * fast-check with the same seed every time, so that a build fails for what changed and not by chance.
 * `PROPERTY_SEED=random` looks for new cases; a number repeats a seed.
 */
import fc from 'fast-check';

const seed = process.env.PROPERTY_SEED ?? '1';
if (seed !== 'random') fc.configureGlobal({ seed: Number.parseInt(seed, 10) });

export default fc;
