import { once } from 'node:events';
import { showWhileBuilding } from '../../examples/demo/first-picture';

/** Shows until the signal, and keeps the headings of three pictures. */
function pictures() {
  const headings: (readonly string[])[] = [];
  const second = Promise.withResolvers<void>();
  const show = async ({ heading, signal }: { heading: () => readonly string[]; signal: AbortSignal }) => {
    headings.push(heading());
    await new Promise(setImmediate);
    headings.push(heading());
    second.resolve();
    if (!signal.aborted) await once(signal, 'abort');
    headings.push(['ended']);
  };
  return { headings, show, untilSecond: second.promise };
}

const never = new AbortController().signal;

test('shows a simulation that says so, with the progress of the build, and ends with it', async () => {
  const { headings, show, untilSecond } = pictures();
  const build = async (progress: (line: string) => void) => {
    progress('1 of 2 packages');
    await untilSecond;
    return 'programs';
  };
  expect(await showWhileBuilding({ build, show, signal: never })).toBe('programs');
  expect(headings[0]![0]).toMatch(/^SIMULATION, while the control plane is built/);
  expect(headings[1]![1]).toBe('1 of 2 packages');
  expect(headings.at(-1)).toEqual(['ended']);
});

test('a build that fails ends the pictures', async () => {
  const { headings, show } = pictures();
  const build = () => Promise.reject(new Error('go failed'));
  await expect(showWhileBuilding({ build, show, signal: never })).rejects.toThrow('go failed');
  expect(headings.at(-1)).toEqual(['ended']);
});

test('a picture that fails ends the build', async () => {
  let isEnded = false;
  const build = async (_: unknown, signal: AbortSignal) => {
    await once(signal, 'abort');
    isEnded = true;
    throw new Error('the build was ended');
  };
  const show = () => Promise.reject(new Error('no picture'));
  await expect(showWhileBuilding({ build, show, signal: never })).rejects.toThrow('no picture');
  expect(isEnded).toBe(true);
});

test('an interrupt ends both', async () => {
  const { headings, show } = pictures();
  const interrupt = new AbortController();
  const build = async (_: unknown, signal: AbortSignal) => {
    await once(signal, 'abort');
    signal.throwIfAborted();
  };
  const shown = showWhileBuilding({ build, show, signal: interrupt.signal });
  interrupt.abort();
  await expect(shown).rejects.toThrow(/aborted/);
  expect(headings.at(-1)).toEqual(['ended']);
});
