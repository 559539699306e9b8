/**
 * Evicted pods that their controllers create again under another name and uid. The place of an evicted pod is written
 * before it is evicted, and removed with the submission of its successor, so it survives every change of the leader.
 */
import { FENCE } from './statements';
import type { Predecessor } from './workload';

export interface Succession {
  readonly predecessor: Predecessor;
  /** UID of the controller of the evicted pod. */
  readonly controller: string;
  /** When the pod was evicted: Unix seconds. */
  readonly at: number;
}

/** After this a controller that creates no pod was deleted or scaled down. */
export const SUCCESSION_SECONDS = 600;

export const SUCCESSIONS = `
SELECT predecessor, controller, extract(epoch FROM at)::float8 AS at FROM fluxqueue.successions ORDER BY at, uid`;

/** $1 is the fence, $2 a Succession as JSON. Returns a row if the fence is valid. */
export const REMEMBER_SUCCESSION = `
WITH ${FENCE},
input AS (
  SELECT predecessor->>'uid' AS uid, controller, predecessor, to_timestamp(at) AS at
  FROM jsonb_to_record($2::jsonb) AS i(controller text, predecessor jsonb, at double precision)
),
expired AS (
  DELETE FROM fluxqueue.successions s USING input i
  WHERE EXISTS (SELECT FROM fence) AND s.at < i.at - interval '${SUCCESSION_SECONDS} seconds' AND s.uid <> i.uid
),
remembered AS (
  INSERT INTO fluxqueue.successions (uid, controller, predecessor, at)
  SELECT uid, controller, predecessor, at FROM input WHERE EXISTS (SELECT FROM fence)
  ON CONFLICT (uid) DO UPDATE SET predecessor = excluded.predecessor, at = excluded.at
)
SELECT fence FROM fence`;
