/** Who is tried first behind the promises of a queue, for the settings of random queues. */
import { BACKFILL_ORDERS } from '../../../constructs/api/policies';
import type { QueueSettings } from '../../../runtime/queue/settings';
import fc from '../../fast-check';

export type Backfill = Partial<Pick<QueueSettings, 'backfillOrder' | 'backfillMaxWaitSeconds'>>;

export const backfill = {
  backfillOrder: fc.constantFrom(...BACKFILL_ORDERS),
  backfillMaxWaitSeconds: fc.constantFrom(20, 300, 86_400),
};
