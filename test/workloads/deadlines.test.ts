/** The deadline of a release allows for a late start of the first container, from which the walltime counts. */
import { DEADLINE_ANNOTATION } from '../../constructs/api/labels';
import type { WatchedJob } from '../../runtime/shared/job-projection';
import {
  enforcedDeadline,
  grantedDeadline,
  PARKED_SECONDS,
  releasedDeadline,
  requestedDeadline,
  walltimeEnd,
} from '../../runtime/workloads/deadlines';
import { applyJsonPatch, type Operation } from '../fuzz/json-patch';
import { rowIn } from '../queue/rows';

const BEGUN = Date.parse('2026-01-01T00:00:00Z') / 1000;

function released(annotation: string, activeDeadlineSeconds: number): WatchedJob {
  return {
    metadata: {
      name: 'train',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations: { [DEADLINE_ANNOTATION]: annotation },
      labels: { 'fluxqueue/admitted': 'true' },
    },
    spec: { suspend: false, activeDeadlineSeconds, template: { spec: { containers: [] } } },
    status: { startTime: '2026-01-01T00:00:00Z' },
  };
}

const starting = rowIn('Ready', { walltime: 60 });
const startedAfter = (seconds: number) => rowIn('Running', { walltime: 60, startedAt: BEGUN + seconds });
const job = released('60+3600/none', 3_660);

/** The Job as the patch leaves it. */
function tightened(given: WatchedJob, row: ReturnType<typeof rowIn>, seconds: number): WatchedJob {
  const { patch } = walltimeEnd(given, row, BEGUN + seconds);
  return applyJsonPatch(given, patch!.body as readonly Operation[])!;
}

test('the deadline of a Job that does not run yet stays', () => {
  expect(walltimeEnd(job, starting, BEGUN + 3_000)).toEqual({});
});

test('the deadline of a Job is exact once half of its walltime is over', () => {
  expect(walltimeEnd(job, startedAfter(20.4), BEGUN + 30.4)).toEqual({ after: 20_000 });
  const exact = tightened(job, startedAfter(20.4), 51);
  expect(enforcedDeadline(exact)).toBe(81);
  expect(requestedDeadline(exact)).toBeUndefined();
  expect(walltimeEnd(exact, startedAfter(20.4), BEGUN + 52)).toEqual({});
});

test('a walltime of years is looked at when a timer allows it', () => {
  const row = rowIn('Running', { walltime: 2e9, startedAt: BEGUN });
  expect(walltimeEnd(released('2000000000+3600/none', 2_000_003_600), row, BEGUN)).toEqual({
    after: 2 ** 31 - 1,
  });
});

test('the deadline of a Job is exact as soon as a controller is back', () => {
  expect(enforcedDeadline(tightened(job, startedAfter(90), 9_000))).toBe(150);
});

test('a start that takes longer than an hour is part of the walltime', () => {
  for (const delay of [3_599.5, 7_200])
    expect(walltimeEnd(job, startedAfter(delay), BEGUN + 9_000)).toEqual({});
});

test('the walltime of a Job that waited for another controller counts from its grant', () => {
  const staged = released('1060+3600/none', 4_660);
  expect(walltimeEnd(staged, startedAfter(1_020), BEGUN + 1_040, 1_000)).toEqual({ after: 10_000 });
  const { patch } = walltimeEnd(staged, startedAfter(1_020), BEGUN + 1_050, 1_000);
  expect(enforcedDeadline(applyJsonPatch(staged, patch!.body as readonly Operation[])!)).toBe(1_080);
});

test("the user's own deadline counts from the release", () => {
  const late = tightened(released('60+10/70', 70), startedAfter(5), 60);
  expect(late.spec.activeDeadlineSeconds).toBe(65);
  expect(requestedDeadline(late)).toBe(70);
  expect(walltimeEnd(released('60+10/70', 70), startedAfter(20), BEGUN + 60)).toEqual({});
});

test.each([
  ['sets while it is suspended, also within the time for the start', true, 1_800],
  ['lowers to where only the start is allowed for is no wish', false, undefined],
])('a deadline that its user %s', (_, suspend, requested) => {
  const changed = released('600+3600/none', 1_800);
  expect(requestedDeadline({ ...changed, spec: { ...changed.spec, suspend } })).toBe(requested);
});

test('a deadline that its user has lowered to less than the walltime stays', () => {
  expect(walltimeEnd(released('60+3600/none', 50), startedAfter(0), BEGUN + 40)).toEqual({});
});

test('a deadline between the walltime and the allowance, however it got there, becomes exact', () => {
  const lowered = tightened(released('60+3600/none', 3_600), startedAfter(0), 40);
  expect(enforcedDeadline(lowered)).toBe(60);
});

test.each<[string, WatchedJob]>([
  ['that an earlier version released', released('60/none', 60)],
  ['that is suspended', { ...job, spec: { ...job.spec, suspend: true } }],
  ['that the Job controller has not started', { ...job, status: {} }],
])('the deadline of a Job %s stays as it is', (_, given) => {
  expect(walltimeEnd(given, startedAfter(30), BEGUN + 71)).toEqual({});
});

test('the time for the start is taken back from a Job whose own deadline is of any length', () => {
  const { metadata, spec } = released('', 0);
  const asked = { metadata, spec: { ...spec, activeDeadlineSeconds: 2 ** 63 } };
  const { activeDeadlineSeconds, annotation = '' } = releasedDeadline(asked, starting);
  const exact = tightened(released(annotation, activeDeadlineSeconds), startedAfter(20), 51);
  expect(enforcedDeadline(exact)).toBe(80);
});

test('no edit can move a granted deadline to where only the start is allowed for', () => {
  expect(grantedDeadline(job)).toEqual({ seconds: 3_660, most: 60, own: undefined });
  expect(grantedDeadline(released('60/none', 60))).toMatchObject({ seconds: 60, most: 60 });
});

test.each([
  [60, undefined, '60+3600/none', 3_660],
  [60.2, undefined, '61+3600/none', 3_661],
  [60, 100, '60+40/100', 100],
  [60, 60, undefined, 60],
  [60, 9_999_999_999_999, '60+3600/9999999999999', 3_660],
  [60, 2 ** 63, '60+3600/9007199254740991', 3_660],
  [2 ** 31 - 1, undefined, '2147483647/none', PARKED_SECONDS],
])('the deadline of a walltime of %d s and an own deadline of %s s is %s', (walltime, own, text, seconds) => {
  const { metadata, spec } = released('', 0);
  const given = { metadata, spec: { ...spec, ...(own !== undefined && { activeDeadlineSeconds: own }) } };
  const waiting = own === undefined ? { metadata, spec: { template: spec.template } } : given;
  expect(releasedDeadline(waiting as WatchedJob, { ...starting, walltime })).toEqual({
    activeDeadlineSeconds: seconds,
    annotation: text,
  });
});
