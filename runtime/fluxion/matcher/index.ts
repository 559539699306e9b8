/** The embedded matcher: it gives the same answers as the C library of flux-sched 0.54, without I/O and without a clock. */
export { toJgf } from '../jgf/jgf';
export type { JgfGraph } from '../jgf/types';
export { type Granted, Matcher, type MatchOutcome } from './matcher';
