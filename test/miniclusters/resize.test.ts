import { planOf } from '../../runtime/miniclusters/resize';
import type { Progress } from '../../runtime/miniclusters/workload-status';
import { cluster } from './objects';

const PROGRESS: Progress = { wanted: 4, pods: 4, placed: 4, ready: 4, suspended: false };
const started = { phase: 'Running', maximumSize: 8 } as const;

test('before it starts, everything is as its user says', () => {
  for (const progress of [undefined, { ...PROGRESS, suspended: true }]) {
    const waiting = cluster({ size: 20, maxSize: 30 }, { phase: 'Waiting', maximumSize: 8 });
    expect(planOf(waiting, progress, progress && 'Job')).toEqual({ spec: waiting.spec, refusal: undefined });
  }
});

test.each([1, 4, 8])('once it runs, %d pods of at most 8 are as good as 4', (size) => {
  const { spec, refusal } = planOf(cluster({ size, maxSize: 8 }, started), PROGRESS, 'Job');
  expect(spec).toMatchObject({ size, maxSize: 8 });
  expect(refusal).toBeUndefined();
});

test('more than it was started with leaves the size as it is, and says why', () => {
  const { spec, refusal } = planOf(cluster({ size: 9, maxSize: 9 }, started), PROGRESS, 'Job');
  expect(spec).toMatchObject({ size: 4, maxSize: 8 });
  expect(refusal).toEqual({
    reason: 'MaximumFixed',
    message:
      'spec.size: its brokers were started with at most 8 ranks (got 9); ' +
      'delete the MiniCluster and apply it anew to make it larger',
  });
});

test('a maximum that is raised too late has no effect, and says why; the size may change', () => {
  const { spec, refusal } = planOf(cluster({ size: 6, maxSize: 16 }, started), PROGRESS, 'Job');
  expect(spec).toMatchObject({ size: 6, maxSize: 8 });
  expect(refusal?.message).toMatch(/^spec.maxSize: .* \(got 16\)/);
});

test('without a maximum of its own it keeps the one it started with', () => {
  const { spec, refusal } = planOf(cluster({ size: 2 }, { ...started, maximumSize: 4 }), PROGRESS, 'Job');
  expect(spec).toMatchObject({ size: 2, maxSize: 4 });
  expect(refusal).toBeUndefined();
});

test('a Job stays a Job', () => {
  const { spec, refusal } = planOf(cluster({ workload: 'StatefulSet' }, started), PROGRESS, 'Job');
  expect(spec.workload).toBe('Job');
  expect(refusal).toMatchObject({ reason: 'Immutable', message: expect.stringContaining('spec.workload') });
  expect(planOf(cluster({}, started), PROGRESS, 'Job').refusal).toBeUndefined();
});
