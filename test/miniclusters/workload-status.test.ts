import { progressOfJob, progressOfStatefulSet } from '../../runtime/miniclusters/workload-status';
import { job, podAt } from './objects';

const AT = '2026-01-01T00:00:30Z';
const finishedAt = Date.parse(AT) / 1000;
const ended = (type: string, reason?: string, message?: string) => ({
  conditions: [
    {
      type,
      status: 'True' as const,
      lastTransitionTime: AT,
      ...(reason !== undefined && { reason }),
      ...(message !== undefined && { message }),
    },
  ],
});

test('counts the desired, existing, scheduled and ready pods of a running Job', () => {
  const pods = [podAt(0, { node: 'n1', phase: 'Running' }), podAt(1, { node: 'n1' }), podAt(2)];
  expect(progressOfJob(job({}, { active: 3, ready: 1 }), pods)).toEqual({
    desired: 4,
    pods: 3,
    scheduled: 2,
    ready: 1,
    suspended: false,
  });
});

test('reports that a Job is suspended', () => {
  expect(progressOfJob(job({ suspend: true }), [])).toMatchObject({ suspended: true, pods: 0, ready: 0 });
});

test('does not count finished pods as scheduled', () => {
  expect(progressOfJob(job(), [podAt(1, { node: 'n1', phase: 'Failed' })]).scheduled).toBe(0);
});

describe('the end of a Job', () => {
  const endOf = (
    status: ReturnType<typeof ended>,
    pods: Parameters<typeof progressOfJob>[1] = [],
    spec: Parameters<typeof job>[0] = {},
  ) => progressOfJob(job(spec, { ...status, ready: 2 }), pods);

  test('is a success when the lead broker succeeded', () => {
    const { end, ready } = endOf(ended('Complete'));
    expect(end).toEqual({ result: 'Succeeded', message: 'the lead broker succeeded', finishedAt });
    // The Job controller may not have reset the number of ready pods yet.
    expect(ready).toBe(0);
  });

  test('is a failure with the exit code of the newest lead broker', () => {
    const pods = [
      podAt(0, { phase: 'Failed', exitCode: 3, createdAt: '2026-01-01T00:00:20Z' }),
      podAt(0, { phase: 'Failed', exitCode: 1 }),
      podAt(1, { phase: 'Failed', exitCode: 143, createdAt: '2026-01-01T00:00:25Z' }),
    ];
    const { end } = endOf(ended('Failed', 'BackoffLimitExceeded', 'too often'), pods);
    expect(end).toEqual({ result: 'Failed', message: 'the lead broker exited with code 3', finishedAt });
  });

  test('is a failure with the message of the Job if no lead broker has an exit code', () => {
    expect(endOf(ended('Failed', 'BackoffLimitExceeded', 'too often')).end?.message).toBe('too often');
  });

  test('is a timeout when the deadline is exceeded', () => {
    const { end } = endOf(ended('Failed', 'DeadlineExceeded'), [], { activeDeadlineSeconds: 30 });
    expect(end).toEqual({ result: 'TimedOut', message: 'the Job exceeded its deadline of 30s', finishedAt });
  });

  test('is undefined while the Job is only about to fail or succeed', () => {
    expect(endOf(ended('FailureTarget')).end).toBeUndefined();
    expect(endOf(ended('SuccessCriteriaMet')).end).toBeUndefined();
  });
});

test('a StatefulSet has no end', () => {
  const set = { ...job(), spec: { replicas: 3 }, status: { replicas: 3, readyReplicas: 2 } };
  expect(progressOfStatefulSet(set, [podAt(0, { node: 'n1' })])).toEqual({
    desired: 3,
    pods: 3,
    scheduled: 1,
    ready: 2,
    suspended: false,
  });
});
