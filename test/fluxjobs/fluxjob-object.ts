/** FluxJobs of Jobs in namespace science, for tests of what reads them. */
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';

export type FluxJobStatus = NonNullable<FluxJobObject['status']>;

/** The time at which these tests read. */
export const NOW = Date.parse('2026-11-23T12:00:00Z');
export const at = (minutes: number): string => new Date(NOW + minutes * 60_000).toISOString();

/** @param created ISO 8601 */
export function fluxJobObject(
  name: string,
  status: FluxJobStatus,
  spec: Partial<FluxJobObject['spec']>,
  created: string,
): FluxJobObject {
  return {
    metadata: {
      namespace: 'science',
      name: `${name}-job`,
      uid: name,
      resourceVersion: '1',
      creationTimestamp: created,
    },
    spec: { workload: { apiVersion: 'batch/v1', kind: 'Job', name, uid: name }, queue: 'default', ...spec },
    status,
  };
}
