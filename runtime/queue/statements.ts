/**
 * The writes, each one statement for any number of rows:
 *
 *   fence    the leader's row, locked, if $1 is still its fence: a new leader waits for what is
 *            under way, and what comes after it finds nothing here and so changes nothing
 *   input    $2, a JSON array of records
 *   target   the rows to change, locked, as they were, each with its input record (one join only: the planner
 *            knows nothing of the size of these steps, and joined 10,000 rows three ways by nested loops)
 *   changed  the change
 *   used     what was held and is free now, and its decayed worth (writes that free something)
 *   logged   the event log
 *
 * The answer is every changed row, or one row of NULLs, or nothing at all if
 * $1 is not the fence.
 */
import { ROW } from './rows';
import { used } from './usage';

interface UpdateParts {
  /** Columns of the input records, uid apart. */
  readonly input?: string;
  /** Which rows may change; w is the row, i its input. */
  readonly where: string;
  /** The new values; t is the row as it was, t.input its input. */
  readonly set: string;
  /** SQL text expression over `changed`. */
  readonly event: string;
  /** SQL jsonb expression over `changed`. */
  readonly detail: string;
  /** Who did it, SQL text expression over `changed`. @default - the leader */
  readonly actor?: string;
  /** Which nodes of t (the row as it was) are free now, as SQL jsonb expression, and until when they were held. */
  readonly freed?: { readonly nodes: string; readonly until: string };
}

export const FENCE = 'fence AS MATERIALIZED (SELECT * FROM fluxqueue.leader WHERE fence = $1 FOR SHARE)';
const answer = `SELECT ${ROW} FROM fence LEFT JOIN changed ON true ORDER BY changed.seq`;

const LEADER = '(SELECT holder FROM fence)';

const logged = (event: string, detail: string, actor: string) => `
logged AS (
  INSERT INTO fluxqueue.events (fence, uid, actor, event, detail)
  SELECT $1, uid, ${actor}, ${event}, ${detail} FROM changed ORDER BY seq
)`;

function update({ input, where, set, event, detail, actor = LEADER, freed }: UpdateParts): string {
  const columns = ['uid text', ...(input === undefined ? [] : [input])].join(', ');
  return `
WITH ${FENCE},
input AS (SELECT * FROM jsonb_to_recordset($2::jsonb) AS i(${columns})),
target AS MATERIALIZED (
  SELECT w.*, i AS input FROM fluxqueue.workloads w JOIN input i USING (uid)
  WHERE EXISTS (SELECT FROM fence) AND ${where}
  FOR UPDATE OF w
),
changed AS (
  UPDATE fluxqueue.workloads w SET ${set}
  FROM target t WHERE w.uid = t.uid
  RETURNING w.*
),${freed === undefined ? '' : used(freed.nodes, freed.until)}${logged(event, detail, actor)}
${answer}`;
}

export const SUBMIT = `
WITH ${FENCE},
input AS (
  SELECT * FROM ROWS FROM (jsonb_to_recordset($2::jsonb) AS (
    uid text, kind text, namespace text, name text, queue text, priority bigint, "submittedAt" double precision,
    walltime double precision, pods integer, jobspec jsonb, shape text, held boolean,
    "user" text, after jsonb, preemptible boolean
  )) WITH ORDINALITY
),
changed AS (
  INSERT INTO fluxqueue.workloads (
    uid, kind, namespace, name, queue, priority, submitted_at, walltime, pods, jobspec, shape, held,
    usr, after, preemptible, phase, reason
  )
  SELECT uid, kind, namespace, name, queue, priority, to_timestamp("submittedAt"), walltime, pods, jobspec, shape, held,
    "user", after, preemptible, 'Waiting', CASE WHEN held THEN 'Held' ELSE 'Submitted' END
  FROM input i WHERE EXISTS (SELECT FROM fence) AND NOT EXISTS (SELECT FROM fluxqueue.archive a WHERE a.uid = i.uid)
  ORDER BY ordinality
  ON CONFLICT (uid) DO NOTHING
  RETURNING *
),${logged(`'Submitted'`, `jsonb_build_object('queue', queue, 'priority', priority, 'walltime', walltime, 'held', held)`, 'usr')}
${answer}`;

/** What only its user can have changed; the jobspec is written anew when labels or taints of nodes change. */
const BY_USER = `(t.queue, t.priority, t.walltime, t.pods, t.held, t.after, t.preemptible) IS DISTINCT FROM
  ((t.input).queue, (t.input).priority, (t.input).walltime, (t.input).pods, (t.input).held, (t.input).after, (t.input).preemptible)`;
const STAYS = `(t.reason = 'RequeueLimit' AND NOT ${BY_USER})`;

/**
 * A change of what is asked for gets a new job id: a pass that still has the
 * old row in its snapshot can then not commit an allocation of the old shape.
 */
export const UPDATE = update({
  input:
    'queue text, priority bigint, walltime double precision, pods integer, jobspec jsonb, shape text, held boolean, after jsonb, preemptible boolean',
  where: `w.phase = 'Waiting' AND
    (w.queue, w.priority, w.walltime, w.pods, w.jobspec, w.shape, w.held, w.after, w.preemptible)
    IS DISTINCT FROM (i.queue, i.priority, i.walltime, i.pods, i.jobspec, i.shape, i.held, i.after, i.preemptible)`,
  set: `queue = (t.input).queue, priority = (t.input).priority, walltime = (t.input).walltime, pods = (t.input).pods, jobspec = (t.input).jobspec,
    shape = (t.input).shape, held = (t.input).held, after = (t.input).after, preemptible = (t.input).preemptible,
    reason = CASE WHEN ${STAYS} THEN t.reason WHEN (t.input).held THEN 'Held' ELSE 'Submitted' END,
    message = CASE WHEN ${STAYS} THEN t.message END, estimated_start = NULL,
    requeues = CASE WHEN ${BY_USER} THEN 0 ELSE t.requeues END,
    not_before = CASE WHEN ${BY_USER} THEN NULL ELSE t.not_before END,
    jobid = CASE WHEN (t.queue, t.walltime, t.pods, t.jobspec) IS DISTINCT FROM ((t.input).queue, (t.input).walltime, (t.input).pods, (t.input).jobspec)
      THEN nextval('fluxqueue.jobid') ELSE t.jobid END`,
  event: `'Updated'`,
  detail: `jsonb_build_object('queue', queue, 'priority', priority, 'walltime', walltime, 'held', held)`,
  actor: 'usr',
});

/** A row that was held meanwhile, or is at its requeue limit, stays so whatever the pass saw. */
export const WAIT = update({
  input: 'reason text, message text, "estimatedStart" double precision',
  where: `w.phase = 'Waiting' AND (NOT w.held OR i.reason = 'Held')
    AND (w.reason <> 'RequeueLimit' OR i.reason = 'RequeueLimit')`,
  set: `reason = (t.input).reason, message = (t.input).message, estimated_start = to_timestamp((t.input)."estimatedStart")`,
  event: `'Waiting'`,
  detail: `jsonb_build_object('reason', reason, 'message', message, 'estimatedStart', extract(epoch FROM estimated_start)::float8)`,
});

/** Not of a row that was held, or changed what it asks for, since the pass read it. */
export const ALLOCATE = update({
  input: 'allocation jsonb',
  where: `w.phase = 'Waiting' AND NOT w.held AND w.reason <> 'RequeueLimit'
    AND w.jobid = (i.allocation->>'jobid')::bigint`,
  set: `phase = 'Ready', reason = NULL, message = NULL, estimated_start = NULL, not_before = NULL,
    allocation = (t.input).allocation, allocated_at = clock_timestamp()`,
  event: `'Allocated'`,
  detail: `jsonb_build_object('jobid', jobid, 'start', allocation->'start', 'end', allocation->'end',
    'nodes', allocation->'nodes')`,
});

export const RELEASED = update({
  where: `w.phase = 'Ready' AND w.released_at IS NULL`,
  set: 'released_at = clock_timestamp()',
  event: `'Released'`,
  detail: `'{}'::jsonb`,
});

/** A pod can only run if the release arrived, even if nobody came to say so. */
export const RUNNING = update({
  input: '"startedAt" double precision',
  where: `w.phase = 'Ready'`,
  set: `phase = 'Running', started_at = to_timestamp((t.input)."startedAt"), released_at = coalesce(t.released_at, clock_timestamp())`,
  event: `'Running'`,
  detail: `jsonb_build_object('startedAt', extract(epoch FROM started_at)::float8)`,
});

export const SHRINK = update({
  input: 'allocation jsonb',
  where: `w.phase IN ('Ready', 'Running') AND w.jobid = (i.allocation->>'jobid')::bigint
    AND w.allocation IS DISTINCT FROM i.allocation`,
  set: 'allocation = (t.input).allocation',
  event: `'Reallocated'`,
  detail: `jsonb_build_object('start', allocation->'start', 'end', allocation->'end',
    'nodes', allocation->'nodes')`,
  freed: {
    nodes: `coalesce((
      SELECT jsonb_agg(n) FROM jsonb_array_elements(t.allocation->'nodes') n
      WHERE NOT EXISTS (SELECT FROM jsonb_array_elements((t.input).allocation->'nodes') k WHERE k->'name' = n->'name')
    ), '[]')`,
    until: 'clock_timestamp()',
  },
});

export const FINISH = update({
  input: 'result text, "finishedAt" double precision',
  where: `w.phase <> 'Finished'`,
  set: `phase = 'Finished', reason = NULL, message = NULL, estimated_start = NULL, not_before = NULL, recall = NULL,
    result = (t.input).result, finished_at = to_timestamp((t.input)."finishedAt")`,
  event: `'Finished'`,
  detail: `jsonb_build_object('result', result, 'finishedAt', extract(epoch FROM finished_at)::float8)`,
  freed: { nodes: `t.allocation->'nodes'`, until: 'to_timestamp((t.input)."finishedAt")' },
});

/** Committed before anything is suspended: after a crash the next leader goes on with it. */
export const REQUEST_EVICTION = update({
  input: 'message text',
  where: `w.phase IN ('Ready', 'Running') AND w.recall IS NULL`,
  set: 'recall = (t.input).message',
  event: `'EvictionRequested'`,
  detail: `jsonb_build_object('message', recall)`,
});

export const REQUEUE = update({
  input: 'cause text, message text, "notBefore" double precision, reason text',
  where: `w.phase IN ('Ready', 'Running')`,
  set: `phase = 'Waiting', reason = coalesce((t.input).reason, 'Requeued'), message = (t.input).message,
    jobid = nextval('fluxqueue.jobid'), allocation = NULL, allocated_at = NULL, released_at = NULL, started_at = NULL,
    requeues = t.requeues + ((t.input).cause = 'failure')::int,
    preemptions = t.preemptions + ((t.input).cause = 'preempted')::int,
    not_before = to_timestamp((t.input)."notBefore"), recall = NULL`,
  event: `'Requeued'`,
  detail: `jsonb_build_object('message', message, 'requeues', requeues, 'preemptions', preemptions)`,
  freed: { nodes: `t.allocation->'nodes'`, until: 'clock_timestamp()' },
});
