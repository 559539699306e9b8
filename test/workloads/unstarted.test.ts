/** Grants that do not start, while a reservation waits for their nodes: when they leave, whose fault it is, and what their user reads. */
import type { Pod } from '../../runtime/kubernetes/types';
import type { WorkloadAdapter } from '../../runtime/workloads/adapter';
import { podAdapter } from '../../runtime/workloads/pod';
import { rowIn } from '../queue/rows';
import { array, pinnedTo, pod, RELEASED, refused, setUp } from './watched-grant';

const isAwaited = true;
const given = rowIn('Ready', { uid: 'job', jobid: 7, pods: 2, walltime: 1, releasedAt: RELEASED });
const creating = (name: string) => pod(name, undefined, 'n1');
const waiting = (reason: string, message: string): Pod['status'] => ({
  containerStatuses: [{ name: 'main', state: { waiting: { reason, message } } }] as never,
});
const LATE = 'it has not started within 60 s, and others wait for its nodes';

test.each([
  ['FailedMount', 'MountVolume.SetUp failed for volume "a" : configmap "b" not found', 'failure'],
  ['FailedMount', 'MountVolume.SetUp failed for volume "a" : mount.nfs: Connection refused', 'cluster'],
])('leaves after a minute with its own cause or the cluster’s: %s %s', async (reason, note, cause) => {
  const failures = [{ reason, note, deprecatedLastTimestamp: '2026-01-01T00:00:30Z' }];
  const { observe, seconds } = setUp({ given, isAwaited, failures });
  const pods = [creating('a'), creating('b')];
  await observe(pods);
  seconds(59);
  expect(await observe(pods)).toMatchObject({ failure: undefined, after: 1_000 });
  seconds(60);
  expect((await observe(pods)).failure).toEqual({
    cause,
    message: `pod a and 1 more did not run on n1: ${note}; ${LATE}`,
    avoid: ['n1'],
  });
});

test.each([
  ['an image that does not exist', 'ErrImagePull', 'rpc error: code = NotFound desc = a:1', 'failure'],
  ['a registry that is away', 'ErrImagePull', 'dial tcp: connection refused', 'cluster'],
  ['a secret that is not there', 'CreateContainerConfigError', 'secret "late" not found', 'failure'],
])('%s', async (_, reason, message, cause) => {
  const { observe, seconds } = setUp({ given, isAwaited });
  const pods = [creating('b'), pod('a', waiting(reason, message), 'n2')];
  await observe(pods);
  seconds(60);
  expect((await observe(pods)).failure).toMatchObject({ cause, message: expect.stringContaining(LATE) });
});

test.each([
  ['its walltime, if that is longer', { walltime: 90 }, 90],
  ['twice as long for each time that it was put back, for its image may be large', { requeues: 2 }, 240],
  ['no longer than what nobody waits for', { requeues: 8, clusterRequeues: 8 }, 600],
])('has %s', async (_, over, limit) => {
  const { observe, seconds } = setUp({ given: { ...given, ...over }, isAwaited });
  const pods = [creating('a'), creating('b')];
  await observe(pods);
  seconds(limit - 1);
  expect((await observe(pods)).failure).toBeUndefined();
  seconds(limit);
  expect((await observe(pods)).failure).toMatchObject({ cause: 'cluster' });
});

test('what nobody waits for has ten minutes, however short its walltime is', async () => {
  const { observe, seconds } = setUp({ given });
  const pods = [creating('a'), creating('b')];
  await observe(pods);
  seconds(599);
  expect(await observe(pods)).toMatchObject({ failure: undefined, after: 1_000 });
});

test('what runs is none of these', async () => {
  const { observe, seconds } = setUp({ given: { ...given, startedAt: RELEASED + 20 }, isAwaited });
  const pods = [pod('a', { phase: 'Running' }, 'n1'), creating('b')];
  await observe(pods);
  seconds(599);
  expect((await observe(pods)).failure).toBeUndefined();
});

test('pods that are made again have no new time', async () => {
  const { observe, seconds } = setUp({ given, isAwaited });
  await observe([creating('a'), creating('b')]);
  seconds(50);
  await observe([creating('c'), creating('d')]);
  seconds(60);
  expect((await observe([creating('c'), creating('d')])).failure).toMatchObject({ cause: 'cluster' });
});

test('an array leaves as a gang does', async () => {
  const { observe, seconds } = setUp({ given, isAwaited, workload: array });
  const pods = [creating('a'), creating('b')];
  await observe(pods);
  seconds(60);
  expect((await observe(pods)).failure).toMatchObject({ message: expect.stringContaining(LATE) });
});

test('an outage of kube-scheduler ends nothing, and a pod that others gate leaves', async () => {
  const { observe, seconds } = setUp({ given, isAwaited });
  const pods = [pod('a', {}), pod('b', {})];
  await observe(pods);
  seconds(300);
  expect((await observe(pods)).failure).toBeUndefined();
  const gated = { ...pinnedTo('n1')!, schedulingGates: [{ name: 'others.example/gate' }] };
  const message = `pod a did not run on n1: waiting for scheduling gate others.example/gate; ${LATE}`;
  expect((await observe([{ ...pod('a', {}), spec: gated }, pod('b', {})])).failure).toMatchObject({
    cause: 'cluster',
    message,
  });
});

test('a grant for which no pod was ever made leaves', async () => {
  const { observe, seconds } = setUp({ given, isAwaited });
  await observe([]);
  seconds(60);
  expect((await observe([])).failure).toEqual({
    cause: 'cluster',
    message: `the Job controller has created none of its pods; ${LATE}`,
  });
});

test('a lone pod that is bound leaves after ten minutes, because it is not put back', async () => {
  const row = rowIn('Ready', { uid: 'a', kind: 'Pod', walltime: 1, releasedAt: RELEASED });
  const { observe, seconds } = setUp({ given: row, isAwaited });
  const adapter = podAdapter as unknown as WorkloadAdapter;
  await observe([creating('a')], adapter);
  seconds(599);
  expect((await observe([creating('a')], adapter)).failure).toBeUndefined();
  seconds(600);
  expect((await observe([creating('a')], adapter)).failure).toMatchObject({
    cause: 'cluster',
    message: expect.stringContaining('it has not started within 600 s, and others wait for its nodes'),
  });
});

test('what kube-scheduler refuses leaves after half a minute, as ever', async () => {
  const { observe, seconds } = setUp({ given, isAwaited });
  const pods = [pod('a', refused), pod('b', refused)];
  await observe(pods);
  seconds(30);
  expect((await observe(pods)).failure).toMatchObject({ message: 'pod a and 1 more did not run: 0/2 nodes' });
});
