/**
 * How far promised starts were from the true ones. A promise is the estimated start of a reservation, which the event log
 * keeps with the wait; what FluxJobs show of workloads without a reservation is written nowhere. Of each workload the first
 * promise counts that was made for its last request: one that was edited or requeued afterwards got another. The true start
 * is the grant, because the time that pods wait for images is not planned.
 */
import type { Database } from './database';

export interface EstimateError {
  /** Workloads that were promised a start and then granted. */
  readonly jobs: number;
  readonly p50Seconds: number;
  readonly p90Seconds: number;
}

/** Of more grants the newest count: for each of them the log is read once. */
const MOST = 5_000;

const ESTIMATE_ERROR = `
WITH granted AS MATERIALIZED (
  SELECT uid, allocated_at FROM fluxqueue.workloads
  WHERE allocated_at >= to_timestamp($1) ORDER BY allocated_at DESC LIMIT ${MOST}
),
errors AS (
  SELECT abs(extract(epoch FROM g.allocated_at)::float8 - (p.detail->>'estimatedStart')::float8) AS seconds
  FROM granted g, LATERAL (
    SELECT e.detail FROM fluxqueue.events e
    WHERE e.uid = g.uid AND e.event = 'Waiting' AND e.detail->>'estimatedStart' IS NOT NULL AND e.id > coalesce((
      SELECT max(id) FROM fluxqueue.events r WHERE r.uid = g.uid AND r.event IN ('Requeued', 'Updated')
    ), 0)
    ORDER BY e.id LIMIT 1
  ) p
)
SELECT count(*)::float8 AS jobs, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS "p50Seconds",
  percentile_cont(0.9) WITHIN GROUP (ORDER BY seconds) AS "p90Seconds"
FROM errors`;

/** @param since Unix seconds: workloads that were granted since then and are not archived */
export async function estimateError(database: Database, since: number): Promise<EstimateError | undefined> {
  const [found] = await database.query<EstimateError>(ESTIMATE_ERROR, [since]);
  return found === undefined || found.jobs === 0 ? undefined : found;
}
