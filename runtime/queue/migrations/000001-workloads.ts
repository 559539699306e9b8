/** The first tables: the leader's fence, queues, workloads, usage, and the event log. */
export const workloads = `
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
`;
