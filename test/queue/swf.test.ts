import { swfLines } from '../../runtime/queue/swf';
import type { TracedWorkload } from '../../runtime/queue/trace';
import { parseSwf } from '../../runtime/simulation/swf';

const workload = (over: Partial<TracedWorkload>): TracedWorkload => ({
  submittedAt: 1_700_000_000.6,
  startedAt: 1_700_000_010.2,
  finishedAt: 1_700_000_100.2,
  walltime: 3600,
  cores: 4,
  result: 'Succeeded',
  user: 'ada',
  namespace: 'science',
  queue: 'default',
  ...over,
});

const MACHINE = { nodes: 3, cores: 24 };
const WORKLOADS = [
  workload({}),
  workload({
    submittedAt: 1_700_000_060,
    startedAt: 1_700_000_061,
    result: 'TimedOut',
    user: 'bob',
    queue: 'gpu',
  }),
  workload({ submittedAt: 1_700_000_070, startedAt: 1_700_000_071, result: 'Cancelled' }),
];

test('writes users and namespaces as numbers, and names queues and the machine in comments', () => {
  expect([...swfLines(WORKLOADS, MACHINE)]).toEqual([
    '; Version: 2.2',
    '; UnixStartTime: 1700000000',
    '; MaxJobs: 3',
    '; MaxNodes: 3',
    '; MaxProcs: 24',
    '; Queue: 1 default',
    '; Queue: 2 gpu',
    '1 0 10 90 4 -1 -1 4 3600 -1 1 1 1 -1 1 -1 -1 -1',
    '2 60 1 39 4 -1 -1 4 3600 -1 0 2 1 -1 2 -1 -1 -1',
    '3 70 1 29 4 -1 -1 4 3600 -1 5 1 1 -1 1 -1 -1 -1',
  ]);
});

test('writes what the simulator reads', () => {
  const trace = parseSwf([...swfLines(WORKLOADS, MACHINE)].join('\n'), 'live');
  expect(trace).toMatchObject({ unknown: 0, maxNodes: 3, maxProcessors: 24 });
  expect(trace.jobs[1]).toEqual({
    number: 2,
    submittedAt: 60,
    waited: 1,
    runtime: 39,
    processors: 4,
    walltime: 3600,
    user: '2',
    queue: 'gpu',
  });
  expect(trace.queues).toEqual([
    { number: 1, name: 'default' },
    { number: 2, name: 'gpu' },
  ]);
});

test('writes no jobs where nothing has ended', () => {
  expect(parseSwf([...swfLines([], MACHINE)].join('\n'), 'live').jobs).toEqual([]);
});
