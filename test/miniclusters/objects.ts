/** MiniClusters, Jobs and pods for unit tests. */
import type { MiniClusterSpec } from '../../imports/flux-framework.org-spec';
import type { MiniClusterStatus } from '../../imports/flux-framework.org-status';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import type { MiniCluster } from '../../runtime/miniclusters/resource';

export const CREATED = '2026-01-01T00:00:00Z';
export const NOW = Date.parse('2026-01-01T00:01:00Z') / 1000;

const metadata = { uid: 'u', namespace: 'science', resourceVersion: '1', creationTimestamp: CREATED };

export function cluster(spec: Partial<MiniClusterSpec> = {}, status?: MiniClusterStatus): MiniCluster {
  return {
    metadata: { ...metadata, name: 'hello', generation: 3 },
    spec: { containers: [{ image: 'flux' }], size: 4, ...spec },
    ...(status !== undefined && { status }),
  };
}

export function job(spec: Partial<Job['spec']> = {}, status: Job['status'] = {}): Job {
  return {
    metadata: { ...metadata, name: 'hello', uid: 'j' },
    spec: { parallelism: 4, completions: 4, template: { spec: { containers: [] } }, ...spec },
    status,
  };
}

export interface PodFacts {
  readonly node?: string;
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed';
  readonly exitCode?: number;
  readonly createdAt?: string;
}

export function podAt(
  index: number,
  { node, phase = 'Pending', exitCode, createdAt = CREATED }: PodFacts = {},
): Pod {
  const terminated = exitCode === undefined ? [] : [{ name: 'hello', state: { terminated: { exitCode } } }];
  return {
    metadata: {
      ...metadata,
      name: `hello-${index}`,
      creationTimestamp: createdAt,
      annotations: { 'batch.kubernetes.io/job-completion-index': String(index) },
    },
    spec: { containers: [], ...(node !== undefined && { nodeName: node }) },
    status: { phase, containerStatuses: terminated },
  };
}
