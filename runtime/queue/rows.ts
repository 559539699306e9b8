/** A row of fluxqueue.workloads as WorkloadRow: names in camelCase, times in Unix seconds, int8 as number (all below 2^53). */

const seconds = (column: string, name: string) => `extract(epoch FROM ${column})::float8 AS "${name}"`;

/** Select list that gives a WorkloadRow. */
export const ROW = [
  'uid, kind, namespace, name, queue, priority::float8 AS priority, walltime, pods, jobspec, shape, held',
  'usr AS "user", after, preemptible, recall, preemptions',
  'seq::float8 AS seq, jobid::float8 AS jobid, phase, reason, message, allocation, result, requeues',
  seconds('submitted_at', 'submittedAt'),
  seconds('estimated_start', 'estimatedStart'),
  seconds('not_before', 'notBefore'),
  seconds('allocated_at', 'allocatedAt'),
  seconds('released_at', 'releasedAt'),
  seconds('started_at', 'startedAt'),
  seconds('finished_at', 'finishedAt'),
].join(', ');

/** Order of a queue: higher priority, then older, then earlier arrival. */
const ORDER = 'priority DESC, submitted_at, seq';

export const ACTIVE = `SELECT ${ROW} FROM fluxqueue.workloads WHERE phase <> 'Finished' ORDER BY ${ORDER}`;

export const HISTORY = `SELECT ${seconds('at', 'at')}, event, detail FROM fluxqueue.events WHERE uid = $1 ORDER BY id`;

export const BY_UID = `SELECT ${ROW} FROM fluxqueue.workloads WHERE uid = ANY($1)`;
