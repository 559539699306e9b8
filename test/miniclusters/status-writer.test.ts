import type { MiniClusterStatus } from '../../imports/flux-framework.org-status';
import { type Facts, statusOf } from '../../runtime/miniclusters/status';
import { eventsOf } from '../../runtime/miniclusters/status-writer';
import type { Progress } from '../../runtime/miniclusters/workload-status';
import { cluster, NOW } from './objects';

const PROGRESS: Progress = { desired: 4, pods: 4, scheduled: 4, ready: 0, suspended: false };
const UP = { ...PROGRESS, ready: 4 };
const OVER = { ...PROGRESS, end: { result: 'Failed', message: 'exit code 3', finishedAt: NOW } } as const;
const REJECTION = { reason: 'Immutable', message: 'no' };

function after(before: MiniClusterStatus, over: Partial<Facts>): MiniClusterStatus {
  const selector = 'app=hello';
  const row = undefined;
  const wait = undefined;
  const facts = {
    progress: PROGRESS,
    row,
    wait,
    fluxJob: undefined,
    selector,
    rejection: undefined,
    now: NOW,
  };
  return statusOf({ ...facts, ...over, cluster: cluster({}, before) });
}

test('records once that the brokers are up', () => {
  const starting = after({}, {});
  expect(eventsOf({}, starting)).toEqual([]);
  const up = after(starting, { progress: UP });
  expect(eventsOf(starting, up)).toEqual([
    { type: 'Normal', reason: 'BrokersUp', message: '4 of 4 brokers are up' },
  ]);
  const down = after(up, {});
  expect(eventsOf(up, down)).toEqual([]);
  expect(eventsOf(down, after(down, { progress: UP }))).toEqual([]);
});

test('records the end once, and a failure as a warning', () => {
  const up = after({}, { progress: UP });
  const over = after(up, { progress: OVER });
  expect(eventsOf(up, over)).toEqual([{ type: 'Warning', reason: 'Failed', message: 'exit code 3' }]);
  expect(eventsOf(over, over)).toEqual([]);
  const end = { ...OVER.end, result: 'Succeeded', message: 'the lead broker succeeded' } as const;
  const done = after(up, { progress: { ...OVER, end } });
  expect(eventsOf(up, done)).toEqual([
    { type: 'Normal', reason: 'Succeeded', message: 'the lead broker succeeded' },
  ]);
});

test('records a rejection once, and again when its message changes', () => {
  const up = after({}, { progress: UP });
  const refused = after(up, { progress: UP, rejection: REJECTION });
  expect(eventsOf(up, refused)).toEqual([{ type: 'Warning', ...REJECTION }]);
  expect(eventsOf(refused, refused)).toEqual([]);
  const other = { reason: 'MaximumFixed', message: 'too many' };
  expect(eventsOf(refused, after(refused, { progress: UP, rejection: other }))).toEqual([
    { type: 'Warning', ...other },
  ]);
  expect(eventsOf(refused, after(refused, { progress: UP }))).toEqual([]);
});
