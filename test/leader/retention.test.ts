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
let rankingFails: boolean;
let measuringFails: boolean;
let logger: ReturnType<typeof recordingLogger>;

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
  rankingFails = false;
  measuringFails = false;
  logger = recordingLogger();
  retention = new Retention({
    queue: {
      beyondBudget: async () => {
        if (rankingFails) throw down();
        return [];
      },
      condense: async () => 0,
      archive: answer('archive'),
      purge: answer('purge'),
      sizes: async () => {
        if (measuringFails) throw down();
        return [{ table: 'events', bytes: 8192 }];
      },
    },
    fence: 7,
    config: parseConfig({ queue: { retentionDays: 30, archiveDays: 100 }, database: { storage: '10Gi' } }),
    onFenced: (error) => fenced.push(error),
    logger,
    workloads: { get: () => undefined, isUnlisted: () => false },
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
  // The hours that were not looked at yet.
  for (let i = 0; i < 40; i++) await clock.advance(1_000);
  expect(calls).toHaveLength(5);
  await clock.advance(TEN_MINUTES);
  expect(batches()[5]).toEqual(['archive', 500]);
});

test('repeats a task that fails a minute later with fewer rows, until it succeeds, and goes on with the others meanwhile', async () => {
  rankingFails = true;
  answers = Array.from({ length: 6 }, () => [down(), 0]).flat();
  answers.push(1, 2, 4, 8, 1);
  for (let i = 0; i < 60 + 6 * 63 + 4; i++) await clock.advance(1_000);
  const archived = batches().flatMap(([task, most]) => (task === 'archive' ? [most] : []));
  expect(archived).toEqual([500, 125, 32, 8, 2, 1, 1, 2, 4, 8, 16]);
  expect(batches().filter(([task]) => task === 'purge')).toEqual(Array(6).fill(['purge', 500]));
  expect(sizes).toHaveLength(6);
  expect(fenced).toEqual([]);
});

test.each(['condense', 'measure'] as const)(
  'names the task when %s fails, and starts the next round',
  async (task) => {
    rankingFails = task === 'condense';
    measuringFails = task === 'measure';
    for (let i = 0; i < 65 + 40; i++) await clock.advance(1_000);
    const sentence = `the task ${task} of the retention failed; it is repeated in a minute with fewer rows`;
    expect(logger.lines.filter((line) => JSON.stringify(line).includes(sentence))).toHaveLength(1);
    for (let i = 0; i < 60; i++) await clock.advance(1_000);
    expect(batches().filter(([name]) => name === 'archive')).toHaveLength(2);
  },
);

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
