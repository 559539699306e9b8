/** Pods that outlive what they belong to. */
import { JOBID_ANNOTATION } from '../../../constructs/api/labels';
import { checkRecords, checkWaiting } from '../../../runtime/cli/doctor/drift';
import { checkLingering } from '../../../runtime/cli/doctor/lingering';
import { fakeContext } from './fake-context';
import { ago, metadata } from './objects';

const SCIENCE = metadata('science', { labels: { 'fluxqueue/enabled': 'true' } });
const PODS = '/api/v1/namespaces/science/pods';
const RECORD = '/apis/jobs.converged-computing.org/v1alpha1/namespaces/science/fluxjobs/orp-job';

/** Of a Job orp that was deleted without its pods. */
const left = (name: string, over: object = {}, phase = 'Running') => ({
  metadata: metadata(name, {
    namespace: 'science',
    labels: {
      'batch.kubernetes.io/controller-uid': 'uid-of-deleted',
      'batch.kubernetes.io/job-name': 'orp',
    },
    annotations: { [JOBID_ANNOTATION]: '7' },
    ...over,
  }),
  spec: { containers: [], nodeName: 'node-2' },
  status: { phase },
});
const cluster = (...pods: readonly object[]) => {
  const record = {
    metadata: metadata('orp-job', { namespace: 'science' }),
    spec: { queue: 'default', workload: { kind: 'Job', name: 'orp', uid: 'uid-of-deleted' } },
    status: { phase: 'Running', nodes: 'node-2', nodeCount: 1 },
  };
  const again = { metadata: metadata('orp', { namespace: 'science' }), spec: { suspend: true } };
  return fakeContext({
    '/api/v1/namespaces': [{ metadata: SCIENCE }],
    '/apis/batch/v1/jobs': [again],
    '/apis/jobs.converged-computing.org/v1alpha1/fluxjobs': [record],
    '/apis/coordination.k8s.io/v1/namespaces/fluxqueue-system/leases/fluxqueue-controller': {
      metadata: metadata('fluxqueue-controller'),
      spec: { holderIdentity: 'vm_1', renewTime: ago(1) },
    },
    [RECORD]: record,
    [PODS]: pods,
  });
};

test('a Job that waits behind pods of a deleted one of its name needs no FluxJob yet', async () => {
  expect(await checkWaiting(cluster(left('orp-0')))).toMatchObject([{ level: 'ok' }]);
});

test('the FluxJob of pods that have outlived their Job is no record to delete', async () => {
  expect(await checkRecords(cluster(left('orp-0')))).toMatchObject([{ level: 'ok' }]);
  for (const pods of [[], [left('orp-0', {}, 'Succeeded')], [left('orp-0', { labels: {} })]])
    expect(await checkRecords(cluster(...pods))).toMatchObject([
      { level: 'warning', message: expect.stringContaining('science/orp-job') },
    ]);
});

test('pods of grants that do not end are a warning with the command that ends them', async () => {
  const late = { deletionTimestamp: ago(301) };
  const pods = [
    left('orp-0', late),
    left('orp-1', late),
    left('alone', { ...late, annotations: {}, labels: { 'fluxqueue/admitted': 'true' } }),
    left('ends', { deletionTimestamp: ago(299) }),
    left('ended', late, 'Failed'),
    left('of-nobody', { ...late, annotations: {} }),
  ];
  expect(await checkLingering(cluster(...pods))).toEqual([
    {
      level: 'warning',
      message:
        '3 pods do not end and keep what was granted: science/orp-0 on node-2, science/orp-1 on node-2, science/alone on node-2',
      remedy:
        'look at each of them; if the node is off, or runs no container of it any more: kubectl -n science delete pod orp-0 --force --grace-period=0',
    },
  ]);
  expect(await checkLingering(cluster(left('orp-0')))).toEqual([]);
});
