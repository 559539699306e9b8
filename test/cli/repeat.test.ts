import { EventEmitter } from 'node:events';
import { type Page, repeat } from '../../runtime/cli/repeat';
import type { Output } from '../../runtime/cli/show';
import { ManualClock } from '../kubernetes/manual-clock';

function outputs(isTTY: boolean, size = { rows: 10, columns: 40 }) {
  const written: string[] = [];
  const output = Object.assign(new EventEmitter(), {
    isTTY,
    ...(isTTY ? size : {}),
    write: (text: string) => {
      written.push(text);
      return true;
    },
  }) as unknown as Output;
  return { output, written };
}

/** A repetition of answers; an error is thrown instead of answered. */
function repetition(answers: readonly (string | Error)[], isTTY: boolean, options = {}) {
  const clock = new ManualClock();
  const { output, written } = outputs(isTTY);
  const errors = outputs(false);
  const left = [...answers];
  const pages: Page[] = [];
  const ended = repeat(
    async () => {
      const next = left.length > 1 ? left.shift() : left[0];
      if (next instanceof Error) throw next;
      return next ?? '';
    },
    (answer, page) => {
      pages.push(page);
      return answer.split('\n');
    },
    { watch: true, output, errors: errors.output, clock, ...options },
  );
  return { clock, output, written, errors, pages, ended };
}

async function interrupted(ended: Promise<void>): Promise<void> {
  process.emit('SIGINT', 'SIGINT');
  await ended;
  expect(process.exitCode).toBe(130);
  process.exitCode = undefined;
}

test('without a watch, the answer is printed once, as wide as the output', async () => {
  const pipe = repetition(['a\nb'], false, { watch: false });
  await pipe.ended;
  expect(pipe.written).toEqual(['a\nb\n']);
  expect(pipe.pages).toEqual([{ columns: 80, isTerminal: false }]);
  const terminal = repetition(['a'], true, { watch: false });
  await terminal.ended;
  expect(terminal.pages).toEqual([{ columns: 40, isTerminal: true }]);
  await expect(repetition([new Error('no right')], true).ended).rejects.toThrow('no right');
});

test('a pipe gets an answer again when it has changed, until Ctrl-C', async () => {
  const { clock, written, errors, ended } = repetition(['a', 'a', new Error('lost'), 'b'], false);
  await clock.advance(15_000);
  expect(written).toEqual(['a\n', '\nb\n']);
  expect(errors.written.join('')).toMatch(/^\d\d:\d\d:\d\d no answer, trying again: lost\n$/);
  await interrupted(ended);
});

test('objects follow each other without empty lines', async () => {
  const { clock, written, ended } = repetition(['{}', '{1}'], false, { stream: true });
  await clock.advance(5_000);
  expect(written).toEqual(['{}\n', '{1}\n']);
  await interrupted(ended);
});

test('a terminal is drawn over, says what is wrong first, and is drawn again when its size changes', async () => {
  const { clock, written, output, pages, ended } = repetition(['a\nb', new Error('lost'), 'c'], true);
  await clock.advance(0);
  await clock.advance(5_000);
  expect(written.at(-1)).toMatch(/no answer, trying again(.|\n)*a.*\nb/);
  await clock.advance(5_000);
  expect(written.at(-1)).toContain('c');
  expect(written.at(-1)).not.toContain('lost');
  Object.assign(output, { columns: 30 });
  (output as unknown as EventEmitter).emit('resize');
  expect(pages.at(-1)?.columns).toBe(30);
  await interrupted(ended);
});

test('Ctrl-C does not wait for an answer', async () => {
  const clock = new ManualClock();
  const { output, written } = outputs(false);
  const answers = [Promise.resolve('a'), new Promise<string>(() => undefined)];
  const ended = repeat(
    () => answers.shift()!,
    (answer) => [answer],
    { watch: true, output, clock },
  );
  await clock.advance(5_000);
  expect(answers).toEqual([]);
  await interrupted(ended);
  expect(written).toEqual(['a\n']);
});
