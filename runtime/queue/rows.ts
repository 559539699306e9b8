/**
 * Reads rows of fluxqueue.workloads as WorkloadRow: names in camelCase, times in Unix seconds, int8 as number (all are
 * below 2^53).
 */
import { isDeepStrictEqual } from 'node:util';
import { HANDED_BACK, type NewSubmission, type WorkloadRow } from './workload';

const seconds = (column: string, name: string) => `extract(epoch FROM ${column})::float8 AS "${name}"`;

/** Select list of a WorkloadRow. */
export const ROW = [
  'uid, kind, namespace, name, queue, priority::float8 AS priority, walltime, pods, jobspec, shape, held',
  'usr AS "user", after, preemptible, recall AS "evictionReason", avoid, preemptions',
  `CASE WHEN recall_cause = 'failure' AND recall_by_cluster THEN 'cluster' ELSE recall_cause END AS "evictionCause"`,
  'seq::float8 AS seq, jobid::float8 AS jobid, phase, reason, message, allocation, result, requeues',
  'cluster_requeues AS "clusterRequeues"',
  'coalesce(after = met_after, false) AS "isAfterMet"',
  seconds('submitted_at', 'submittedAt'),
  seconds('estimated_start', 'estimatedStart'),
  seconds('not_before', 'notBefore'),
  seconds('allocated_at', 'allocatedAt'),
  seconds('released_at', 'releasedAt'),
  seconds('started_at', 'startedAt'),
  seconds('finished_at', 'finishedAt'),
].join(', ');

/** Order of a queue: priority, then time of submission, then arrival. */
const ORDER = 'priority DESC, submitted_at, seq';

export const ACTIVE = `SELECT ${ROW} FROM fluxqueue.workloads WHERE phase <> 'Finished' ORDER BY ${ORDER}`;

/**
 * A write moves the row to another place or gives it another transaction. Both may come again only after a restart of the
 * server, which a restored database or another server needs as well.
 */
const VERSION = `concat_ws('/', xmin, ctid, extract(epoch FROM pg_postmaster_start_time()))`;

export const VERSIONS = `SELECT uid, ${VERSION} AS version FROM fluxqueue.workloads WHERE phase <> 'Finished' ORDER BY ${ORDER}`;

export const VERSIONED = `SELECT ${ROW}, ${VERSION} AS version FROM fluxqueue.workloads WHERE uid = ANY($1) AND phase <> 'Finished'`;

export const BY_UID = `SELECT ${ROW} FROM fluxqueue.workloads WHERE uid = ANY($1)`;

export const UNRECORDED = `SELECT uid FROM unnest($1::text[]) AS given(uid)
WHERE NOT EXISTS (SELECT FROM fluxqueue.workloads w WHERE w.uid = given.uid)
  AND NOT EXISTS (SELECT FROM fluxqueue.archive a WHERE a.uid = given.uid)`;

/** $2 are the seconds from the submission within which a success at the first attempt is not notable. */
export const NOTABLE = `SELECT ${ROW} FROM fluxqueue.workloads
WHERE uid = ANY($1) AND ((result, requeues, preemptions) IS DISTINCT FROM ('Succeeded', 0, 0)
  OR finished_at >= submitted_at + make_interval(secs => $2))`;

const ENDED_AS = `CASE WHEN message = '${HANDED_BACK}' THEN 'HandedBack' ELSE result END AS result`;

/** $1 is a JSON array of names. Includes archived workloads. */
export const OUTCOMES = `
WITH names AS (SELECT * FROM jsonb_to_recordset($1::jsonb) AS i(namespace text, name text)),
found AS (
  SELECT namespace, name, message, result, seq, jobid, submitted_at FROM fluxqueue.workloads JOIN names USING (namespace, name)
  WHERE phase = 'Finished'
  UNION ALL
  SELECT namespace, name, workload->>'message', result, seq, (workload->>'jobid')::bigint, submitted_at FROM fluxqueue.archive JOIN names USING (namespace, name)
)
SELECT DISTINCT ON (namespace, name) namespace, name, ${ENDED_AS}, seq::float8 AS seq, jobid::float8 AS jobid, ${seconds('submitted_at', 'submittedAt')}
FROM found ORDER BY namespace, name, submitted_at DESC, found.seq DESC, found.jobid DESC`;

export const FINISHED = `SELECT queue, count(*)::float8 AS count FROM fluxqueue.workloads WHERE phase = 'Finished' GROUP BY queue`;

/** The row of a new submission, without a database. @param seq order of arrival from 1, unless it takes over a place; also its job id */
export function newRow(given: NewSubmission, seq: number): WorkloadRow {
  const {
    requeues = 0,
    clusterRequeues = 0,
    message = null,
    notBefore = null,
    avoid = {},
    metAfter,
    seq: place = seq,
    reason = 'Requeued',
    predecessor: _,
    ...submission
  } = given;
  return {
    ...submission,
    seq: place,
    jobid: seq,
    phase: 'Waiting',
    reason: submission.held ? 'Held' : message === null ? 'Submitted' : reason,
    message,
    allocation: null,
    estimatedStart: null,
    result: null,
    isAfterMet: isDeepStrictEqual(submission.after, metAfter),
    requeues,
    clusterRequeues,
    notBefore,
    evictionReason: null,
    evictionCause: null,
    avoid,
    preemptions: 0,
    allocatedAt: null,
    releasedAt: null,
    startedAt: null,
    finishedAt: null,
  };
}
