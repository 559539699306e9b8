import { parseSwf } from '../../runtime/simulation/swf';

const line = (...fields: readonly number[]) =>
  Array.from({ length: 18 }, (_, i) => fields[i] ?? -1).join(' ');

test('skips comments and empty lines, prefers requested processors, and takes the requested time as walltime', () => {
  const text = `; Version: 2.2\n\n  ${line(1, 10, 5, 100, 8, -1, -1, 16, 600)}\r\n${line(2, 12, 0, 50.5, 4)}\n`;
  expect(parseSwf(text, 't')).toEqual({
    unknown: 0,
    jobs: [
      { number: 1, submittedAt: 10, runtime: 100, processors: 16, walltime: 600 },
      { number: 2, submittedAt: 12, runtime: 51, processors: 4, walltime: 51 },
    ],
  });
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
