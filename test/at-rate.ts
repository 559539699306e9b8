import { setTimeout as delay } from 'node:timers/promises';

/** Calls `work` at fixed times from now on, whatever became of the calls before, until the signal. A Promise of it is awaited first. */
export async function atRate(
  perSecond: number,
  signal: AbortSignal,
  work: (i: number) => unknown,
): Promise<void> {
  const start = performance.now();
  for (let i = 0; !signal.aborted; i++) {
    const due = start + (i * 1000) / perSecond;
    if (due > performance.now()) await delay(due - performance.now());
    await work(i);
  }
}
