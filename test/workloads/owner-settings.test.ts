import { USER_ANNOTATION, WALLTIME } from '../../constructs/api/labels';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { apiError } from '../../runtime/kubernetes/errors';
import type { KubernetesObject, OwnerReference } from '../../runtime/kubernetes/types';
import { adapters } from '../../runtime/workloads';
import { Owners, withOwners } from '../../runtime/workloads/owner-settings';
import { podSettings } from '../../runtime/workloads/settings';
import { ManualClock } from '../kubernetes/manual-clock';

const CREATED = '2026-01-01T00:00:00Z';
const JOB = '/apis/batch/v1/namespaces/science/jobs/train';
const JOB_SET = '/apis/jobset.x-k8s.io/v1alpha2/namespaces/science/jobsets/sweep';

interface Made {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: Partial<OwnerReference>;
  readonly spec?: object;
}

function made(name: string, { annotations = {}, owner, spec = {} }: Made = {}): KubernetesObject {
  const controller = { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'train', controller: true };
  return {
    metadata: {
      ...{ name, uid: name, namespace: 'science', resourceVersion: '1', creationTimestamp: CREATED },
      annotations,
      ...(owner && { ownerReferences: [{ ...controller, ...owner }] }),
    },
    ...{ spec: { template: { spec: { containers: [] } }, replicatedJobs: [], ...spec } },
  };
}

function cluster(objects: Readonly<Record<string, KubernetesObject>>) {
  const asked: string[] = [];
  const get = async (path: string) => {
    asked.push(path);
    const found = objects[path];
    if (found === undefined) throw apiError(404, '', undefined, `GET ${path}`);
    return found;
  };
  const clock = new ManualClock();
  const client = { get } as unknown as Pick<KubernetesClient, 'get'>;
  return { owners: new Owners({ client, adapters, clock }), asked, clock };
}

const POD = made('pod', { owner: {} });

async function settings(objects: Readonly<Record<string, KubernetesObject>>, pod = POD) {
  const { owners, asked } = cluster(objects);
  await owners.read(pod, { isNew: true });
  const { deadlineSeconds } = owners.of(pod);
  return { ...withOwners(podSettings(pod.metadata), owners.of(pod)), deadlineSeconds, asked };
}

test('a pod has the walltime, the queue and the deadline of its Job', async () => {
  const annotations = { [WALLTIME]: '5h', 'fluxqueue/queue': 'long', 'fluxqueue/exclusive': 'true' };
  const job = made('train', { annotations, spec: { activeDeadlineSeconds: 864_000 } });
  expect(await settings({ [JOB]: job })).toMatchObject({
    walltimeSeconds: 18_000,
    queue: 'long',
    exclusive: true,
    preemptible: false,
    deadlineSeconds: 864_000,
  });
});

test('what a pod says itself counts, and no hold and no dependency of its Job', async () => {
  const annotations = { [WALLTIME]: '5h', 'fluxqueue/hold': 'true', 'fluxqueue/after': 'other' };
  const pod = made('pod', { owner: {}, annotations: { [WALLTIME]: '1h' } });
  expect(await settings({ [JOB]: made('train', { annotations }) }, pod)).toMatchObject({
    walltimeSeconds: 3_600,
    hold: false,
    after: [],
  });
});

test('a pod of a Job of a JobSet has the settings of the JobSet', async () => {
  const apiVersion = 'jobset.x-k8s.io/v1alpha2';
  const job = made('train', { owner: { apiVersion, kind: 'JobSet', name: 'sweep', uid: 'sweep' } });
  const sweep = made('sweep', { annotations: { [WALLTIME]: '5h' } });
  const found = await settings({ [JOB]: job, [JOB_SET]: sweep });
  expect(found).toMatchObject({ walltimeSeconds: 18_000, asked: [JOB, JOB_SET] });
});

test.each<[string, Readonly<Record<string, KubernetesObject>>]>([
  ['is gone', {}],
  ['is another one of its name', { [JOB]: { ...made('train'), metadata: made('other').metadata } }],
])('a pod whose Job %s has its own settings', async (_, objects) => {
  expect((await settings(objects)).walltimeSeconds).toBeUndefined();
});

describe('an owner whom a person names', () => {
  const ALICE = { [USER_ANNOTATION]: 'alice' };
  const large = { [WALLTIME]: '5h', 'fluxqueue/priority': '1000' };
  const OPERATOR = 'system:serviceaccount:kubeflow:operator';
  const podOf = (user: string) => made('pod', { owner: {}, annotations: { [USER_ANNOTATION]: user } });
  const job = made('train', { annotations: { ...ALICE, ...large } });

  test.each([
    ['alice', 18_000],
    [OPERATOR, 18_000],
    ['bob', undefined],
    ['system:serviceaccount:science:default', undefined],
  ])('gives a pod of %s the walltime %s, and no priority', async (user, walltimeSeconds) => {
    const { priority, ...others } = await settings({ [JOB]: job }, podOf(user));
    expect([priority, others.walltimeSeconds]).toEqual([undefined, walltimeSeconds]);
  });

  test('gives none by a Job of theirs between', async () => {
    const apiVersion = 'jobset.x-k8s.io/v1alpha2';
    const owner = { apiVersion, kind: 'JobSet', name: 'sweep', uid: 'sweep' };
    const template = { metadata: { annotations: { [USER_ANNOTATION]: 'bob' } }, spec: { containers: [] } };
    const between = made('train', { owner, spec: { template } });
    const sweep = made('sweep', { annotations: { ...ALICE, ...large } });
    expect((await settings({ [JOB]: between, [JOB_SET]: sweep })).walltimeSeconds).toBeUndefined();
  });

  test('says nothing to a pod of another namespace, or of another user, that names the same', async () => {
    const { owners } = cluster({ [JOB]: job });
    await owners.read(podOf('alice'), { isNew: true });
    const elsewhere = { ...podOf('alice'), metadata: { ...podOf('alice').metadata, namespace: 'beta' } };
    expect([owners.of(elsewhere), owners.of(podOf('bob'))]).toEqual([{}, {}]);
    expect(owners.of(podOf('alice'))).toMatchObject({ walltimeSeconds: 18_000 });
  });
});

test('owners in a circle are asked for a few times only', async () => {
  const job = made('train', { owner: {} });
  expect((await settings({ [JOB]: job })).asked).toEqual([JOB, JOB, JOB]);
});

test('nothing is asked about owners that are no workloads', async () => {
  const replicaSet = made('pod', { owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet' } });
  expect((await settings({}, replicaSet)).asked).toEqual([]);
  expect((await settings({}, made('pod'))).asked).toEqual([]);
});

test('an owner is asked for once a minute at most, and again only for a new pod', async () => {
  const { owners, asked, clock } = cluster({ [JOB]: made('train') });
  for (const isNew of [true, true, false]) await owners.read(POD, { isNew });
  expect(asked).toHaveLength(1);
  await clock.advance(60_000);
  await owners.read(POD, { isNew: false });
  expect(asked).toHaveLength(1);
  await owners.read(POD, { isNew: true });
  expect(asked).toHaveLength(2);
});

test('a setting of the owner that nobody can read names the owner', async () => {
  const job = made('train', { annotations: { [WALLTIME]: 'soon' } });
  const { owners } = cluster({ [JOB]: job });
  await owners.read(POD, { isNew: true });
  expect(() => owners.of(POD)).toThrow(
    /^FLUXQ_SETTING_INVALID: its Job train: metadata\.annotations\["fluxqueue\/walltime"\]: .*soon/,
  );
});
