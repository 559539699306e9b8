/**
 * Adoption: a database that was restored from a backup has lost allocations that workloads still run on, so these
 * workloads get rows again.
 */

import { ROW } from './rows';
import { FENCE } from './statements';

/**
 * Inserts rows as Ready and released, or updates rows that wait or hold an earlier grant; these request from now on what
 * they were released with. They keep the job id of their grant, which their pods carry. New ones continue after the highest
 * that any workload carries: a used one never names another grant, whatever the clock says. The sequence only moves
 * forward, and only for the leader.
 */
export const ADOPT = `
WITH ${FENCE},
input AS MATERIALIZED (
  SELECT * FROM ROWS FROM (jsonb_to_recordset($2::jsonb) AS (
    uid text, kind text, namespace text, name text, queue text, priority bigint, "submittedAt" double precision,
    walltime double precision, pods integer, jobspec jsonb, shape text, held boolean,
    "user" text, after jsonb, preemptible boolean, "knownJobid" bigint, "releasedAt" double precision, allocation jsonb
  )) WITH ORDINALITY i
  WHERE EXISTS (SELECT FROM fence) AND NOT EXISTS (SELECT FROM fluxqueue.archive a WHERE a.uid = i.uid)
    AND NOT EXISTS (SELECT FROM fluxqueue.workloads w WHERE w.uid = i.uid AND (w.phase = 'Finished'
      OR w.phase <> 'Waiting' AND w.jobid >= i."knownJobid"))
),
reached AS MATERIALIZED (
  SELECT CASE WHEN max("knownJobid") >= (SELECT last_value FROM fluxqueue.jobid)
    THEN setval('fluxqueue.jobid', max("knownJobid")) END
  FROM input
),
numbered AS MATERIALIZED (
  SELECT i.*, CASE WHEN "knownJobid" > 0 AND row_number() OVER (PARTITION BY "knownJobid" ORDER BY ordinality) = 1
    AND NOT EXISTS (SELECT FROM fluxqueue.workloads w WHERE w.jobid = "knownJobid" AND w.uid <> i.uid)
    THEN "knownJobid" ELSE fluxqueue.next_jobid() END AS jobid
  FROM reached, input i ORDER BY ordinality
),
changed AS (
  INSERT INTO fluxqueue.workloads AS w (
    uid, kind, namespace, name, queue, priority, submitted_at, walltime, pods, jobspec, shape, held,
    usr, after, preemptible, phase, jobid, allocation, allocated_at, released_at, met_after
  )
  SELECT uid, kind, namespace, name, queue, priority, to_timestamp("submittedAt"), walltime, pods, jobspec, shape, held,
    "user", after, preemptible, 'Ready', jobid, jsonb_set(allocation, '{jobid}', to_jsonb(jobid)),
    released, released, after
  FROM (SELECT *, least(clock_timestamp(), to_timestamp("releasedAt")) AS released FROM numbered) n ORDER BY ordinality
  ON CONFLICT (uid) DO UPDATE SET phase = 'Ready', reason = NULL, message = NULL, estimated_start = NULL,
    not_before = NULL, queue = excluded.queue, priority = excluded.priority, walltime = excluded.walltime,
    pods = excluded.pods, jobspec = excluded.jobspec, shape = excluded.shape, held = excluded.held,
    after = excluded.after, preemptible = excluded.preemptible, jobid = excluded.jobid,
    allocation = excluded.allocation, allocated_at = excluded.allocated_at, released_at = excluded.released_at,
    started_at = NULL, recall = NULL, recall_cause = NULL, met_after = excluded.after
  RETURNING *
),
logged AS (
  INSERT INTO fluxqueue.events (fence, uid, actor, event, detail)
  SELECT $1, uid, (SELECT holder FROM fence), 'Adopted', jsonb_build_object('jobid', jobid,
    'start', allocation->'start', 'end', allocation->'end', 'nodes', allocation->'nodes')
  FROM changed ORDER BY seq
)
SELECT ${ROW} FROM fence LEFT JOIN changed ON true ORDER BY changed.seq`;
