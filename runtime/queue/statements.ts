/**
 * The writes. Each is one statement for any number of rows, in these steps:
 *
 *   fence    the leader's row, locked, if $1 is still its fence. A new leader waits for statements under way; a later
 *            statement of the old leader finds no row here and changes nothing
 *   input    $2, a JSON array of records
 *   target   the rows to change as they were, locked, each with its input record. There is one join only: the planner
 *            does not know the size of these steps and joined 10,000 rows three ways by nested loops
 *   changed  the change
 *   used     units that were held and are free now, and their decayed usage (in writes that free units)
 *   logged   the event log; writes that may repeat without end remove the oldest events of their rows (trimmed)
 *
 * A statement returns all changed rows, or one row of NULLs if there are none, or no row if $1 is not the fence.
 */
import { ROW } from './rows';
import { used } from './usage';

interface UpdateParts {
  /** Columns of the input records besides uid. */
  readonly input?: string;
  /** Condition on rows that may change; w is the row, i its input. */
  readonly where: string;
  /** New values; t is the row as it was, t.input its input. */
  readonly set: string;
  /** SQL text expression over `changed`. */
  readonly event: string;
  /** SQL jsonb expression over `changed`. */
  readonly detail: string;
  /** Who made the change: SQL text expression over `changed`. @default - the leader */
  readonly actor?: string;
  /** Columns that `changed` has beside those of a row: SQL over t and t.input. @default - none */
  readonly compared?: string;
  /** Whether the write may change a row without end. @default false */
  readonly repeats?: boolean;
  /**
   * SQL condition over `changed` c: if the last event of the row is this one with the same reason, that event gets the new
   * detail instead of a further event. @default - every change is an event
   */
  readonly coalesce?: string;
  /** Nodes of t (the row as it was) that are free now, SQL jsonb, and until when they were held, SQL timestamptz. */
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

/** Events that a workload keeps besides its first one, from writes that repeat. */
const KEPT_EVENTS = 200;
/** The ids are read first: joined by a planner that does not know their number, they would read the whole log. */
const trimmed = `,
trimmed AS (
  DELETE FROM fluxqueue.events WHERE id = ANY (ARRAY(
    SELECT e.id FROM changed c, LATERAL (
      SELECT id FROM fluxqueue.events WHERE uid = c.uid AND event <> 'Submitted' ORDER BY id DESC OFFSET ${KEPT_EVENTS}
    ) e
  ))
)`;

/** An event that is repeated keeps its time, and counts. */
const coalesced = (event: string, detail: string, actor: string, condition: string) => `
last AS MATERIALIZED (
  SELECT c.uid, e.id, e.detail || ${detail} || jsonb_build_object(
    'times', coalesce((e.detail->>'times')::int, 1) + 1, 'until', extract(epoch FROM clock_timestamp())::float8) AS detail
  FROM changed c, LATERAL (
    SELECT id, event, l.detail FROM fluxqueue.events l WHERE l.uid = c.uid ORDER BY id DESC LIMIT 1
  ) e
  WHERE e.event = ${event} AND e.detail->>'reason' = c.reason AND ${condition}
),
again AS (
  UPDATE fluxqueue.events e SET detail = last.detail, fence = $1, actor = ${actor} FROM last WHERE e.id = last.id
),
logged AS (
  INSERT INTO fluxqueue.events (fence, uid, actor, event, detail)
  SELECT $1, uid, ${actor}, ${event}, ${detail} FROM changed WHERE uid NOT IN (SELECT uid FROM last) ORDER BY seq
)`;

function update(parts: UpdateParts): string {
  const {
    input,
    where,
    set,
    event,
    detail,
    actor = LEADER,
    compared,
    repeats = false,
    coalesce,
    freed,
  } = parts;
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
  RETURNING w.*${compared === undefined ? '' : `, ${compared}`}
),${freed === undefined ? '' : used(freed.nodes, freed.until)}${
    coalesce === undefined ? logged(event, detail, actor) : coalesced(event, detail, actor, coalesce)
  }${repeats ? trimmed : ''}
${answer}`;
}

export const SUBMIT = `
WITH ${FENCE},
input AS (
  SELECT * FROM ROWS FROM (jsonb_to_recordset($2::jsonb) AS (
    uid text, kind text, namespace text, name text, queue text, priority bigint, "submittedAt" double precision,
    walltime double precision, pods integer, jobspec jsonb, shape text, held boolean,
    "user" text, after jsonb, preemptible boolean,
    requeues integer, "clusterRequeues" integer, message text, "notBefore" double precision, avoid jsonb, "metAfter" jsonb, reason text, predecessor text, seq bigint
  )) WITH ORDINALITY
),
changed AS (
  INSERT INTO fluxqueue.workloads (
    uid, kind, namespace, name, queue, priority, submitted_at, walltime, pods, jobspec, shape, held,
    usr, after, preemptible, phase, reason, message, requeues, cluster_requeues, not_before, avoid, met_after, seq
  ) OVERRIDING SYSTEM VALUE
  SELECT uid, kind, namespace, name, queue, priority, to_timestamp("submittedAt"), walltime, pods, jobspec, shape, held,
    "user", after, preemptible, 'Waiting',
    CASE WHEN held THEN 'Held' WHEN message IS NULL THEN 'Submitted' ELSE coalesce(reason, 'Requeued') END, message,
    coalesce(requeues, 0), coalesce("clusterRequeues", 0), to_timestamp("notBefore"), coalesce(avoid, '{}'), "metAfter",
    coalesce(seq, nextval('fluxqueue.workloads_seq_seq'))
  FROM input i WHERE EXISTS (SELECT FROM fence) AND NOT EXISTS (SELECT FROM fluxqueue.archive a WHERE a.uid = i.uid)
  ORDER BY ordinality
  ON CONFLICT (uid) DO NOTHING
  RETURNING *
),
succeeded AS (
  DELETE FROM fluxqueue.successions
  WHERE EXISTS (SELECT FROM fence) AND uid IN (SELECT predecessor FROM input WHERE predecessor IS NOT NULL)
),${logged(`'Submitted'`, `jsonb_build_object('queue', queue, 'priority', priority, 'walltime', walltime, 'held', held)`, 'usr')}
${answer}`;

function noteIn(jobspec: string, name: 'array' | 'checkpointSeconds' | 'gangSize'): string {
  return `${jobspec} #> '{attributes,user,${name}}'`;
}

/** An array has no gang size; of another row that notes none, an earlier version may have queued it. */
const OTHER_GANG_SIZE = `(${noteIn('t.jobspec', 'gangSize')} IS DISTINCT FROM ${noteIn('(t.input).jobspec', 'gangSize')}
  AND coalesce(${noteIn('t.jobspec', 'gangSize')}, ${noteIn('t.jobspec', 'array')}) IS NOT NULL)`;

/** What only the user changes; the jobspec also changes with labels and taints of nodes, the pods as tasks of an array end. */
const BY_USER = `((t.queue, t.priority, t.walltime, t.held, t.after, t.preemptible, ${noteIn('t.jobspec', 'checkpointSeconds')}) IS DISTINCT FROM
  ((t.input).queue, (t.input).priority, (t.input).walltime, (t.input).held, (t.input).after, (t.input).preemptible, ${noteIn('(t.input).jobspec', 'checkpointSeconds')})
  OR ${OTHER_GANG_SIZE} OR (t.pods <> (t.input).pods AND (t.input).progressed IS NOT TRUE))`;
/** A pass gives a row no new reason while it backs off. */
const STAYS = `(t.reason IN ('Requeued', 'RequeueLimit') AND NOT ${BY_USER})`;

/**
 * A changed request gets a new job id: a pass with the old row in its snapshot can't commit an allocation of the old
 * shape.
 */
export const UPDATE = update({
  input:
    'queue text, priority bigint, walltime double precision, pods integer, jobspec jsonb, shape text, held boolean, after jsonb, preemptible boolean, progressed boolean',
  where: `w.phase = 'Waiting' AND
    (w.queue, w.priority, w.walltime, w.pods, w.jobspec, w.shape, w.held, w.after, w.preemptible)
    IS DISTINCT FROM (i.queue, i.priority, i.walltime, i.pods, i.jobspec, i.shape, i.held, i.after, i.preemptible)`,
  set: `queue = (t.input).queue, priority = (t.input).priority, walltime = (t.input).walltime, pods = (t.input).pods, jobspec = (t.input).jobspec,
    shape = (t.input).shape, held = (t.input).held, after = (t.input).after, preemptible = (t.input).preemptible,
    reason = CASE WHEN ${STAYS} THEN t.reason WHEN (t.input).held THEN 'Held' ELSE 'Submitted' END,
    message = CASE WHEN ${STAYS} THEN t.message END, estimated_start = NULL,
    met_after = CASE WHEN t.after = (t.input).after THEN t.met_after END,
    requeues = CASE WHEN ${BY_USER} THEN 0 ELSE t.requeues END,
    cluster_requeues = CASE WHEN ${BY_USER} THEN 0 ELSE t.cluster_requeues END,
    avoid = CASE WHEN ${BY_USER} THEN '{}' ELSE t.avoid END,
    not_before = CASE WHEN ${BY_USER} THEN NULL ELSE t.not_before END,
    jobid = CASE WHEN (t.queue, t.walltime, t.pods, t.jobspec) IS DISTINCT FROM ((t.input).queue, (t.input).walltime, (t.input).pods, (t.input).jobspec)
      THEN fluxqueue.next_jobid() ELSE t.jobid END`,
  event: `'Updated'`,
  detail: `jsonb_build_object('queue', queue, 'priority', priority, 'walltime', walltime, 'held', held, 'wasHeld', was_held, 'byUser', by_user)`,
  // Whoever may edit the workload can have changed it, not only the user who made it.
  actor: `CASE WHEN progressed AND NOT by_user THEN ${LEADER} ELSE '' END`,
  compared: `${BY_USER} AS by_user, t.held AS was_held, (t.input).progressed IS TRUE AS progressed`,
  repeats: true,
});

/** A row that was held since the snapshot keeps its reason. */
export const WAIT = update({
  input: 'reason text, message text, "estimatedStart" double precision',
  where: `w.phase = 'Waiting' AND (NOT w.held OR i.reason IN ('Held', 'GroupIncomplete'))`,
  set: `reason = (t.input).reason, message = (t.input).message, estimated_start = to_timestamp((t.input)."estimatedStart")`,
  event: `'Waiting'`,
  detail: `jsonb_build_object('reason', reason, 'message', message, 'estimatedStart', extract(epoch FROM estimated_start)::float8)`,
  repeats: true,
  // Every promised start is kept.
  coalesce: `c.estimated_start IS NULL AND e.detail->>'estimatedStart' IS NULL`,
});

/** Leaves rows alone that were held, or changed their request, since the snapshot of the pass. */
export const ALLOCATE = update({
  input: 'allocation jsonb',
  where: `w.phase = 'Waiting' AND NOT w.held AND w.jobid = (i.allocation->>'jobid')::bigint`,
  set: `phase = 'Ready', reason = NULL, message = NULL, estimated_start = NULL, not_before = NULL,
    allocation = (t.input).allocation, allocated_at = clock_timestamp(), met_after = t.after`,
  event: `'Allocated'`,
  detail: `jsonb_build_object('jobid', jobid, 'start', allocation->'start', 'end', allocation->'end',
    'nodes', allocation->'nodes')`,
});

/** The statement comes up to a quarter of a second after the release. The clock that says when it was may be behind that of the database. */
export const RELEASED = update({
  input: '"releasedAt" double precision',
  where: `w.phase = 'Ready' AND w.released_at IS NULL`,
  set: `released_at = CASE WHEN (t.input)."releasedAt" IS NULL THEN clock_timestamp()
    ELSE greatest(t.allocated_at, to_timestamp((t.input)."releasedAt")) END`,
  event: `'Released'`,
  detail: `'{}'::jsonb`,
});

/** A pod can only run after the release, even if the release was not recorded. */
export const RUNNING = update({
  input: '"startedAt" double precision',
  where: `w.phase = 'Ready'`,
  set: `phase = 'Running', started_at = to_timestamp((t.input)."startedAt"), released_at = coalesce(t.released_at, clock_timestamp())`,
  event: `'Running'`,
  detail: `jsonb_build_object('startedAt', extract(epoch FROM started_at)::float8)`,
});

export const SHRINK = update({
  input: 'allocation jsonb, freed jsonb',
  where: `w.phase IN ('Ready', 'Running') AND w.jobid = (i.allocation->>'jobid')::bigint
    AND w.allocation IS DISTINCT FROM i.allocation`,
  set: 'allocation = (t.input).allocation',
  event: `'Reallocated'`,
  detail: `jsonb_build_object('start', allocation->'start', 'end', allocation->'end',
    'nodes', allocation->'nodes')`,
  freed: {
    nodes: `coalesce((t.input).freed, (
      SELECT jsonb_agg(n) FROM jsonb_array_elements(t.allocation->'nodes') n
      WHERE NOT EXISTS (SELECT FROM jsonb_array_elements((t.input).allocation->'nodes') k WHERE k->'name' = n->'name')
    ), '[]')`,
    until: 'clock_timestamp()',
  },
  repeats: true,
});

export const FINISH = update({
  input: 'result text, "finishedAt" double precision, message text',
  where: `w.phase <> 'Finished'`,
  set: `phase = 'Finished', reason = NULL, message = (t.input).message, estimated_start = NULL, not_before = NULL, recall = NULL,
    recall_cause = NULL,
    result = (t.input).result, finished_at = to_timestamp((t.input)."finishedAt")`,
  event: `'Finished'`,
  detail: `jsonb_build_object('result', result, 'finishedAt', extract(epoch FROM finished_at)::float8, 'message', message)`,
  freed: { nodes: `t.allocation->'nodes'`, until: 'to_timestamp((t.input)."finishedAt")' },
});

/**
 * Committed before anything is suspended: after a crash the next leader completes the eviction. The column keeps the
 * name of its migration.
 */
export const REQUEST_EVICTION = update({
  input: 'message text, "end" double precision, cause text, avoid jsonb',
  where: `w.phase IN ('Ready', 'Running') AND w.recall IS NULL`,
  set: `recall = (t.input).message, recall_cause = CASE (t.input).cause WHEN 'cluster' THEN 'failure' ELSE coalesce((t.input).cause, 'preempted') END,
    recall_by_cluster = (t.input).cause IS NOT DISTINCT FROM 'cluster',
    avoid = t.avoid || coalesce((t.input).avoid, '{}'), allocation = jsonb_set(t.allocation, '{end}', to_jsonb(coalesce((t.input)."end", (t.allocation->>'end')::float8)))`,
  event: `'EvictionRequested'`,
  detail: `jsonb_build_object('message', recall, 'cause', CASE WHEN recall_by_cluster THEN 'cluster' ELSE recall_cause END,
    'avoid', avoid)`,
});

/** Of an object that is there again as before its end, because the apiserver lost what came since. */
export const RETURN = update({
  where: `w.phase = 'Finished'`,
  set: `phase = 'Waiting', reason = 'Submitted', message = NULL, result = NULL, finished_at = NULL,
    jobid = fluxqueue.next_jobid(), allocation = NULL, allocated_at = NULL, released_at = NULL, started_at = NULL,
    requeues = 0, cluster_requeues = 0, avoid = '{}', estimated_start = NULL, not_before = NULL, recall = NULL, recall_cause = NULL`,
  event: `'Requeued'`,
  detail: `jsonb_build_object('message', 'it is there again as before its end, because the apiserver was restored')`,
  repeats: true,
});

export const REQUEUE = update({
  input: 'cause text, message text, "notBefore" double precision, reason text',
  where: `w.phase IN ('Ready', 'Running')`,
  set: `phase = 'Waiting', reason = coalesce((t.input).reason, 'Requeued'), message = (t.input).message,
    jobid = fluxqueue.next_jobid(), allocation = NULL, allocated_at = NULL, released_at = NULL, started_at = NULL,
    requeues = t.requeues + ((t.input).cause IN ('failure', 'cluster'))::int,
    cluster_requeues = least(t.cluster_requeues, t.requeues) + ((t.input).cause = 'cluster')::int,
    preemptions = t.preemptions + ((t.input).cause = 'preempted')::int, met_after = t.after,
    not_before = to_timestamp((t.input)."notBefore"), recall = NULL, recall_cause = NULL`,
  event: `'Requeued'`,
  detail: `jsonb_build_object('message', message, 'requeues', requeues, 'preemptions', preemptions)`,
  freed: { nodes: `t.allocation->'nodes'`, until: 'clock_timestamp()' },
  repeats: true,
});
