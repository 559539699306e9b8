/** Debug lines by which the decisions about one object can be followed through a log: one for each reconciliation. */
import type { ReconcileResult } from '../kubernetes/work-queue';
import type { Logger } from '../observability/log';
import type { WorkloadRow } from '../queue/workload';
import { formatKey, type WorkloadKey } from './workload-key';

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

/** The decision of a reconciler that writes a status. */
export interface StatusDecision {
  /** What was done, or why the write waits: `status written`. */
  readonly decision: string;
  /** Milliseconds until the next reconciliation. @default - when something changes */
  readonly after?: number;
}

/** The result of a reconciliation with this decision. */
export function resultOf({ after }: StatusDecision): ReconcileResult {
  return after === undefined ? undefined : { after };
}

/** The fields of a decision that waits. */
export function retryDetail({ after }: StatusDecision): { readonly retryMs?: number } {
  return after === undefined ? {} : { retryMs: after };
}
