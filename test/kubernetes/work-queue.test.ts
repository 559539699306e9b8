import { systemClock } from '../../runtime/clock';
import { FluxqError } from '../../runtime/errors';
import fc from '../fast-check';
import { gated, setUp } from './gated-queue';
import { settle } from './manual-clock';

test('runs keys in order of arrival, as many at the same time as allowed', async () => {
  const { runs, reconcile, keys } = gated();
  const { queue } = setUp({ reconcile, concurrency: 2 });
  for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
  expect(keys()).toEqual(['a', 'b']);
  runs[1]!.end();
  await settle();
  expect(keys()).toEqual(['a', 'b', 'c']);
  expect(queue.waiting).toBe(1);
});

test('lets other work go on between runs that never wait', async () => {
  let runs = 0;
  const { clock, queue } = setUp({
    concurrency: 4,
    // Each run takes 5 ms of the processor.
    reconcile: async () => {
      runs += 1;
      clock.freeze(5);
    },
  });
  for (let i = 0; i < 40; i++) queue.add(`${i}`);
  const done: number[] = [];
  while (queue.waiting + queue.running > 0) {
    await settle();
    done.push(runs);
    if (clock.next !== undefined) await clock.advance(clock.next);
    expect(done.length).toBeLessThan(40);
  }
  expect(runs).toBe(40);
  const slices = done.map((count, i) => count - (done[i - 1] ?? 0));
  expect(Math.max(...slices)).toBeLessThanOrEqual(8);
});

test('stop ends a rest', async () => {
  const { clock, queue } = setUp({ concurrency: 2, reconcile: async () => clock.freeze(50) });
  for (let i = 0; i < 10; i++) queue.add(`${i}`);
  await settle();
  expect([queue.running, clock.next]).toEqual([0, 0]);
  const caughtUp = queue.caughtUp();
  await queue.stop();
  await caughtUp;
  await clock.advance(1_000);
  expect([queue.waiting, queue.running, clock.next]).toEqual([0, 0, undefined]);
});

test('does not queue a waiting key twice', async () => {
  const { runs, reconcile, keys } = gated();
  const { queue } = setUp({ reconcile, concurrency: 1 });
  for (const key of ['a', 'b', 'b', 'b']) queue.add(key);
  for (const at of [0, 1]) {
    runs[at]!.end();
    await settle();
  }
  expect(keys()).toEqual(['a', 'b']);
});

test('runs a key once more that is added while it runs, but never twice at the same time', async () => {
  const { runs, reconcile, keys } = gated();
  const { queue } = setUp({ reconcile, concurrency: 8 });
  queue.add('a');
  queue.add('a');
  queue.add('a');
  expect(keys()).toEqual(['a']);
  runs[0]!.end();
  await settle();
  expect(keys()).toEqual(['a', 'a']);
  queue.repeatRunning();
  queue.add('b');
  runs[1]!.end();
  await settle();
  expect(keys()).toEqual(['a', 'a', 'b', 'a']);
  runs[3]!.end();
  await settle();
  expect(keys()).toHaveLength(4);
});

test('runs a key again after the delay that reconcile returns', async () => {
  let runs = 0;
  const { clock, queue } = setUp({
    reconcile: async () => {
      runs += 1;
      return runs === 1 ? { after: 5_000 } : undefined;
    },
  });
  queue.add('a');
  await clock.advance(4_999);
  expect(runs).toBe(1);
  await clock.advance(1);
  expect(runs).toBe(2);
  expect(clock.next).toBeUndefined();
});

test('uses the earliest of several delays, and cancels the delay when the key is added', async () => {
  const ran: number[] = [];
  const { clock, queue } = setUp({
    reconcile: async () => {
      ran.push(clock.now());
    },
  });
  queue.addAfter('a', 1_000);
  queue.addAfter('a', 300);
  queue.addAfter('a', 700);
  await clock.advance(2_000);
  expect(ran).toEqual([300]);
  queue.addAfter('a', 500);
  queue.add('a');
  await clock.advance(2_000);
  expect(ran).toEqual([300, 2_000]);
});

test('retries a failed key with exponential backoff, which a success resets', async () => {
  const ran: number[] = [];
  const { clock, queue, outcomes, logger } = setUp({
    backoff: { first: 100, most: 800 },
    reconcile: async () => {
      ran.push(clock.now());
      if (ran.length < 6 || ran.length === 7) throw new Error('database down');
    },
  });
  queue.add('a');
  await clock.advance(10_000);
  expect(ran).toEqual([0, 100, 300, 700, 1_500, 2_300]);
  expect(outcomes.map(([, outcome]) => outcome)).toEqual([...Array(5).fill('failed'), 'done']);
  expect(logger.lines.map(({ level, message }) => [level, message])).toEqual(
    Array(5).fill(['warn', 'database down']),
  );
  queue.add('a');
  await clock.advance(10_000);
  expect(ran.slice(6)).toEqual([10_000, 10_100]);
});

test('logs and drops a key with an error that is not retryable', async () => {
  let runs = 0;
  const { clock, queue, outcomes, logger } = setUp({
    reconcile: async () => {
      runs += 1;
      throw new FluxqError('FLUXQ_WALLTIME', 'no duration', { field: 'walltime', value: 'soon' });
    },
  });
  queue.add('a');
  await clock.advance(600_000);
  expect(runs).toBe(1);
  expect(outcomes).toEqual([['a', 'dropped']]);
  expect(logger.lines).toMatchObject([{ level: 'error', fields: { key: 'a' } }]);
});

test('retries a key with a retryable FluxqError', async () => {
  let runs = 0;
  const { clock, queue } = setUp({
    reconcile: async () => {
      runs += 1;
      if (runs === 1) throw new FluxqError('FLUXQ_DATABASE_DOWN', 'no connection', { retryable: true });
    },
  });
  queue.add('a');
  await clock.advance(250);
  expect(runs).toBe(2);
});

test('adds jitter to the backoff, but never less than half of the first wait', () => {
  fc.assert(
    fc.asyncProperty(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), async (random) => {
      const { clock, queue } = setUp({
        random: () => random,
        backoff: { first: 100, most: 1_000 },
        reconcile: async () => {
          throw new Error('no');
        },
      });
      queue.add('a');
      for (const ceiling of [100, 200, 400, 800, 1_000, 1_000]) {
        await settle();
        expect(clock.next).toBeGreaterThanOrEqual(50);
        expect(clock.next).toBeLessThanOrEqual(ceiling);
        await clock.advance(clock.next!);
      }
      await queue.stop();
    }),
    { numRuns: 20 },
  );
});

test('forget removes a key with its delay', async () => {
  const { runs, reconcile, keys } = gated();
  const { clock, queue } = setUp({ reconcile, concurrency: 1 });
  queue.add('a');
  queue.add('b');
  queue.addAfter('c', 100);
  queue.forget('b');
  queue.forget('c');
  runs[0]!.end();
  await clock.advance(1_000);
  expect(keys()).toEqual(['a']);
});

test('stop waits for the current runs and starts no further ones', async () => {
  const { runs, reconcile, keys } = gated();
  const { clock, queue } = setUp({ reconcile, concurrency: 1 });
  queue.add('a');
  queue.add('b');
  queue.addAfter('c', 100);
  let stopped = false;
  const stop = queue.stop().then(() => {
    stopped = true;
  });
  await clock.advance(1_000);
  expect(stopped).toBe(false);
  runs[0]!.end();
  await stop;
  queue.add('d');
  await settle();
  expect(keys()).toEqual(['a']);
});

test('for random adds, a key never runs twice at the same time and runs after its last add', async () => {
  const command = fc.oneof(
    fc.record({ add: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ addAfter: fc.constantFrom('a', 'b', 'c'), ms: fc.integer({ min: 0, max: 50 }) }),
    fc.record({ advance: fc.integer({ min: 0, max: 60 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 40 }), async (commands) => {
      const active = new Set<string>();
      const asked = new Map<string, number>();
      const began = new Map<string, number>();
      let step = 0;
      const { clock, queue } = setUp({
        concurrency: 2,
        reconcile: async (key) => {
          expect(active.has(key)).toBe(false);
          active.add(key);
          began.set(key, step);
          await new Promise<void>((resolve) => clock.after(10, resolve));
          active.delete(key);
        },
      });
      for (const next of commands) {
        step += 1;
        if ('advance' in next) await clock.advance(next.advance);
        else if ('add' in next) queue.add(next.add);
        else queue.addAfter(next.addAfter, next.ms);
        if ('add' in next) asked.set(next.add, step);
        if ('addAfter' in next) asked.set(next.addAfter, step);
      }
      step += 1;
      await clock.advance(1_000);
      for (const [key, at] of asked) expect(began.get(key)).toBeGreaterThanOrEqual(at);
      expect(queue.running + queue.waiting).toBe(0);
    }),
    { numRuns: 60 },
  );
});

test('lets others run while many keys run that never wait', async () => {
  let runs = 0;
  const reconcile = async () => {
    runs += 1;
    for (const from = performance.now(); performance.now() - from < 2; );
  };
  const { queue } = setUp({ reconcile, clock: systemClock });
  for (let i = 0; i < 50; i++) queue.add(`key-${i}`);
  await new Promise((resolve) => setImmediate(resolve));
  expect(runs).toBeLessThan(50);
  await queue.caughtUp();
  expect(runs).toBe(50);
});

test('groups take turns, and a slow one leaves half of the runs to others', async () => {
  const { runs, reconcile, keys } = gated();
  const { queue } = setUp({ reconcile, concurrency: 4, groupOf: (key) => key.split('/')[0]! });
  for (const key of ['a/1', 'a/2', 'a/3', 'a/4', 'a/5', 'b/1', 'b/2', 'c/1']) queue.add(key);
  expect(keys()).toEqual(['a/1', 'a/2', 'b/1', 'b/2']);
  runs[2]!.end();
  await settle();
  expect(keys().slice(4)).toEqual(['c/1']);
  runs[4]!.end();
  await settle();
  expect([queue.running, queue.waiting]).toEqual([3, 3]);
  runs[0]!.end();
  await settle();
  expect(keys().slice(5)).toEqual(['a/3']);
  queue.forget('a/4');
  queue.add('d/1');
  expect(keys().slice(6)).toEqual(['d/1']);
  for (const run of runs) run.end();
  await settle();
  expect(keys().slice(7)).toEqual(['a/5']);
});

test('a key of a quiet group does not wait for the thousands of another one', async () => {
  const { runs, reconcile, keys } = gated();
  const { queue } = setUp({ reconcile, concurrency: 2, groupOf: (key) => key.split('/')[0]! });
  for (let i = 0; i < 3000; i++) queue.add(`busy/${i}`);
  queue.add('quiet/1');
  expect(keys()).toEqual(['busy/0', 'quiet/1']);
  runs[1]!.end();
  await settle();
  expect(queue.waiting).toBe(2999);
});
