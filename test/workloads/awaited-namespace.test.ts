import { ADMITTED_LABEL } from '../../constructs/api/labels';
import type { Job } from '../../runtime/kubernetes/types';
import { adapters } from '../../runtime/workloads/index';
import { WorkloadReconciler } from '../../runtime/workloads/reconciler';
import type { WorkloadReconcilerOptions } from '../../runtime/workloads/reconciler-options';
import { rowIn } from '../queue/rows';

const JOB = {
  metadata: { name: 'early', namespace: 'science', uid: 'u', labels: { [ADMITTED_LABEL]: 'true' } },
  spec: { suspend: true, template: { spec: { containers: [] } } },
} as unknown as Job;

test('a Job is not queued before the label of its namespace is known, which may name the queue', async () => {
  let isAwaited = true;
  const submitted: string[] = [];
  const reconciler = new WorkloadReconciler({
    workloadCache: { byName: () => [], byUid: () => undefined },
    adapters,
    objectOf: () => JOB,
    isUnlisted: () => false,
    podsOf: () => [],
    namespaces: { hasLeft: () => false, isAwaited: () => isAwaited, isExcluded: () => false },
    submissionBuilder: {
      submit: async ({ metadata }: Job) => {
        submitted.push(metadata.uid);
        return rowIn('Waiting');
      },
    },
    onQueueChanged: () => undefined,
    limits: { avoidSeconds: 0 },
    logger: { info: () => undefined, debug: () => undefined },
    now: () => 0,
  } as unknown as WorkloadReconcilerOptions);
  const key = { kind: 'Job', namespace: 'science', name: 'early' };
  await reconciler.reconcile(key);
  expect(submitted).toEqual([]);
  isAwaited = false;
  await reconciler.reconcile(key);
  expect(submitted).toEqual(['u']);
  reconciler.stop();
});
