import type { MiniClusterStatus } from '../../imports/flux-framework.org-status';
import { type Facts, statusOf } from '../../runtime/miniclusters/status';
import type { Progress } from '../../runtime/miniclusters/workload-status';
import { CREATED, cluster, NOW } from './objects';

const NOW_TEXT = '2026-01-01T00:01:00Z';
const progress = (over: Partial<Progress> = {}): Progress => ({
  wanted: 4,
  pods: 4,
  placed: 4,
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
    fluxJob: undefined,
    selector: 'app=hello',
    refusal: undefined,
    now: NOW,
    ...over,
  });
}

/** The conditions that hold. */
const holding = ({ conditions = [] }: MiniClusterStatus) =>
  conditions.filter(({ status }) => status === 'True').map(({ type }) => type);
const condition = ({ conditions = [] }: MiniClusterStatus, wanted: string) =>
  conditions.find(({ type }) => type === wanted)!;

describe('the phases and what holds in each', () => {
  const ALL_UP = progress({ ready: 4 });
  test.each<[string, Partial<Facts>, MiniClusterStatus['phase'], string[]]>([
    ['nothing is there', { progress: undefined }, 'Requested', ['Reconciling']],
    [
      'its Job waits in the queue',
      { progress: progress({ suspended: true, pods: 0, placed: 0 }), row: waiting },
      'Waiting',
      ['JobRequested', 'JobWaitingForResources', 'Reconciling'],
    ],
    [
      'without a queue, its pods have no nodes',
      { progress: progress({ placed: 0 }) },
      'Waiting',
      ['JobRequested', 'JobWaitingForResources', 'Reconciling'],
    ],
    [
      'nodes are granted',
      { row: { ...waiting, phase: 'Ready' }, progress: progress({ placed: 0 }) },
      'Ready',
      ['JobRequested', 'Reconciling'],
    ],
    ['without a queue, its pods have nodes', {}, 'Ready', ['JobRequested', 'Reconciling']],
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
      'as many brokers are up as it needs',
      { row: running, cluster: cluster({ minSize: 2 }), progress: progress({ ready: 2 }) },
      'Running',
      ['JobRequested', 'JobRunning', 'JobMiniClusterReady', 'Ready', 'Reconciling'],
    ],
    [
      'it succeeded',
      { progress: progress({ end: { result: 'Succeeded', message: 'the lead is done', finishedAt: NOW } }) },
      'Finished',
      ['JobRequested', 'JobFinished'],
    ],
    [
      'it failed',
      { progress: progress({ end: { result: 'Failed', message: 'exit code 3', finishedAt: NOW } }) },
      'Finished',
      ['JobRequested', 'JobFinished', 'Stalled'],
    ],
    [
      'it can never be placed',
      { progress: progress({ suspended: true }), row: { ...waiting, reason: 'Unsatisfiable' } },
      'Waiting',
      ['JobRequested', 'JobWaitingForResources', 'Stalled'],
    ],
  ])('%s', (_, facts, phase, held) => {
    expect(status(facts).phase).toBe(phase);
    expect(holding(status(facts))).toEqual(held);
  });

  test('a wait says why', () => {
    const waits = status({ progress: progress({ suspended: true }), row: waiting });
    expect(condition(waits, 'Ready')).toMatchObject({ status: 'False', reason: 'Busy', message: 'no room' });
  });

  test('a start says how far it is', () => {
    const starts = status({ progress: progress({ ready: 1 }), cluster: cluster({ minSize: 3 }) });
    expect(condition(starts, 'Ready').message).toBe('1 of 4 brokers are up, 3 are needed');
  });
});

describe('the end', () => {
  const timedOut = progress({
    end: { result: 'TimedOut', message: 'ended by its deadline of 30 s', finishedAt: NOW - 5 },
  });

  test('carries the result and its time', () => {
    const done = status({
      progress: progress({ end: { result: 'Succeeded', message: 'the lead is done', finishedAt: NOW - 5 } }),
    });
    expect(done).toMatchObject({ result: 'Succeeded', finishTime: '2026-01-01T00:00:55Z' });
    expect(condition(done, 'JobFinished')).toMatchObject({
      reason: 'Succeeded',
      message: 'the lead is done',
    });
    expect(condition(done, 'Ready')).toMatchObject({ status: 'False', reason: 'Succeeded' });
  });

  test('by its deadline without a quorum says so', () => {
    expect(condition(status({ progress: timedOut }), 'JobFinished')).toMatchObject({
      reason: 'QuorumNotReached',
      message: 'ended by its deadline of 30 s; the 4 brokers that it needs were never up together',
    });
  });

  test('by its deadline after its brokers were up is not about them', () => {
    const once = cluster({}, { phase: 'Running', startTime: CREATED });
    expect(condition(status({ cluster: once, progress: timedOut }), 'JobFinished').reason).toBe('TimedOut');
  });

  test('stays when its Job is gone', () => {
    const over: MiniClusterStatus = { phase: 'Finished', result: 'Failed', finishTime: CREATED };
    expect(status({ cluster: cluster({}, over), progress: undefined })).toBe(over);
  });
});

test('what is refused stalls it, whatever else it does', () => {
  const refusal = { reason: 'Immutable', message: 'no' };
  const up = status({ progress: progress({ ready: 4 }), row: running, refusal });
  expect(up.phase).toBe('Running');
  expect(condition(up, 'Stalled')).toMatchObject({ status: 'True', ...refusal });
  expect(condition(up, 'Ready')).toMatchObject({ status: 'True', reason: 'BrokersUp' });
  const invalid = status({ progress: undefined, refusal });
  expect(condition(invalid, 'JobRequested')).toMatchObject({ status: 'False', ...refusal });
});

test('the time of a condition is that of its last change', () => {
  const first = status({ progress: progress({ ready: 4 }), now: NOW - 60 });
  const next = status({ cluster: cluster({}, first), progress: progress({ ready: 2 }) });
  expect(condition(next, 'JobRunning').lastTransitionTime).toBe(CREATED);
  expect(condition(next, 'Ready')).toMatchObject({ status: 'False', lastTransitionTime: NOW_TEXT });
});

test('when its brokers were up first is told once', () => {
  const first = status({ progress: progress({ ready: 4 }) });
  expect(first.startTime).toBe(NOW_TEXT);
  const later = status({ cluster: cluster({}, first), progress: progress({ ready: 4 }), now: NOW + 60 });
  expect(later.startTime).toBe(NOW_TEXT);
});

describe('the scale subresource', () => {
  test('has pods, selector and the most there can be', () => {
    const shown = status({ cluster: cluster({ maxSize: 8 }), progress: progress({ pods: 3 }) });
    expect(shown).toMatchObject({ size: 3, selector: 'app=hello', maximumSize: 8, observedGeneration: 3 });
  });

  test('the most there can be is fixed once brokers have started', () => {
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
