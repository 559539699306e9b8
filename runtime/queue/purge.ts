/**
 * Removes what nobody needs any more, few rows at a time: the archive after its own retention, and the log of the leaders
 * and queues, which belongs to no workload. Daily sums stay: they are small, and the accounting of past years needs them.
 */
import { FENCE } from './statements';

/** $1 is the fence, $2 the Unix second before which rows are removed, $3 the most of each table. Returns how many were removed at most. */
export const PURGE = `
WITH ${FENCE},
archived AS (
  DELETE FROM fluxqueue.archive WHERE EXISTS (SELECT FROM fence) AND uid = ANY (ARRAY(
    SELECT uid FROM fluxqueue.archive WHERE archived_at < to_timestamp($2) ORDER BY archived_at LIMIT $3
  ))
  RETURNING 1
),
logged AS (
  DELETE FROM fluxqueue.events WHERE EXISTS (SELECT FROM fence) AND id = ANY (ARRAY(
    SELECT id FROM fluxqueue.events WHERE uid = '' AND at < to_timestamp($2) ORDER BY id LIMIT $3
  ))
  RETURNING 1
)
SELECT greatest((SELECT count(*) FROM archived), (SELECT count(*) FROM logged))::float8 AS count FROM fence`;

/** Bytes on disk of a table with its indexes. */
export interface TableSize {
  readonly table: string;
  readonly bytes: number;
}

export const SIZES = `
SELECT relname AS "table", pg_total_relation_size(oid)::float8 AS bytes FROM pg_class
WHERE relnamespace = 'fluxqueue'::regnamespace AND relkind = 'r' ORDER BY relname`;
