import { gated, setUp } from './gated-queue';
import { settle } from './manual-clock';

describe('caughtUp', () => {
  async function waiting() {
    const { runs, reconcile } = gated();
    const { queue } = setUp({ reconcile, concurrency: 1 });
    await queue.caughtUp();
    queue.add('a');
    queue.add('b');
    let isDone = false;
    const done = queue.caughtUp().then(() => {
      isDone = true;
    });
    const end = async (run: number) => {
      runs[run]!.end();
      await settle();
      return isDone;
    };
    return { queue, end, done };
  }

  test('resolves when the keys of that moment have run', async () => {
    const { queue, end } = await waiting();
    expect(await end(0)).toBe(false);
    // There may always be more.
    queue.add('c');
    expect(await end(1)).toBe(true);
    expect(queue.running).toBe(1);
    expect(await end(2)).toBe(true);
  });

  test('waits for the second run of a key that was added while it ran', async () => {
    const { queue, end } = await waiting();
    await end(0);
    queue.add('b');
    let isDone = false;
    void queue.caughtUp().then(() => {
      isDone = true;
    });
    expect(await end(1)).toBe(true);
    expect(isDone).toBe(false);
    await end(2);
    expect(isDone).toBe(true);
  });

  test('does not wait for a forgotten key, but for its run', async () => {
    const { queue, end, done } = await waiting();
    queue.forget('a');
    queue.forget('b');
    expect(await end(0)).toBe(true);
    await done;
  });

  test('does not wait for what a stopped queue will not run', async () => {
    const { queue, end, done } = await waiting();
    const stopped = queue.stop();
    expect(await end(0)).toBe(true);
    await Promise.all([done, stopped]);
  });
});
