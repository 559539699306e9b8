/** Debug lines by which the decisions about one workload can be followed through a log. */
import type { Logger } from '../observability/log';
import type { WorkloadRow } from '../queue/workload';
import { formatKey, type WorkloadKey } from './key';

export type DecisionLogger = Pick<Logger, 'debug'>;

/** @param workload the row, or the key alone for a workload without a row */
export function logDecision(
  logger: DecisionLogger,
  workload: WorkloadKey & Partial<Pick<WorkloadRow, 'queue' | 'jobid'>>,
  decision: string,
  detail: Readonly<Record<string, unknown>> = {},
): void {
  const { queue, jobid } = workload;
  logger.debug({ workload: formatKey(workload), queue, jobid, ...detail }, decision);
}
