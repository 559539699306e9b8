import { usageLines } from '../../runtime/cli/usage-table';
import { READ_API, type Usage } from '../../runtime/reader/kinds';

const hours = { jobs: 3, pods: 5, cpuHours: 1234.567, memoryGiBHours: 0, gpuHours: 1 };
const usage: Usage = {
  apiVersion: READ_API,
  kind: 'Usage',
  metadata: {},
  from: '2026-11-01T00:00:00.000Z',
  until: '2026-11-23T09:00:00.000Z',
  lines: [
    { queue: 'default', user: 'ada', ...hours },
    { queue: 'lab/gpu', user: 'bob', ...hours },
  ],
  shares: [],
};
const TITLE =
  'allocated hours of namespace science, and jobs that ended, from 2026-11-01T00:00:00Z until 2026-11-23T09:00:00Z';
const lines = (of: Usage) => usageLines(of, 'namespace science', ['user', 'queue']);

test('hours have a line for each key, under what they are about', () => {
  expect(lines(usage)).toEqual([
    TITLE,
    'QUEUE    USER  JOBS  PODS  CPU-HOURS  GIB-HOURS  GPU-HOURS',
    'default  ada   3     5     1234.57    0.00       1.00',
    'lab/gpu  bob   3     5     1234.57    0.00       1.00',
  ]);
});

test('fair shares of queues and users are below them', () => {
  const shares = [
    { queue: 'default', weight: 3, usedShare: 0.75, factor: 0.5 },
    { queue: 'default', user: 'ada', usedShare: 0.1234, factor: 1 },
  ];
  expect(lines({ ...usage, shares }).slice(-4)).toEqual([
    'fair shares: each factor is part of the priority, times priorityWeights.fairShare; older usage counts less',
    'QUEUE    USER   WEIGHT  USED   FACTOR',
    'default  (all)  3       75.0%  0.500',
    'default  ada    -       12.3%  1.000',
  ]);
});

test('no usage is a sentence', () => {
  expect(lines({ ...usage, lines: [] })).toEqual([TITLE, 'no workload held nodes in this period']);
});
