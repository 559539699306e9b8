/** Who submitted, what it waits for, and what a requeue leaves behind. */
export const policies = `
ALTER TABLE fluxqueue.workloads
  ADD COLUMN usr text NOT NULL DEFAULT '',
  ADD COLUMN after jsonb NOT NULL DEFAULT '[]',
  ADD COLUMN preemptible boolean NOT NULL DEFAULT false,
  ADD COLUMN not_before timestamptz,
  ADD COLUMN recall text,
  ADD COLUMN preemptions integer NOT NULL DEFAULT 0;
`;
