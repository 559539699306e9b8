/** Statements about the leader and not about one workload: its fence, and the queues. */
import { FENCE } from './statements';

/** Waits for writes with the old fence, then replaces the fence. The leader also stores the sizes of its units. */
export const ACQUIRE = `
WITH changed AS (
  UPDATE fluxqueue.leader SET fence = greatest(fence, $2::bigint) + 1, holder = $1, acquired_at = clock_timestamp(),
    cpu_millis = $3, memory_mib = $4, half_life = $5
  RETURNING fence
), logged AS (
  INSERT INTO fluxqueue.events (fence, uid, actor, event, detail) SELECT fence, '', $1::text, 'Leader', '{}' FROM changed
)
SELECT fence::float8 AS fence FROM changed`;

/** Returns one row, or none if $1 is not the fence. */
export const SET_QUEUES = `
WITH ${FENCE},
input AS (SELECT settings->>'name' AS name, settings FROM jsonb_array_elements($2::jsonb) AS i(settings)),
gone AS (
  DELETE FROM fluxqueue.queues q
  WHERE EXISTS (SELECT FROM fence) AND NOT EXISTS (SELECT FROM input i WHERE i.name = q.name)
  RETURNING name
),
changed AS (
  INSERT INTO fluxqueue.queues AS q (name, settings)
  SELECT name, settings FROM input WHERE EXISTS (SELECT FROM fence)
  ON CONFLICT (name) DO UPDATE SET settings = excluded.settings WHERE q.settings IS DISTINCT FROM excluded.settings
  RETURNING name, settings
),
logged AS (
  INSERT INTO fluxqueue.events (fence, uid, actor, event, detail)
  SELECT $1, '', (SELECT holder FROM fence), e.event, e.detail FROM (
    SELECT 'QueueSet' AS event, settings AS detail FROM changed
    UNION ALL SELECT 'QueueGone', jsonb_build_object('name', name) FROM gone
  ) e
)
SELECT fence::float8 AS fence FROM fence`;

export const QUEUES = 'SELECT settings FROM fluxqueue.queues ORDER BY name';
