/**
 * Moves workloads that finished long ago into the archive: each becomes one row with its events, and its usage is added
 * to the daily sums. Of what ends beyond the budget of its namespace only the daily sums remain, so that no rate of Jobs fills
 * the volume. Each is one statement, so nothing is counted twice or lost, and it takes few rows at a time, so that the
 * leader's writes don't wait.
 */
import { FENCE } from './statements';

/** What becomes of a removed workload besides its part of the daily sums. */
const KEPT = `
kept AS (
  INSERT INTO fluxqueue.archive (uid, namespace, name, submitted_at, seq, result, workload, events)
  SELECT o.uid, o.namespace, o.name, o.submitted_at, o.seq, o.result, to_jsonb(o), coalesce(e.events, '[]')
  FROM old o LEFT JOIN (
    SELECT uid, jsonb_agg(jsonb_build_object('id', id, 'at', extract(epoch FROM at)::float8, 'fence', fence,
      'actor', actor, 'event', event, 'detail', detail) ORDER BY id) AS events
    FROM logged GROUP BY uid
  ) e USING (uid)
),`;

/** SQL that removes the rows that `old` selects, and adds them to the daily sums. Returns how many were removed. */
const removed = (old: string, kept = '') => `
WITH ${FENCE},
old AS MATERIALIZED (${old}),
uids AS MATERIALIZED (SELECT array_agg(uid) AS uids FROM old),
spent AS (DELETE FROM fluxqueue.usage WHERE uid = ANY ((SELECT uids FROM uids)::text[]) RETURNING *),
logged AS (DELETE FROM fluxqueue.events WHERE uid = ANY ((SELECT uids FROM uids)::text[]) RETURNING *),
gone AS (DELETE FROM fluxqueue.workloads WHERE uid = ANY ((SELECT uids FROM uids)::text[])),
${kept}
summed AS (
  INSERT INTO fluxqueue.usage_days AS d
    (day, queue, namespace, usr, jobs, pods, core_seconds, memory_gib_seconds, gpu_seconds)
  SELECT day, queue, namespace, usr, sum(jobs), sum(pods), sum(cores * seconds), sum(memory_gib * seconds), sum(gpus * seconds)
  FROM (
    SELECT (finished_at AT TIME ZONE 'UTC')::date AS day, queue, namespace, usr, 1 AS jobs, pods,
      0 AS cores, 0 AS memory_gib, 0 AS gpus, 0 AS seconds
    FROM old
    UNION ALL
    SELECT day::date, queue, namespace, usr, 0, 0, cores, memory_gib, gpus, extract(epoch FROM
      least(held_until, (day + interval '1 day') AT TIME ZONE 'UTC') - greatest(held_from, day AT TIME ZONE 'UTC'))::float8
    FROM spent, generate_series(date_trunc('day', held_from AT TIME ZONE 'UTC'), held_until AT TIME ZONE 'UTC', '1 day') AS day
  ) parts
  GROUP BY day, queue, namespace, usr
  ON CONFLICT (day, queue, namespace, usr) DO UPDATE SET jobs = d.jobs + excluded.jobs, pods = d.pods + excluded.pods,
    core_seconds = d.core_seconds + excluded.core_seconds,
    memory_gib_seconds = d.memory_gib_seconds + excluded.memory_gib_seconds, gpu_seconds = d.gpu_seconds + excluded.gpu_seconds
)
SELECT (SELECT count(*) FROM old)::float8 AS count FROM fence`;

/** $1 is the fence, $2 the Unix second before which workloads finished, $3 the most to move. Returns how many were moved. */
export const ARCHIVE = removed(
  `
  SELECT w.* FROM fluxqueue.workloads w
  WHERE EXISTS (SELECT FROM fence) AND w.phase = 'Finished' AND w.finished_at < to_timestamp($2)
  ORDER BY w.finished_at LIMIT $3 FOR UPDATE
`,
  KEPT,
);

/** $1 is the fence, $2 the uids. Only finished workloads are removed. Returns how many were. */
export const CONDENSE = removed(`
  SELECT w.* FROM fluxqueue.workloads w
  WHERE EXISTS (SELECT FROM fence) AND w.phase = 'Finished' AND w.uid = ANY ($2::text[]) FOR UPDATE
`);

/** A workload beyond the budget of its namespace for the hour in which it ended. */
export interface BeyondBudget {
  readonly uid: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Unix seconds. */
  readonly finishedAt: number;
}

/** Where to look for them. */
export interface BudgetQuery {
  /** Rows that each namespace keeps of those that end in the same hour (UTC). */
  readonly budget: number;
  /** Unix seconds: of those that ended in the hour that begins here, and before that second. */
  readonly hour: number;
  readonly before: number;
  /** Only those behind this one. @default - from the first on */
  readonly after?: Pick<BeyondBudget, 'uid' | 'finishedAt'> | undefined;
  /** The most that are returned. */
  readonly limit: number;
}

/** Failures are kept longest, and what was deleted by its user goes first. $1 budget, $2 hour, $3 before, $4 and $5 after, $6 limit. */
export const BEYOND_BUDGET = `
SELECT uid, kind, namespace, name, "finishedAt" FROM (
  SELECT uid, kind, namespace, name, extract(epoch FROM finished_at)::float8 AS "finishedAt", row_number() OVER (
    PARTITION BY namespace ORDER BY array_position(ARRAY['Failed', 'TimedOut', 'Succeeded', 'Cancelled'], result), finished_at, uid
  ) AS place
  FROM fluxqueue.workloads
  WHERE phase = 'Finished' AND finished_at >= to_timestamp($2)
    AND finished_at < least(to_timestamp($2) + interval '1 hour', to_timestamp($3))
) ranked
WHERE place > $1 AND ("finishedAt", uid) > ($4::float8, $5::text) ORDER BY "finishedAt", uid LIMIT $6`;
