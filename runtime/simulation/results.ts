import type { Curves } from './curves';
import type { QueueStatistics } from './queues';
import type { Statistics } from './statistics';
import type { Variant } from './variants';

/** What the replay of one variant showed. */
export interface Result {
  readonly variant: Variant;
  readonly statistics: Statistics;
  readonly queues: readonly QueueStatistics[];
  readonly curves: Curves;
}
