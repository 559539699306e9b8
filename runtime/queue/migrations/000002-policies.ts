/**
 * Adds the user, dependencies, preemption and backoff of workloads, an index by name, and the actor of events. A queue
 * becomes a row of settings.
 */
export const policies = `
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
`;
