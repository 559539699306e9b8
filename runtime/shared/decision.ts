/** What one reconciliation decided. Reconcilers log it once, at debug level. */
import type { ReconcileResult } from '../kubernetes/work-queue';
import type { Logger } from '../observability/log';
import type { WorkloadRow } from '../queue/workload';
import { formatKey } from './workload-key';

export interface Decision {
  /** What was done, or what the object waits for: `released`, `status written`. */
  readonly decision: string;
  /** Milliseconds until the next reconciliation. @default - when something changes */
  readonly after?: number;
}

/** Logs the decision with the fields that identify its object. */
export function logDecision(
  logger: Pick<Logger, 'debug'>,
  fields: Readonly<Record<string, unknown>>,
  { decision, after }: Decision,
): ReconcileResult {
  if (after === undefined) {
    logger.debug(fields, decision);
    return undefined;
  }
  logger.debug({ ...fields, retryMs: after }, decision);
  return { after };
}

/** The fields of a decision about a workload. */
export function workloadFields(row: WorkloadRow) {
  return { workload: formatKey(row), queue: row.queue, jobid: row.jobid };
}
