import { examine } from '../../../runtime/cli/doctor/doctor';
import { checkGrants, checkLeftovers, checkRecords, checkWaiting } from '../../../runtime/cli/doctor/drift';
import type { Context } from '../../../runtime/cli/doctor/finding';
import { type FakeCluster, fakeContext } from './fake-context';
import { ago, metadata } from './objects';

const VERSION = { '/version': { gitVersion: 'v1.37.1', minor: '37' } };
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/fluxqueue-system/leases/fluxqueue-controller';
const LED: FakeCluster = {
  [LEASE]: {
    metadata: metadata('fluxqueue-controller'),
    spec: { holderIdentity: 'vm_1', renewTime: ago(1) },
  },
};
const NODES = '/api/v1/nodes';

const levels = async (context: Context) =>
  (await examine(context)).map(({ level, check }) => `${level} ${check}`);

test('a cluster without the stack gets the errors that say so', async () => {
  expect(await levels(fakeContext(VERSION))).toEqual([
    'ok kubernetes',
    'error crds',
    'error crds',
    'error deployments',
    'error leader',
    'error guards',
    'error admission',
    'ok certificates',
    'warning namespaces',
    'ok queues',
    'error nodes',
    'ok waiting',
    'ok records',
    'ok grants',
  ]);
});

test('a right that is missing makes its check unknown, and no other', async () => {
  const found = await examine(fakeContext({ ...VERSION, [NODES]: 403 }));
  expect(found.filter(({ check }) => check === 'nodes')).toEqual([
    {
      check: 'nodes',
      level: 'unknown',
      message: 'not checked: you may not list nodes in the whole cluster',
      remedy: expect.stringContaining('with that right'),
    },
  ]);
  expect(found.find(({ check }) => check === 'kubernetes')?.level).toBe('ok');
});

test('an apiserver that fails ends the command with its error', async () => {
  await expect(examine(fakeContext({ ...VERSION, [NODES]: 500 }))).rejects.toThrow('FLUXQ_KUBERNETES_FAILED');
});

const JOBS = '/apis/batch/v1/jobs';
const FLUXJOBS = '/apis/jobs.converged-computing.org/v1alpha1/fluxjobs';
const train = { metadata: metadata('train', { namespace: 'science' }), spec: { suspend: true } };
const record = {
  metadata: metadata('train-job', { namespace: 'science' }),
  spec: { queue: 'default', workload: { kind: 'Job', name: 'train', uid: train.metadata.uid } },
  status: { phase: 'Waiting' },
};
const ITSELF = '/apis/jobs.converged-computing.org/v1alpha1/namespaces/science/fluxjobs/train-job';

test('a Job that waits without a FluxJob is an error of a queue that is led, else a leftover', async () => {
  expect(await checkWaiting(fakeContext({ ...LED, [JOBS]: [train] }))).toMatchObject([
    {
      level: 'error',
      message: '1 workload waiting for over a minute without a FluxJob: job/train in science',
    },
  ]);
  expect(await checkWaiting(fakeContext({ ...LED, [JOBS]: [train], [FLUXJOBS]: [record] }))).toMatchObject([
    { level: 'ok' },
  ]);
  const abandoned = { [JOBS]: [train] };
  expect(await checkWaiting(fakeContext(abandoned))).toEqual([]);
  expect(await checkLeftovers(fakeContext(abandoned))).toMatchObject([
    {
      message: '1 workload waiting for a queue that nobody runs: job/train in science',
      remedy: expect.stringContaining('kubectl fluxqueue uninstall --release'),
    },
  ]);
});

test('what its user holds is no leftover', async () => {
  const held = { ...train, metadata: { ...train.metadata, annotations: { 'fluxqueue/hold': 'true' } } };
  expect(await checkLeftovers(fakeContext({ [JOBS]: [held] }))).toEqual([]);
});

test('a FluxJob whose workload is gone is a warning, unless it went meanwhile', async () => {
  expect(await checkRecords(fakeContext({ [FLUXJOBS]: [record], [ITSELF]: record }))).toMatchObject([
    { level: 'warning', message: expect.stringContaining('science/train-job') },
  ]);
  expect(await checkRecords(fakeContext({ [FLUXJOBS]: [record] }))).toMatchObject([{ level: 'ok' }]);
  expect(await checkRecords(fakeContext({ [FLUXJOBS]: [record], [JOBS]: [train] }))).toMatchObject([
    { level: 'ok' },
  ]);
});

test('a pod off its grant is an error', async () => {
  const labels = { 'fluxqueue/enabled': 'true' };
  const running = { ...record, status: { phase: 'Running', nodes: 'node-1', nodeCount: 1 } };
  const pod = {
    metadata: metadata('train-0', {
      namespace: 'science',
      labels: { 'batch.kubernetes.io/controller-uid': train.metadata.uid },
    }),
    spec: { containers: [], nodeName: 'node-2' },
  };
  const cluster = {
    '/api/v1/namespaces': [{ metadata: metadata('science', { labels }) }],
    '/api/v1/namespaces/science/pods': [pod],
    [FLUXJOBS]: [running],
  };
  expect(await checkGrants(fakeContext(cluster))).toMatchObject([
    { level: 'error', message: '1 pod not on a granted node: science/train-0 on node-2' },
  ]);
});
