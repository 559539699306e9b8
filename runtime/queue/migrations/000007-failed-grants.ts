/**
 * Adds why a workload is evicted (null: it is preempted, as in earlier versions) and the nodes that it avoids after its
 * pods did not run on them: node name -> Unix seconds until when. An older program ignores both.
 */
export const failedGrants = `
ALTER TABLE fluxqueue.workloads
  ADD COLUMN recall_cause text CHECK (recall_cause IN ('failure', 'preempted')),
  ADD COLUMN avoid jsonb NOT NULL DEFAULT '{}';
`;
