/** Rows as far as their order needs them. */
import type { Ordered } from '../../../runtime/scheduler/pass/order';

let seq = 0;

/** One that was submitted at second 0, after those made before it. */
export const orderedRow = (over: Partial<Ordered> = {}): Ordered => ({
  queue: 'q',
  user: 'ada',
  priority: 0,
  submittedAt: 0,
  seq: ++seq,
  ...over,
});
