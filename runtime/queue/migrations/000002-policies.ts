/**
 * Who submitted, what it waits for, and what a requeue leaves behind. A queue is
 * its settings; a workload is found by its name, too; events say who did it.
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
