/** Each setting that counts for a grant: a change of it is seen while the workload waits, and when it is requeued. */
import { GRANTED_SETTINGS } from '../../constructs/api/granted-fields';
import type { Setting } from '../../constructs/api/settings';
import type { Job } from '../../runtime/kubernetes/types';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import type { WorkloadAdapter } from '../../runtime/workloads/adapter';
import { jobAdapter } from '../../runtime/workloads/job';
import { QueueModel } from '../fuzz/queue-model';
import { queueSettings } from '../scheduler/pass/settings';
import { defaultSubmissions } from './default-submissions';

const adapter = jobAdapter as unknown as WorkloadAdapter;

const CHANGES: Readonly<Partial<Record<Setting, string>>> = {
  'fluxqueue/hold': 'true',
  'fluxqueue/priority': '-3',
  'fluxqueue/walltime': '7m',
  'fluxqueue/queue': 'other',
  'fluxqueue/exclusive': 'true',
  'fluxqueue/preemptible': 'true',
  'fluxqueue/checkpoint-interval': '30m',
  'fluxqueue/gang-size': '2',
  'fluxqueue/after': 'prep',
};

function job(annotations: Readonly<Record<string, string>> = {}): Job {
  return {
    metadata: {
      name: 'train',
      namespace: 'science',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations,
    },
    // Of more than one pod: a single one needs no other.
    spec: {
      suspend: true,
      parallelism: 2,
      completions: 2,
      template: { spec: { containers: [{ name: 'main' }] } },
    },
  };
}

function fail(_object: unknown, _adapter: unknown, message: string): void {
  throw new Error(message);
}

const queues = {
  queueOf: ({ requested }: { readonly requested: string | undefined }) => requested ?? 'default',
  planOf: () => queueSettings(),
  refusesStackQueue: () => false,
};

test.each(GRANTED_SETTINGS.flatMap((name) => [[name, 'Waiting'] as const, [name, 'Running'] as const]))(
  'a change of %s of what is %s is one',
  async (name, phase) => {
    const queue = new QueueModel(() => 1_000);
    const cache = new WorkloadCache(queue, await queue.acquireFence('test'));
    const builder = defaultSubmissions(cache, fail, { queues: queues as never });
    const row = { ...(await builder.submit(job(), adapter))!, phase };
    expect(builder.changeOf(job({ [name]: CHANGES[name]! }), adapter, row)).toBeDefined();
    expect(builder.changeOf(job(), adapter, row)).toBeUndefined();
  },
);
