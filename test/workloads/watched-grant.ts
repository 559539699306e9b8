/** A grant of two pods, and what its watch sees. */
import { GANG_SIZE, JOBID_ANNOTATION } from '../../constructs/api/labels';
import { parseConfig } from '../../runtime/config';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import type { WorkloadAdapter } from '../../runtime/workloads/adapter';
import { GrantWatch } from '../../runtime/workloads/grant-watch';
import { jobAdapter } from '../../runtime/workloads/job';
import type { NodeView } from '../../runtime/workloads/live-pods';
import { ManualClock } from '../kubernetes/manual-clock';
import { rowIn } from '../queue/rows';

export const RELEASED = Date.parse('2026-01-01T00:00:00Z') / 1000;
const row = rowIn('Ready', { uid: 'job', jobid: 7, pods: 2, releasedAt: RELEASED });
const metadata = (name: string) => ({
  name,
  namespace: 'science',
  uid: name,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
});

export const array: Job = {
  metadata: metadata('job'),
  spec: {
    parallelism: 2,
    completions: 2,
    completionMode: 'Indexed',
    template: { metadata: { annotations: { [JOBID_ANNOTATION]: '7' } }, spec: { containers: [] } },
  },
};
const job: Job = { ...array, metadata: { ...array.metadata, annotations: { [GANG_SIZE]: '2' } } };

export function pod(name: string, status: Pod['status'], nodeName?: string, jobid = 7): Pod {
  return {
    metadata: { ...metadata(name), annotations: { [JOBID_ANNOTATION]: String(jobid) } },
    spec: { containers: [{ name: 'main', image: 'a:1' }], ...(nodeName !== undefined && { nodeName }) },
    status: { phase: 'Pending', ...status },
  };
}

export const refused: Pod['status'] = {
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/2 nodes.' }],
};
export const RUNS: Pod['status'] = { phase: 'Running' };

export interface FailedCreate {
  readonly note: string;
  readonly reason?: string;
  readonly deprecatedLastTimestamp: string;
}

export function setUp({
  failures = [] as readonly FailedCreate[],
  given = row as WorkloadRow,
  workload = job,
  get = async (path: string): Promise<unknown> => {
    throw new Error(`unexpected request of ${path}`);
  },
  schedulerRuns = true,
  isAwaited = false,
  nodes = { exists: () => true, isReady: () => true } as NodeView,
} = {}) {
  const clock = new ManualClock();
  const lists: unknown[] = [];
  const watch = new GrantWatch({
    client: {
      get,
      list: async (_path: string, selection: object) => {
        lists.push(selection);
        return { items: failures };
      },
    } as unknown as KubernetesClient,
    limits: parseConfig({}).grants,
    clock,
    nodes,
    schedulerRuns: () => schedulerRuns,
    isAwaited: () => isAwaited,
    requeueOf: () => ({ limit: 2 }),
    now: () => RELEASED + 10 + clock.now() / 1000,
  });
  const observe = (pods: readonly Pod[], adapter: WorkloadAdapter = jobAdapter as WorkloadAdapter) =>
    watch.observe({ object: adapter.kind === 'Job' ? workload : pods[0]!, adapter, row: given, pods });
  const seconds = (count: number) => clock.freeze(count * 1000);
  return { watch, observe, seconds, lists };
}

export function pinnedTo(node: string): Pod['spec'] {
  const matchFields = [{ key: 'metadata.name', operator: 'In' as const, values: [node] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  return {
    containers: [{ name: 'main', image: 'a:1' }],
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
  };
}
