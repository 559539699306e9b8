// The queue of the release before this one (commit ab1a4d4), bundled by esbuild from its runtime/queue/queue.ts: the other half of a rolling update.
"use strict";var __defProp=Object.defineProperty;var __getOwnPropDesc=Object.getOwnPropertyDescriptor;var __getOwnPropNames=Object.getOwnPropertyNames;var __hasOwnProp=Object.prototype.hasOwnProperty;var __export=(target,all)=>{for(var name in all)__defProp(target,name,{get:all[name],enumerable:true})};var __copyProps=(to,from,except,desc)=>{if(from&&typeof from==="object"||typeof from==="function"){for(let key of __getOwnPropNames(from))if(!__hasOwnProp.call(to,key)&&key!==except)__defProp(to,key,{get:()=>from[key],enumerable:!(desc=__getOwnPropDesc(from,key))||desc.enumerable})}return to};var __toCommonJS=mod=>__copyProps(__defProp({},"__esModule",{value:true}),mod);var entry_exports={};__export(entry_exports,{openQueue:()=>openQueue});module.exports=__toCommonJS(entry_exports);var FluxqError=class extends Error{code;field;value;remedy;retryable;constructor(code,what,options={}){super(sentence(code,what,options),options.cause===void 0?{}:{cause:options.cause});this.name="FluxqError";this.code=code;this.field=options.field;this.value=options.value;this.remedy=options.remedy;this.retryable=options.retryable??false}};function sentence(code,what,{field,value,remedy}){const where=field===void 0?"":`${field}: `;const shown=value===void 0?"":` (got ${JSON.stringify(value)})`;return`${code}: ${where}${what}${shown}${remedy===void 0?"":`; ${remedy}`}`}function hasCode(error,code){return error instanceof FluxqError&&error.code===code}function messageOf(error){return error instanceof Error?error.message:String(error)}var BINARY={Ki:1n<<10n,Mi:1n<<20n,Gi:1n<<30n,Ti:1n<<40n,Pi:1n<<50n,Ei:1n<<60n};var DEFAULT_UNITS={cpuMillis:1e3,memoryMiB:1024};var amounts=nodes=>`(
  SELECT coalesce(sum(ids) FILTER (WHERE type = 'core'), 0) * fence.cpu_millis / 1000.0 AS cores,
    coalesce(sum(ids) FILTER (WHERE type = 'memory'), 0) * fence.memory_mib / 1024.0 AS memory_gib,
    coalesce(sum(ids) FILTER (WHERE type = 'gpu'), 0) AS gpus
  FROM jsonb_array_elements(${nodes}) n, jsonb_each_text(n->'units') AS u(type, idset),
    LATERAL (
      SELECT sum(coalesce(nullif(split_part(part, '-', 2), '')::bigint - split_part(part, '-', 1)::bigint, 0) + 1) AS ids
      FROM unnest(string_to_array(idset, ',')) part
    ) counted
  WHERE type IN ('core', 'memory', 'gpu')
)`;var worth=(value,since,now)=>`${value} * power(2, greatest(-1000, -extract(epoch FROM ${now} - ${since})::float8 / fence.half_life))`;var used=(nodes,until)=>`
used AS (
  INSERT INTO fluxqueue.usage (uid, jobid, namespace, queue, usr, nodes, cores, memory_gib, gpus, held_from, held_until)
  SELECT t.uid, t.jobid, t.namespace, t.queue, t.usr, freed.nodes, held.cores, held.memory_gib, held.gpus,
    t.allocated_at, greatest(${until}, t.allocated_at)
  FROM fence, target t, LATERAL (SELECT ${nodes} AS nodes) freed, LATERAL ${amounts("freed.nodes")} held
  WHERE t.phase IN ('Ready', 'Running') AND freed.nodes <> '[]'
  RETURNING queue, usr, cores, held_from, held_until
),
shared AS (
  INSERT INTO fluxqueue.fair_share AS f (queue, usr, core_seconds, as_of)
  SELECT u.queue, u.usr, sum((${worth("cores","held_until","as_of")} - ${worth("cores","held_from","as_of")})
    * fence.half_life / ln(2::float8)), as_of
  FROM fence, (SELECT *, max(held_until) OVER (PARTITION BY queue, usr) AS as_of FROM used) u
  GROUP BY u.queue, u.usr, as_of
  ON CONFLICT (queue, usr) DO UPDATE SET as_of = greatest(f.as_of, excluded.as_of), core_seconds = (
    SELECT ${worth("f.core_seconds","f.as_of","greatest(f.as_of, excluded.as_of)")}
      + ${worth("excluded.core_seconds","excluded.as_of","greatest(f.as_of, excluded.as_of)")}
    FROM fence
  )
),`;var SHARES=`
SELECT queue, usr AS "user", core_seconds AS "coreSeconds", extract(epoch FROM as_of)::float8 AS "asOf"
FROM fluxqueue.fair_share`;var COLUMNS={queue:"queue",namespace:"namespace",user:"usr"};var ACCOUNTING_KEYS=Object.keys(COLUMNS);var within=(since,till)=>`greatest(0, extract(epoch FROM least(${till}, period.till) - greatest(${since}, period.since))::float8)`;var parts=`
WITH period AS (SELECT to_timestamp($1) AS since, to_timestamp($2) AS till),
fence AS (SELECT cpu_millis, memory_mib FROM fluxqueue.leader),
held AS (
  SELECT u.queue, u.namespace, u.usr, u.cores, u.memory_gib, u.gpus, ${within("u.held_from","u.held_until")} AS seconds
  FROM fluxqueue.usage u, period WHERE u.held_until > period.since AND u.held_from < period.till
  UNION ALL
  SELECT w.queue, w.namespace, w.usr, a.cores, a.memory_gib, a.gpus, ${within("w.allocated_at","clock_timestamp()")}
  FROM fence, period, fluxqueue.workloads w, LATERAL ${amounts(`w.allocation->'nodes'`)} a
  WHERE w.phase <> 'Finished' AND w.allocated_at < period.till
),
parts AS (
  SELECT queue, namespace, usr, 0 AS jobs, 0 AS pods, cores * seconds AS cpu, memory_gib * seconds AS memory, gpus * seconds AS gpu
  FROM held
  UNION ALL
  SELECT w.queue, w.namespace, w.usr, 1, w.pods, 0, 0, 0 FROM fluxqueue.workloads w, period
  WHERE w.phase = 'Finished' AND w.finished_at >= period.since AND w.finished_at < period.till
  UNION ALL
  SELECT d.queue, d.namespace, d.usr, d.jobs, d.pods, d.core_seconds, d.memory_gib_seconds, d.gpu_seconds
  FROM fluxqueue.usage_days d, period
  WHERE d.day::timestamp AT TIME ZONE 'UTC' >= period.since AND d.day::timestamp AT TIME ZONE 'UTC' < period.till
)`;function accounting(database,{from,until,by}){const keys=[...new Set(by)];const select=keys.map(key=>`${COLUMNS[key]} AS "${key}", `).join("");const group=keys.map(key=>COLUMNS[key]).join(", ");return database.query(`${parts}
SELECT ${select} coalesce(sum(jobs), 0)::float8 AS jobs, coalesce(sum(pods), 0)::float8 AS pods,
  coalesce(sum(cpu), 0) / 3600 AS "cpuHours", coalesce(sum(memory), 0) / 3600 AS "memoryGiBHours",
  coalesce(sum(gpu), 0) / 3600 AS "gpuHours"
FROM parts ${keys.length===0?"":`GROUP BY ${group} ORDER BY ${group}`}`,[from,until])}var seconds=(column,name)=>`extract(epoch FROM ${column})::float8 AS "${name}"`;var ROW=["uid, kind, namespace, name, queue, priority::float8 AS priority, walltime, pods, jobspec, shape, held",'usr AS "user", after, preemptible, recall, preemptions',"seq::float8 AS seq, jobid::float8 AS jobid, phase, reason, message, allocation, result, requeues",seconds("submitted_at","submittedAt"),seconds("estimated_start","estimatedStart"),seconds("not_before","notBefore"),seconds("allocated_at","allocatedAt"),seconds("released_at","releasedAt"),seconds("started_at","startedAt"),seconds("finished_at","finishedAt")].join(", ");var ORDER="priority DESC, submitted_at, seq";var ACTIVE=`SELECT ${ROW} FROM fluxqueue.workloads WHERE phase <> 'Finished' ORDER BY ${ORDER}`;var BY_UID=`SELECT ${ROW} FROM fluxqueue.workloads WHERE uid = ANY($1)`;var OUTCOMES=`
WITH names AS (SELECT * FROM jsonb_to_recordset($1::jsonb) AS i(namespace text, name text)),
found AS (
  SELECT namespace, name, result, seq, submitted_at FROM fluxqueue.workloads JOIN names USING (namespace, name)
  WHERE phase = 'Finished'
  UNION ALL
  SELECT namespace, name, result, seq, submitted_at FROM fluxqueue.archive JOIN names USING (namespace, name)
)
SELECT DISTINCT ON (namespace, name) namespace, name, result, seq::float8 AS seq, ${seconds("submitted_at","submittedAt")}
FROM found ORDER BY namespace, name, submitted_at DESC, found.seq DESC`;var FINISHED=`SELECT queue, count(*)::float8 AS count FROM fluxqueue.workloads WHERE phase = 'Finished' GROUP BY queue`;var FENCE="fence AS MATERIALIZED (SELECT * FROM fluxqueue.leader WHERE fence = $1 FOR SHARE)";var answer=`SELECT ${ROW} FROM fence LEFT JOIN changed ON true ORDER BY changed.seq`;var LEADER="(SELECT holder FROM fence)";var logged=(event,detail,actor)=>`
logged AS (
  INSERT INTO fluxqueue.events (fence, uid, actor, event, detail)
  SELECT $1, uid, ${actor}, ${event}, ${detail} FROM changed ORDER BY seq
)`;function update({input,where,set,event,detail,actor=LEADER,freed}){const columns=["uid text",...input===void 0?[]:[input]].join(", ");return`
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
),${freed===void 0?"":used(freed.nodes,freed.until)}${logged(event,detail,actor)}
${answer}`}var SUBMIT=`
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
),${logged(`'Submitted'`,`jsonb_build_object('queue', queue, 'priority', priority, 'walltime', walltime, 'held', held)`,"usr")}
${answer}`;var BY_USER=`(t.queue, t.priority, t.walltime, t.pods, t.held, t.after, t.preemptible) IS DISTINCT FROM
  ((t.input).queue, (t.input).priority, (t.input).walltime, (t.input).pods, (t.input).held, (t.input).after, (t.input).preemptible)`;var STAYS=`(t.reason = 'RequeueLimit' AND NOT ${BY_USER})`;var UPDATE=update({input:"queue text, priority bigint, walltime double precision, pods integer, jobspec jsonb, shape text, held boolean, after jsonb, preemptible boolean",where:`w.phase = 'Waiting' AND
    (w.queue, w.priority, w.walltime, w.pods, w.jobspec, w.shape, w.held, w.after, w.preemptible)
    IS DISTINCT FROM (i.queue, i.priority, i.walltime, i.pods, i.jobspec, i.shape, i.held, i.after, i.preemptible)`,set:`queue = (t.input).queue, priority = (t.input).priority, walltime = (t.input).walltime, pods = (t.input).pods, jobspec = (t.input).jobspec,
    shape = (t.input).shape, held = (t.input).held, after = (t.input).after, preemptible = (t.input).preemptible,
    reason = CASE WHEN ${STAYS} THEN t.reason WHEN (t.input).held THEN 'Held' ELSE 'Submitted' END,
    message = CASE WHEN ${STAYS} THEN t.message END, estimated_start = NULL,
    requeues = CASE WHEN ${BY_USER} THEN 0 ELSE t.requeues END,
    not_before = CASE WHEN ${BY_USER} THEN NULL ELSE t.not_before END,
    jobid = CASE WHEN (t.queue, t.walltime, t.pods, t.jobspec) IS DISTINCT FROM ((t.input).queue, (t.input).walltime, (t.input).pods, (t.input).jobspec)
      THEN nextval('fluxqueue.jobid') ELSE t.jobid END`,event:`'Updated'`,detail:`jsonb_build_object('queue', queue, 'priority', priority, 'walltime', walltime, 'held', held)`,actor:"usr"});var WAIT=update({input:'reason text, message text, "estimatedStart" double precision',where:`w.phase = 'Waiting' AND (NOT w.held OR i.reason = 'Held')
    AND (w.reason <> 'RequeueLimit' OR i.reason = 'RequeueLimit')`,set:`reason = (t.input).reason, message = (t.input).message, estimated_start = to_timestamp((t.input)."estimatedStart")`,event:`'Waiting'`,detail:`jsonb_build_object('reason', reason, 'message', message, 'estimatedStart', extract(epoch FROM estimated_start)::float8)`});var ALLOCATE=update({input:"allocation jsonb",where:`w.phase = 'Waiting' AND NOT w.held AND w.reason <> 'RequeueLimit'
    AND w.jobid = (i.allocation->>'jobid')::bigint`,set:`phase = 'Ready', reason = NULL, message = NULL, estimated_start = NULL, not_before = NULL,
    allocation = (t.input).allocation, allocated_at = clock_timestamp()`,event:`'Allocated'`,detail:`jsonb_build_object('jobid', jobid, 'start', allocation->'start', 'end', allocation->'end',
    'nodes', allocation->'nodes')`});var RELEASED=update({where:`w.phase = 'Ready' AND w.released_at IS NULL`,set:"released_at = clock_timestamp()",event:`'Released'`,detail:`'{}'::jsonb`});var RUNNING=update({input:'"startedAt" double precision',where:`w.phase = 'Ready'`,set:`phase = 'Running', started_at = to_timestamp((t.input)."startedAt"), released_at = coalesce(t.released_at, clock_timestamp())`,event:`'Running'`,detail:`jsonb_build_object('startedAt', extract(epoch FROM started_at)::float8)`});var SHRINK=update({input:"allocation jsonb",where:`w.phase IN ('Ready', 'Running') AND w.jobid = (i.allocation->>'jobid')::bigint
    AND w.allocation IS DISTINCT FROM i.allocation`,set:"allocation = (t.input).allocation",event:`'Reallocated'`,detail:`jsonb_build_object('start', allocation->'start', 'end', allocation->'end',
    'nodes', allocation->'nodes')`,freed:{nodes:`coalesce((
      SELECT jsonb_agg(n) FROM jsonb_array_elements(t.allocation->'nodes') n
      WHERE NOT EXISTS (SELECT FROM jsonb_array_elements((t.input).allocation->'nodes') k WHERE k->'name' = n->'name')
    ), '[]')`,until:"clock_timestamp()"}});var FINISH=update({input:'result text, "finishedAt" double precision',where:`w.phase <> 'Finished'`,set:`phase = 'Finished', reason = NULL, message = NULL, estimated_start = NULL, not_before = NULL, recall = NULL,
    result = (t.input).result, finished_at = to_timestamp((t.input)."finishedAt")`,event:`'Finished'`,detail:`jsonb_build_object('result', result, 'finishedAt', extract(epoch FROM finished_at)::float8)`,freed:{nodes:`t.allocation->'nodes'`,until:'to_timestamp((t.input)."finishedAt")'}});var RECALL=update({input:"message text",where:`w.phase IN ('Ready', 'Running') AND w.recall IS NULL`,set:"recall = (t.input).message",event:`'Recalled'`,detail:`jsonb_build_object('message', recall)`});var REQUEUE=update({input:'cause text, message text, "notBefore" double precision, reason text',where:`w.phase IN ('Ready', 'Running')`,set:`phase = 'Waiting', reason = coalesce((t.input).reason, 'Requeued'), message = (t.input).message,
    jobid = nextval('fluxqueue.jobid'), allocation = NULL, allocated_at = NULL, released_at = NULL, started_at = NULL,
    requeues = t.requeues + ((t.input).cause = 'failure')::int,
    preemptions = t.preemptions + ((t.input).cause = 'preempted')::int,
    not_before = to_timestamp((t.input)."notBefore"), recall = NULL`,event:`'Requeued'`,detail:`jsonb_build_object('message', message, 'requeues', requeues, 'preemptions', preemptions)`,freed:{nodes:`t.allocation->'nodes'`,until:"clock_timestamp()"}});var ADOPT=`
WITH ${FENCE},
input AS MATERIALIZED (
  SELECT * FROM ROWS FROM (jsonb_to_recordset($2::jsonb) AS (
    uid text, kind text, namespace text, name text, queue text, priority bigint, "submittedAt" double precision,
    walltime double precision, pods integer, jobspec jsonb, shape text, held boolean,
    "user" text, after jsonb, preemptible boolean, "knownJobid" bigint, allocation jsonb
  )) WITH ORDINALITY i
  WHERE EXISTS (SELECT FROM fence) AND NOT EXISTS (SELECT FROM fluxqueue.archive a WHERE a.uid = i.uid)
),
reached AS MATERIALIZED (
  SELECT CASE WHEN max("knownJobid") >= (SELECT last_value FROM fluxqueue.jobid)
    THEN setval('fluxqueue.jobid', max("knownJobid")) END
  FROM input
),
numbered AS MATERIALIZED (SELECT i.*, nextval('fluxqueue.jobid') AS jobid FROM reached, input i ORDER BY ordinality),
changed AS (
  INSERT INTO fluxqueue.workloads AS w (
    uid, kind, namespace, name, queue, priority, submitted_at, walltime, pods, jobspec, shape, held,
    usr, after, preemptible, phase, jobid, allocation, allocated_at, released_at
  )
  SELECT uid, kind, namespace, name, queue, priority, to_timestamp("submittedAt"), walltime, pods, jobspec, shape, held,
    "user", after, preemptible, 'Ready', jobid, jsonb_set(allocation, '{jobid}', to_jsonb(jobid)),
    clock_timestamp(), clock_timestamp()
  FROM numbered ORDER BY ordinality
  ON CONFLICT (uid) DO UPDATE SET phase = 'Ready', reason = NULL, message = NULL, estimated_start = NULL,
    not_before = NULL, queue = excluded.queue, priority = excluded.priority, walltime = excluded.walltime,
    pods = excluded.pods, jobspec = excluded.jobspec, shape = excluded.shape, held = excluded.held,
    after = excluded.after, preemptible = excluded.preemptible, jobid = excluded.jobid,
    allocation = excluded.allocation, allocated_at = excluded.allocated_at, released_at = excluded.released_at
  WHERE w.phase = 'Waiting'
  RETURNING *
),
logged AS (
  INSERT INTO fluxqueue.events (fence, uid, actor, event, detail)
  SELECT $1, uid, (SELECT holder FROM fence), 'Adopted', jsonb_build_object('jobid', jobid,
    'start', allocation->'start', 'end', allocation->'end', 'nodes', allocation->'nodes')
  FROM changed ORDER BY seq
)
SELECT ${ROW} FROM fence LEFT JOIN changed ON true ORDER BY changed.seq`;var ARCHIVE=`
WITH ${FENCE},
old AS MATERIALIZED (
  SELECT w.* FROM fluxqueue.workloads w
  WHERE EXISTS (SELECT FROM fence) AND w.phase = 'Finished' AND w.finished_at < to_timestamp($2)
  ORDER BY w.finished_at LIMIT $3 FOR UPDATE
),
uids AS MATERIALIZED (SELECT array_agg(uid) AS uids FROM old),
spent AS (DELETE FROM fluxqueue.usage WHERE uid = ANY ((SELECT uids FROM uids)::text[]) RETURNING *),
told AS (DELETE FROM fluxqueue.events WHERE uid = ANY ((SELECT uids FROM uids)::text[]) RETURNING *),
gone AS (DELETE FROM fluxqueue.workloads WHERE uid = ANY ((SELECT uids FROM uids)::text[])),
kept AS (
  INSERT INTO fluxqueue.archive (uid, namespace, name, submitted_at, seq, result, workload, events)
  SELECT o.uid, o.namespace, o.name, o.submitted_at, o.seq, o.result, to_jsonb(o), coalesce(e.events, '[]')
  FROM old o LEFT JOIN (
    SELECT uid, jsonb_agg(jsonb_build_object('id', id, 'at', extract(epoch FROM at)::float8, 'fence', fence,
      'actor', actor, 'event', event, 'detail', detail) ORDER BY id) AS events
    FROM told GROUP BY uid
  ) e USING (uid)
),
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
SELECT (SELECT count(*) FROM old)::float8 AS count FROM fence`;var import_pg=require("pg");function openDatabase(options){const statementTimeout=options.statementTimeoutMs??3e4;const pool=new import_pg.Pool({connectionString:options.url,application_name:"fluxqueue",max:options.connections??4,min:1,connectionTimeoutMillis:options.connectTimeoutMs??5e3,idleTimeoutMillis:6e4,statement_timeout:statementTimeout,query_timeout:options.answerTimeoutMs??statementTimeout+5e3,keepAlive:true});let disconnects=0;pool.on("error",error=>{disconnects+=1;options.logger?.warn({error:messageOf(error)},"an idle database connection broke")});return{get disconnects(){return disconnects},async query(text,values=[]){try{return(await pool.query(text,[...values])).rows}catch(error){throw databaseError(error)}},async transaction(work){const client=await pool.connect().catch(error=>{throw databaseError(error)});const ignore=()=>void 0;client.on("error",ignore);let broken;try{await client.query("BEGIN");const result=await work(client);await client.query("COMMIT");return result}catch(error){await client.query("ROLLBACK").catch(failed=>{broken=failed});throw databaseError(error)}finally{client.off("error",ignore);client.release(broken)}},close:()=>pool.end()}}var RETRYABLE_STATES=["08","40","53","57"];function databaseError(error){if(error instanceof FluxqError){return error}if(error instanceof import_pg.DatabaseError&&!RETRYABLE_STATES.includes(error.code?.slice(0,2)??"")){return new FluxqError("FLUXQ_DATABASE_REFUSED",`the database refused: ${error.message} (SQLSTATE ${error.code})`,{field:"database.url",remedy:"check user, password, database name and rights; see the database log",cause:error})}return new FluxqError("FLUXQ_DATABASE_DOWN",`the database does not answer: ${textOf(error)}`,{field:"database.url",remedy:"check that Postgres runs and can be reached; it is tried again and nothing is lost",retryable:true,cause:error})}function textOf(error){if(error instanceof AggregateError&&error.message===""){return error.errors.map(messageOf).join(", ")}return messageOf(error)}var PRIORITY_RANGE={min:-2147483648,max:2147483647};var QUEUE_DEFAULTS={policy:"easy",reservations:8,depth:1e4,defaultWalltimeSeconds:3600,maxWalltimeSeconds:7*24*3600,priority:PRIORITY_RANGE,agingPerHour:0,quota:{},cohort:null,borrowing:{},reclaim:false,limits:{queue:{},user:{}},weight:1,preempts:false,requeue:{limit:5,backoffSeconds:5}};var DEFAULT_HALF_LIFE=7*24*3600;var entries=(current,archived)=>`
SELECT uid, kind, at, actor, event, detail FROM (
  SELECT e.uid, w.kind, e.id, extract(epoch FROM e.at)::float8 AS at, e.actor, e.event, e.detail
  FROM fluxqueue.events e LEFT JOIN fluxqueue.workloads w USING (uid) WHERE ${current}
  UNION ALL
  SELECT a.uid, a.workload->>'kind', e.id, e.at, e.actor, e.event, e.detail
  FROM fluxqueue.archive a, jsonb_to_recordset(a.events) AS e(id bigint, at float8, actor text, event text, detail jsonb)
  WHERE ${archived}
) entries ORDER BY id`;var BY_UID2=entries("e.uid = $1","a.uid = $1");var BY_NAME=entries("e.uid = ANY (ARRAY(SELECT uid FROM fluxqueue.workloads WHERE namespace = $1 AND name = $2))","a.namespace = $1 AND a.name = $2");async function historyByUid(database,uid){const found=await database.query(BY_UID2,[uid]);return found.map(({uid:_,kind:__,...entry})=>told(entry))}async function historyByName(database,namespace,name){const found=await database.query(BY_NAME,[namespace,name]);return found.map(told)}var told=entry=>({...entry,why:whyOf(entry)});var REASONS={Submitted:"was admitted and found by the queue",Updated:"was changed while it waited",Allocated:"its turn came and it fits",Adopted:"it runs on a grant that the tables had forgotten",Released:"its allocation was committed",Running:"its first pod runs",Reallocated:"nothing of it runs on the other nodes any more, or its end is another"};var RESULTS={Succeeded:"all of it succeeded",Failed:"it failed",Cancelled:"it was deleted",TimedOut:"its time was up"};function whyOf({event,detail}){const{message,reason,result}=detail;if(event==="Waiting")return`${reason}: ${message}`;return message||REASONS[event]||RESULTS[result??""]||""}var ACQUIRE=`
WITH changed AS (
  UPDATE fluxqueue.leader SET fence = greatest(fence, $2::bigint) + 1, holder = $1, acquired_at = clock_timestamp(),
    cpu_millis = $3, memory_mib = $4, half_life = $5
  RETURNING fence
), logged AS (
  INSERT INTO fluxqueue.events (fence, uid, actor, event, detail) SELECT fence, '', $1::text, 'Leader', '{}' FROM changed
)
SELECT fence::float8 AS fence FROM changed`;var SET_QUEUES=`
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
SELECT fence::float8 AS fence FROM fence`;var QUEUES="SELECT settings FROM fluxqueue.queues ORDER BY name";var import_node_crypto=require("node:crypto");var workloads=`
CREATE TABLE fluxqueue.leader (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  fence bigint NOT NULL,
  holder text NOT NULL,
  acquired_at timestamptz NOT NULL
);
INSERT INTO fluxqueue.leader (fence, holder, acquired_at) VALUES (0, '', now());

CREATE SEQUENCE fluxqueue.jobid AS bigint;

CREATE TABLE fluxqueue.queues (
  name text PRIMARY KEY,
  namespace text,
  policy text NOT NULL,
  depth integer NOT NULL CHECK (depth > 0),
  settings jsonb NOT NULL DEFAULT '{}'
);

CREATE TABLE fluxqueue.workloads (
  uid text PRIMARY KEY,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  kind text NOT NULL,
  namespace text NOT NULL,
  name text NOT NULL,
  queue text NOT NULL,
  priority bigint NOT NULL,
  submitted_at timestamptz NOT NULL,
  walltime double precision NOT NULL CHECK (walltime > 0 AND walltime < 'Infinity'),
  pods integer NOT NULL CHECK (pods >= 0),
  jobspec jsonb NOT NULL,
  shape text NOT NULL,
  held boolean NOT NULL,
  jobid bigint NOT NULL UNIQUE DEFAULT nextval('fluxqueue.jobid'),
  phase text NOT NULL CHECK (phase IN ('Requested', 'Waiting', 'Ready', 'Running', 'Finished')),
  reason text,
  message text,
  allocation jsonb,
  estimated_start timestamptz,
  result text CHECK (result IN ('Succeeded', 'Failed', 'Cancelled', 'TimedOut')),
  requeues integer NOT NULL DEFAULT 0,
  allocated_at timestamptz,
  released_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  CHECK ((phase = 'Finished') = (result IS NOT NULL)),
  CHECK (phase NOT IN ('Ready', 'Running') OR allocation IS NOT NULL)
);
-- Reading what is active stays cheap however many rows have finished.
CREATE INDEX workloads_active ON fluxqueue.workloads (priority DESC, submitted_at, seq) WHERE phase <> 'Finished';

CREATE TABLE fluxqueue.foreign_allocations (
  node text PRIMARY KEY,
  jobid bigint NOT NULL UNIQUE DEFAULT nextval('fluxqueue.jobid'),
  allocation jsonb NOT NULL,
  updated_at timestamptz NOT NULL
);

-- One row for every set of nodes that was held and is free again: by a finish, a requeue, or in part.
CREATE TABLE fluxqueue.usage (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  uid text NOT NULL,
  jobid bigint NOT NULL,
  namespace text NOT NULL,
  queue text NOT NULL,
  nodes jsonb NOT NULL,
  held_from timestamptz NOT NULL,
  held_until timestamptz NOT NULL
);
CREATE INDEX usage_queue ON fluxqueue.usage (queue, held_until);

CREATE TABLE fluxqueue.events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  fence bigint NOT NULL,
  uid text NOT NULL,
  event text NOT NULL,
  detail jsonb NOT NULL
);
CREATE INDEX events_uid ON fluxqueue.events (uid, id);
`;var policies=`
ALTER TABLE fluxqueue.workloads
  ADD COLUMN usr text NOT NULL DEFAULT '',
  ADD COLUMN after jsonb NOT NULL DEFAULT '[]',
  ADD COLUMN preemptible boolean NOT NULL DEFAULT false,
  ADD COLUMN not_before timestamptz,
  ADD COLUMN recall text,
  ADD COLUMN preemptions integer NOT NULL DEFAULT 0;
UPDATE fluxqueue.workloads SET usr = 'namespace:' || namespace;
CREATE INDEX workloads_name ON fluxqueue.workloads (namespace, name);

ALTER TABLE fluxqueue.queues DROP COLUMN namespace, DROP COLUMN policy, DROP COLUMN depth;

ALTER TABLE fluxqueue.events ADD COLUMN actor text NOT NULL DEFAULT '';
`;var accounting2=`
ALTER TABLE fluxqueue.leader
  ADD COLUMN cpu_millis integer NOT NULL DEFAULT 1000,
  ADD COLUMN memory_mib integer NOT NULL DEFAULT 1024,
  ADD COLUMN half_life double precision NOT NULL DEFAULT 604800;

ALTER TABLE fluxqueue.usage
  ADD COLUMN usr text NOT NULL DEFAULT '',
  ADD COLUMN cores double precision NOT NULL DEFAULT 0,
  ADD COLUMN memory_gib double precision NOT NULL DEFAULT 0,
  ADD COLUMN gpus double precision NOT NULL DEFAULT 0;
UPDATE fluxqueue.usage u SET usr = 'namespace:' || namespace, cores = held.cores, memory_gib = held.memory, gpus = held.gpus
FROM (
  SELECT id, coalesce(sum(ids) FILTER (WHERE type = 'core'), 0) AS cores,
    coalesce(sum(ids) FILTER (WHERE type = 'memory'), 0) AS memory, coalesce(sum(ids) FILTER (WHERE type = 'gpu'), 0) AS gpus
  FROM fluxqueue.usage, jsonb_array_elements(nodes) n, jsonb_each_text(n->'units') AS x(type, idset), LATERAL (
    SELECT sum(coalesce(nullif(split_part(part, '-', 2), '')::bigint - split_part(part, '-', 1)::bigint, 0) + 1) AS ids
    FROM unnest(string_to_array(idset, ',')) part
  ) counted
  GROUP BY id
) held
WHERE held.id = u.id;
ALTER TABLE fluxqueue.usage ALTER COLUMN usr DROP DEFAULT, ALTER COLUMN cores DROP DEFAULT,
  ALTER COLUMN memory_gib DROP DEFAULT, ALTER COLUMN gpus DROP DEFAULT;
DROP INDEX fluxqueue.usage_queue;
CREATE INDEX usage_until ON fluxqueue.usage (held_until);
CREATE INDEX usage_uid ON fluxqueue.usage (uid);

CREATE TABLE fluxqueue.fair_share (
  queue text NOT NULL,
  usr text NOT NULL,
  core_seconds double precision NOT NULL,
  as_of timestamptz NOT NULL,
  PRIMARY KEY (queue, usr)
);

-- Days are UTC. A job counts on the day it finished, what it held on the days it held it.
CREATE TABLE fluxqueue.usage_days (
  day date NOT NULL,
  queue text NOT NULL,
  namespace text NOT NULL,
  usr text NOT NULL,
  jobs bigint NOT NULL,
  pods bigint NOT NULL,
  core_seconds double precision NOT NULL,
  memory_gib_seconds double precision NOT NULL,
  gpu_seconds double precision NOT NULL,
  PRIMARY KEY (day, queue, namespace, usr)
);

CREATE TABLE fluxqueue.archive (
  uid text PRIMARY KEY,
  namespace text NOT NULL,
  name text NOT NULL,
  submitted_at timestamptz NOT NULL,
  seq bigint NOT NULL,
  result text NOT NULL,
  workload jsonb NOT NULL,
  events jsonb NOT NULL,
  archived_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX archive_name ON fluxqueue.archive (namespace, name);
CREATE INDEX workloads_finished ON fluxqueue.workloads (finished_at) WHERE phase = 'Finished';
`;var MIGRATIONS=[{number:1,name:"workloads",sql:workloads},{number:2,name:"policies",sql:policies},{number:3,name:"accounting",sql:accounting2}];var LOCK=4072026001;var PATIENCE_MS=36e5;function migrate(database,migrations=MIGRATIONS){return database.transaction(async client=>{await client.query("SELECT pg_advisory_xact_lock($1)",[LOCK]);await client.query("CREATE SCHEMA IF NOT EXISTS fluxqueue");await client.query(`
      CREATE TABLE IF NOT EXISTS fluxqueue.migrations (
        number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
      )`);const{rows}=await client.query("SELECT number, checksum FROM fluxqueue.migrations");checkApplied(rows,migrations);await client.query(`SET LOCAL statement_timeout = ${PATIENCE_MS}`);for(const migration of migrations.slice(rows.length)){await apply(client,migration)}})}function checkApplied(applied,migrations){for(const{number,checksum}of applied){const known=migrations[number-1];if(known===void 0){throw wrongVersion(`the tables have migration ${number}, this program ends at ${migrations.length}`)}if(checksumOf(known)!==checksum){throw wrongVersion(`migration ${number} was applied with another text`)}}}function wrongVersion(what){return new FluxqError("FLUXQ_DATABASE_VERSION",what,{field:"database.url",remedy:"run the version that made these tables or a newer one, or give this one its own database"})}async function apply(client,migration){const patiently={text:migration.sql,query_timeout:PATIENCE_MS};await client.query(patiently);await client.query("INSERT INTO fluxqueue.migrations (number, name, checksum) VALUES ($1, $2, $3)",[migration.number,migration.name,checksumOf(migration)])}function checksumOf({sql}){return(0,import_node_crypto.createHash)("sha256").update(sql).digest("hex")}var ESCAPE=/\\(?:(u0000|ud[89a-f][0-9a-f]{2})|.)/g;var SUSPECT=/\\u(?:0000|d[89a-f])/;function storable(records){const text=JSON.stringify(records);return SUSPECT.test(text)?text.replace(ESCAPE,(sequence,bad)=>bad===void 0?sequence:""):text}var ENOUGH_CALLS=32;var MOST_RECORDS=1e4;function serialWriter(run,gatherMs=0){const waiting=[];let calls=0;let busy=false;let last=Number.NEGATIVE_INFINITY;let enough=()=>void 0;function gathered(milliseconds){return new Promise(resolve=>{const timer=setTimeout(resolve,milliseconds);enough=()=>{clearTimeout(timer);resolve()}})}async function work(){busy=true;while(waiting.length>0){const early=last+gatherMs-performance.now();if(early>0&&calls<ENOUGH_CALLS&&!waiting[0].urgent){await gathered(early)}last=performance.now();const batch=waiting.shift();calls-=batch.calls.length;await settle(run,batch)}busy=false}return(statement,fence,records,urgent=false)=>new Promise((resolve,reject)=>{const call={records:[...new Map(records.map(r=>[r.uid,r])).values()],resolve,reject};const shared=sharedBatch(waiting,statement,fence,call);if(shared===void 0){const batch={statement,fence,uids:new Set,calls:[],urgent};add(batch,call);waiting.splice(urgent?placeOfUrgent(waiting,call):waiting.length,0,batch)}else{add(shared,call)}calls+=1;if(calls>=ENOUGH_CALLS||urgent){enough()}if(!busy){void work()}})}function placeOfUrgent(waiting,{records}){return waiting.findLastIndex(({urgent,uids})=>urgent||records.some(({uid})=>uids.has(uid)))+1}function sharedBatch(waiting,statement,fence,call){for(const batch of waiting.toReversed()){if(call.records.some(({uid})=>batch.uids.has(uid))){return void 0}const room=batch.uids.size+call.records.length<=MOST_RECORDS;if(batch.statement===statement&&batch.fence===fence&&room){return batch}}return void 0}function add(batch,call){batch.calls.push(call);for(const{uid}of call.records){batch.uids.add(uid)}}async function settle(run,{statement,fence,calls}){try{const rows=await run(statement,fence,calls.flatMap(({records})=>records));const byUid=new Map(rows.map(row=>[row.uid,row]));for(const{records,resolve}of calls){resolve(records.flatMap(({uid})=>byUid.get(uid)??[]))}}catch(error){const apart=calls.length>1&&hasCode(error,"FLUXQ_DATABASE_REFUSED");for(const call of calls){if(apart){await settle(run,{statement,fence,uids:new Set,calls:[call],urgent:true})}else{call.reject(error)}}}}var URGENT=true;function openQueue(options){const database=openDatabase(options);const write=serialWriter(async(statement,fence,records)=>{const answer2=await database.query(statement,[fence,storable(records)]);if(answer2.length===0){throw fenced(fence)}return answer2.filter(row=>row.uid!==null)},options.gatherMs);let settled=Promise.resolve();return{get disconnects(){return database.disconnects},migrate:()=>migrate(database),async acquireFence(holder,atLeast=0){const{cpuMillis,memoryMiB}=options.units??DEFAULT_UNITS;const halfLife=options.halfLifeSeconds??DEFAULT_HALF_LIFE;const values=[holder,atLeast,cpuMillis,memoryMiB,halfLife];const[row]=await database.query(ACQUIRE,values);return row.fence},setQueues(fence,queues){const set=settled.then(async()=>{const answer2=await database.query(SET_QUEUES,[fence,storable(queues)]);if(answer2.length===0)throw fenced(fence)});settled=set.catch(()=>void 0);return set},async queues(){const rows=await database.query(QUEUES);return rows.map(({settings})=>settings)},submit:(fence,submissions)=>write(SUBMIT,fence,submissions),update:(fence,updates)=>write(UPDATE,fence,updates),active:()=>database.query(ACTIVE),byUid:uids=>database.query(BY_UID,[uids]),finished:()=>database.query(FINISHED),outcomes:names=>database.query(OUTCOMES,[storable(names)]),shares:()=>database.query(SHARES),wait:(fence,updates)=>write(WAIT,fence,updates,URGENT),allocate:(fence,grants)=>write(ALLOCATE,fence,grants,URGENT),adopt:(fence,adoptions)=>write(ADOPT,fence,adoptions),released:(fence,uids)=>write(RELEASED,fence,uids.map(keyed)),running:(fence,starts)=>write(RUNNING,fence,starts),shrink:(fence,changes)=>write(SHRINK,fence,changes),finish:(fence,ends)=>write(FINISH,fence,ends),recall:(fence,recalls)=>write(RECALL,fence,recalls,URGENT),requeue:(fence,requeues)=>write(REQUEUE,fence,requeues),async archive(fence,before,most=ARCHIVE_BATCH){const[answer2]=await database.query(ARCHIVE,[fence,before,most]);if(answer2===void 0)throw fenced(fence);return answer2.count},accounting:query=>accounting(database,query),history:uid=>historyByUid(database,uid),historyOf:(namespace,name)=>historyByName(database,namespace,name),close:()=>database.close()}}var ARCHIVE_BATCH=1e3;var keyed=uid=>({uid});function fenced(fence){return new FluxqError("FLUXQ_FENCED","another leader has taken over; nothing was written",{field:"fence",value:fence,remedy:"stop writing and stand for election again"})}0&&(module.exports={openQueue});
