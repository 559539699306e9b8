/** ResourceQuotas of the namespace of a row. */
import type { RowCluster } from '../row-cluster';

export const quota = (hard: Readonly<Record<string, string>>) => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'small' },
  spec: { hard },
});

/** The apiserver enforces a quota from when the quota controller has written its status. */
export async function applyQuota(cluster: RowCluster, hard: Readonly<Record<string, string>>): Promise<void> {
  await cluster.apply(quota(hard));
  await cluster.until('the quota to be enforced', 60_000, async () => {
    const path = cluster.path('v1', 'resourcequotas', 'small');
    return (await cluster.get<{ status?: { hard?: object } }>(path)).status?.hard !== undefined;
  });
}
