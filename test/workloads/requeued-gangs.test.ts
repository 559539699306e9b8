/** What the user of a Job changes of its gang size while it runs counts with the requeue itself, and not a reconcile later. */
import { GANG_SIZE } from '../../constructs/api/labels';
import type { Job } from '../../runtime/kubernetes/types';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { jobAdapter } from '../../runtime/workloads/job';
import { QueueModel } from '../fuzz/queue-model';
import { defaultSubmissions } from './default-submissions';
import { reconcilerOnTables } from './reconciler-on-tables';

const NOW = 1_800_000_000;
const KEY = { kind: 'Job', namespace: 'science', name: 'train' };

function job(gangSize: string | undefined): Job {
  return {
    metadata: {
      ...{ name: 'train', namespace: 'science', uid: 'a', resourceVersion: '1' },
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(gangSize !== undefined && { annotations: { [GANG_SIZE]: gangSize } }),
    },
    spec: {
      suspend: true,
      parallelism: 3,
      completions: 3,
      completionMode: 'Indexed',
      template: { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }] } },
    },
  };
}

test.each([
  ['3', '2', { gangSize: 2 }, 2],
  ['3', undefined, { array: true }, 3],
  [undefined, '3', { gangSize: 3 }, 3],
  ['3', '3', { gangSize: 3 }, 3],
])('a Job of gang size %s is requeued with %s, as it has now', async (granted, wanted, noted, pods) => {
  const queue = new QueueModel(() => NOW);
  const workloadCache = new WorkloadCache(queue, await queue.acquireFence('test'));
  const submissionBuilder = defaultSubmissions(workloadCache, () => undefined);
  const { jobid } = (await submissionBuilder.submit(job(granted), jobAdapter as never))!;
  const nodes = [{ name: 'node-0', units: { core: '0-29' } }];
  await workloadCache.allocate([{ uid: 'a', allocation: { jobid, start: NOW, end: NOW + 600, nodes } }]);
  await workloadCache.released('a');
  const suspended = job(wanted);
  const reconciler = reconcilerOnTables(workloadCache, {
    client: {},
    objectOf: () => suspended,
    podsOf: () => [],
    now: () => NOW,
  });
  await reconciler.reconcile(KEY);
  const row = workloadCache.byUid('a')!;
  expect(row).toMatchObject({ phase: 'Waiting', pods });
  const { gangSize, array } = row.jobspec.attributes.user!;
  expect({ gangSize, array }).toEqual(noted);
  await reconciler.reconcile(KEY);
  expect(workloadCache.byUid('a')).toBe(row);
});
