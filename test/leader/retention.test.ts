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
    days: 30,
    onFenced: (error) => fenced.push(error),
    logger: recordingLogger(),
    clock,
    now: () => NOW,
  });
  retention.start();
});

test('not at once, then what finished 30 days ago and more, in portions until there is no more', async () => {
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

test('a database that is down is asked again an hour later', async () => {
  answers = [new FluxqError('FLUXQ_DATABASE_DOWN', 'down', { retryable: true })];
  await clock.advance(60_000);
  await clock.advance(HOUR);
  expect(calls).toHaveLength(2);
  expect(fenced).toEqual([]);
});

test('who has been overtaken says so', async () => {
  answers = [new FluxqError('FLUXQ_FENCED', 'another leader')];
  await clock.advance(60_000);
  expect(fenced).toMatchObject([{ code: 'FLUXQ_FENCED' }]);
});

test('stopped, it does nothing more, also when a portion was under way', async () => {
  answers = [500, 500];
  await clock.advance(60_000);
  await retention.stop();
  await clock.advance(HOUR);
  expect(calls).toHaveLength(1);
});
