/** Settings of a queue for tests: easy, and nothing limited. */
import { parseConfig } from '../../../runtime/config';
import { stackQueue } from '../../../runtime/fluxsetups/queue-settings';
import type { QueueSettings } from '../../../runtime/queue/settings';

export function queueSettings(over: Partial<QueueSettings> = {}): QueueSettings {
  return { ...stackQueue(parseConfig({}).queue), ...over };
}
