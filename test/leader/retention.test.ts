import { parseConfig } from '../../runtime/config';
import { FluxqError } from '../../runtime/errors';
import { Retention } from '../../runtime/leader/retention';
import { ManualClock } from '../kubernetes/manual-clock';
import { recordingLogger } from '../kubernetes/recording-logger';

const NOW = 1_800_000_000;
const HOUR = 3_600_000;

let clock: ManualClock;
let calls: [fence: number, before: number, most: number | undefined][];
let answers: (number | Error)[];
let fenced: Error[];
let retention: Retention;

beforeEach(() => {
  clock = new ManualClock();
  calls = [];
  answers = [];
  fenced = [];
  retention = new Retention({
    queue: {
      async archive(fence, before, most) {
        calls.push([fence, before, most]);
        const answer = answers.shift() ?? 0;
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
    fence: 7,
    config: parseConfig({ queue: { retentionDays: 30 } }),
    onFenced: (error) => fenced.push(error),
    logger: recordingLogger(),
    time: { clock },
    now: () => NOW,
  });
  retention.start();
});

test('archives what finished 30 days ago and more after a minute, in batches until nothing is left', async () => {
  answers = [500, 500, 20];
  await clock.advance(30_000);
  expect(calls).toEqual([]);
  await clock.advance(30_000);
  expect(calls).toEqual([[7, NOW - 30 * 86_400, 500]]);
  await clock.advance(1_000);
  await clock.advance(1_000);
  expect(calls).toHaveLength(3);
  await clock.advance(1_000);
  expect(calls).toHaveLength(3);
  await clock.advance(HOUR);
  expect(calls).toHaveLength(4);
});

test('retries an hour later when the database is down', async () => {
  answers = [new FluxqError('FLUXQ_DATABASE_DOWN', 'down', { retryable: true })];
  await clock.advance(60_000);
  await clock.advance(HOUR);
  expect(calls).toHaveLength(2);
  expect(fenced).toEqual([]);
});

test('ends the term when it is fenced', async () => {
  answers = [new FluxqError('FLUXQ_FENCED', 'another leader')];
  await clock.advance(60_000);
  expect(fenced).toMatchObject([{ code: 'FLUXQ_FENCED' }]);
});

test('archives nothing more after it was stopped, also during a batch', async () => {
  answers = [500, 500];
  await clock.advance(60_000);
  await retention.stop();
  await clock.advance(HOUR);
  expect(calls).toHaveLength(1);
});
