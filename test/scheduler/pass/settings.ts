/** Settings of a queue for tests: easy, and nothing limited. */
import { parseConfig } from '../../../runtime/config';
import { stackQueue } from '../../../runtime/fluxsetups/queue-settings';
import type { QueueSettings } from '../../../runtime/queue/settings';

const defaults = stackQueue(parseConfig({}).queue);

export function queueSettings(over: Partial<QueueSettings> = {}): QueueSettings {
  return { ...defaults, ...over };
}

/** A queue whose workloads preempt others of it at once, and as often as they like. */
export const PREEMPTS = {
  preempts: true,
  preemption: { minRuntimeSeconds: 0, limit: 1_000 },
} satisfies Partial<QueueSettings>;
