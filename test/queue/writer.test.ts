import { setTimeout as pause } from 'node:timers/promises';
import { type Keyed, type Run, serialWriter } from '../../runtime/queue/writer';

/** Statements as they were run: how many records each had. */
function recording(): { readonly run: Run; readonly statements: number[] } {
  const statements: number[] = [];
  const run: Run = async (_statement, _fence, records) => {
    statements.push(records.length);
    await pause(1);
    return [];
  };
  return { run, statements };
}

const record = (uid: number): Keyed[] => [{ uid: `w-${uid}` }];
/** Far longer than the test takes: whoever waits for it fails. */
const HOUR = 3_600_000;

test('what comes within the time of gathering shares a statement', async () => {
  const { run, statements } = recording();
  const write = serialWriter(run, 20);
  const first = write('submit', 1, record(1));
  await pause(5);
  await Promise.all([first, write('submit', 1, record(2)), write('submit', 1, record(3))]);
  expect(statements).toEqual([3]);
});

test('when as many wait as there are callers, nobody is waited for', async () => {
  const { run, statements } = recording();
  const write = serialWriter(run, HOUR);
  // 32 callers, each with its next call when the last was answered, as the controller's reconcilers.
  const left = Array.from({ length: 320 }, (_, i) => i).values();
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      for (const i of left) await write('submit', 1, record(i));
    }),
  );
  expect(statements).toEqual(Array(10).fill(32));
});
