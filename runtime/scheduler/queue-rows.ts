import type { QueueSettings } from '../queue/settings';
import type { WorkloadRow } from '../queue/workload';
import type { PassQueue } from './pass/types';

/** The rows of each queue, and those whose queue does not exist. */
export interface QueueRows {
  readonly queues: PassQueue[];
  readonly orphaned: WorkloadRow[];
}

/** Sorts rows by queue. A queue without rows is in the answer, too. */
export function rowsByQueue(queues: readonly QueueSettings[], rows: Iterable<WorkloadRow>): QueueRows {
  const known = new Set(queues.map(({ name }) => name));
  const rowsOf = Map.groupBy(rows, ({ queue }) => (known.has(queue) ? queue : undefined));
  return {
    queues: queues.map((settings) => ({ settings, rows: rowsOf.get(settings.name) ?? [] })),
    orphaned: rowsOf.get(undefined) ?? [],
  };
}
