/**
 * Adds the dependencies that were met at the last grant: they are not asked for again after a requeue, as long as the
 * workload has the same ones. What an earlier version granted or requeued has met its own: a change by its user would have
 * set its requeues to 0. An older program leaves the column alone.
 */
export const metDependencies = `
ALTER TABLE fluxqueue.workloads ADD COLUMN met_after jsonb;
UPDATE fluxqueue.workloads SET met_after = after
WHERE after <> '[]' AND (phase IN ('Ready', 'Running') OR phase = 'Waiting' AND requeues > 0);
`;
