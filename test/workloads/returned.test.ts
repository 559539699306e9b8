import { ADMITTED_LABEL } from '../../constructs/api/labels';
import { apiError } from '../../runtime/kubernetes/errors';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { adapters } from '../../runtime/workloads/index';
import { ReturnedWorkloads } from '../../runtime/workloads/returned';
import { rowIn } from '../queue/rows';

const KEY = { kind: 'Job', namespace: 'science', name: 'train' };
const JOB = {
  metadata: { name: 'train', namespace: 'science', uid: 'u', labels: { [ADMITTED_LABEL]: 'true' } },
  spec: { suspend: true, template: { spec: { containers: [] } } },
} as unknown as Job;

async function requeued(live: object | undefined, pods: readonly Pod[] = []): Promise<readonly string[]> {
  const returned: string[] = [];
  const workloads = new ReturnedWorkloads({
    client: {
      get: async <T>() => {
        if (live === undefined) throw apiError(404, 'not found', undefined, '/jobs/train');
        return live as T;
      },
    },
    workloadCache: {
      returned: async (uid) => {
        returned.push(uid);
        return rowIn('Waiting');
      },
    },
    onQueueChanged: () => returned.push('queue'),
    logger: { info: () => undefined, debug: () => undefined } as never,
    now: () => 0,
  });
  await workloads.requeue(KEY, JOB, adapters.get('Job')!, pods);
  return returned;
}

test('a suspended Job whose row has ended waits again', async () => {
  expect(await requeued(JOB)).toEqual(['u', 'queue']);
});

test.each<[string, object | undefined]>([
  ['is gone', undefined],
  ['is being deleted', { ...JOB, metadata: { ...JOB.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }],
  ['runs', { ...JOB, spec: { ...JOB.spec, suspend: false } }],
  [
    'has ended',
    {
      ...JOB,
      status: {
        conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
      },
    },
  ],
])('one that %s by the apiserver does not, although the watch shows it suspended', async (_, live) => {
  expect(await requeued(live)).toEqual([]);
});

test('one whose pods had all succeeded when its user suspended it does not', async () => {
  const pod = (phase: string) =>
    ({ metadata: { name: 'train-0', uid: 'p' }, spec: {}, status: { phase } }) as unknown as Pod;
  const job = { ...JOB, spec: { ...JOB.spec, completions: 1 } };
  expect(await requeued(job, [pod('Succeeded')])).toEqual([]);
  expect(await requeued(job, [pod('Failed')])).toEqual(['u', 'queue']);
});
