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

/** The rows as they are now, with what Fluxion holds for them: it was made equal to the holders, and an end may have moved since. */
export function* withHeldBy(
  holders: readonly WorkloadRow[],
  rows: Iterable<WorkloadRow>,
): Generator<WorkloadRow> {
  const held = new Map(holders.map(({ jobid, allocation }) => [jobid, allocation]));
  for (const row of rows) {
    const allocation = row.allocation && (held.get(row.jobid) ?? row.allocation);
    yield allocation === row.allocation ? row : { ...row, allocation };
  }
}
