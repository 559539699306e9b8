/** The deadline of a pod allows for a late start of the first container, from which the walltime counts. */
import { DEADLINE_ANNOTATION, GATE, JOBID_ANNOTATION, WALLTIME } from '../../constructs/api/labels';
import type { Pod } from '../../runtime/kubernetes/types';
import type { Patch } from '../../runtime/workloads/adapter';
import { requestedDeadline } from '../../runtime/workloads/deadlines';
import { groupAdapter } from '../../runtime/workloads/group-adapter';
import { podAdapter } from '../../runtime/workloads/pod';
import { limitOperations, podWalltimeEnd, unstartedEnd } from '../../runtime/workloads/pod-deadlines';
import type { PodGroup } from '../../runtime/workloads/pod-group';
import { applyJsonPatch, type Operation } from '../fuzz/json-patch';
import { rowIn } from '../queue/rows';

/** When the kubelet has the pod. Unix seconds. */
const BEGUN = Date.parse('2026-01-01T00:00:00Z') / 1000;
const time = (seconds: number) => new Date(seconds * 1000).toISOString();

function pod(spec: Partial<Pod['spec']>, annotations?: Record<string, string>, begun?: number): Pod {
  return {
    metadata: {
      ...{ name: 'probe', namespace: 'science', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
      ...(annotations && { annotations }),
    },
    spec: { restartPolicy: 'Never', containers: [], ...spec },
    status: { phase: 'Pending', ...(begun !== undefined && { startTime: time(begun) }) },
  };
}

const released = (note: string, activeDeadlineSeconds: number, begun: number | undefined = BEGUN) =>
  pod({ activeDeadlineSeconds }, { [DEADLINE_ANNOTATION]: note, [JOBID_ANNOTATION]: '7' }, begun);
const probe = released('60+3600/none', 3_660);
const ready = rowIn('Ready', { walltime: 60 });
const startedAfter = (seconds: number) => rowIn('Running', { walltime: 60, startedAt: BEGUN + seconds });
const deadlineAfter = (given: Pod, patch: Patch | undefined) =>
  applyJsonPatch(given, patch!.body as readonly Operation[])!;
/** What is noted after a patch, and what the pod asks for. */
const noted = ({ metadata, spec }: Pod) => [
  spec.activeDeadlineSeconds,
  metadata.annotations?.[DEADLINE_ANNOTATION],
];

describe('a release', () => {
  const waiting = (spec: Partial<Pod['spec']> = {}, annotations?: Record<string, string>) =>
    pod({ schedulingGates: [{ name: GATE }], ...spec }, annotations);
  const after = (given: Pod, walltime = 60) =>
    deadlineAfter(given, podAdapter.releasePatch(given, { ...ready, walltime }));

  test.each<[string, Pod, number, unknown[]]>([
    ['no deadline', waiting(), 60, [3_660, '60+3600/none']],
    ['a part of a second', waiting(), 60.2, [3_661, '61+3600/none']],
    ['a later deadline', waiting({ activeDeadlineSeconds: 100 }), 60, [100, '60+40/100']],
    ['an earlier deadline', waiting({ activeDeadlineSeconds: 30 }), 60, [30, undefined]],
    [
      'a walltime, and always restarts',
      waiting({ restartPolicy: 'Always' }, { [WALLTIME]: '60' }),
      60,
      [3_660, '60+3600/none'],
    ],
    ['no end', waiting({ restartPolicy: 'Always' }), 60, [undefined, undefined]],
    [
      'no end, and a note',
      waiting({ restartPolicy: 'Always' }, { [DEADLINE_ANNOTATION]: '1/2' }),
      60,
      [undefined, undefined],
    ],
  ])('of a pod with %s', (_, given, walltime, expected) => {
    expect(noted(after(given, walltime))).toEqual(expected);
  });

  test('keeps what the pod asks for', () => {
    for (const activeDeadlineSeconds of [undefined, 30, 100, 9_000]) {
      const given = waiting(activeDeadlineSeconds === undefined ? {} : { activeDeadlineSeconds });
      expect(podAdapter.demand(after(given)).deadlineSeconds).toBe(activeDeadlineSeconds);
    }
  });

  test('that the guard of an earlier version refuses is that of the earlier version', () => {
    expect(noted(deadlineAfter(waiting(), podAdapter.earlierReleasePatch(waiting(), ready)))).toEqual([
      60,
      undefined,
    ]);
    const service = waiting({ restartPolicy: 'Always' });
    expect(podAdapter.earlierReleasePatch(service, ready)).toBeUndefined();
  });
});

describe('the deadline of a started pod', () => {
  const exact = (given: Pod, delay: number, seconds: number) =>
    deadlineAfter(given, podAdapter.walltimeEnd(given, startedAfter(delay), BEGUN + seconds).patch);

  test('is exact once half of its walltime is over', () => {
    expect(podWalltimeEnd(probe, startedAfter(20.4), BEGUN + 30.4)).toEqual({ after: 20_000 });
    const ends = exact(probe, 20.4, 51);
    expect(noted(ends)).toEqual([81, '81/none']);
    expect(requestedDeadline(ends)).toBeUndefined();
    expect(podWalltimeEnd(ends, startedAfter(20.4), BEGUN + 60)).toEqual({});
  });

  test('is exact as soon as a controller is back', () => {
    expect(noted(exact(probe, 90, 9_000))[0]).toBe(150);
  });

  test.each<[string, Pod, number]>([
    ['the deadline of its user', released('60+10/70', 70), 20],
    ['that its user has lowered to less than its walltime', released('60+3600/none', 50), 0],
    ['that an earlier version released', pod({ activeDeadlineSeconds: 60 }, {}, BEGUN), 5],
    ['that began to be pulled more than an hour before', probe, 3_600],
    ['that its kubelet does not have yet', { ...probe, status: { phase: 'Pending' } }, 0],
    ['that has ended', { ...probe, status: { ...probe.status, phase: 'Failed' } }, 0],
    ['that is being deleted', { ...probe, metadata: { ...probe.metadata, deletionTimestamp: 'x' } }, 0],
  ])('stays: %s', (_, given, delay) => {
    expect(podWalltimeEnd(given, startedAfter(delay), BEGUN + 9_000)).toEqual({});
  });

  test('that its user has lowered to where only the start is allowed for becomes exact, and is no wish', () => {
    const lowered = released('60+3600/none', 3_600);
    expect(podAdapter.demand(lowered).deadlineSeconds).toBeUndefined();
    expect(noted(exact(lowered, 0, 40))).toEqual([60, '60/none']);
  });

  test('is the own one of its user where that comes first', () => {
    expect(noted(exact(released('60+40/100', 100), 20, 70))).toEqual([80, '80/100']);
  });

  test('is not written before the start of the pod, by the clock of its node', () => {
    const ahead = released('60+3600/none', 3_660, BEGUN + 3_600);
    expect(podWalltimeEnd(ahead, startedAfter(10), BEGUN + 50)).toEqual({ after: 3_550_000 });
    expect(podWalltimeEnd(probe, startedAfter(3_000_000), BEGUN + 50)).toEqual({});
    expect(podWalltimeEnd(probe, startedAfter(3_000), BEGUN + 50)).toEqual({ after: 2_980_000 });
  });
});

describe('the pods of a group', () => {
  const group = (...members: Pod[]): PodGroup => ({ metadata: { ...probe.metadata, name: 'ring' }, members });
  const waiting = pod({ schedulingGates: [{ name: GATE }] });
  const placed = (startedAt: number | null, now: number) => {
    const row = { ...rowIn('Running', { walltime: 60 }), startedAt };
    return deadlineAfter(waiting, {
      type: 'json',
      body: groupAdapter.placePatch(group(waiting), row, waiting, 'node-1', now),
    });
  };

  test('get their walltime and time for the start, and late ones what is left', () => {
    expect(noted(placed(null, BEGUN))).toEqual([3_660, '60+3600/none']);
    expect(noted(placed(BEGUN, BEGUN + 20))).toEqual([40, '40/none']);
  });

  test('get no more than their walltime for a start in the future', () => {
    expect(noted(placed(BEGUN + 3_000_000, BEGUN))).toEqual([60, '60/none']);
  });

  test('end together, whenever their kubelets had them', () => {
    const late = {
      ...released('60+3600/none', 3_660, BEGUN + 25),
      metadata: { ...probe.metadata, name: 'late' },
    };
    const pending = { ...probe, status: { phase: 'Pending' as const } };
    const earlier = { ...probe, metadata: { ...probe.metadata, annotations: { [JOBID_ANNOTATION]: '3' } } };
    const ends = (seconds: number) =>
      groupAdapter.walltimeEnd(group(probe, late, pending, earlier), startedAfter(10), BEGUN + seconds);
    expect(ends(35)).toEqual({ ofPods: [], after: 5_000 });
    const written = ends(40).ofPods!.map(({ pod: of, patch }) => [
      of.metadata.name,
      ...noted(deadlineAfter(of, patch)),
    ]);
    // Each of them 70 s after the first one began.
    expect(written).toEqual([
      ['probe', 70, '70/none'],
      ['late', 45, '45/none'],
    ]);
  });

  test('ask for what their user has set, whichever of them is asked', () => {
    const ofUser = released('60+3600/9000', 3_660);
    const demand = (...members: Pod[]) => groupAdapter.demand({ ...group(...members) }).deadlineSeconds;
    const settings = { 'fluxqueue/group-size': '2', 'fluxqueue/group-member': 'u/pods-1' };
    const member = (of: Pod) => ({
      ...of,
      metadata: { ...of.metadata, annotations: { ...of.metadata.annotations, ...settings } },
    });
    expect(demand(member(ofUser), member(ofUser))).toBe(9_000);
    expect(demand(member(probe), member(released('40/none', 40)))).toBeUndefined();
  });
});

test('the pods of a group of which one cannot start, and none has, end at their walltime', () => {
  const waiting = (reason: string) => ({
    ...probe,
    status: {
      ...probe.status,
      containerStatuses: [{ name: 'main', ready: false, restartCount: 0, state: { waiting: { reason } } }],
    },
  });
  const [typo, pulling] = [waiting('ImagePullBackOff'), waiting('ContainerCreating')];
  expect(podWalltimeEnd(pulling, ready, BEGUN + 90)).toEqual({});
  expect(podWalltimeEnd(typo, ready, BEGUN + 20)).toEqual({ after: 40_000 });
  const due = (...members: Pod[]) =>
    groupAdapter.walltimeEnd({ metadata: probe.metadata, members }, ready, BEGUN + 60).ofPods!.length;
  expect([due(typo, pulling), due(pulling, pulling)]).toEqual([2, 0]);
});

test('a pod that cannot start, and that nobody moves, ends at its walltime after its kubelet has it', () => {
  expect(unstartedEnd(probe, BEGUN + 20)).toEqual({ after: 40_000 });
  expect(noted(deadlineAfter(probe, unstartedEnd(probe, BEGUN + 60).patch))).toEqual([60, '60/none']);
  expect(unstartedEnd(released('60+3600/none', 3_660, BEGUN + 100), BEGUN)).toEqual({ after: 160_000 });
  expect(unstartedEnd(released('60/none', 60), BEGUN + 90)).toEqual({});
});

test('a pod whose grant is over keeps the note of what it asks for', () => {
  const limited = (given: Pod) =>
    noted(applyJsonPatch(given, limitOperations(given, 50) as readonly Operation[])!);
  expect(limited(released('60+3600/9000', 3_660))).toEqual([50, '50/9000']);
  expect(limited(pod({}, {}))).toEqual([50, undefined]);
});
