/** What the page makes of usage and fair shares. */
import { inOrder, usageRows } from '../../runtime/dashboard/browser/usage';
import { hours, percent } from '../../runtime/dashboard/browser/words';
import type { UsageView } from '../../runtime/dashboard/messages';
import { jobView } from '../../runtime/dashboard/view';
import { READ_API, type Usage } from '../../runtime/reader/kinds';
import { USAGE } from './answers';
import { RESERVED, RUNNING } from './sample';

const JOBS = [RUNNING, RESERVED].map(jobView);

test('a row has what a queue holds now and what it has held this month', () => {
  expect(usageRows(JOBS, USAGE.lines, 'queue')).toEqual([
    {
      name: 'default',
      now: { name: 'default', running: 1, waiting: 1, nodes: 2, cores: 6.5 },
      hours: { jobs: 509, cpu: 5013.75, memoryGiB: 20055, gpu: 0 },
    },
    { name: 'gpu', hours: { jobs: 12, cpu: 96, memoryGiB: 384, gpu: 48 } },
    { name: 'closed', hours: { jobs: 1, cpu: 0.04, memoryGiB: 0.16, gpu: 0 } },
  ]);
});

test('users are known by what they have held alone', () => {
  expect(usageRows(JOBS, USAGE.lines, 'user').map(({ name, now }) => [name, now])).toEqual([
    ['grace', undefined],
    ['ada', undefined],
    ['', undefined],
  ]);
});

test('what has no history yet is shown', () => {
  expect(usageRows(JOBS, [], 'namespace')).toMatchObject([{ name: 'science', now: { running: 1 } }]);
});

test('each queue is followed by its users, those first who start first', () => {
  expect(inOrder(USAGE.shares).map(({ queue, user }) => `${queue} ${user ?? ''}`)).toEqual([
    'default ',
    'default ada',
    'default grace',
    'gpu ',
    'gpu grace',
  ]);
});

test('hours and shares are short', () => {
  expect([hours(3120.55), hours(0.04), hours(), percent(0.8149), percent(1)]).toEqual([
    '3,120.6',
    '0.0',
    '0.0',
    '81.5%',
    '100%',
  ]);
});

test('an answer of the read API is one that the page reads', () => {
  const answer = {
    ...USAGE,
    apiVersion: READ_API,
    kind: 'Usage',
    metadata: {},
    until: USAGE.from,
    lines: USAGE.lines.map((line) => ({ ...line, pods: line.jobs })),
  } satisfies Usage;
  const read: UsageView = answer satisfies Usage as Usage;
  expect(usageRows([], read.lines, 'queue')).toHaveLength(3);
});
