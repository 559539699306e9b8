/** The walltime counts from the start of the first container: the deadline of a Job moves with a late one. */
import { DEADLINE_ANNOTATION } from '../../constructs/api/labels';
import type { WatchedJob } from '../../runtime/shared/job-projection';
import { enforcedDeadline, lateDeadline, requestedDeadline } from '../../runtime/workloads/deadlines';
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
    },
    spec: { suspend: false, activeDeadlineSeconds, template: { spec: { containers: [] } } },
    status: { startTime: '2026-01-01T00:00:00Z' },
  };
}

const starting = rowIn('Ready', { walltime: 60 });
const startedAfter = (seconds: number) => rowIn('Running', { walltime: 60, startedAt: BEGUN + seconds });
const job = released('60/none', 60);

/** The Job as the patch leaves it. */
function extended(given: WatchedJob, row: ReturnType<typeof rowIn>, seconds: number): WatchedJob {
  const { patch } = lateDeadline(given, row, BEGUN + seconds);
  return applyJsonPatch(given, patch!.body as readonly Operation[])!;
}

test('the deadline of a Job that does not run yet is looked at when half of it is over', () => {
  expect(lateDeadline(job, starting, BEGUN + 10)).toEqual({ after: 20_000 });
  expect(lateDeadline(job, startedAfter(2), BEGUN + 40)).toEqual({});
});

test('a Job whose image is pulled for longer than its walltime does not exceed its deadline', () => {
  let pulling = job;
  for (let seconds = 30; seconds < 600; seconds += 30) {
    pulling = extended(pulling, starting, seconds);
    expect(enforcedDeadline(pulling)).toBe(seconds + 60);
  }
  expect(requestedDeadline(pulling)).toBeUndefined();
});

test('a late start moves the deadline once, by as much as it was late', () => {
  const late = extended(job, startedAfter(20.4), 21);
  expect(enforcedDeadline(late)).toBe(81);
  expect(lateDeadline(late, startedAfter(20.4), BEGUN + 22)).toEqual({});
});

test("the user's own deadline counts from the release", () => {
  const late = extended(released('60/70', 60), startedAfter(20), 21);
  expect(late.spec.activeDeadlineSeconds).toBe(70);
  expect(requestedDeadline(late)).toBe(70);
  expect(lateDeadline(late, startedAfter(20), BEGUN + 22)).toEqual({});
});

test.each<[string, WatchedJob]>([
  ['whose user has set another deadline since', released('60/none', 90)],
  ['that is suspended', { ...job, spec: { ...job.spec, suspend: true } }],
  ['that the Job controller has not started', { ...job, status: {} }],
])('the deadline of a Job %s stays as it is', (_, given) => {
  expect(lateDeadline(given, startedAfter(30), BEGUN + 31)).toEqual({});
});

test('no start is waited for longer than an hour', () => {
  const hour = 3_600;
  const late = extended(job, starting, 2 * hour);
  expect(enforcedDeadline(late)).toBe(60 + hour);
  expect(lateDeadline(late, starting, BEGUN + 3 * hour)).toEqual({});
});

test('a grant that was adopted long after the release moves no deadline', () => {
  const adopted = { ...startedAfter(40), allocatedAt: BEGUN + 40 };
  expect(lateDeadline(job, adopted, BEGUN + 41)).toEqual({});
});
