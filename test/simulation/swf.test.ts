import { parseSwf } from '../../runtime/simulation/swf';

const line = (...fields: readonly number[]) =>
  Array.from({ length: 18 }, (_, i) => fields[i] ?? -1).join(' ');

test('skips comments and empty lines, prefers requested processors, and takes the requested time as walltime', () => {
  const text = `; Version: 2.2\n\n  ${line(1, 10, 5, 100, 8, -1, -1, 16, 600)}\r\n${line(2, 12, 0, 50.5, 4)}\n`;
  expect(parseSwf(text, 't')).toEqual({
    unknown: 0,
    jobs: [
      {
        number: 1,
        submittedAt: 10,
        waited: 5,
        runtime: 100,
        processors: 16,
        walltime: 600,
        user: '-1',
        queue: '-1',
      },
      {
        number: 2,
        submittedAt: 12,
        waited: 0,
        runtime: 51,
        processors: 4,
        walltime: 51,
        user: '-1',
        queue: '-1',
      },
    ],
    queues: [{ number: -1, name: '-1' }],
  });
});

test('comments tell the machine and the names of queues; two queues of one name keep their numbers', () => {
  const inQueue = (number: number, queue: number) =>
    `${number} ${number} -1 10 1 -1 -1 1 60 -1 1 7 1 -1 ${queue} -1 -1 -1`;
  const comments = [
    '; MaxNodes: 128 (16 are reserved)',
    ';MaxProcs: 1024',
    '; Queue: 0 -- interactive jobs',
    '; Queue: 1 batch, the default',
    '; Queue: 2 gpu',
    '; Queue: 3 gpu',
    '; Queues: 4',
  ];
  const { jobs, queues, maxNodes, maxProcessors } = parseSwf(
    [...comments, inQueue(1, 2), inQueue(2, 1), inQueue(3, 9)].join('\n'),
    't',
  );
  expect([maxNodes, maxProcessors]).toEqual([128, 1024]);
  expect(jobs.map(({ queue, user }) => [queue, user])).toEqual([
    ['2', '7'],
    ['batch', '7'],
    ['9', '7'],
  ]);
  expect(queues).toEqual([
    { number: 1, name: 'batch' },
    { number: 2, name: '2' },
    { number: 9, name: '9' },
  ]);
});

test('cuts runtimes at the walltime and raises them to a second', () => {
  const [cut, short] = parseSwf(`${line(1, 0, 0, 700, 1, -1, -1, 1, 600)}\n${line(2, 0, 0, 0, 1)}`, 't').jobs;
  expect(cut).toMatchObject({ runtime: 600, walltime: 600 });
  expect(short).toMatchObject({ runtime: 1, walltime: 1 });
});

test('counts jobs that never ran and sorts the others', () => {
  const text = [line(1, 30, 0, 10, 1), line(2, 20, 0, -1, 4), line(3, 25, 0, 10), line(4, 10, 0, 5, 2)].join(
    '\n',
  );
  const { jobs, unknown } = parseSwf(text, 't');
  expect([jobs.map(({ number }) => number), unknown]).toEqual([[4, 1], 2]);
});

test.each([
  ['1 2 3', 't.swf:2: has 3 fields, but a job has 18 (got "1 2 3")'],
  [line(1, 0, 0, 5, 1).replace('5', 'x'), 't.swf:2: field 4 is not a number (got "x")'],
  [line(1, -1, 0, 5, 1), 't.swf:2: field 2, the time of submission, is unknown (got -1)'],
])('names a malformed line: %s', (bad, sentence) => {
  expect(() => parseSwf(`; comment\n${bad}\n`, 't.swf')).toThrow(
    `FLUXQ_TRACE_INVALID: ${sentence}; give a trace in Standard Workload Format, plain or gzip`,
  );
});
