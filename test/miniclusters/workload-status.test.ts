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

test('a Job that runs: what it wants, has, has placed, has up', () => {
  const pods = [podAt(0, { node: 'n1', phase: 'Running' }), podAt(1, { node: 'n1' }), podAt(2)];
  expect(progressOfJob(job({}, { active: 3, ready: 1 }), pods)).toEqual({
    wanted: 4,
    pods: 3,
    placed: 2,
    ready: 1,
    suspended: false,
  });
});

test('a Job that waits', () => {
  expect(progressOfJob(job({ suspend: true }), [])).toMatchObject({ suspended: true, pods: 0, ready: 0 });
});

test('pods that have ended hold no node', () => {
  expect(progressOfJob(job(), [podAt(1, { node: 'n1', phase: 'Failed' })]).placed).toBe(0);
});

describe('its end', () => {
  const endOf = (
    status: ReturnType<typeof ended>,
    pods: Parameters<typeof progressOfJob>[1] = [],
    spec: Parameters<typeof job>[0] = {},
  ) => progressOfJob(job(spec, { ...status, ready: 2 }), pods);

  test('is success when the lead is done', () => {
    const { end, ready } = endOf(ended('Complete'));
    expect(end).toEqual({ result: 'Succeeded', message: 'the lead is done', finishedAt });
    // What the Job controller has not counted yet is up no more.
    expect(ready).toBe(0);
  });

  test('is failure with the exit code of the last lead', () => {
    const pods = [
      podAt(0, { phase: 'Failed', exitCode: 3, createdAt: '2026-01-01T00:00:20Z' }),
      podAt(0, { phase: 'Failed', exitCode: 1 }),
      podAt(1, { phase: 'Failed', exitCode: 143, createdAt: '2026-01-01T00:00:25Z' }),
    ];
    const { end } = endOf(ended('Failed', 'BackoffLimitExceeded', 'too often'), pods);
    expect(end).toEqual({ result: 'Failed', message: 'the lead ended with exit code 3', finishedAt });
  });

  test("is failure in the Job's own words where no lead tells", () => {
    expect(endOf(ended('Failed', 'BackoffLimitExceeded', 'too often')).end?.message).toBe('too often');
  });

  test('may be its deadline', () => {
    const { end } = endOf(ended('Failed', 'DeadlineExceeded'), [], { activeDeadlineSeconds: 30 });
    expect(end).toEqual({ result: 'TimedOut', message: 'ended by its deadline of 30 s', finishedAt });
  });

  test('is not there while it only fails, or succeeds, to be', () => {
    expect(endOf(ended('FailureTarget')).end).toBeUndefined();
    expect(endOf(ended('SuccessCriteriaMet')).end).toBeUndefined();
  });
});

test('a StatefulSet has no end', () => {
  const set = { ...job(), spec: { replicas: 3 }, status: { replicas: 3, readyReplicas: 2 } };
  expect(progressOfStatefulSet(set, [podAt(0, { node: 'n1' })])).toEqual({
    wanted: 3,
    pods: 3,
    placed: 1,
    ready: 2,
    suspended: false,
  });
});
