/** The embedded matcher: the same answers as flux-sched 0.54's C library, without I/O or a clock of its own. */
export { toJgf } from '../jgf/jgf';
export type { JgfGraph } from '../jgf/types';
export { type Granted, Matcher, type MatchOutcome } from './matcher';
