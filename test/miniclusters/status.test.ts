import type { MiniClusterStatus } from '../../imports/flux-framework.org-status';
import { type Facts, statusOf } from '../../runtime/miniclusters/status';
import type { Progress } from '../../runtime/miniclusters/workload-status';
import { CREATED, cluster, NOW } from './objects';

const NOW_TEXT = '2026-01-01T00:01:00Z';
const progress = (over: Partial<Progress> = {}): Progress => ({
  desired: 4,
  pods: 4,
  scheduled: 4,
  ready: 0,
  suspended: false,
  ...over,
});
const waiting = { phase: 'Waiting', reason: 'Busy', message: 'no room' } as const;
const running = { phase: 'Running', reason: null, message: null } as const;

function status(over: Partial<Facts> = {}): MiniClusterStatus {
  return statusOf({
    cluster: cluster(),
    progress: progress(),
    row: undefined,
    wait: undefined,
    fluxJob: undefined,
    selector: 'app=hello',
    rejection: undefined,
    now: NOW,
    ...over,
  });
}

/** Types of the conditions that are True. */
const trueConditions = ({ conditions = [] }: MiniClusterStatus) =>
  conditions.filter(({ status }) => status === 'True').map(({ type }) => type);
const condition = ({ conditions = [] }: MiniClusterStatus, desired: string) =>
  conditions.find(({ type }) => type === desired)!;

describe('the phase and the conditions that are True', () => {
  const ALL_UP = progress({ ready: 4 });
  test.each<[string, Partial<Facts>, MiniClusterStatus['phase'], string[]]>([
    ['the Job does not exist', { progress: undefined }, 'Requested', ['Reconciling']],
    [
      'the Job waits in the queue',
      { progress: progress({ suspended: true, pods: 0, scheduled: 0 }), row: waiting },
      'Waiting',
      ['JobRequested', 'JobWaitingForResources', 'Reconciling'],
    ],
    [
      'pods outside the queue have no nodes',
      { progress: progress({ scheduled: 0 }) },
      'Waiting',
      ['JobRequested', 'JobWaitingForResources', 'Reconciling'],
    ],
    [
      'nodes are granted',
      { row: { ...waiting, phase: 'Ready' }, progress: progress({ scheduled: 0 }) },
      'Ready',
      ['JobRequested', 'Reconciling'],
    ],
    ['pods outside the queue have nodes', {}, 'Ready', ['JobRequested', 'Reconciling']],
    [
      'too few brokers are up',
      { row: running, progress: progress({ ready: 3 }) },
      'Ready',
      ['JobRequested', 'JobRunning', 'Reconciling'],
    ],
    [
      'all brokers are up',
      { row: running, progress: ALL_UP },
      'Running',
      ['JobRequested', 'JobRunning', 'JobMiniClusterReady', 'Ready'],
    ],
    [
      'the quorum of brokers is up',
      { row: running, cluster: cluster({ minSize: 2 }), progress: progress({ ready: 2 }) },
      'Running',
      ['JobRequested', 'JobRunning', 'JobMiniClusterReady', 'Ready', 'Reconciling'],
    ],
    [
      'the Job succeeded',
      {
        progress: progress({
          end: { result: 'Succeeded', message: 'the lead broker succeeded', finishedAt: NOW },
        }),
      },
      'Finished',
      ['JobRequested', 'JobFinished', 'Ready'],
    ],
    [
      'the Job failed',
      { progress: progress({ end: { result: 'Failed', message: 'exit code 3', finishedAt: NOW } }) },
      'Finished',
      ['JobRequested', 'JobFinished', 'Stalled'],
    ],
    [
      'the Job is unsatisfiable',
      { progress: progress({ suspended: true }), row: { ...waiting, reason: 'Unsatisfiable' } },
      'Waiting',
      ['JobRequested', 'JobWaitingForResources', 'Stalled'],
    ],
  ])('when %s', (_, facts, phase, expected) => {
    expect(status(facts).phase).toBe(phase);
    expect(trueConditions(status(facts))).toEqual(expected);
  });

  test('contain the reason of a wait', () => {
    const waits = status({ progress: progress({ suspended: true }), row: waiting });
    expect(condition(waits, 'Ready')).toMatchObject({ status: 'False', reason: 'Busy', message: 'no room' });
  });

  test('contain the number of brokers that are up during the start', () => {
    const starts = status({ progress: progress({ ready: 1 }), cluster: cluster({ minSize: 3 }) });
    expect(condition(starts, 'Ready').message).toBe('1 of 4 brokers are up, the quorum is 3');
  });
});

describe('the status of a finished cluster', () => {
  const timedOut = progress({
    end: { result: 'TimedOut', message: 'the Job exceeded its deadline of 30s', finishedAt: NOW - 5 },
  });

  test('has the result and the finish time', () => {
    const done = status({
      progress: progress({
        end: { result: 'Succeeded', message: 'the lead broker succeeded', finishedAt: NOW - 5 },
      }),
    });
    expect(done).toMatchObject({ result: 'Succeeded', finishTime: '2026-01-01T00:00:55Z' });
    expect(condition(done, 'JobFinished')).toMatchObject({
      reason: 'Succeeded',
      message: 'the lead broker succeeded',
    });
    expect(condition(done, 'Ready')).toMatchObject({ status: 'True', reason: 'Succeeded' });
  });

  test('has reason QuorumNotReached if the deadline passed before the quorum was up', () => {
    expect(condition(status({ progress: timedOut }), 'JobFinished')).toMatchObject({
      reason: 'QuorumNotReached',
      message: 'the Job exceeded its deadline of 30s; the quorum of 4 brokers was never reached',
    });
  });

  test('has reason TimedOut if the deadline passed after the quorum was up', () => {
    const once = cluster({}, { phase: 'Running', startTime: CREATED });
    expect(condition(status({ cluster: once, progress: timedOut }), 'JobFinished').reason).toBe('TimedOut');
  });

  test('does not change when the Job is deleted', () => {
    const over: MiniClusterStatus = { phase: 'Finished', result: 'Failed', finishTime: CREATED };
    expect(status({ cluster: cluster({}, over), progress: undefined })).toBe(over);
  });
});

test('a rejected spec makes the cluster Stalled in every phase', () => {
  const rejection = { reason: 'Immutable', message: 'no' };
  const up = status({ progress: progress({ ready: 4 }), row: running, rejection });
  expect(up.phase).toBe('Running');
  expect(condition(up, 'Stalled')).toMatchObject({ status: 'True', ...rejection });
  expect(condition(up, 'Ready')).toMatchObject({ status: 'True', reason: 'BrokersUp' });
  const invalid = status({ progress: undefined, rejection });
  expect(condition(invalid, 'JobRequested')).toMatchObject({ status: 'False', ...rejection });
});

test('lastTransitionTime is the time of the last change of a condition', () => {
  const first = status({ progress: progress({ ready: 4 }), now: NOW - 60 });
  const next = status({ cluster: cluster({}, first), progress: progress({ ready: 2 }) });
  expect(condition(next, 'JobRunning').lastTransitionTime).toBe(CREATED);
  expect(condition(next, 'Ready')).toMatchObject({ status: 'False', lastTransitionTime: NOW_TEXT });
});

test('startTime is the first time that the quorum was up', () => {
  const first = status({ progress: progress({ ready: 4 }) });
  expect(first.startTime).toBe(NOW_TEXT);
  const later = status({ cluster: cluster({}, first), progress: progress({ ready: 4 }), now: NOW + 60 });
  expect(later.startTime).toBe(NOW_TEXT);
});

describe('the fields of the scale subresource', () => {
  test('are the number of pods, the selector and the maximum size', () => {
    const shown = status({ cluster: cluster({ maxSize: 8 }), progress: progress({ pods: 3 }) });
    expect(shown).toMatchObject({ size: 3, selector: 'app=hello', maximumSize: 8, observedGeneration: 3 });
  });

  test('have a fixed maximum size once brokers have started', () => {
    const waits = status({ progress: progress({ suspended: true }), row: waiting });
    expect(waits.maximumSize).toBe(4);
    const raised = status({
      cluster: cluster({ maxSize: 8 }, waits),
      progress: progress({ suspended: true }),
      row: waiting,
    });
    expect(raised.maximumSize).toBe(8);
    const started = status({ cluster: cluster({ maxSize: 8 }, raised), row: running });
    const late = status({ cluster: cluster({ maxSize: 16 }, started), row: running });
    expect(late.maximumSize).toBe(8);
  });
});

test('says what the pods of a granted Job wait for', () => {
  const wait = { reason: 'ImagePullBackOff', message: 'ImagePullBackOff: registry.example/flux:1' };
  const found = status({ row: { ...waiting, phase: 'Ready' }, wait });
  expect(found.phase).toBe('Ready');
  expect(condition(found, 'Ready')).toMatchObject({
    status: 'False',
    reason: 'ImagePullBackOff',
    message: '0 of 4 brokers are up; ImagePullBackOff: registry.example/flux:1',
  });
});
