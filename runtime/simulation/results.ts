import type { Curves } from './curves';
import type { Statistics } from './statistics';
import type { Variant } from './variants';

/** What the replay of one variant showed. */
export interface Result {
  readonly variant: Variant;
  readonly statistics: Statistics;
  readonly curves: Curves;
}
