import {
  ASSIGNMENT_ANNOTATION,
  ENDED_ANNOTATION,
  GATE,
  JOBID_ANNOTATION,
  OWNER_ANNOTATION,
  USER_ANNOTATION,
} from '../../constructs/api/labels';
import { WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import { jobspecOf } from '../../runtime/jobspec/jobspec';
import { gangOf } from '../../runtime/jobspec/pod-sets';
import type { KindObject } from '../../runtime/kubernetes/kind-fields';
import type { Pod } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { assignmentOfSets, placementOfSets } from '../../runtime/workloads/assignment';
import { kindAdapter } from '../../runtime/workloads/kind-adapter';
import { nodesForGatedPods } from '../../runtime/workloads/ungate';
import { jobSet, type SetShape } from '../kinds/jobsets';

const adapter = kindAdapter(WORKLOAD_KINDS.find(({ kind }) => kind === 'JobSet')!);
const UNITS = { cpuMillis: 1000, memoryMiB: 1024 };
const NOW = 1_000_000;

function objectOf(
  sets: Readonly<Record<string, SetShape>>,
  more: {
    readonly annotations?: Record<string, string>;
    readonly spec?: object;
    readonly status?: object;
  } = {},
): KindObject {
  const { annotations, spec, status } = more;
  const made = jobSet('train', sets, { metadata: { uid: 'uid-train', annotations }, spec: spec ?? {} });
  return { ...made, ...(status && { status }) } as unknown as KindObject;
}

/** A driver of one core and two workers of two, granted on two nodes. */
const SETS = { driver: {}, workers: { pods: 2, cores: 2 } };
function rowOf(more: Partial<WorkloadRow> = {}): WorkloadRow {
  const setOf = (name: string, cores: number, pods: number) => ({
    name,
    traits: { namespace: 'science', labels: {} },
    jobspec: jobspecOf({
      pod: { containers: [{ name: 'main', resources: { requests: { cpu: `${cores}` } } }] },
      pods,
      walltime: 60,
      units: UNITS,
    } as unknown as Parameters<typeof jobspecOf>[0]),
  });
  return {
    jobid: 7,
    jobspec: gangOf([setOf('driver', 1, 1), setOf('workers', 2, 2)]),
    allocation: {
      start: NOW,
      end: NOW + 60,
      nodes: [
        { name: 'n1', units: { core: '0-2' }, podSets: { driver: 1, workers: 1 } },
        { name: 'n2', units: { core: '0-1' }, podSets: { workers: 1 } },
      ],
    },
    walltime: 60,
    startedAt: null,
    user: 'ada',
    ...more,
  } as unknown as WorkloadRow;
}

interface PodShape {
  readonly set?: string;
  readonly cores?: number;
  /** Gated if it has none. */
  readonly node?: string;
  readonly phase?: string;
  readonly jobid?: number;
  readonly isLeaving?: boolean;
  /** Who made it. @default - a controller of Kubernetes */
  readonly user?: string;
}

function pod(name: string, shape: PodShape = {}): Pod {
  const { set = 'workers', cores = 2, node, phase = 'Pending', jobid = 7, isLeaving = false, user } = shape;
  return {
    metadata: {
      name,
      namespace: 'science',
      uid: `uid-${name}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
      resourceVersion: '1',
      labels: { 'jobset.sigs.k8s.io/replicatedjob-name': set },
      annotations: {
        [OWNER_ANNOTATION]: 'JobSet/train/uid-train',
        ...(user !== undefined && { [USER_ANNOTATION]: user }),
        ...(node !== undefined && { [JOBID_ANNOTATION]: `${jobid}` }),
      },
      ...(isLeaving && { deletionTimestamp: '2026-01-01T00:00:01Z' }),
    },
    spec: {
      containers: [{ name: 'main', resources: { requests: { cpu: `${cores}` } } }],
      ...(node === undefined ? { schedulingGates: [{ name: GATE }] } : { nodeName: node }),
    },
    status: { phase },
  } as unknown as Pod;
}

const released = objectOf(SETS, {
  annotations: { [JOBID_ANNOTATION]: '7', [ASSIGNMENT_ANNOTATION]: assignmentOfSets(rowOf()) },
  spec: { suspend: false },
});
const placesOf = (pods: readonly Pod[], row = rowOf()) => {
  const gated = adapter.podsToPlace(released, pods, row, NOW);
  return nodesForGatedPods({ object: released, adapter, row }, pods, gated, { exists: () => true }).map(
    ({ pod: { metadata }, node }) => `${metadata.name} ${node}`,
  );
};

const LARGER = '3 cores instead of 2 cores';
test.each<[string, readonly Pod[], readonly string[]]>([
  ['none that fits', [pod('w-0')], []],
  ['one that asks for more', [pod('w-0', { cores: 3 }), pod('w-1')], [`w-0 ${LARGER}`]],
  ['none of an unknown set', [pod('x', { set: 'other', cores: 3 })], []],
  ['none that is being deleted', [pod('w-0', { cores: 3, isLeaving: true })], []],
  [
    'none beyond the pods of its set',
    [pod('w-0', { node: 'n1' }), pod('w-1', { node: 'n2', phase: 'Succeeded' }), pod('w-2', { cores: 3 })],
    [],
  ],
  [
    'one in the place of a pod that has failed',
    [pod('w-0', { node: 'n1' }), pod('w-1', { node: 'n2', phase: 'Failed' }), pod('w-2', { cores: 3 })],
    [`w-2 ${LARGER}`],
  ],
])('of larger pods it knows %s', (_, pods, expected) => {
  const larger = adapter.largerPods(released, rowOf(), pods);
  expect(larger.map(({ pod: { metadata }, excess }) => `${metadata.name} ${excess}`)).toEqual(expected);
});

test('counts the pods of each replicated Job that run at once', () => {
  const { podSets } = adapter.demand(objectOf({ driver: {}, workers: { replicas: 3, pods: 2 } }));
  expect(podSets.map(({ name, count, field }) => [name, count, field])).toEqual([
    ['driver', 1, 'spec.replicatedJobs[0].template.spec.template.spec'],
    ['workers', 6, 'spec.replicatedJobs[1].template.spec.template.spec'],
  ]);
});

test('counts the completions, if they are fewer than the parallelism, and one pod where nothing is said', () => {
  const made = objectOf({ a: { pods: 4 }, b: {} }) as unknown as {
    spec: { replicatedJobs: { template: { spec: object } }[] };
  };
  Object.assign(made.spec.replicatedJobs[0]!.template.spec, { completions: 3 });
  Object.assign(made.spec.replicatedJobs[1]!.template.spec, { parallelism: undefined, completions: 5 });
  const { podSets } = adapter.demand(made as unknown as KindObject);
  expect(podSets.map(({ count }) => count)).toEqual([3, 1]);
});

test.each([
  [{}, 'has no pods'],
  [Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`s${i}`, {}])), 'has 17 sets of pods'],
  [{ a: { replicas: -1 } }, 'has a number of pods that is none'],
  [{ a: { replicas: 2 ** 31 - 1 }, b: {} }, 'has more than 2147483647 pods'],
])('refuses what can be no gang: %j', (sets, text) => {
  expect(() => adapter.demand(objectOf(sets as Record<string, SetShape>))).toThrow(
    `FLUXQ_POD_SETS: spec.replicatedJobs: ${text}`,
  );
});

test('says where the pods of each set are, and reads it again', () => {
  const text = assignmentOfSets(rowOf());
  expect(text).toBe('driver=0/1:n1|workers=0/1:n1,n2');
  expect(placementOfSets(text)).toEqual([
    { node: 'n1', pods: 2, podSets: { driver: 1, workers: 1 } },
    { node: 'n2', pods: 1, podSets: { workers: 1 } },
  ]);
  expect(adapter.recordedGrant(released, [])).toEqual({ jobid: 7, placement: placementOfSets(text) });
  expect(placementOfSets('nonsense')).toEqual([]);
});

test('gives each pod a place of its own set', () => {
  expect(placesOf([pod('w1'), pod('d1', { set: 'driver', cores: 1 }), pod('w2'), pod('w3')])).toEqual([
    'd1 n1',
    'w1 n1',
    'w2 n2',
  ]);
});

test('gives no place to a pod of an unknown set, or to one that asks for more than its set', () => {
  expect(
    placesOf([pod('x', { set: 'others' }), pod('y', { cores: 3 }), pod('z', { set: 'driver', cores: 2 })]),
  ).toEqual([]);
});

test('gives no place to a pod that another person made', () => {
  const own = [
    pod('a', { user: 'ada' }),
    pod('b', { user: 'system:serviceaccount:jobset-system:jobset-controller-manager' }),
  ];
  expect(placesOf([...own, pod('c', { user: 'mallory' })])).toEqual(['a n1', 'b n2']);
  expect(placesOf([pod('c', { user: 'mallory' })])).toEqual([]);
  expect(placesOf([pod('c', { user: 'ada' })], rowOf({ user: 'namespace:science' }))).toEqual([]);
});

test('keeps the place of a pod until it is gone or has ended, also if it is being deleted', () => {
  const others = [pod('w2', { node: 'n2', phase: 'Running' })];
  const leaving = pod('w1', { node: 'n1', phase: 'Running', isLeaving: true });
  expect(placesOf([...others, leaving, pod('new')])).toEqual([]);
  expect(placesOf([...others, pod('w1', { node: 'n1', phase: 'Failed' }), pod('new')])).toEqual(['new n1']);
  expect(placesOf([...others, pod('new')])).toEqual(['new n1']);
});

test('places nothing while it is suspended, after its end or after its walltime', () => {
  const started = rowOf({ startedAt: NOW - 60 });
  expect(placesOf([pod('w1')], started)).toEqual([]);
  const ended = objectOf(SETS, { annotations: { [ENDED_ANNOTATION]: 'TimedOut' }, spec: { suspend: true } });
  expect(adapter.podsToPlace(ended, [pod('w1')], rowOf(), NOW)).toEqual([]);
  expect(adapter.isSuspended(ended)).toBe(false);
  expect(adapter.podsToPlace(objectOf(SETS, { spec: { suspend: true } }), [pod('w1')], rowOf(), NOW)).toEqual(
    [],
  );
});

test('ends once it says so and no pod of it runs; a gated one never will', () => {
  const at = (type: string) => ({
    conditions: [
      { type, status: 'True', message: 'said', lastTransitionTime: new Date(NOW * 1000).toISOString() },
    ],
  });
  const outcome = (type: string, pods: readonly Pod[], row = rowOf()) =>
    adapter.outcome(objectOf(SETS, { status: at(type) }), pods, NOW, row);
  expect(outcome('Completed', [pod('w1')])).toEqual({ result: 'Succeeded', finishedAt: NOW });
  expect(outcome('Completed', [pod('w1', { node: 'n1', phase: 'Running' })])).toBeUndefined();
  expect(outcome('Failed', [])).toMatchObject({ result: 'Failed', message: 'said' });
  expect(outcome('Failed', [], rowOf({ startedAt: NOW - 60 }))).toEqual({
    result: 'TimedOut',
    finishedAt: NOW,
  });
  expect(outcome('Suspended', [])).toBeUndefined();
});

test('frees a node whose pods have succeeded, unless they may be made again', () => {
  const pods = [
    pod('w1', { node: 'n1', phase: 'Running' }),
    pod('d1', { set: 'driver', node: 'n1', phase: 'Succeeded' }),
    pod('w2', { node: 'n2', phase: 'Succeeded' }),
  ];
  expect(adapter.finishedNodes(released, rowOf(), pods)).toEqual(['n2']);
  const freedWith = (failurePolicy: object) =>
    adapter.finishedNodes(objectOf(SETS, { spec: { failurePolicy } }), rowOf(), pods);
  expect(freedWith({ maxRestarts: 1 })).toEqual([]);
  const rule = (action: string) => ({ maxRestarts: 0, rules: [{ action: 'FailJobSet' }, { action }] });
  expect(freedWith(rule('RestartJobSet'))).toEqual(['n2']);
  for (const action of ['RestartJobSetAndIgnoreMaxRestarts', 'RestartJobAndIgnoreMaxRestarts', 'Unknown'])
    expect(freedWith(rule(action))).toEqual([]);
});

test('has no place for a pod of a set whose nodes were freed, once nothing else of it can end', () => {
  const [n1, n2] = rowOf().allocation!.nodes;
  const freed = rowOf({
    allocation: { ...rowOf().allocation!, nodes: [n1!, { ...n2!, podSets: { workers: 1 } }] },
  });
  const gone = { ...freed, allocation: { ...freed.allocation!, nodes: [n2!] } };
  const placeless = (row: WorkloadRow, ...pods: readonly Pod[]) =>
    adapter.placelessPods(released, row, pods).map(({ metadata }) => metadata.name);
  const driver = pod('d1', { set: 'driver', cores: 1 });
  const ended = pod('w1', { node: 'n2', phase: 'Failed' });
  expect(placeless(gone, driver, ended)).toEqual(['d1']);
  expect(placeless(gone, driver, pod('w1', { node: 'n2', phase: 'Running' }))).toEqual([]);
  expect(placeless(freed, driver, ended)).toEqual([]);
  expect(placeless(gone, pod('w1'), pod('d1', { set: 'driver', cores: 1, user: 'eve' }))).toEqual([]);
});

test('misses its pods only until the first of them is there', () => {
  expect(adapter.missingPods(released, rowOf(), [])).toBe(3);
  expect(adapter.missingPods(released, rowOf({ jobid: 8 } as Partial<WorkloadRow>), [])).toBe(0);
  expect(adapter.missingPods(released, rowOf(), [pod('w1')])).toBe(0);
});

test.each([
  ['may start an hour late', null, 60 + 3_600],
  ['ends with the others, once one of them has started', NOW - 50, 10],
])('a pod that gets its place %s', (_, startedAt, seconds) => {
  const operations = adapter.placePatch(released, rowOf({ startedAt }), pod('w1'), 'n1', NOW);
  expect(operations).toContainEqual({ op: 'add', path: '/spec/activeDeadlineSeconds', value: seconds });
});

test('is suspended for good at the end of its walltime', () => {
  expect(adapter.walltimeEnd(released, rowOf(), NOW)).toEqual({});
  expect(adapter.walltimeEnd(released, rowOf({ startedAt: NOW - 50 }), NOW)).toEqual({ after: 10_000 });
  const { patch } = adapter.walltimeEnd(released, rowOf({ startedAt: NOW - 60 }), NOW);
  expect(patch?.body).toContainEqual({ op: 'add', path: '/spec/suspend', value: true });
});
