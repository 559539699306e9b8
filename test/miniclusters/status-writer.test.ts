import type { MiniClusterStatus } from '../../imports/flux-framework.org-status';
import { type Facts, statusOf } from '../../runtime/miniclusters/status';
import { newsOf } from '../../runtime/miniclusters/status-writer';
import type { Progress } from '../../runtime/miniclusters/workload-status';
import { cluster, NOW } from './objects';

const PROGRESS: Progress = { wanted: 4, pods: 4, placed: 4, ready: 0, suspended: false };
const UP = { ...PROGRESS, ready: 4 };
const OVER = { ...PROGRESS, end: { result: 'Failed', message: 'exit code 3', finishedAt: NOW } } as const;
const REFUSAL = { reason: 'Immutable', message: 'no' };

function after(before: MiniClusterStatus, over: Partial<Facts>): MiniClusterStatus {
  const selector = 'app=hello';
  const row = undefined;
  const facts = { progress: PROGRESS, row, fluxJob: undefined, selector, refusal: undefined, now: NOW };
  return statusOf({ ...facts, ...over, cluster: cluster({}, before) });
}

test('brokers that come up are told once', () => {
  const starting = after({}, {});
  expect(newsOf({}, starting)).toEqual([]);
  const up = after(starting, { progress: UP });
  expect(newsOf(starting, up)).toEqual([
    { type: 'Normal', reason: 'BrokersUp', message: '4 of 4 brokers are up' },
  ]);
  const down = after(up, {});
  expect(newsOf(up, down)).toEqual([]);
  expect(newsOf(down, after(down, { progress: UP }))).toEqual([]);
});

test('the end is told once, a bad one as a warning', () => {
  const up = after({}, { progress: UP });
  const over = after(up, { progress: OVER });
  expect(newsOf(up, over)).toEqual([{ type: 'Warning', reason: 'Failed', message: 'exit code 3' }]);
  expect(newsOf(over, over)).toEqual([]);
  const end = { ...OVER.end, result: 'Succeeded', message: 'the lead is done' } as const;
  const done = after(up, { progress: { ...OVER, end } });
  expect(newsOf(up, done)).toEqual([{ type: 'Normal', reason: 'Succeeded', message: 'the lead is done' }]);
});

test('what is refused is told, and again when it is something else', () => {
  const up = after({}, { progress: UP });
  const refused = after(up, { progress: UP, refusal: REFUSAL });
  expect(newsOf(up, refused)).toEqual([{ type: 'Warning', ...REFUSAL }]);
  expect(newsOf(refused, refused)).toEqual([]);
  const other = { reason: 'MaximumFixed', message: 'too many' };
  expect(newsOf(refused, after(refused, { progress: UP, refusal: other }))).toEqual([
    { type: 'Warning', ...other },
  ]);
  expect(newsOf(refused, after(refused, { progress: UP }))).toEqual([]);
});
