/**
 * SQL that records usage, from the start of the first pod on: the time that a grant waits for its pods is not charged, unless it ends
 * because of a cause of its own that kept them from running. The statement that frees a set of nodes also writes one exact record (table
 * usage, for accounting) and adds its decayed value (table fair_share).
 */

/** From when on a row is charged, SQL timestamptz; NULL: not yet. `chargedFrom` of fair-usage.ts says the same. */
export const chargedFrom = (
  row: string,
): string => `(CASE WHEN ${row}.phase = 'Running' THEN ${row}.started_at
    WHEN ${row}.phase = 'Ready' AND ${row}.recall_cause = 'failure' AND NOT ${row}.recall_by_cluster THEN ${row}.allocated_at END)`;

/** SQL for what nodes of an allocation hold (SQL jsonb), as cores, memory_gib and gpus, in the unit sizes of the leader. */
export const amounts = (nodes: string): string => `(
  SELECT coalesce(sum(ids) FILTER (WHERE type = 'core'), 0) * fence.cpu_millis / 1000.0 AS cores,
    coalesce(sum(ids) FILTER (WHERE type = 'memory'), 0) * fence.memory_mib / 1024.0 AS memory_gib,
    coalesce(sum(ids) FILTER (WHERE type = 'gpu'), 0) AS gpus
  FROM jsonb_array_elements(${nodes}) n, jsonb_each_text(n->'units') AS u(type, idset),
    LATERAL (
      SELECT sum(coalesce(nullif(split_part(part, '-', 2), '')::bigint - split_part(part, '-', 1)::bigint, 0) + 1) AS ids
      FROM unnest(string_to_array(idset, ',')) part
    ) counted
  WHERE type IN ('core', 'memory', 'gpu')
)`;

/** Postgres fails if a power or a product is too small to be stored: powers stop at 2^-1000, and a value below this counts nothing. */
const LEAST = '1e-9';

/** A decayed value. */
const decayed = (value: string, since: string, now: string) =>
  `CASE WHEN ${value} < ${LEAST} THEN 0
    ELSE ${value} * power(2, greatest(-1000, -extract(epoch FROM ${now} - ${since})::float8 / fence.half_life)) END`;

const AS_OF = 'greatest(f.as_of, excluded.as_of)';

/** Decayed amount-seconds of what was held, as of u.as_of. */
const spent = (amount: string) =>
  `sum((${decayed(amount, 'held_until', 'as_of')} - ${decayed(amount, 'held_from', 'as_of')})
    * fence.half_life / ln(2::float8))`;

/** A stored value and what is added to it, as of the later of both times. */
const sum = (column: string) => `(
    SELECT ${decayed(`f.${column}`, 'f.as_of', AS_OF)} + ${decayed(`excluded.${column}`, 'excluded.as_of', AS_OF)}
    FROM fence
  )`;

/**
 * @param nodes nodes of t (the row as it was) that are free now, SQL jsonb
 * @param until when they became free, SQL timestamptz
 */
export const used = (nodes: string, until: string): string => `
used AS (
  INSERT INTO fluxqueue.usage (uid, jobid, namespace, queue, usr, nodes, cores, memory_gib, gpus, held_from, held_until)
  SELECT t.uid, t.jobid, t.namespace, t.queue, t.usr, freed.nodes, held.cores, held.memory_gib, held.gpus,
    since, greatest(${until}, since)
  FROM fence, target t, LATERAL (SELECT ${nodes} AS nodes, ${chargedFrom('t')} AS since) freed, LATERAL ${amounts('freed.nodes')} held
  WHERE since IS NOT NULL AND freed.nodes <> '[]'
  RETURNING queue, usr, cores, memory_gib, gpus, held_from, held_until
),
shared AS (
  INSERT INTO fluxqueue.fair_share AS f (queue, usr, core_seconds, memory_gib_seconds, gpu_seconds, as_of)
  SELECT u.queue, u.usr, ${spent('cores')}, ${spent('memory_gib')}, ${spent('gpus')}, as_of
  FROM fence, (SELECT *, max(held_until) OVER (PARTITION BY queue, usr) AS as_of FROM used) u
  GROUP BY u.queue, u.usr, as_of
  ON CONFLICT (queue, usr) DO UPDATE SET as_of = ${AS_OF}, core_seconds = ${sum('core_seconds')},
  memory_gib_seconds = ${sum('memory_gib_seconds')}, gpu_seconds = ${sum('gpu_seconds')}
),`;

export const SHARES = `
SELECT queue, usr AS "user", core_seconds AS "coreSeconds", memory_gib_seconds AS "memoryGiBSeconds",
  gpu_seconds AS "gpuSeconds", extract(epoch FROM as_of)::float8 AS "asOf"
FROM fluxqueue.fair_share`;
