/**
 * Adds how many requeues were for causes of the cluster, which do not count towards the requeue limit, and whether an
 * eviction that goes on is one of them. An older program counts them all, and takes such an eviction for a failure.
 */
export const clusterRequeues = `
ALTER TABLE fluxqueue.workloads
  ADD COLUMN cluster_requeues integer NOT NULL DEFAULT 0,
  ADD COLUMN recall_by_cluster boolean NOT NULL DEFAULT false;
`;
