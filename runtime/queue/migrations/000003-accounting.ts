/**
 * Adds usage in cores, GiB and gpus by user, decayed usage for fair share, daily sums, and an archive of finished
 * workloads. Older amounts are converted with units of 1 core and 1 GiB, the default.
 */
export const accounting = `
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
`;
