/** The order of a queue: higher priority, then older, then earlier arrival. */
import type { WorkloadRow } from '../queue/types';

export type Ordered = Pick<WorkloadRow, 'priority' | 'submittedAt' | 'seq'>;

export function inOrder<T extends Ordered>(rows: readonly T[]): T[] {
  return [...rows].sort((a, b) => b.priority - a.priority || a.submittedAt - b.submittedAt || a.seq - b.seq);
}
