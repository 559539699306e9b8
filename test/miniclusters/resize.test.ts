import { effectiveSpec } from '../../runtime/miniclusters/resize';
import type { Progress } from '../../runtime/miniclusters/workload-status';
import { cluster } from './objects';

const PROGRESS: Progress = { desired: 4, pods: 4, scheduled: 4, ready: 4, suspended: false };
const started = { phase: 'Running', maximumSize: 8 } as const;

test('applies the whole spec before the cluster starts', () => {
  for (const progress of [undefined, { ...PROGRESS, suspended: true }]) {
    const waiting = cluster({ size: 20, maxSize: 30 }, { phase: 'Waiting', maximumSize: 8 });
    expect(effectiveSpec(waiting, progress, progress && 'Job')).toEqual({
      spec: waiting.spec,
      rejection: undefined,
    });
  }
});

test.each([1, 4, 8])('applies a size of %d to a cluster that started with a maximum of 8', (size) => {
  const { spec, rejection } = effectiveSpec(cluster({ size, maxSize: 8 }, started), PROGRESS, 'Job');
  expect(spec).toMatchObject({ size, maxSize: 8 });
  expect(rejection).toBeUndefined();
});

test('rejects a size above the maximum and keeps the current size', () => {
  const { spec, rejection } = effectiveSpec(cluster({ size: 9, maxSize: 9 }, started), PROGRESS, 'Job');
  expect(spec).toMatchObject({ size: 4, maxSize: 8 });
  expect(rejection).toEqual({
    reason: 'MaximumFixed',
    message:
      'spec.size: must be at most 8, the maximum size at the start of the brokers (got 9); ' +
      'delete and recreate the MiniCluster to make it larger',
  });
});

test('rejects a higher maximum after the start and still applies the size', () => {
  const { spec, rejection } = effectiveSpec(cluster({ size: 6, maxSize: 16 }, started), PROGRESS, 'Job');
  expect(spec).toMatchObject({ size: 6, maxSize: 8 });
  expect(rejection?.message).toMatch(/^spec.maxSize: .* \(got 16\)/);
});

test('keeps the maximum of the start for a spec without maxSize', () => {
  const { spec, rejection } = effectiveSpec(
    cluster({ size: 2 }, { ...started, maximumSize: 4 }),
    PROGRESS,
    'Job',
  );
  expect(spec).toMatchObject({ size: 2, maxSize: 4 });
  expect(rejection).toBeUndefined();
});

test('rejects a change of the workload kind', () => {
  const { spec, rejection } = effectiveSpec(cluster({ workload: 'StatefulSet' }, started), PROGRESS, 'Job');
  expect(spec.workload).toBe('Job');
  expect(rejection).toMatchObject({ reason: 'Immutable', message: expect.stringContaining('spec.workload') });
  expect(effectiveSpec(cluster({}, started), PROGRESS, 'Job').rejection).toBeUndefined();
});
