import {
  ADMITTED_LABEL,
  GATE,
  GROUP,
  GROUP_MEMBER_ANNOTATION,
  GROUP_SIZE,
  JOB_NAME_LABEL,
  JOB_UID_LABEL,
  JOBID_ANNOTATION,
  OWNER_ANNOTATION,
  USER_ANNOTATION,
} from '../../constructs/api/labels';
import type { KindObject } from '../../runtime/kubernetes/kind-fields';
import type { Job, KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import type { GroupRow } from '../../runtime/shared/pod-facts';
import { formatKey } from '../../runtime/shared/workload-key';
import { WorkloadObjects } from '../../runtime/shared/workload-objects';
import { podFacts } from '../../runtime/workloads/pod-facts';
import { SimulatedClock } from '../fuzz/simulated-clock';
import { FakeInformer, metadata } from './fake-informer';

const ADMITTED = { [ADMITTED_LABEL]: 'true' };
const job: Job = {
  metadata: metadata('train', { namespace: 'science', labels: ADMITTED }),
  spec: { template: { spec: { containers: [] } } },
};
const JOB = { ...job.metadata, kind: 'Job' };
const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'uid-train', controller: true };
const pod = (name: string, over: Partial<Pod['metadata']> = {}): Pod => ({
  metadata: metadata(name, { namespace: 'science', ...over }),
  spec: { containers: [] },
});

let jobs: FakeInformer<Job>;
let pods: FakeInformer<Pod>;
let objects: WorkloadObjects;
let changed: string[];

beforeEach(() => {
  jobs = new FakeInformer();
  pods = new FakeInformer({
    workload: (each) => podFacts.workloadUids(each),
    group: (each) => [podFacts.group(each) ?? ''],
  });
  objects = new WorkloadObjects(
    { jobs: jobs.asInformer(), pods: pods.asInformer(), kinds: new Map(), makers: new Map() },
    podFacts,
  );
  changed = [];
  objects.changed.subscribe((key) => changed.push(formatKey(key)));
});

test('reports a Job for its own changes and for those of its pods', () => {
  jobs.set(job);
  pods.set(pod('train-0', { ownerReferences: [owner] }));
  pods.delete('science/train-0');
  jobs.delete('science/train');
  expect(changed).toEqual(Array(4).fill('Job/science/train'));
});

test('reports a queued pod as a workload, and no pod outside the queue', () => {
  pods.set(pod('lone', { labels: ADMITTED }));
  pods.set(pod('agent'));
  expect(changed).toEqual(['Pod/science/lone']);
});

test('lists Jobs and queued pods, and finds objects by key and pods by the uid of their workload', () => {
  const first = pod('train-0', { ownerReferences: [owner] });
  jobs.set(job);
  pods.set(first);
  pods.set(pod('lone', { labels: ADMITTED }));
  expect([...objects.keys()].map(formatKey)).toEqual(['Job/science/train', 'Pod/science/lone']);
  expect(objects.get({ kind: 'Job', namespace: 'science', name: 'train' })).toBe(job);
  expect(objects.get({ kind: 'Pod', namespace: 'science', name: 'train-0' })).toBe(first);
  expect(objects.podsOf(JOB)).toEqual([first]);
});

test('lists no group whose row is about none of the pods that there are', () => {
  const labels = { ...ADMITTED, [GROUP]: 'ring' };
  const annotations = { [GROUP_MEMBER_ANNOTATION]: 'group-1/pods-1', [GROUP_SIZE]: '1' };
  pods.set(pod('ended', { labels, annotations }));
  expect([...objects.keys()].map(formatKey)).toEqual(['PodGroup/science/ring']);
  const informers = { jobs: jobs.asInformer(), pods: pods.asInformer(), kinds: new Map(), makers: new Map() };
  const next = new WorkloadObjects(informers, podFacts, () => ({ uid: 'group-2', user: 'ada' }) as GroupRow);
  expect([...next.keys()]).toEqual([]);
});

describe('of a workload kind', () => {
  const set = { metadata: metadata('set', { namespace: 'science' }) };
  const SET = { ...set.metadata, namespace: 'science', kind: 'JobSet' };
  const member = pod('set-0', {
    labels: ADMITTED,
    annotations: { [OWNER_ANNOTATION]: `JobSet/set/${set.metadata.uid}` },
  });
  const lone = { kind: 'Pod', namespace: 'science', name: 'set-0' };
  let clock: SimulatedClock;
  let jobSets: FakeInformer<KindObject>;

  beforeEach(() => {
    clock = new SimulatedClock();
    jobSets = new FakeInformer();
    const kinds = new Map([['JobSet', jobSets.asInformer()]]);
    objects = new WorkloadObjects(
      { jobs: jobs.asInformer(), pods: pods.asInformer(), kinds, makers: new Map() },
      podFacts,
      undefined,
      clock,
    );
    objects.changed.subscribe((key) => changed.push(formatKey(key)));
  });

  test('is no workload before the object for which a controller made it is known, unless it has a row', () => {
    const makers = new FakeInformer<KubernetesObject>();
    const row = { uid: 'none' };
    const informers = {
      jobs: jobs.asInformer(),
      pods: pods.asInformer(),
      kinds: new Map([['JobSet', jobSets.asInformer()]]),
    };
    const made = new WorkloadObjects(
      { ...informers, makers: new Map([['JobSet', makers.asInformer()]]) },
      podFacts,
      () => row as GroupRow,
    );
    const trainJob = { metadata: metadata('set', { namespace: 'science', uid: 'uid-trainjob' }) };
    const annotations = { [USER_ANNOTATION]: 'system:serviceaccount:trainer:manager' };
    const ownerReferences = [
      {
        apiVersion: 'trainer.kubeflow.org/v1alpha1',
        kind: 'TrainJob',
        name: 'set',
        uid: 'uid-trainjob',
        controller: true,
      },
    ];
    const child = { metadata: metadata('set', { namespace: 'science', annotations, ownerReferences }) };
    const key = { kind: 'JobSet', namespace: 'science', name: 'set' };
    jobSets.set(child);
    expect(made.get(key)).toBeUndefined();
    // Each leader asks for what every key stands for.
    expect([...made.keys()]).toEqual([]);
    row.uid = child.metadata.uid;
    expect(made.get(key)).toBe(child);
    expect([...made.keys()]).toEqual([key]);
    row.uid = 'none';
    const told: string[] = [];
    made.changed.subscribe((each) => told.push(formatKey(each)));
    makers.set(trainJob);
    expect(told).toEqual(['JobSet/science/set']);
    expect(made.get(key)).toBe(child);
  });

  test('has the pods that were made for it, and none of them is a workload', () => {
    jobSets.set(set);
    changed.length = 0;
    pods.set(member);
    expect(changed).toContain('JobSet/science/set');
    expect(objects.podsOf(SET)).toEqual([member]);
    expect([...objects.keys()].map(formatKey)).toEqual(['JobSet/science/set']);
    expect(objects.get(lone)).toBeUndefined();
  });

  test('that is not admitted, or another one of its name, leaves them workloads of their own', () => {
    pods.set(member);
    expect(objects.get(lone)).toBe(member);
    expect(objects.podsOf({ ...member.metadata, kind: 'Pod' })).toEqual([member]);
    jobSets.set({ metadata: { ...set.metadata, uid: 'another' } });
    expect(objects.get(lone)).toBe(member);
    jobSets.delete('science/set');
  });

  test.each([
    ['MPIJob', 'set', 'JobSet', 'set'],
    ['JobSet', 'other', 'JobSet', 'set'],
    ['JobSet', 'set', 'Job', 'set'],
  ])('has no pod of %s/%s with the uid of %s/%s', (kind, name, ofKind, ofName) => {
    const forged = pod('forged', {
      labels: ADMITTED,
      annotations: { [OWNER_ANNOTATION]: `${kind}/${name}/uid` },
    });
    pods.set(forged);
    expect(objects.podsOf({ kind: ofKind, namespace: 'science', name: ofName, uid: 'uid' })).toEqual([]);
    expect(objects.podsOf({ kind, namespace: 'science', name, uid: 'uid' })).toEqual([forged]);
  });

  test('has no pod that waits in a group, or has the place of one there', () => {
    jobSets.set(set);
    const { labels, annotations } = member.metadata;
    const grouped = {
      labels: { ...labels, [GROUP]: 'ring' },
      annotations: { ...annotations, [GROUP_SIZE]: '1' },
    };
    const gated = { ...pod('set-0', grouped), spec: { containers: [], schedulingGates: [{ name: GATE }] } };
    pods.set(gated);
    expect([objects.podsOf(SET), podFacts.owner(gated)]).toEqual([[], undefined]);
    pods.set(
      pod('set-0', {
        ...grouped,
        annotations: {
          ...grouped.annotations,
          [GROUP_MEMBER_ANNOTATION]: 'group-1/pods-1',
          [JOBID_ANNOTATION]: '7',
        },
      }),
    );
    expect(objects.podsOf(SET)).toEqual([]);
    // What has a place of the JobSet keeps it, whatever its user writes into it then.
    const placed = pod('set-0', {
      ...grouped,
      annotations: { ...grouped.annotations, [JOBID_ANNOTATION]: '7' },
    });
    pods.set(placed);
    expect(objects.podsOf({ ...SET, jobid: 7 })).toEqual([placed]);
  });

  test('that was deleted leaves what was orphaned after a while', async () => {
    jobSets.set(set);
    pods.set(member);
    jobSets.delete('science/set');
    expect(objects.get(lone)).toBeUndefined();
    changed.length = 0;
    await clock.advance(60_000);
    expect(objects.get(lone)).toBe(member);
    expect(changed).toEqual(['Pod/science/set-0']);
  });

  test('that left its watch twice leaves what was orphaned a while after the second time', async () => {
    pods.set(member);
    for (const milliseconds of [50_000, 59_999]) {
      jobSets.set(set);
      jobSets.delete('science/set');
      await clock.advance(milliseconds);
      expect(objects.get(lone)).toBeUndefined();
    }
    await clock.advance(1);
    expect(objects.get(lone)).toBe(member);
  });

  test('that is gone leaves what was orphaned when its row ends, and one that is there keeps it', () => {
    jobSets.set(set);
    pods.set(member);
    changed.length = 0;
    objects.ended(SET);
    objects.ended({ ...SET, kind: 'Job' });
    expect(changed).toEqual([]);
    jobSets.delete('science/set');
    changed.length = 0;
    objects.ended(SET);
    expect(changed).toEqual(['Pod/science/set-0']);
  });
});

test('finds no pods of another namespace that name the Job as their owner', () => {
  pods.set({
    ...pod('forged'),
    metadata: metadata('forged', { namespace: 'others', ownerReferences: [owner] }),
  });
  expect(objects.podsOf(JOB)).toEqual([]);
  expect(objects.podsOf({ ...JOB, namespace: 'others' })).toHaveLength(1);
});

test('finds orphaned pods of a grant, and none that only have the labels of a Job', () => {
  const labels = { [JOB_UID_LABEL]: 'uid-train', [JOB_NAME_LABEL]: 'train' };
  const orphan = pod('train-0', { labels, annotations: { [JOBID_ANNOTATION]: '7' } });
  pods.set(orphan);
  pods.set(pod('labelled', { labels }));
  expect(changed).toEqual(['Job/science/train']);
  expect(objects.podsOf({ ...JOB, jobid: 7 })).toEqual([orphan]);
  expect(objects.podsOf({ ...JOB, jobid: 8 })).toEqual([]);
  expect(objects.podsOf(JOB)).toEqual([]);
});
