import type { WorkloadRow } from '../../runtime/queue/workload';
import { ConservedWork } from '../../runtime/scheduler/conserved-work';
import type { PassResult } from '../../runtime/scheduler/pass/types';
import { SimulatedClock } from '../fuzz/simulated-clock';
import { recordingLogger } from '../kubernetes/recording-logger';

const RESULT = {} as PassResult;
const row = (name: string, jobid: number) => ({ namespace: 'science', name, jobid }) as WorkloadRow;

function start(look: () => Promise<readonly WorkloadRow[] | undefined>) {
  const clock = new SimulatedClock();
  const logger = recordingLogger();
  const reports: number[] = [];
  const work = new ConservedWork({ look, report: (count) => reports.push(count), clock, logger });
  const passes = async (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      work.settled(RESULT);
      await clock.advance(1_000);
    }
  };
  return { work, reports, logger, passes };
}

test('looks once a minute while nothing is found, however many passes there are', async () => {
  const { reports, passes } = start(async () => []);
  await passes(180);
  expect(reports).toEqual([0, 0, 0]);
});

test('reports what two looks have found, ten seconds apart, and names it in the log', async () => {
  let waiting = [row('a', 1), row('b', 2)];
  const { reports, logger, passes } = start(async () => waiting);
  await passes(5);
  expect(reports).toEqual([0]);
  waiting = [row('b', 2), row('a', 3)];
  await passes(10);
  expect(reports).toEqual([0, 1]);
  expect(logger.lines).toContainEqual(
    expect.objectContaining({ level: 'warn', fields: { workloads: ['science/b'] } }),
  );
  waiting = [];
  await passes(10);
  expect(reports).toEqual([0, 1, 0]);
});

test('a look that fails or runs out of time says so or nothing, and the next one counts on', async () => {
  const answers: (readonly WorkloadRow[] | undefined | Error)[] = [
    [row('a', 1)],
    undefined,
    new Error('no'),
    [row('a', 1)],
  ];
  const { reports, logger, passes } = start(async () => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  });
  await passes(40);
  expect(reports).toEqual([0, 1]);
  expect(logger.lines).toContainEqual(expect.objectContaining({ fields: { error: 'no' } }));
});

test('reports nothing any more when the term has ended', async () => {
  const { work, reports, passes } = start(async () => [row('a', 1)]);
  await passes(15);
  await work.stop();
  await passes(60);
  expect(reports).toEqual([0, 1, 0]);
});
