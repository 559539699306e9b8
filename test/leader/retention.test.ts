import { parseConfig } from '../../runtime/config';
import { FluxqError } from '../../runtime/errors';
import { Retention, type RetentionContext } from '../../runtime/leader/retention';
import { ManualClock } from '../kubernetes/manual-clock';
import { recordingLogger } from '../kubernetes/recording-logger';

const NOW = 1_800_000_000;
const TEN_MINUTES = 600_000;

let clock: ManualClock;
let calls: [task: string, fence: number, before: number, most: number | undefined][];
let answers: (number | Error)[];
let fenced: Error[];
let retention: Retention;
let sizes: [table: string, bytes: number][];
let volumes: number[];

const answer = (task: string) => async (fence: number, before: number, most: number | undefined) => {
  calls.push([task, fence, before, most]);
  const next = answers.shift() ?? 0;
  if (next instanceof Error) throw next;
  return next;
};
const batches = () => calls.map(([task, , , most]) => [task, most]);
const down = () =>
  new FluxqError('FLUXQ_DATABASE_DOWN', 'canceling statement due to timeout', { retryable: true });

beforeEach(() => {
  clock = new ManualClock();
  calls = [];
  answers = [];
  fenced = [];
  sizes = [];
  volumes = [];
  retention = new Retention({
    queue: {
      beyondBudget: async () => [],
      condense: async () => 0,
      archive: answer('archive'),
      purge: answer('purge'),
      sizes: async () => [{ table: 'events', bytes: 8192 }],
    },
    fence: 7,
    config: parseConfig({ queue: { retentionDays: 30, archiveDays: 100 }, database: { storage: '10Gi' } }),
    onFenced: (error) => fenced.push(error),
    logger: recordingLogger(),
    workloads: { get: () => undefined },
    workloadCache: { active: () => [].values() },
    metrics: {
      databaseVolumeBytes: {
        set: (bytes: number) => volumes.push(bytes),
      } as unknown as RetentionContext['metrics']['databaseVolumeBytes'],
      databaseBytes: {
        set: ({ table }: { table: string }, bytes: number) => sizes.push([table, bytes]),
      } as unknown as RetentionContext['metrics']['databaseBytes'],
    },
    time: { clock },
    now: () => NOW,
  });
  retention.start();
});

test('archives after 30 days and purges after 100 more, in batches until nothing is left, then measures', async () => {
  answers = [500, 500, 20, 500, 3];
  await clock.advance(30_000);
  expect(calls).toEqual([]);
  await clock.advance(30_000);
  expect(calls).toEqual([['archive', 7, NOW - 30 * 86_400, 500]]);
  for (let i = 0; i < 6; i++) await clock.advance(1_000);
  expect(batches()).toEqual([...Array(3).fill(['archive', 500]), ...Array(2).fill(['purge', 500])]);
  expect(calls.at(-1)).toEqual(['purge', 7, NOW - 100 * 86_400, 500]);
  expect(sizes).toEqual([['events', 8192]]);
  expect(volumes).toEqual([10 * 1024 ** 3]);
  await clock.advance(TEN_MINUTES);
  expect(calls).toHaveLength(6);
});

test('repeats a batch that fails a minute later with fewer rows, until one succeeds', async () => {
  answers = [down(), down(), down(), down(), down(), down(), 1, 2, 4, 8, 10];
  await clock.advance(6 * 60_000 + 60_000);
  expect(batches().map(([, most]) => most)).toEqual([500, 125, 32, 8, 2, 1, 1]);
  for (let i = 0; i < 4; i++) await clock.advance(1_000);
  expect(batches().slice(7)).toEqual([
    ['archive', 2],
    ['archive', 4],
    ['archive', 8],
    ['archive', 16],
  ]);
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
  await clock.advance(TEN_MINUTES);
  expect(calls).toHaveLength(1);
});
