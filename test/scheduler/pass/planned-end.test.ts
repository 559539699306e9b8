import type { WorkloadRow } from '../../../runtime/queue/workload';
import { ENDLESS_SECONDS } from '../../../runtime/resources/endless';
import {
  dueEnd,
  plannedAllocation,
  plannedEnd,
  startLimitOf,
} from '../../../runtime/scheduler/pass/planned-end';
import fc from '../../fast-check';
import { rowIn } from '../../queue/rows';
import { submissionOf } from './requests';

const END = 1_000;

test.each([
  ['before its end', 999, 1_000],
  ['at its end, 45 s later', 1_000, 1_045],
  ['until the prediction is reached', 1_044, 1_045],
  ['when the prediction is reached, as long again as it has overrun', 1_045, 1_090],
  ['at 90 s', 1_090, 1_180],
  ['at 180 s', 1_180, 1_360],
  ['after an hour', 4_600, 1_000 + 45 * 128],
  ['after a day', 1_000 + 86_400, 1_000 + 45 * 2_048],
])('predicts the end %s', (_, now, expected) => {
  expect(plannedEnd(END, now)).toBe(expected);
});

test('a prediction is in the future, at most doubles the overrun, and moves only when it is reached', () => {
  fc.assert(
    fc.property(fc.nat(10_000), fc.integer({ min: 0, max: 10 ** 7 }), (end, over) => {
      const now = end + over;
      const planned = plannedEnd(end, now);
      expect(planned).toBeGreaterThan(now);
      expect(planned - end).toBeLessThanOrEqual(Math.max(45, 2 * over));
      expect(plannedEnd(end, planned - 1)).toBe(planned);
      expect(plannedEnd(end, planned)).toBeGreaterThan(planned);
    }),
  );
});

test('changes eleven times in a day', () => {
  const ends = new Set(Array.from({ length: 86_400 }, (_, second) => plannedEnd(END, END + second)));
  expect(ends.size).toBe(11 + 1);
});

test('an allocation that was written by a clock that was ahead starts now', () => {
  const holder = holderOf(30);
  expect(plannedAllocation(holder, 40)).toMatchObject({ start: 40, end: 60 });
  expect(plannedAllocation(holder, 55)).toBe(holder.allocation);
  expect(plannedAllocation(holder, 60)).toMatchObject({ start: 50, end: 105 });
});

test.each([
  ['with Kubernetes’ own grace', holderOf(30), 60],
  ['with a shorter one', holderOf(0), 60],
  ['with a longer one', holderOf(90), 120],
  ['once its eviction was requested, whose end is that of its grace', holderOf(90, 'preempted'), 60],
])('its units are due %s', (_, holder, due) => {
  expect(dueEnd(holder)).toBe(due);
  expect(plannedAllocation(holder, 55).end).toBe(due);
  expect(plannedAllocation(holder, due).end).toBe(due + 45);
});

test('a service is endless, however long its pods may need to end', () => {
  const { jobspec, walltime } = submissionOf('service', {
    submittedAt: 0,
    walltime: ENDLESS_SECONDS,
    pod: { terminationGracePeriodSeconds: 90 },
  });
  const allocation = { jobid: 1, start: 0, end: walltime, nodes: [] };
  expect(plannedAllocation(rowIn('Running', { allocation, jobspec }), 0)).toBe(allocation);
});

test.each([
  ['a minute', 10, 0, 'Job', 60],
  ['its walltime', 90, 0, 'Job', 90],
  ['twice as long after each requeue', 10, 2, 'Job', 240],
  ['no more than sixteen minutes', 10, 9, 'Job', 960],
  ['ten minutes as a pod, which is not put back', 10, 0, 'Pod', 600],
])('what has not started has %s, and is planned to be gone then', (_, walltime, requeues, kind, limit) => {
  const allocation = { jobid: 1, start: 100, end: 100 + walltime, nodes: [] };
  const row = rowIn('Ready', { allocation, walltime, requeues, kind });
  expect(startLimitOf(row)).toBe(limit);
  expect(plannedAllocation(row, allocation.end - 1).end).toBe(allocation.end);
  for (const now of [allocation.end, 100 + limit + 44])
    expect(plannedAllocation(row, now).end).toBe(100 + limit + 45);
  expect(plannedAllocation(row, 100 + limit + 45).end).toBeGreaterThan(100 + limit + 45);
  const others: Partial<WorkloadRow>[] = [{ startedAt: 105 }, { evictionReason: 'it did not start' }];
  for (const other of others)
    expect(plannedAllocation({ ...row, ...other }, allocation.end).end).toBe(allocation.end + 45);
});

function holderOf(terminationGracePeriodSeconds: number, evictionReason: string | null = null) {
  const { jobspec } = submissionOf('w', { submittedAt: 0, pod: { terminationGracePeriodSeconds } });
  const allocation = { jobid: 1, start: 50, end: 60, nodes: [] };
  return rowIn('Running', { jobspec, evictionReason, allocation });
}
