import { spareTime, waitFor } from './wait';

test('returns the first result after probes that throw or return none', async () => {
  const answers = [undefined, false, new Error('not yet'), 7];
  const probe = async () => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer as number | false | undefined;
  };
  expect(await waitFor('a number', probe, { everyMs: 1 })).toBe(7);
});

test('reports the description and the error of the last probe', async () => {
  const probe = () => Promise.reject(new Error('connection refused'));
  await expect(waitFor('the server', probe, { timeoutMs: 5, everyMs: 1 })).rejects.toMatchObject({
    code: 'FLUXQ_TEST_TIMEOUT',
    message: expect.stringContaining(
      'timed out waiting for the server; the last attempt failed: connection refused',
    ),
  });
});

test('stops when it is aborted', async () => {
  const stop = new AbortController();
  const waiting = waitFor('nothing', () => undefined, { signal: stop.signal });
  stop.abort();
  await expect(waiting).rejects.toThrow('aborted');
});

test.each([
  ['idle', 2_000, 1_000],
  ['half idle', 500, 500],
  ['busy', 0, 200],
])('the time to spare of a machine that is %s', (_, idle, spare) => {
  expect(spareTime({ clock: 5_000, idle: 7_000 }, { clock: 6_000, idle: 7_000 + idle })).toBe(spare);
});
