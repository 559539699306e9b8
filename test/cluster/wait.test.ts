import { waitFor } from './wait';

test('returns the first answer, over probes that throw or have none', async () => {
  const answers = [undefined, false, new Error('not yet'), 7];
  const probe = async () => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer as number | false | undefined;
  };
  expect(await waitFor('a number', probe, { everyMs: 1 })).toBe(7);
});

test('says what was waited for and what the last probe threw', async () => {
  const probe = () => Promise.reject(new Error('connection refused'));
  await expect(waitFor('the server', probe, { timeoutMs: 5, everyMs: 1 })).rejects.toMatchObject({
    code: 'FLUXQ_TEST_TIMEOUT',
    message: expect.stringContaining('waited in vain for the server; the last try said: connection refused'),
  });
});

test('gives up when it is aborted', async () => {
  const stop = new AbortController();
  const waiting = waitFor('nothing', () => undefined, { signal: stop.signal });
  stop.abort();
  await expect(waiting).rejects.toThrow('aborted');
});
