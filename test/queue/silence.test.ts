/** Which answers are late, and no silence. silent-database.test.ts has the real connections. */
import { setTimeout as delay } from 'node:timers/promises';
import { SilenceDetector } from '../../runtime/queue/silence';

function detectorOf(isServerWorking: () => Promise<boolean>) {
  const dead: string[] = [];
  const onDead = ({ message }: Error) => void dead.push(message);
  return { dead, detector: new SilenceDetector({ isServerWorking, onDead, doubtMs: 10 }) };
}

test('an answer gets as long as the server took for the question', async () => {
  const { dead, detector } = detectorOf(() => delay(600, false));
  await detector.watch(() => delay(1_250));
  expect(dead).toEqual([]);
});

test('no answer for longer than that is silence', async () => {
  const { dead, detector } = detectorOf(() => delay(10, false));
  await detector.watch(() => delay(700));
  expect(dead).toEqual([
    expect.stringMatching(/^no answer for 0\.\d s, and the server works on no statement/),
  ]);
});
